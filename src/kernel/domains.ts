import { domainToASCII, domainToUnicode } from 'node:url'
import emailProviders from 'email-providers'

const hostname = /^(?=.{1,253}$)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]([a-z0-9-]{0,61}[a-z0-9])?$/

/**
 * The mail domains of a text in which people list them: separated by commas or white space, with or without a leading
 * `@`, in any script. Each is given in lower case and in its ASCII form (IDNA, RFC 5890), once; `undefined` stands for
 * one that is no domain.
 */
export function parseDomains(text: string): (string | undefined)[] {
  const parts = text.split(/[\s,]+/u).filter((part) => part !== '')
  return [...new Set(parts.map(parseDomain))]
}

// What ends a host in a URL, or is decoded in one: `domainToASCII` would take what comes before it, or behind it.
const urlSyntax = /[/\\?#:%]/

/** One domain of such a text, or undefined for what is none. */
export function parseDomain(text: string): string | undefined {
  if (urlSyntax.test(text)) return undefined
  const domain = domainToASCII(text.replace(/^@/, '').toLowerCase())
  // A label that stays encoded decodes to nothing (RFC 5891 §5.4); not every Node.js refuses it above.
  const isDecodable = !/(^|\.)xn--/.test(domainToUnicode(domain))
  return hostname.test(domain) && isDecodable ? domain : undefined
}

// The list also has the domains that are reserved for examples (RFC 2606 §3), where nobody can have an address.
const exampleDomains = new Set(['example.com', 'example.net', 'example.org'])
const publicMailDomains = new Set(emailProviders.filter((domain) => !exampleDomains.has(domain)))

/** Whether a domain, as `parseDomains` gives it, is that of a mail service where anybody can have an address. */
export function isPublicMailDomain(domain: string): boolean {
  return publicMailDomains.has(domain)
}
