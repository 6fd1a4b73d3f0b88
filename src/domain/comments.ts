import { deletedUserName } from './accounts.ts'
import {
  agentMentionLike,
  createMarkdown,
  mentionedGrantIdOf,
  mentionedTeamIdOf,
  mentionedUserIdOf,
  mentionLike,
  teamMentionLike,
} from '../kernel/markdown.ts'

/** The maximum length of a comment, in code points. */
export const commentLengthMax = 5000
/** How many teams a comment mentions at most. */
export const mentionedTeamsMax = 10
/** How many members a team has at most that a comment mentions: it tells each of them. */
export const mentionedTeamSizeMax = 50

/**
 * Marks what looks like a stored mention and is none. Nobody can write this character (docs/design/errors.md#texts).
 */
const noMention = '\u0001'
const stored = new RegExp(`\\[@(${noMention}?)\\]\\(user:([0-9a-f-]{36})\\)`, 'g')

/** The ids of the people whom a comment mentions, as `[@Name](user:ID)`, each once. Its code mentions nobody. */
export function mentionedIn(body: string): string[] {
  return [...new Set(readMentions(body, ofPeople).flatMap(({ id, isMention }) => (isMention ? [id] : [])))]
}

/** The grants of the agents that a comment mentions, as `[@Name](agent:GRANT)`, each once. */
export function agentsMentionedIn(body: string): string[] {
  return [...new Set(readMentions(body, ofAgents).flatMap(({ id, isMention }) => (isMention ? [id] : [])))]
}

/** The first teams that a comment mentions, as `[@Name](team:ID)`, each once. */
export function teamsMentionedIn(body: string): string[] {
  const ids = readMentions(body, ofTeams).flatMap(({ id, isMention }) => (isMention ? [id] : []))
  return [...new Set(ids)].slice(0, mentionedTeamsMax)
}

/** The names by which a comment as it is stored mentions agents, by grant. */
export function agentNamesIn(stored: string): Map<string, string> {
  return namesIn(stored, agentMentionLike)
}

/** The names by which a comment as it is stored mentions teams, by their ids. */
export function teamNamesIn(stored: string): Map<string, string> {
  return namesIn(stored, teamMentionLike)
}

function namesIn(stored: string, like: RegExp): Map<string, string> {
  const mentions = Array.from(stored.matchAll(like), ([, name = '', id = '']) => [id, name] as const)
  return new Map(
    mentions
      .filter(([, name]) => !name.startsWith(noMention))
      .map(([id, name]) => [id, name.replace(/\\([!-/:-@[-`{-~])/g, '$1')]),
  )
}

/**
 * A comment in which only some teams are mentioned, by their names, which are those of the time. Other mentions of teams
 * become plain text. What only looks like a mention is marked.
 */
export function withTeams(body: string, names: ReadonlyMap<string, string>): string {
  const mentions = readMentions(body, ofTeams)
  let next = 0
  return body.replace(teamMentionLike, (text: string, name: string, teamId: string) => {
    if (!mentions[next++]?.isMention) return text.replace('@', `@${noMention}`)
    return toLinkOrText(`team:${teamId}`, names.get(teamId), name)
  })
}

/** A comment in which only some agents are mentioned, by their names. Other mentions of agents become plain text. */
export function withAgents(body: string, names: ReadonlyMap<string, string>): string {
  const mentions = readMentions(body, ofAgents)
  let next = 0
  return body.replace(agentMentionLike, (text: string, name: string, grantId: string) => {
    if (!mentions[next++]?.isMention) return text
    return toLinkOrText(`agent:${grantId}`, names.get(grantId), name)
  })
}

/** A comment, as it is shown, whose mentions of teams are plain text. */
export function withoutTeams(body: string): string {
  return withTeams(body, new Map()).replaceAll(noMention, '')
}

/**
 * The comment as it is stored: mentions of members without their names, which are read from the people, so that erasing a
 * person reaches them. Other mentions become plain text. What only looks like a mention stays as it is.
 */
export function toStoredBody(body: string, memberIds: ReadonlySet<string>): string {
  const mentions = readMentions(body, ofPeople)
  let next = 0
  return body.replace(mentionLike, (text: string, name: string, userId: string) => {
    const isMention = mentions[next++]?.isMention
    if (!isMention) return name === '' ? text.replace('@', `@${noMention}`) : text
    return memberIds.has(userId) ? `[@](user:${userId})` : `@${name}`
  })
}

/** Whether a text of rows in JSON may have what `toShownBody` changes. */
export function hasMentions(rows: string): boolean {
  return rows.includes('](user:') || rows.includes('](team:')
}

/**
 * The comment as it is shown: mentions with the names that people have now, and teams, of which those that are not given
 * become plain text. Without `teams` their mentions have the names of the time. It is not parsed: lists have many.
 */
export function toShownBody(
  body: string,
  names: ReadonlyMap<string, string>,
  teams?: ReadonlyMap<string, string>,
): string {
  const shown = body.replace(stored, (_, mark: string, userId: string) => {
    if (mark !== '') return `[@](user:${userId})`
    const name = names.get(userId)
    return name === undefined ? `@${deletedUserName}` : toMention({ userId, name })
  })
  return shown.replace(teamMentionLike, (text: string, name: string, teamId: string) => {
    if (name.startsWith(noMention)) return text.replace(noMention, '')
    return teams ? toLinkOrText(`team:${teamId}`, teams.get(teamId), name) : text
  })
}

/** A kind of mentions: what looks like one, and what tells it in the tokens of the parser. */
const ofPeople = { scheme: 'user', like: mentionLike, idOf: mentionedUserIdOf }
const ofAgents = { scheme: 'agent', like: agentMentionLike, idOf: mentionedGrantIdOf }
const ofTeams = { scheme: 'team', like: teamMentionLike, idOf: mentionedTeamIdOf }

/** All that looks like a mention of a kind, in order, and whether it is one. */
function readMentions(
  body: string,
  { scheme, like, idOf }: typeof ofPeople,
): { id: string; isMention: boolean }[] {
  const found = Array.from(body.matchAll(like), ([, , id]) => String(id))
  if (found.length === 0) return []
  // The tokens have no position in the text: each id becomes its number, which is as long.
  let next = 0
  const numbered = body.replace(like, (text: string, _, id: string) =>
    text.replace(`${scheme}:${id}`, `${scheme}:${toNumber(next++)}`),
  )
  const tokens = parser()
    .parse(numbered, {})
    .flatMap(({ children }) => children ?? [])
  const mentioned = new Set(tokens.map(idOf))
  return found.map((id, i) => ({ id, isMention: mentioned.has(toNumber(i)) }))
}

/** A number in the form of an id. */
function toNumber(value: number): string {
  return `00000000-0000-0000-0000-${String(value).padStart(12, '0')}`
}

let made: ReturnType<typeof createMarkdown> | undefined
const parser = () => (made ??= createMarkdown())

/** A mention of a person. The name is escaped as the text of a link in Markdown (CommonMark 0.31 §2.4), also in a table. */
export function toMention({ userId, name }: { userId: string; name: string }): string {
  return toLink(`user:${userId}`, name)
}

const toLink = (target: string, name: string) => `[@${escapeName(name)}](${target})`

/** A mention by the name that is known, or without one the name as it was written, as plain text. */
const toLinkOrText = (target: string, known: string | undefined, written: string) =>
  known === undefined ? `@${written}` : toLink(target, known)

function escapeName(name: string): string {
  return name.replace(/[\\[\]*_`<&|]/g, '\\$&')
}
