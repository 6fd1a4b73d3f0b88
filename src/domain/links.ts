import type { AccountTokenPurpose } from './accounts.ts'

// Where the links in mails lead, and how long they work.

/** The lifetime of a mailed link, by purpose. */
export const linkLifetimeMs: Readonly<Record<AccountTokenPurpose, number>> = {
  verify_email: 24 * 60 * 60 * 1000,
  reset_password: 60 * 60 * 1000,
  sign_in: 15 * 60 * 1000,
}
/** How long a link that ended without being used is remembered, with an account that it did not verify. */
export const endedLinkKeptMs = 7 * 24 * 60 * 60 * 1000
/** How long the link to a new address works. */
export const emailChangeLifetimeMs = 24 * 60 * 60 * 1000
/** How long an invite can be accepted. */
export const inviteLifetimeMs = 7 * 24 * 60 * 60 * 1000

const linkPaths: Record<AccountTokenPurpose, string> = {
  verify_email: '/verify-email/',
  reset_password: '/reset/',
  sign_in: '/sign-in/link/',
}

/** The URL of a link to the website. */
export function linkUrlOf(webUrl: string, purpose: AccountTokenPurpose, token: string): string {
  return `${webUrl}${linkPaths[purpose]}${token}`
}

/** The page where people choose which mails they get. */
export function mailSettingsUrlOf(webUrl: string): string {
  return `${webUrl}/settings/notifications`
}

/** The page of an invite, where it is accepted. */
export function inviteUrlOf(webUrl: string, token: string): string {
  return `${webUrl}/invites/${token}`
}

// The tokens of links are longer than 32 characters. Paths of programs are left as they are.
const spoiledLink = /^(\/(?!v1\/|agent\/)[a-z/-]+\/[\w-]{32,})(?:[^\w\-/?#%]|%[\da-f]{2}|\/)+(?=[?#]|$)/i

/**
 * The URL of a request without what has been added behind the token of a link: mail programs make the end of a sentence a
 * part of the link, such as a full stop or a bracket. No token has these characters.
 */
export function repairLink(url: string): string {
  return url.replace(spoiledLink, '$1')
}
