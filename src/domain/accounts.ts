/** The purposes of the links that mails to users contain. */
export const accountTokenPurposes = ['verify_email', 'reset_password', 'sign_in'] as const

export type AccountTokenPurpose = (typeof accountTokenPurposes)[number]

/** Who gets a new account by themselves: anybody, only those who are invited or known elsewhere, or nobody. */
export const signUpPolicies = ['open', 'invited', 'off'] as const

/** Who may come in, as the operator has set it. */
export interface EntryRules {
  signUp: (typeof signUpPolicies)[number]
  /** Whether people choose passwords and sign in with them. */
  hasPasswords: boolean
  /** Whether people create workspaces, or only operators do. */
  hasWorkspaceCreation: boolean
}

/** What a person is told by mail about how they sign in. */
export type SecurityNotice =
  | 'two_step_on'
  | 'two_step_off'
  | 'two_step_off_by_operator'
  | 'recovery_codes_renewed'
  | 'recovery_code_used'
  | 'second_step_failed'
  | 'passkey_added'
  | 'passkey_removed'
  | 'provider_linked'
  | 'provider_unlinked'

/** The numbers of what gives access to an account besides its password, or could. */
export interface AccessCounts {
  apiKeyCount: number
  grantCount: number
  passkeyCount: number
  /** Accounts at identity providers. */
  identityCount: number
  /** Changes of the email address that wait for their link. */
  emailChangeCount: number
  /** Authenticator apps that are being set up. */
  unconfirmedAppCount: number
}

/** Replaces the name of a deleted user. */
export const deletedUserName = 'Deleted user'

/** The minimum length of a password. NIST SP 800-63B asks for length, not for kinds of characters. */
export const passwordLengthMin = 10
/** The maximum length of a password, which bounds the cost of hashing. */
export const passwordLengthMax = 200

/** Whether a password has an allowed length and four different characters, and is not the user's name or address. */
export function isAcceptablePassword(password: string, person: { name: string; email: string }): boolean {
  const length = Array.from(password).length
  if (length < passwordLengthMin || length > passwordLengthMax) return false
  if (new Set(password).size < 4) return false
  const lower = password.toLowerCase()
  return lower !== person.email.toLowerCase() && lower !== person.name.toLowerCase()
}

/** The lifetime of a session from its last use. */
export const sessionLifetimeMs = 30 * 24 * 60 * 60 * 1000
/** The lifetime of a session from its start, however often it is used. */
export const sessionLifetimeMaxMs = 90 * 24 * 60 * 60 * 1000
/** The most sessions of a person. Further ones end those that were used least recently. */
export const sessionsMax = 50
/** How long a browser is remembered after the last sign-in with it. */
export const browserKnownMs = 400 * 24 * 60 * 60 * 1000

/** How long a person can cancel the deletion of their account. Then it is deleted. */
export const deletionWaitMs = 7 * 24 * 60 * 60 * 1000
/** How long API keys may export and delete the account, once the person has allowed it. */
export const leavingAllowedMs = 10 * 60 * 1000
