/** The longest address that SMTP can carry (RFC 5321 §4.5.3.1.3, less the angle brackets). */
export const emailLengthMax = 254

// The labels of the domain have no dot, so that each dot can be matched in one way only.
const emailPattern =
  /^[^\s@<>"(),:;\\[\]\p{C}]+@(?:[^\s@<>"(),:;\\[\]\p{C}.]+\.)+[^\s@<>"(),:;\\[\]\p{C}.]+$/u

/** An address as it is stored, or undefined for what cannot be one. Only mail that arrives proves that it is one. */
export function parseEmail(text: string): string | undefined {
  const email = text.trim()
  return email.length <= emailLengthMax && emailPattern.test(email) ? email : undefined
}
