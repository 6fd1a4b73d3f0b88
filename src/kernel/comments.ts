import { deletedUserName } from './accounts.ts'

/** The maximum length of a comment, in code points. */
export const commentLengthMax = 5000

const id = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}'
// A name has at most 100 characters, each of which may be escaped.
const mention = new RegExp(`\\[@((?:[^\\[\\]\\\\\\n]|\\\\[^\\n]){0,200})\\]\\(user:(${id})\\)`, 'g')
const storedMention = new RegExp(`\\[@\\]\\(user:(${id})\\)`, 'g')

/** The ids of the people whom a comment mentions, as `[@Name](user:ID)`, each once. */
export function mentionedIn(body: string): string[] {
  return [...new Set(Array.from(body.matchAll(mention), ([, , userId]) => String(userId)))]
}

/**
 * The comment as it is stored: mentions of members without their names, which are read from the people, so that erasing a
 * person reaches them. Other mentions become plain text.
 */
export function toStoredBody(body: string, memberIds: ReadonlySet<string>): string {
  return body.replace(mention, (_, name: string, userId: string) =>
    memberIds.has(userId) ? `[@](user:${userId})` : `@${name}`,
  )
}

/** Whether a stored comment, or one of several in a text, mentions somebody. */
export function hasMentions(stored: string): boolean {
  return stored.includes('[@](user:')
}

/** The comment as it is shown: mentions with the names that people have now. */
export function toShownBody(stored: string, names: ReadonlyMap<string, string>): string {
  return stored.replace(storedMention, (_, userId: string) => {
    const name = names.get(userId)
    return name === undefined ? `@${deletedUserName}` : toMention({ userId, name })
  })
}

/** A mention of a person. The name is escaped as the text of a link in Markdown (CommonMark 0.31 §2.4). */
export function toMention({ userId, name }: { userId: string; name: string }): string {
  return `[@${name.replace(/[\\[\]*_`<&]/g, '\\$&')}](user:${userId})`
}
