import { domainToASCII, domainToUnicode } from 'node:url'
import emailProviders from 'email-providers'

const hostname = /^(?=.{1,253}$)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]([a-z0-9-]{0,61}[a-z0-9])?$/

/** The maximum length of a list of email domains. */
export const domainsLengthMax = 4096

/**
 * Parses a list of email domains: separated by commas or white space, with or without a leading `@`, in any script.
 * Returns each one once, in lower case and ASCII (IDNA, RFC 5890), and `undefined` for an invalid one.
 */
export function parseDomains(text: string): (string | undefined)[] {
  const parts = text.split(/[\s,]+/u).filter((part) => part !== '')
  return [...new Set(parts.map(parseDomain))]
}

// These end a host in a URL, or are decoded in one: `domainToASCII` would return only a part of the text.
const urlSyntax = /[/\\?#:%]/

/** Parses one domain of such a list. Returns undefined for an invalid one. */
export function parseDomain(text: string): string | undefined {
  if (urlSyntax.test(text)) return undefined
  const domain = domainToASCII(text.replace(/^@/, '').toLowerCase())
  // A label that stays encoded is invalid (RFC 5891 §5.4). Not every version of Node.js refuses it above.
  const isDecodable = !/(^|\.)xn--/.test(domainToUnicode(domain))
  return hostname.test(domain) && isDecodable ? domain : undefined
}

// The package also lists the domains reserved for examples (RFC 2606 §3), where nobody can get an address.
const exampleDomains = new Set(['example.com', 'example.net', 'example.org'])
const publicMailDomains = new Set(emailProviders.filter((domain) => !exampleDomains.has(domain)))

/** Whether a domain, as `parseDomains` returns it, belongs to an email service where anybody can get an address. */
export function isPublicMailDomain(domain: string): boolean {
  return publicMailDomains.has(domain)
}
