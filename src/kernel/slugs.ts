import { errors } from './errors.ts'

/** 3 to 48 of a-z, 0-9 and single hyphens, none at either end. */
export const slugLengthMin = 3
export const slugLengthMax = 48
export const slugPattern = '^[a-z0-9]+(-[a-z0-9]+)*$'

// The first path segments of the API and the website, and words that would let a workspace pass for the service.
const reservedSlugs = new Set([
  ...[
    'about',
    'account',
    'admin',
    'agent',
    'api',
    'app',
    'assets',
    'auth',
    'billing',
    'blog',
    'docs',
    'favicon',
  ],
  ...[
    'forgot',
    'health',
    'help',
    'home',
    'invite',
    'invites',
    'login',
    'logout',
    'mail',
    'mcp',
    'new',
    'oauth',
  ],
  ...[
    'onboarding',
    'openapi',
    'pictures',
    'pricing',
    'privacy',
    'profile',
    'ready',
    'reset',
    'root',
    'security',
  ],
  ...[
    'settings',
    'sign-in',
    'sign-out',
    'sign-up',
    'signin',
    'signout',
    'signup',
    'static',
    'status',
    'support',
  ],
  ...[
    'system',
    'terms',
    'undefined',
    'null',
    'verify',
    'verify-email',
    'well-known',
    'workspace',
    'workspaces',
    'www',
    'notifications',
  ],
])

/** Whether a text has the form of a slug. */
export function isSlug(text: string): boolean {
  return text.length >= slugLengthMin && text.length <= slugLengthMax && new RegExp(slugPattern).test(text)
}

/** Throws `slug_invalid` for what is no slug, and `slug_reserved` for one that no workspace may have. */
export function assertUsableSlug(slug: string): void {
  if (!isSlug(slug)) throw errors.slugInvalid({ field: 'slug' })
  if (isReservedSlug(slug)) throw errors.slugReserved({ field: 'slug' })
}

/** Whether a slug is one that no workspace may have. */
export function isReservedSlug(slug: string): boolean {
  return reservedSlugs.has(slug)
}
