import { deletedUserName } from './accounts.ts'
import { createMarkdown, mentionedUserIdOf, mentionLike } from '../kernel/markdown.ts'

/** The maximum length of a comment, in code points. */
export const commentLengthMax = 5000

/**
 * Marks what looks like a stored mention and is none. Nobody can write this character (docs/design/errors.md#texts).
 */
const noMention = '\u0001'
const stored = new RegExp(`\\[@(${noMention}?)\\]\\(user:([0-9a-f-]{36})\\)`, 'g')

/** The ids of the people whom a comment mentions, as `[@Name](user:ID)`, each once. Its code mentions nobody. */
export function mentionedIn(body: string): string[] {
  return [...new Set(readMentions(body).flatMap(({ userId, isMention }) => (isMention ? [userId] : [])))]
}

/**
 * The comment as it is stored: mentions of members without their names, which are read from the people, so that erasing a
 * person reaches them. Other mentions become plain text. What only looks like a mention stays as it is.
 */
export function toStoredBody(body: string, memberIds: ReadonlySet<string>): string {
  const mentions = readMentions(body)
  let next = 0
  return body.replace(mentionLike, (text: string, name: string, userId: string) => {
    const isMention = mentions[next++]?.isMention
    if (!isMention) return name === '' ? text.replace('@', `@${noMention}`) : text
    return memberIds.has(userId) ? `[@](user:${userId})` : `@${name}`
  })
}

/** Whether a text of rows in JSON may have what `toShownBody` changes. */
export function hasMentions(rows: string): boolean {
  return rows.includes('](user:')
}

/** The comment as it is shown: mentions with the names that people have now. It is not parsed: lists have many. */
export function toShownBody(body: string, names: ReadonlyMap<string, string>): string {
  return body.replace(stored, (_, mark: string, userId: string) => {
    if (mark !== '') return `[@](user:${userId})`
    const name = names.get(userId)
    return name === undefined ? `@${deletedUserName}` : toMention({ userId, name })
  })
}

/** All that looks like a mention, in order, and whether it is one. */
function readMentions(body: string): { userId: string; isMention: boolean }[] {
  const found = Array.from(body.matchAll(mentionLike), ([, , userId]) => String(userId))
  if (found.length === 0) return []
  // The tokens have no position in the text: each id becomes its number, which is as long.
  let next = 0
  const numbered = body.replace(mentionLike, (text: string, _, userId: string) =>
    text.replace(`user:${userId}`, `user:${toNumber(next++)}`),
  )
  const tokens = parser()
    .parse(numbered, {})
    .flatMap(({ children }) => children ?? [])
  const mentioned = new Set(tokens.map(mentionedUserIdOf))
  return found.map((userId, i) => ({ userId, isMention: mentioned.has(toNumber(i)) }))
}

/** A number in the form of an id. */
function toNumber(value: number): string {
  return `00000000-0000-0000-0000-${String(value).padStart(12, '0')}`
}

let made: ReturnType<typeof createMarkdown> | undefined
const parser = () => (made ??= createMarkdown())

/** A mention of a person. The name is escaped as the text of a link in Markdown (CommonMark 0.31 §2.4). */
export function toMention({ userId, name }: { userId: string; name: string }): string {
  return `[@${name.replace(/[\\[\]*_`<&]/g, '\\$&')}](user:${userId})`
}
