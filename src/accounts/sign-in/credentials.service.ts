import { linkUrlOf } from '../../domain/links.ts'
import { requireLiveCredential } from '../../access/live-credential.repository.ts'
import type { Database, Executor } from '../../db/client.ts'
import type { AccountTokenPurpose, EntryRules } from '../../domain/accounts.ts'
import type { Clock } from '../../kernel/clock.ts'
import { parseEmail } from '../../kernel/email.ts'
import { errors } from '../../kernel/errors.ts'
import { createId } from '../../kernel/ids.ts'
import type { Principal, RequestOfVisitor } from '../../domain/principal.ts'
import { requireName } from '../../kernel/text.ts'
import { createToken, hashSecret } from '../../kernel/tokens.ts'
import type { ExternalIdentity } from '../../platform/identity/identity.port.ts'
import type { JobQueue } from '../../platform/jobs/jobs.port.ts'
import type { PasswordHasher } from '../../platform/passwords/passwords.port.ts'
import { insertUserIfNew, lockUser, type UserRow } from '../../users/users.repository.ts'
import {
  consumeAccountToken,
  deleteAccountTokens,
  findAccountToken,
  findChosenPassword,
  findIdentityUser,
  findPasswordHash,
  findUserWithPassword,
  insertAccountToken,
  insertPasswordOfUser,
  markEmailVerified,
  rehashPassword,
} from './credentials.repository.ts'
import { deleteUnlessExpected } from './admission.repository.ts'
import { requireAdmission } from './admission.ts'
import { deletePendingSignInsOfUser } from '../second-factor/second-factor.repository.ts'
import { renewSessionOf } from '../sessions/prove-session.ts'
import { deleteSessionsOfUser } from '../sessions/sessions.repository.ts'
import type { LinkDelay } from './link-delay.ts'
import { linkIdentity, withAddressOfLink } from './link-identity.ts'
import { hashNewPassword, setPassword } from './set-password.ts'
import { verifyWithoutPassword } from './verify-without-password.ts'
import { startSignIn, type Browser, type SignInResult } from './start-session.ts'

/** The person whom a link was sent to. */
export interface LinkOwner {
  name: string
  email: string
}

/** A link that a command prints for an operator. */
export interface PrintedLink {
  url: string
  expiresAt: Date
}

export interface CredentialsService {
  /**
   * Creates an account with an unverified email address and sends a mail. If the address already has an account, it
   * changes nothing and the mail says so; result and timing do not reveal it. So does the mail to an address that is not
   * expected, if only those who are may sign up. Throws `sign_up_disabled`, `email_invalid`, `name_invalid`,
   * `password_unacceptable` and `password_common`.
   */
  signUp(
    input: { name: string; email: string; password: string },
    browser?: Pick<Browser, 'browserToken' | 'requestId'>,
  ): Promise<void>
  /**
   * Signs in. If the email address is not verified, sends another mail and returns undefined. Throws `sign_in_failed`,
   * after the same work for an unknown address as for a wrong password, and with the right one `sign_up_disabled` and
   * `invite_required` if the person may not come in.
   */
  signIn(input: { email: string; password: string }, browser: Browser): Promise<SignInResult | undefined>
  /** Sends a link to an email address if it has an account; the result does not reveal it. Throws `email_invalid`. */
  requestLink(purpose: AccountTokenPurpose, email: string, request: RequestOfVisitor): Promise<void>
  /**
   * Finds the person of a link without consuming it, since mail scanners open links. Throws `link_invalid`, and
   * `sign_up_disabled` or `invite_required` if the address was never verified and may not come in, `account_suspended` for
   * a link to a new password. So does whatever uses a link.
   */
  findLinkOwner(purpose: AccountTokenPurpose, token: string): Promise<LinkOwner>
  /**
   * Whether the link that verifies an address requires the password: not in the browser in which it was chosen. Throws
   * `link_invalid`.
   */
  needsPassword(token: string, browser: Browser): Promise<boolean>
  /**
   * Verifies the email address and signs in. Requires the password where `needsPassword`, since somebody else may have
   * signed up with the address. Throws `link_invalid` and `password_wrong`.
   */
  verifyEmail(token: string, input: { password: string }, browser: Browser): Promise<SignInResult>
  /**
   * Sets a new password, ends all sessions and invalidates all links; with `revokeAccess`, also revokes whatever
   * else gives access. Throws `link_invalid`, `password_unacceptable` and `password_common`.
   */
  resetPassword(
    token: string,
    input: { password: string; revokeAccess?: boolean },
    request: RequestOfVisitor,
  ): Promise<void>
  /** Consumes a link and signs in. Throws `link_invalid`. */
  signInByLink(token: string, browser: Browser): Promise<SignInResult>
  /**
   * Signs in with an identity provider. The first time, the person is found by email address, or created. Throws `identity_unverified` if the provider has not verified that address, and
   * `identity_unlinked` if the person has unlinked the account.
   */
  signInByIdentity(identity: ExternalIdentity, browser: Browser): Promise<SignInResult>
  /** Creates a link for an operator to hand over. It works once, within 24 hours. */
  createLink(purpose: AccountTokenPurpose, userId: string): Promise<PrintedLink>
  hasPassword(principal: Principal): Promise<boolean>
  /**
   * Ends all sessions of a person, the sign-ins that wait for their second step, and the links that were sent. Returns the
   * number of sessions. For operators.
   */
  signOutEverywhere(userId: string): Promise<number>
  /**
   * Changes the password, ends all other sessions and invalidates all links; with `revokeAccess`, also revokes
   * whatever else gives access. Throws `password_wrong`, `password_unacceptable`, `password_common`, and `sign_in_required` if the
   * session has ended meanwhile.
   */
  changePassword(
    principal: Principal,
    input: { currentPassword: string; password: string; revokeAccess?: boolean },
  ): Promise<void>
}

export interface CredentialsServiceOptions {
  db: Database
  clock: Clock
  jobs: JobQueue
  passwords: PasswordHasher
  linkDelay: LinkDelay
  entry: EntryRules
  /** The origin of the website. */
  webUrl: string
}

const printedLinkLifetimeMs = 24 * 60 * 60 * 1000

/**
 * The credentials of people on the website: passwords, links and identity providers. Without passwords, all that is about
 * one throws `passwords_disabled`.
 */
export function createCredentialsService(options: CredentialsServiceOptions): CredentialsService {
  const { db, clock, jobs, passwords, linkDelay, webUrl } = options
  const { signUp, hasPasswords } = options.entry

  /** A malformed address never reaches the database, which rejects some characters. */
  async function findByAddress(text: string) {
    const email = parseEmail(text)
    return email === undefined ? undefined : findUserWithPassword(db, email)
  }

  async function sendLink(
    executor: Executor,
    link: { purpose: AccountTokenPurpose; email: string; isOfInvited?: boolean },
    requestId: string | undefined,
  ): Promise<void> {
    await jobs.enqueue(executor, 'send_account_mail', link, { requestId, delaySeconds: linkDelay() })
  }

  /** All links but those that sign in are about a password. */
  function assertUsable(purpose: AccountTokenPurpose): void {
    if (purpose !== 'sign_in' && !hasPasswords) throw errors.passwordsDisabled()
  }

  /** A link to a new password is all that there is to prove. The other links sign in, which is refused at the end. */
  function assertNotSuspended(purpose: AccountTokenPurpose, { suspendedAt }: UserRow): void {
    if (purpose === 'reset_password' && suspendedAt !== null) throw errors.accountSuspended()
  }

  async function requireLink(purpose: AccountTokenPurpose, token: string): Promise<UserRow> {
    assertUsable(purpose)
    const link = await findAccountToken(db, { tokenHash: hashSecret(token), purpose, now: clock.now() })
    if (!link) throw errors.linkInvalid()
    assertNotSuspended(purpose, link.user)
    return admit(db, link.user, link.email)
  }

  /** Consumes a link and locks its person. Throws as `findLinkOwner` does. */
  async function consumeLink(tx: Executor, purpose: AccountTokenPurpose, token: string): Promise<UserRow> {
    const link = await consumeAccountToken(tx, {
      tokenHash: hashSecret(token),
      purpose,
      now: clock.now(),
    })
    const user = link && (await lockUser(tx, link.userId))
    if (!user) throw errors.linkInvalid()
    assertNotSuspended(purpose, user)
    return admit(tx, user, link.email)
  }

  /** The person of a link, with its address. An operator who hands over a link admits its person. */
  async function admit(executor: Executor, user: UserRow, email: string | null): Promise<UserRow> {
    if (email !== null) await requireAdmission(executor, user, { signUp, now: clock.now() })
    return withAddressOfLink(user, email)
  }

  return {
    async signUp(input, browser) {
      if (signUp === 'off') throw errors.signUpDisabled()
      if (!hasPasswords) throw errors.passwordsDisabled()
      const email = parseEmail(input.email)
      if (email === undefined) throw errors.emailInvalid({ field: 'email' })
      const name = requireName(input.name)
      const hash = await hashNewPassword(passwords, input.password, { name, email })
      await db.transaction(async (tx) => {
        const now = clock.now()
        const user = { id: createId(), email, name, createdAt: now }
        // The same statements whether or not the address has an account, so that the time does not reveal it.
        await insertUserIfNew(tx, user)
        if (signUp === 'invited') await deleteUnlessExpected(tx, user)
        const browserHash = browser ? hashSecret(browser.browserToken) : null
        await insertPasswordOfUser(tx, { userId: user.id, hash, changedAt: now, browserHash })
        const isOfInvited = signUp === 'invited'
        const link = { purpose: 'verify_email' as const, email, ...(isOfInvited && { isOfInvited }) }
        await sendLink(tx, link, browser?.requestId)
      })
    },

    async signIn({ email, password }, browser) {
      if (!hasPasswords) throw errors.passwordsDisabled()
      const found = await findByAddress(email)
      const hash = found?.hash ?? undefined
      const isRight = await passwords.verify(hash, password)
      if (!found || hash === undefined || !isRight) throw errors.signInFailed({ field: 'password' })
      const { user } = found
      const rehashed = passwords.isOutdated(hash) ? await passwords.hash(password) : undefined
      return db.transaction(async (tx) => {
        const locked = await lockUser(tx, user.id)
        // The password was changed while it was checked. That ended all sessions, and must not allow a new one.
        if (!locked || (await findPasswordHash(tx, user.id)) !== hash)
          throw errors.signInFailed({ field: 'password' })
        if (rehashed !== undefined) await rehashPassword(tx, user.id, rehashed)
        if (locked.emailVerifiedAt === null) {
          // The mail would not be sent.
          if (locked.suspendedAt !== null) throw errors.accountSuspended()
          await requireAdmission(tx, locked, { signUp, now: clock.now() })
          await sendLink(tx, { purpose: 'verify_email', email: email.trim() }, browser.requestId)
          return undefined
        }
        return startSignIn(tx, { user: locked, browser, now: clock.now(), jobs })
      })
    },

    async requestLink(purpose, text, { requestId }) {
      assertUsable(purpose)
      const email = parseEmail(text)
      if (email === undefined) throw errors.emailInvalid({ field: 'email' })
      await sendLink(db, { purpose, email }, requestId)
    },

    async findLinkOwner(purpose, token) {
      const { name, email } = await requireLink(purpose, token)
      return { name, email }
    },

    async needsPassword(token, browser) {
      const { id } = await requireLink('verify_email', token)
      return !isChosenIn(await findChosenPassword(db, id), browser)
    },

    async verifyEmail(token, { password }, browser) {
      const { id } = await requireLink('verify_email', token)
      const chosen = await findChosenPassword(db, id)
      if (!isChosenIn(chosen, browser) && !(await passwords.verify(chosen?.hash, password)))
        throw errors.passwordWrong({ field: 'password' })
      return db.transaction(async (tx) => {
        const user = await consumeLink(tx, 'verify_email', token)
        if ((await findPasswordHash(tx, id)) !== chosen?.hash)
          throw errors.passwordWrong({ field: 'password' })
        const now = clock.now()
        await markEmailVerified(tx, user, now)
        await deleteAccountTokens(tx, user.id, 'verify_email')
        return startSignIn(tx, { user: { ...user, emailVerifiedAt: now }, browser, now, jobs })
      })
    },

    async resetPassword(token, { password, revokeAccess }, { requestId }) {
      const owner = await requireLink('reset_password', token)
      const hash = await hashNewPassword(passwords, password, owner)
      await db.transaction(async (tx) => {
        const user = await consumeLink(tx, 'reset_password', token)
        const now = clock.now()
        await markEmailVerified(tx, user, now)
        await setPassword(tx, user, { hash, revokeAccess }, { now, jobs, requestId })
      })
    },

    signInByLink: (token, browser) =>
      db.transaction(async (tx) => {
        const user = await consumeLink(tx, 'sign_in', token)
        const now = clock.now()
        if (user.emailVerifiedAt === null) await verifyWithoutPassword(tx, user, now)
        return startSignIn(tx, { user: { ...user, emailVerifiedAt: now }, browser, now, jobs })
      }),

    signInByIdentity: (identity, browser) =>
      db.transaction(async (tx) => {
        const now = clock.now()
        const known = await findIdentityUser(tx, identity)
        // An account that was unlinked must not be linked again by its email address.
        if (known?.unlinkedAt) throw errors.identityUnlinked()
        const user =
          known?.user ??
          (await linkIdentity(tx, identity, { now, jobs, signUp, requestId: browser.requestId }))
        return startSignIn(tx, { user, browser, now, jobs })
      }),

    async createLink(purpose, userId) {
      assertUsable(purpose)
      const token = createToken()
      const expiresAt = new Date(clock.now().getTime() + printedLinkLifetimeMs)
      await insertAccountToken(db, { tokenHash: hashSecret(token), userId, purpose, expiresAt })
      return { url: linkUrlOf(webUrl, purpose, token), expiresAt }
    },

    hasPassword: async ({ user }) => hasPasswords && (await findPasswordHash(db, user.id)) !== undefined,

    signOutEverywhere: (userId) =>
      db.transaction(async (tx) => {
        await lockUser(tx, userId)
        await deletePendingSignInsOfUser(tx, userId)
        await deleteAccountTokens(tx, userId)
        return deleteSessionsOfUser(tx, userId)
      }),

    async changePassword(principal, { currentPassword, password, revokeAccess }) {
      if (!hasPasswords) throw errors.passwordsDisabled()
      const { user, sessionId } = principal
      const before = await findPasswordHash(db, user.id)
      const isRight = await passwords.verify(before, currentPassword)
      if (!isRight) throw errors.passwordWrong({ field: 'currentPassword' })
      const hash = await hashNewPassword(passwords, password, user)
      await db.transaction(async (tx) => {
        await lockUser(tx, user.id)
        const now = clock.now()
        await requireLiveCredential(tx, principal, now)
        if ((await findPasswordHash(tx, user.id)) !== before)
          throw errors.passwordWrong({ field: 'currentPassword' })
        const change = { hash, exceptSessionId: sessionId ?? undefined, revokeAccess }
        await setPassword(tx, user, change, { now, jobs, requestId: principal.requestId })
        await renewSessionOf(tx, principal, { at: now })
      })
    },
  }
}

/** Whether a password was chosen at sign-up in a browser, which then need not enter it again. */
function isChosenIn(chosen: { browserHash: Buffer | null } | undefined, { browserToken }: Browser): boolean {
  return chosen?.browserHash?.equals(hashSecret(browserToken)) === true
}
