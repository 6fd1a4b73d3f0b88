const base = 'http://local.invalid'
// Browsers strip these characters from URLs or read them as a slash, which could turn a path into another origin.
const unsafe = /[\\\p{Cc}]/u
const lengthMax = 2_000

/**
 * Returns the path on this website that an untrusted text names, or undefined. Prevents open redirects: a path that
 * begins with two slashes leads to another origin.
 */
export function parseLocalPath(text: unknown): string | undefined {
  if (typeof text !== 'string' || text.length > lengthMax || !/^\/(?!\/)/.test(text) || unsafe.test(text))
    return undefined
  if (!URL.canParse(text, base)) return undefined
  const { origin, pathname, search } = new URL(text, base)
  return origin === base && !pathname.startsWith('//') ? pathname + search : undefined
}
