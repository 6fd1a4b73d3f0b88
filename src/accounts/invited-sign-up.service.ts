import type { Changes } from '../access/change.ts'
import {
  acceptInvite,
  assertPending,
  isSameAddress,
  type AcceptedInvite,
} from '../areas/invites/accept-invite.ts'
import { findInviteByToken } from '../areas/invites/received-invites.repository.ts'
import type { Database, Executor } from '../db/client.ts'
import type { EntryRules } from '../domain/accounts.ts'
import { describeBrowser } from '../kernel/browsers.ts'
import type { Clock } from '../kernel/clock.ts'
import { ApiError, errors } from '../kernel/errors.ts'
import { createId } from '../kernel/ids.ts'
import type { Principal, PrincipalUser } from '../domain/principal.ts'
import { requireName } from '../kernel/text.ts'
import { hashSecret } from '../kernel/tokens.ts'
import type { JobQueue } from '../platform/jobs/jobs.port.ts'
import type { PasswordHasher } from '../platform/passwords/passwords.port.ts'
import { findUserByEmail, insertUserIfNew, lockUser } from '../users/users.repository.ts'
import { deleteAccountTokens, upsertPassword } from './sign-in/credentials.repository.ts'
import {
  createPasskeyTickets,
  verifyCreation,
  type PasskeyAnswer,
  type PasskeyChallenge,
} from './passkeys/passkey-tickets.ts'
import { insertPasskey } from './passkeys/passkeys.repository.ts'
import type { SecretBox } from '../platform/secrets/app-secret.port.ts'
import { hashNewPassword } from './sign-in/set-password.ts'
import { startSession, type Browser, type StartedSession } from './sign-in/start-session.ts'
import { verifyWithoutPassword } from './sign-in/verify-without-password.ts'
import type { WebAuthn } from './passkeys/webauthn.ts'

/**
 * Signing up by the link of an invite that was mailed: whoever has it reads the mail of the address, so the link
 * verifies it (docs/design/accounts.md#the-mailed-link-of-an-invite). Links that the API returned do not.
 */
export interface InvitedSignUpService {
  /** Whether the link was mailed, can be accepted, and its address has no account with a verified address. */
  isOpen(token: string): Promise<boolean>
  /** A challenge for a new passkey. Throws as `signUp` does. */
  beginPasskey(token: string): Promise<PasskeyChallenge>
  /**
   * Creates an account with a verified address, or takes over one whose address nobody has verified, without the password
   * that somebody else may have chosen for it. Accepts the invite, and signs in. Throws `sign_up_disabled`, `not_found` if the link is unknown or
   * was not mailed, `email_taken` if the address has an account, `name_invalid`, `passwords_disabled`,
   * `password_unacceptable`, `password_common`, `passkey_refused`, and what accepting throws.
   */
  signUp(
    token: string,
    input: InvitedPerson,
    browser: Browser,
  ): Promise<StartedSession & { accepted: AcceptedInvite }>
}

/** How an invited person is called, and how they will sign in. */
export type InvitedPerson = { name: string } & ({ password: string } | { passkey: PasskeyAnswer })

export interface InvitedSignUpServiceOptions {
  db: Database
  clock: Clock
  changes: Changes
  jobs: JobQueue
  passwords: PasswordHasher
  secretBox: SecretBox
  webAuthn: WebAuthn
  entry: EntryRules
}

export function createInvitedSignUpService(options: InvitedSignUpServiceOptions): InvitedSignUpService {
  const { db, clock, changes, jobs, passwords, webAuthn, entry } = options
  const tickets = createPasskeyTickets(options)

  /** The invite of a mailed link, and the id of the account with an unverified address, or of none yet. */
  async function requireOpen(token: string) {
    if (entry.signUp === 'off') throw errors.signUpDisabled()
    const tokenHash = hashSecret(token)
    const find = (executor: Executor) => findInviteByToken(executor, tokenHash)
    const found = await find(db)
    if (found?.isMailed !== true) throw errors.notFound()
    assertPending(found, clock.now())
    const user = await findUserByEmail(db, found.email)
    if (user && user.emailVerifiedAt !== null) throw errors.emailTaken()
    return { found, find, userId: user?.id }
  }

  /** Checks what an invited person wants to sign in with. Returns the id of their account, and what stores it. */
  async function prepare(userId: string | undefined, input: InvitedPerson, person: Names) {
    if ('password' in input) {
      if (!entry.hasPasswords) throw errors.passwordsDisabled()
      const hash = await hashNewPassword(passwords, input.password, person)
      const store = (tx: Executor, id: string, now: Date) =>
        upsertPassword(tx, { userId: id, hash, changedAt: now })
      return { id: userId ?? createId(), store }
    }
    const ticket = tickets.open(input.passkey.ticket, userId)
    if (ticket.userId === null) throw errors.passkeyRefused()
    const created = await verifyCreation(webAuthn, input.passkey.credential, ticket)
    const store = async (tx: Executor, id: string, now: Date) => {
      await tickets.use(tx, ticket)
      const row = { id: createId(), userId: id, ...created, name: person.passkeyName, createdAt: now }
      await insertPasskey(tx, row)
    }
    return { id: ticket.userId, store }
  }

  return {
    async isOpen(token) {
      try {
        await requireOpen(token)
        return true
      } catch (error) {
        if (error instanceof ApiError) return false
        throw error
      }
    },

    async beginPasskey(token) {
      const { found, userId = createId() } = await requireOpen(token)
      const { email } = found
      const person = { id: userId, email, name: email, existing: [] }
      const { options: forBrowser, challenge } = await webAuthn.createRegistration(person)
      return { options: forBrowser, ticket: tickets.create(challenge, userId) }
    },

    async signUp(token, input, browser) {
      const { found, find, userId } = await requireOpen(token)
      const { email } = found
      const name = requireName(input.name)
      const passkeyName = describeBrowser(browser.userAgent)
      const { id, store } = await prepare(userId, input, { name, email, passkeyName })
      const user: PrincipalUser = { id, name, email, emailVerifiedAt: clock.now(), imageKey: null }
      const principal: Principal = { user, source: 'web', apiKeyId: null, sessionId: null, grantId: null }
      return changes.make(principal, async (context) => {
        const { tx, now } = context
        await insertUserIfNew(tx, { id, email, name, createdAt: now })
        const locked = await lockUser(tx, id)
        // Another account has the address by now, or somebody has verified it.
        if (locked?.emailVerifiedAt !== null || !isSameAddress(locked.email, email)) throw errors.emailTaken()
        await verifyWithoutPassword(tx, user, now)
        await deleteAccountTokens(tx, id)
        await store(tx, id, now)
        const accepted = await acceptInvite(context, { principal, found, find })
        return { ...(await startSession(tx, { user, browser, now, jobs })), accepted }
      })
    },
  }
}

interface Names {
  name: string
  email: string
  /** What a new passkey is called. */
  passkeyName: string
}
