import { parseDomain } from './domains.ts'

/** The longest address that SMTP can carry (RFC 5321 §4.5.3.1.3, less the angle brackets). */
export const emailLengthMax = 254

// The labels of the domain have no dot, so that each dot can be matched in one way only.
const emailPattern =
  /^[^\s@<>"(),:;\\[\]\p{C}\p{Default_Ignorable_Code_Point}]+@(?:[^\s@<>"(),:;\\[\]\p{C}\p{Default_Ignorable_Code_Point}.]+\.)+[^\s@<>"(),:;\\[\]\p{C}\p{Default_Ignorable_Code_Point}.]+$/u

/**
 * An address as it is stored and mail is sent to, or undefined for what cannot be one. Only mail that arrives proves that
 * it is one.
 */
export function parseEmail(text: string): string | undefined {
  const email = text.trim()
  const isEmail = email.length <= emailLengthMax && emailPattern.test(email)
  return isEmail && canonicalizeEmail(email) !== undefined ? email : undefined
}

/**
 * The form by which addresses are compared, the same for all spellings of one: the local part in lower case and Unicode
 * Normalization Form KC (UAX #15), the domain in ASCII (IDNA, RFC 5890). Undefined for an address in other characters
 * that would come to one in ASCII, such as one with a Kelvin sign for a K: it belongs to somebody else.
 */
export function canonicalizeEmail(email: string): string | undefined {
  if (Array.from(email).some(becomesAscii)) return undefined
  const at = email.lastIndexOf('@')
  const domain = canonicalizeDomain(email.slice(at + 1))
  return domain === undefined ? undefined : `${foldCase(email.slice(0, at))}@${domain}`
}

/** The domain of an address, in its canonical form. */
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

// Character by character: in a whole text, the lower case of a Greek sigma depends on what stands beside it.
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
