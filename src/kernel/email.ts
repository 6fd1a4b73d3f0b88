import { parseDomain } from './domains.ts'

/** The maximum length of an address in SMTP (RFC 5321 §4.5.3.1.3, without the angle brackets). */
export const emailLengthMax = 254

// Labels exclude the dot, so that there is only one way to match: the time is linear.
const emailPattern =
  /^[^\s@<>"(),:;\\[\]\p{C}\p{Default_Ignorable_Code_Point}]+@(?:[^\s@<>"(),:;\\[\]\p{C}\p{Default_Ignorable_Code_Point}.]+\.)+[^\s@<>"(),:;\\[\]\p{C}\p{Default_Ignorable_Code_Point}.]+$/u

/**
 * The address as it is stored and as mail is sent to it, or undefined for text that is not an address, or that no mail can
 * reach. It is the rule for every address, whoever sends it. Only a mail that arrives shows that an address exists.
 */
export function parseEmail(text: string): string | undefined {
  const email = trimEmail(text)
  if (email.length > emailLengthMax || !emailPattern.test(email)) return undefined
  const canonical = canonicalizeEmail(email)
  return canonical !== undefined && isDeliverable(email, canonical) ? email : undefined
}

/** Drops white space and invisible characters, such as U+200B, at the ends of an address. They come with copied text. */
export function trimEmail(text: string): string {
  const characters = Array.from(text)
  const isPart = (character: string) => !/[\s\p{Default_Ignorable_Code_Point}]/u.test(character)
  return characters.slice(characters.findIndex(isPart), characters.findLastIndex(isPart) + 1).join('')
}

/** The domain of the addresses of service accounts, which no mail can reach (RFC 6761 §6.4). */
export const serviceDomain = 'service.invalid'

/** Whether a canonical domain is that of service accounts, or below it. Nobody else has an address there. */
export const isOfServices = (domain: string): boolean => `.${domain}`.endsWith(`.${serviceDomain}`)

/** Whether the parts have the lengths of SMTP and DNS, and the domain is a name: one that ends in a number is none. */
function isDeliverable(email: string, canonical: string): boolean {
  // RFC 5321 §4.5.3.1.1, in octets of UTF-8 (RFC 6531 §3.3); RFC 1035 §2.3.4.
  const localPart = email.slice(0, email.lastIndexOf('@'))
  const domain = canonical.slice(canonical.lastIndexOf('@') + 1)
  const labels = domain.split('.')
  return (
    Buffer.byteLength(localPart) <= 64 &&
    domain.length <= 253 &&
    labels.every((label) => label.length <= 63) &&
    !/^(?:\d+|0x[\da-f]*)$/.test(labels.at(-1) ?? '') &&
    !isOfServices(domain)
  )
}

/**
 * The canonical form of an address, by which addresses are compared: the local part in lower case and Unicode
 * Normalization Form KC (UAX #15), the domain in ASCII (IDNA, RFC 5890). Undefined for an address with a non-ASCII
 * character that would become ASCII, such as a Kelvin sign for a K: it would match the address of another person.
 */
export function canonicalizeEmail(email: string): string | undefined {
  if (Array.from(email).some(becomesAscii)) return undefined
  const at = email.lastIndexOf('@')
  const domain = canonicalizeDomain(email.slice(at + 1))
  return domain === undefined ? undefined : `${foldCase(email.slice(0, at))}@${domain}`
}

/** The domain of an address, in canonical form. */
export function canonicalDomainOf(email: string): string | undefined {
  return canonicalizeDomain(email.slice(email.lastIndexOf('@') + 1))
}

function canonicalizeDomain(domain: string): string | undefined {
  if (isAscii(domain) && !/(^|\.)xn--/i.test(domain)) return domain.toLowerCase()
  const labels = parseDomain(domain)?.split('.')
  const given = domain.split('.')
  const isFaithful =
    labels?.length === given.length &&
    given.every((label, i) => isAscii(label) || labels[i]?.startsWith('xn--') === true)
  return isFaithful ? labels.join('.') : undefined
}

// Character by character: in a longer text, the lower case of a Greek sigma depends on the letters around it.
function foldCase(text: string): string {
  const folded = Array.from(text.normalize('NFKC'), (character) => character.toLowerCase())
  return folded.join('').normalize('NFKC')
}

function becomesAscii(character: string): boolean {
  return !isAscii(character) && /\p{ASCII}/u.test(foldCase(character))
}

function isAscii(text: string): boolean {
  return /^\p{ASCII}*$/u.test(text)
}
