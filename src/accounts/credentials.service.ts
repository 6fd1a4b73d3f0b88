import { requireLiveCredential } from '../access/live-credential.repository.ts'
import { appendEvent } from '../areas/events/events.repository.ts'
import type { Database, Executor } from '../db/client.ts'
import { isAcceptablePassword, type AccountTokenPurpose } from '../kernel/accounts.ts'
import type { Clock } from '../kernel/clock.ts'
import { parseEmail } from '../kernel/email.ts'
import { errors } from '../kernel/errors.ts'
import { createId } from '../kernel/ids.ts'
import type { Principal, PrincipalUser } from '../kernel/principal.ts'
import { nameLengthMax, parseLine, requireName } from '../kernel/text.ts'
import { createToken, hashSecret } from '../kernel/tokens.ts'
import type { ExternalIdentity } from '../platform/identity/identity.port.ts'
import type { JobQueue } from '../platform/jobs/jobs.port.ts'
import type { PasswordHasher } from '../platform/passwords/passwords.port.ts'
import { endGrantsOfUser, revokeApiKeysOfUser } from './access-of-person.repository.ts'
import { findUserByEmail, insertUserIfNew, type UserRow } from './accounts.repository.ts'
import {
  consumeAccountToken,
  deleteAccountTokens,
  deletePassword,
  findAccountToken,
  findIdentityUser,
  findPasswordHash,
  findUserWithPassword,
  insertAccountToken,
  insertIdentityIfNew,
  insertPasswordOfUser,
  lockUser,
  markEmailVerified,
  rehashPassword,
  upsertPassword,
} from './credentials.repository.ts'
import { deleteSessionsOfUser } from './sessions.repository.ts'
import { startSession, type Browser } from './start-session.ts'

/** Whom the link of a mail is for. */
export interface LinkOwner {
  name: string
  email: string
}

/** A link that an operator hands over. */
export interface HandedLink {
  url: string
  expiresAt: Date
}

export interface CredentialsService {
  /**
   * Makes an account that waits for its address to be proven, and has a mail sent. Where there is an account already,
   * only the mail tells: the work is the same. Throws `email_invalid`, `name_invalid`, `password_unacceptable` and
   * `password_common`.
   */
  signUp(input: { name: string; email: string; password: string }): Promise<void>
  /**
   * Signs in; returns the new session's token, or undefined for somebody who has yet to prove the address and is sent
   * another mail. Throws `sign_in_failed`, after as much work for an unknown address as for a wrong password.
   */
  signIn(input: { email: string; password: string }, browser: Browser): Promise<string | undefined>
  /** Has a mail with a link sent, to whoever has the address; nobody learns whether anybody has. */
  requestLink(purpose: AccountTokenPurpose, email: string): Promise<void>
  /** Whose a link is. Looking does not use it up: what reads mail before people do may follow links. Throws `link_invalid`. */
  findLinkOwner(purpose: AccountTokenPurpose, token: string): Promise<LinkOwner>
  /**
   * Proves the address and signs in, for whoever has the link and knows the password: somebody may have signed up with
   * the address of another. Throws `link_invalid` and `password_wrong`.
   */
  verifyEmail(token: string, input: { password: string }, browser: Browser): Promise<string>
  /**
   * Sets a new password and ends all sessions and links; with `revokeAccess` all API keys and agents' access as well.
   * Throws `link_invalid`, `password_unacceptable` and `password_common`.
   */
  resetPassword(token: string, input: { password: string; revokeAccess?: boolean }): Promise<void>
  /** Signs in whoever has the link. Throws `link_invalid`. */
  signInByLink(token: string, browser: Browser): Promise<string>
  /**
   * Signs in whom a provider vouches for; returns the new session's token. The first time it is the address that tells
   * who it is, so the provider has to have verified it. Throws `identity_unverified`.
   */
  signInByIdentity(identity: ExternalIdentity, browser: Browser): Promise<string>
  /** Makes a link that is not mailed but handed over by an operator. It works once, within a day. */
  createLink(purpose: AccountTokenPurpose, userId: string): Promise<HandedLink>
  hasPassword(principal: Principal): Promise<boolean>
  /**
   * Ends all sessions but the one it is changed in; with `revokeAccess` all API keys and agents' access as well. Throws
   * `password_wrong`, `password_unacceptable` and `password_common`.
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
  /** Where the website is. */
  webUrl: string
}

/** How long each kind of link works. */
export const linkLifetimeMs: Readonly<Record<AccountTokenPurpose, number>> = {
  verify_email: 24 * 60 * 60 * 1000,
  reset_password: 60 * 60 * 1000,
  sign_in: 15 * 60 * 1000,
}
const handedLinkLifetimeMs = 24 * 60 * 60 * 1000

const linkPaths: Record<AccountTokenPurpose, string> = {
  verify_email: '/verify-email/',
  reset_password: '/reset/',
  sign_in: '/sign-in/link/',
}

/** The page of the website that a link leads to. */
export function linkUrlOf(webUrl: string, purpose: AccountTokenPurpose, token: string): string {
  return `${webUrl}${linkPaths[purpose]}${token}`
}

/** How people of the website prove who they are. */
export function createCredentialsService(options: CredentialsServiceOptions): CredentialsService {
  const { db, clock, jobs, passwords, webUrl } = options

  /** What cannot be an address is nobody's, and may hold what the database cannot compare with. */
  async function findByAddress(text: string) {
    const email = parseEmail(text)
    return email === undefined ? undefined : findUserWithPassword(db, email)
  }

  async function assertAcceptable(password: string, person: { name: string; email: string }) {
    const field = 'password'
    if (!isAcceptablePassword(password, person)) throw errors.passwordUnacceptable({ field })
    if (await passwords.isCommon(password)) throw errors.passwordCommon({ field })
  }

  async function requireLink(purpose: AccountTokenPurpose, token: string): Promise<UserRow> {
    const link = await findAccountToken(db, { tokenHash: hashSecret(token), purpose, now: clock.now() })
    if (!link) throw errors.linkInvalid()
    return withAddressOfLink(link.user, link.email)
  }

  /** Uses a link up; returns its person, locked. */
  async function consumeLink(tx: Executor, purpose: AccountTokenPurpose, token: string): Promise<UserRow> {
    const link = await consumeAccountToken(tx, {
      tokenHash: hashSecret(token),
      purpose,
      now: clock.now(),
    })
    const user = link && (await lockUser(tx, link.userId))
    if (!user) throw errors.linkInvalid()
    return withAddressOfLink(user, link.email)
  }

  async function setPassword(
    tx: Executor,
    user: PrincipalUser,
    change: { hash: string; exceptSessionId?: string | undefined; revokeAccess?: boolean | undefined },
  ) {
    const { hash, exceptSessionId, revokeAccess: isAccessRevoked = false } = change
    await upsertPassword(tx, { userId: user.id, hash, changedAt: clock.now() })
    await deleteSessionsOfUser(tx, user.id, exceptSessionId)
    await deleteAccountTokens(tx, user.id)
    if (isAccessRevoked) await revokeAccess(tx, user, clock.now())
    await jobs.enqueue(tx, 'send_password_changed', { userId: user.id, isAccessRevoked })
  }

  return {
    async signUp(input) {
      const email = parseEmail(input.email)
      if (email === undefined) throw errors.emailInvalid({ field: 'email' })
      const name = requireName(input.name)
      await assertAcceptable(input.password, { name, email })
      const hash = await passwords.hash(input.password)
      await db.transaction(async (tx) => {
        const now = clock.now()
        const user = { id: createId(), email, name, createdAt: now }
        // The same statements whether anybody has the address: how long they take must not tell.
        await insertUserIfNew(tx, user)
        await insertPasswordOfUser(tx, { userId: user.id, hash, changedAt: now })
        await jobs.enqueue(tx, 'send_account_mail', { purpose: 'verify_email', email })
      })
    },

    async signIn({ email, password }, browser) {
      const found = await findByAddress(email)
      const hash = found?.hash ?? undefined
      const isRight = await passwords.verify(hash, password)
      if (!found || hash === undefined || !isRight) throw errors.signInFailed({ field: 'password' })
      const { user } = found
      const rehashed = passwords.isOutdated(hash) ? await passwords.hash(password) : undefined
      return db.transaction(async (tx) => {
        const locked = await lockUser(tx, user.id)
        // Changed while it was checked: a session made now would outlive those that the change ended.
        if (!locked || (await findPasswordHash(tx, user.id)) !== hash)
          throw errors.signInFailed({ field: 'password' })
        if (rehashed !== undefined) await rehashPassword(tx, user.id, rehashed)
        if (locked.emailVerifiedAt === null) {
          await jobs.enqueue(tx, 'send_account_mail', { purpose: 'verify_email', email: email.trim() })
          return undefined
        }
        return startSession(tx, { user: locked, browser, now: clock.now(), jobs })
      })
    },

    async requestLink(purpose, text) {
      const email = parseEmail(text)
      if (email === undefined) throw errors.emailInvalid({ field: 'email' })
      await jobs.enqueue(db, 'send_account_mail', { purpose, email })
    },

    async findLinkOwner(purpose, token) {
      const { name, email } = await requireLink(purpose, token)
      return { name, email }
    },

    async verifyEmail(token, { password }, browser) {
      const { id } = await requireLink('verify_email', token)
      const hash = await findPasswordHash(db, id)
      if (!(await passwords.verify(hash, password))) throw errors.passwordWrong({ field: 'password' })
      return db.transaction(async (tx) => {
        const user = await consumeLink(tx, 'verify_email', token)
        if ((await findPasswordHash(tx, id)) !== hash) throw errors.passwordWrong({ field: 'password' })
        const now = clock.now()
        await markEmailVerified(tx, user, now)
        await deleteAccountTokens(tx, user.id, 'verify_email')
        return startSession(tx, { user: { ...user, emailVerifiedAt: now }, browser, now, jobs })
      })
    },

    async resetPassword(token, { password, revokeAccess }) {
      const owner = await requireLink('reset_password', token)
      await assertAcceptable(password, owner)
      const hash = await passwords.hash(password)
      await db.transaction(async (tx) => {
        const user = await consumeLink(tx, 'reset_password', token)
        await markEmailVerified(tx, user, clock.now())
        await setPassword(tx, user, { hash, revokeAccess })
      })
    },

    signInByLink: (token, browser) =>
      db.transaction(async (tx) => {
        const user = await consumeLink(tx, 'sign_in', token)
        const now = clock.now()
        if (user.emailVerifiedAt === null) await proveAddress(tx, user, now)
        return startSession(tx, { user: { ...user, emailVerifiedAt: now }, browser, now, jobs })
      }),

    signInByIdentity: (identity, browser) =>
      db.transaction(async (tx) => {
        const now = clock.now()
        const known = await findIdentityUser(tx, identity)
        const user = known ?? (await linkIdentity(tx, identity, now))
        return startSession(tx, { user, browser, now, jobs })
      }),

    async createLink(purpose, userId) {
      const token = createToken()
      const expiresAt = new Date(clock.now().getTime() + handedLinkLifetimeMs)
      await insertAccountToken(db, { tokenHash: hashSecret(token), userId, purpose, expiresAt })
      return { url: linkUrlOf(webUrl, purpose, token), expiresAt }
    },

    hasPassword: async ({ user }) => (await findPasswordHash(db, user.id)) !== undefined,

    async changePassword(principal, { currentPassword, password, revokeAccess }) {
      const { user, sessionId } = principal
      const before = await findPasswordHash(db, user.id)
      const isRight = await passwords.verify(before, currentPassword)
      if (!isRight) throw errors.passwordWrong({ field: 'currentPassword' })
      await assertAcceptable(password, user)
      const hash = await passwords.hash(password)
      await db.transaction(async (tx) => {
        await lockUser(tx, user.id)
        await requireLiveCredential(tx, principal, clock.now())
        if ((await findPasswordHash(tx, user.id)) !== before)
          throw errors.passwordWrong({ field: 'currentPassword' })
        await setPassword(tx, user, { hash, exceptSessionId: sessionId ?? undefined, revokeAccess })
      })
    },
  }
}

/** Revokes a person's API keys and ends the access of the agents that they have let in, which their workspaces are told. */
async function revokeAccess(tx: Executor, user: PrincipalUser, now: Date): Promise<void> {
  const principal: Principal = { user, source: 'web', apiKeyId: null, sessionId: null, grantId: null }
  await revokeApiKeysOfUser(tx, user.id, now)
  for (const { id, workspaceId, clientName } of await endGrantsOfUser(tx, user.id, now)) {
    await appendEvent(tx, principal, {
      workspaceId,
      type: 'integration.revoked',
      target: { type: 'integration', id },
      summary: `${user.name} ended the access of ${clientName}`,
      at: now,
    })
  }
}

/**
 * Notes that an address is its person's who has proven it without the password. Whoever chose the password may be
 * somebody else, who signed up with the address before: it goes.
 */
async function proveAddress(tx: Executor, user: Pick<UserRow, 'id' | 'email'>, now: Date): Promise<void> {
  await deletePassword(tx, user.id)
  await markEmailVerified(tx, user, now)
}

/**
 * A person by the address that a link proves. Until an address is proven, it is only what somebody typed, and its
 * spelling may lead to another mailbox.
 */
function withAddressOfLink(user: UserRow, email: string | null): UserRow {
  return user.emailVerifiedAt === null && email !== null ? { ...user, email } : user
}

/** The person whose address a provider has verified, made where there is none, and linked from now on. */
async function linkIdentity(tx: Executor, identity: ExternalIdentity, now: Date): Promise<UserRow> {
  const email = identity.isEmailVerified ? parseEmail(identity.email ?? '') : undefined
  if (email === undefined) throw errors.identityUnverified()
  const fallbackName = email.slice(0, email.indexOf('@'))
  const name =
    parseLine(identity.name ?? '', nameLengthMax) ?? parseLine(fallbackName, nameLengthMax) ?? 'Somebody'
  await insertUserIfNew(tx, { id: createId(), email, name, emailVerifiedAt: now, createdAt: now })
  const found = await findUserByEmail(tx, email)
  const locked = found && (await lockUser(tx, found.id))
  if (!locked) throw errors.identityUnverified()
  const user = withAddressOfLink(locked, email)
  if (user.emailVerifiedAt === null) await proveAddress(tx, user, now)
  await insertIdentityIfNew(tx, {
    issuer: identity.issuer,
    subject: identity.subject,
    userId: user.id,
    createdAt: now,
  })
  return { ...user, emailVerifiedAt: user.emailVerifiedAt ?? now }
}
