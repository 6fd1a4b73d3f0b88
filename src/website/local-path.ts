const base = 'http://local.invalid'
// What browsers take out of URLs, or read as a slash: behind it a path could turn into another origin.
const misreadable = /[\\\p{Cc}]/u
const lengthMax = 2_000

/**
 * The path of this website that a text from outside leads to, or undefined. It begins with one slash: two would lead to
 * another origin, and everybody would trust the link that begins with ours.
 */
export function parseLocalPath(text: unknown): string | undefined {
  if (
    typeof text !== 'string' ||
    text.length > lengthMax ||
    !/^\/(?!\/)/.test(text) ||
    misreadable.test(text)
  )
    return undefined
  if (!URL.canParse(text, base)) return undefined
  const { origin, pathname, search } = new URL(text, base)
  return origin === base && !pathname.startsWith('//') ? pathname + search : undefined
}
