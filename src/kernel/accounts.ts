/** What a link in a mail to a person is for. */
export const accountTokenPurposes = ['verify_email', 'reset_password', 'sign_in'] as const

export type AccountTokenPurpose = (typeof accountTokenPurposes)[number]

/** What stands for the name of somebody whose account was deleted. */
export const deletedUserName = 'Deleted user'

/** The shortest password (NIST SP 800-63B asks for length, not for kinds of characters). */
export const passwordLengthMin = 10
/** The longest password: more would only make work. */
export const passwordLengthMax = 200

/** Whether a text may be a password: long enough, and not what stands beside it on the form. */
export function isAcceptablePassword(password: string, person: { name: string; email: string }): boolean {
  const length = Array.from(password).length
  if (length < passwordLengthMin || length > passwordLengthMax) return false
  if (new Set(password).size < 4) return false
  const lower = password.toLowerCase()
  return lower !== person.email.toLowerCase() && lower !== person.name.toLowerCase()
}
