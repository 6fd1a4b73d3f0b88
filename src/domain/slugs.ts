import { hash } from 'node:crypto'
import { errors } from '../kernel/errors.ts'

/** 3 to 48 characters: a to z, 0 to 9, and single hyphens between them. */
export const slugLengthMin = 3
export const slugLengthMax = 48
export const slugPattern = '^[a-z0-9]+(-[a-z0-9]+)*$'

// The first path segments of the API and the website, and words by which a workspace could impersonate the service.
const reservedSlugs = new Set(
  (
    'about account admin agent api app assets auth billing blog design docs favicon forgot health help home ' +
    'invite invites login logout mail mcp new notifications null oauth onboarding openapi pictures ' +
    'pricing privacy profile ready reset root security settings sign-in sign-out sign-up signin signout ' +
    'signup static status support system terms undefined unsubscribe verify verify-email well-known workspace ' +
    'workspaces www'
  ).split(' '),
)

/** Whether a text has the form of a slug. */
export function isSlug(text: string): boolean {
  return text.length >= slugLengthMin && text.length <= slugLengthMax && new RegExp(slugPattern).test(text)
}

/** Throws `slug_invalid` for text that is not a slug, and `slug_reserved` for a reserved slug. */
export function assertUsableSlug(slug: string): void {
  if (!isSlug(slug)) throw errors.slugInvalid({ field: 'slug' })
  if (isReservedSlug(slug)) throw errors.slugReserved({ field: 'slug' })
}

/** Whether a slug is reserved for the service. */
export function isReservedSlug(slug: string): boolean {
  return reservedSlugs.has(slug)
}

/**
 * Suggests a slug for a name, such as `cafe-zurich` for “Café Zürich”. It is always usable, but may be taken. A name in a
 * script that cannot be written with Latin letters gets a neutral slug.
 */
export async function suggestSlug(name: string): Promise<string> {
  // Its tables would take 20 ms of each start.
  const { default: transliterate } = await import('@sindresorhus/transliterate')
  // Without its marks, a letter is the one that people type: the library would write ü as ue, for German only.
  const letters = transliterate(name.slice(0, 200).normalize('NFKD').replace(/\p{M}/gu, '').normalize('NFC'))
  const words = letters.toLowerCase().match(/[a-z0-9]+/g) ?? []
  const slug = words.join('-').slice(0, slugLengthMax).replace(/-$/, '')
  if (isSlug(slug) && !isReservedSlug(slug)) return slug
  const ending = slug === '' ? hash('sha256', name).slice(0, 6) : slug
  return `team-${ending}`.slice(0, slugLengthMax)
}
