import { lockUser } from '../../users/users.repository.ts'
import { emailChangeLifetimeMs } from '../../domain/links.ts'
import { requireLiveCredential } from '../../access/live-credential.repository.ts'
import type { EventActor } from '../../access/event-log.repository.ts'
import {
  contextOf,
  lockToldWorkspaces,
  tellWorkspaces,
  type ToldWorkspaces,
} from '../../areas/members/member-updates.ts'
import type { Database, Executor } from '../../db/client.ts'
import type { EntryRules } from '../../domain/accounts.ts'
import type { Clock } from '../../kernel/clock.ts'
import { parseEmail } from '../../kernel/email.ts'
import { errors } from '../../kernel/errors.ts'
import { createId } from '../../kernel/ids.ts'
import type { Principal, RequestOfVisitor } from '../../domain/principal.ts'
import { hashSecret } from '../../kernel/tokens.ts'
import type { JobQueue } from '../../platform/jobs/jobs.port.ts'
import type { PasswordHasher } from '../../platform/passwords/passwords.port.ts'
import { deleteAccountTokens } from '../sign-in/credentials.repository.ts'
import { hashNewPassword, setPassword } from '../sign-in/set-password.ts'
import type { LinkDelay } from '../sign-in/link-delay.ts'
import {
  changeEmail,
  consumeEmailChange,
  deleteEmailChange,
  endReservations,
  findEmailChangeOfUser,
  findTakeBack,
  upsertEmailChange,
} from './email-changes.repository.ts'

/** Changing the email address of a person. The new one counts once the link in a mail to it was opened. */
export interface EmailChangesService {
  /** The new address of the caller that waits for its link; undefined if there is none. */
  findPending(principal: Principal): Promise<string | undefined>
  /**
   * Asks for a change, in place of an earlier one. The new address gets a link, or a mail to its owner if it has an
   * account; the result does not reveal it. The old address is told. Throws `email_invalid` and `email_unchanged`.
   */
  request(principal: Principal, email: string): Promise<void>
  /** Cancels a change. Does nothing if there is none. */
  cancel(principal: Principal): Promise<void>
  /** The new address of a link, which the caller has asked for. Throws `link_invalid`. */
  findByLink(principal: Principal, token: string): Promise<string>
  /**
   * Changes the address, and invalidates the links that were sent to the old one, which is told. Throws `link_invalid`,
   * also if somebody else has the address by now.
   */
  confirm(principal: Principal, token: string): Promise<void>
  /** The former address that the link in the mail to it takes back, and the present one. Throws `link_invalid` and `account_suspended`. */
  findTakeBack(token: string): Promise<{ name: string; email: string; currentEmail: string }>
  /**
   * Makes a former address that of the account again, within a week of the change, sets a new password, ends all
   * sessions and cancels a pending change; with `revokeAccess`, also revokes whatever else gives access. Throws
   * `link_invalid`, `account_suspended`, `password_unacceptable` and `password_common`. Without passwords, it deletes the one there was.
   */
  takeBack(
    token: string,
    input: { password: string; revokeAccess?: boolean },
    request: RequestOfVisitor,
  ): Promise<void>
}

export function createEmailChangesService(options: {
  db: Database
  clock: Clock
  jobs: JobQueue
  linkDelay: LinkDelay
  passwords: PasswordHasher
  entry: EntryRules
}): EmailChangesService {
  const { db, clock, jobs, linkDelay, passwords, entry } = options
  const findChange = (principal: Principal) => findEmailChangeOfUser(db, principal.user.id, clock.now())

  /** Appends `member.updated` in the workspaces of a person. */
  async function tellOfAddress(
    tx: Executor,
    told: ToldWorkspaces,
    { actor, now }: { actor: EventActor; now: Date },
  ) {
    await tellWorkspaces(contextOf(tx, actor, now), told, { fields: ['email'], jobs, source: actor })
  }

  return {
    findPending: async (principal) => (await findChange(principal))?.email,

    async request(principal, text) {
      const email = parseEmail(text)
      if (email === undefined) throw errors.emailInvalid({ field: 'email' })
      await db.transaction(async (tx) => {
        const now = clock.now()
        const user = await lockUser(tx, principal.user.id)
        await requireLiveCredential(tx, principal, now)
        if (!user || user.email === email) throw errors.emailUnchanged({ field: 'email' })
        const change = { id: createId(), userId: user.id, email }
        const expiresAt = new Date(now.getTime() + emailChangeLifetimeMs)
        await upsertEmailChange(tx, { ...change, expiresAt })
        const { requestId } = principal
        const options = { requestId, delaySeconds: linkDelay() }
        await jobs.enqueue(tx, 'send_email_change', { changeId: change.id }, options)
        const notice = { userId: user.id, from: user.email, to: email, isDone: false }
        await jobs.enqueue(tx, 'send_email_change_notice', notice, { requestId })
      })
    },

    cancel: ({ user }) => deleteEmailChange(db, user.id),

    async findByLink(principal, token) {
      const change = await findChange(principal)
      if (!change?.tokenHash?.equals(hashSecret(token))) throw errors.linkInvalid()
      return change.email
    },

    confirm: (principal, token) =>
      db.transaction(async (tx) => {
        const now = clock.now()
        const user = await lockUser(tx, principal.user.id)
        await requireLiveCredential(tx, principal, now)
        const tokenHash = hashSecret(token)
        const to = await consumeEmailChange(tx, { userId: principal.user.id, tokenHash, now })
        if (!user || to === undefined) throw errors.linkInvalid()
        const told = await lockToldWorkspaces(tx, user.id)
        await changeEmail(tx, { userId: user.id, from: user.email, to, at: now, isReserved: true })
        await tellOfAddress(tx, told, { actor: principal, now })
        await deleteAccountTokens(tx, user.id)
        const notice = { userId: user.id, from: user.email, to, isDone: true }
        await jobs.enqueue(tx, 'send_email_change_notice', notice, { requestId: principal.requestId })
      }),

    async findTakeBack(token) {
      const found = await findTakeBack(db, { tokenHash: hashSecret(token), now: clock.now() })
      if (!found) throw errors.linkInvalid()
      if (found.user.suspendedAt !== null) throw errors.accountSuspended()
      return { name: found.user.name, email: found.email, currentEmail: found.user.email }
    },

    async takeBack(token, { password, revokeAccess }, { requestId }) {
      const tokenHash = hashSecret(token)
      const before = await findTakeBack(db, { tokenHash, now: clock.now() })
      if (!before) throw errors.linkInvalid()
      const person = { name: before.user.name, email: before.email }
      const hash = entry.hasPasswords ? await hashNewPassword(passwords, password, person) : null
      await db.transaction(async (tx) => {
        const now = clock.now()
        const user = await lockUser(tx, before.user.id)
        const found = await findTakeBack(tx, { tokenHash, now })
        if (!user || !found) throw errors.linkInvalid()
        if (user.suspendedAt !== null) throw errors.accountSuspended()
        const { email: to, changedAt } = found
        // Also the links to addresses that somebody set later, who would take the account again by them.
        await endReservations(tx, user.id, changedAt)
        await deleteEmailChange(tx, user.id)
        const told = await lockToldWorkspaces(tx, user.id)
        await changeEmail(tx, { userId: user.id, from: user.email, to, at: now, isReserved: false })
        const actor = { user, source: 'web' as const, apiKeyId: null, grantId: null, requestId }
        await tellOfAddress(tx, told, { actor, now })
        await setPassword(tx, { ...user, email: to }, { hash, revokeAccess }, { now, jobs, requestId })
        const notice = { userId: user.id, from: user.email, to, isDone: true }
        await jobs.enqueue(tx, 'send_email_change_notice', notice, { requestId })
      })
    },
  }
}
