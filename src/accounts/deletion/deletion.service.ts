import { lockUser } from '../../users/users.repository.ts'
import { requireLiveCredential } from '../../access/live-credential.repository.ts'
import { lockMembersOfWorkspace } from '../../access/memberships.repository.ts'
import type { Changes } from '../../access/change.ts'
import { listCrowdedMemberships } from '../../areas/workspaces/workspaces.repository.ts'
import type { Database, Executor } from '../../db/client.ts'
import { deletionWaitMs, leavingAllowedMs } from '../../domain/accounts.ts'
import type { Clock } from '../../kernel/clock.ts'
import { canonicalizeEmail, trimEmail } from '../../kernel/email.ts'
import { errors } from '../../kernel/errors.ts'
import type { Principal } from '../../domain/principal.ts'
import { hashSecret } from '../../kernel/tokens.ts'
import { dateOf } from '../../kernel/times.ts'
import type { JobQueue } from '../../platform/jobs/jobs.port.ts'
import { deletePendingSignInsOfUser } from '../second-factor/second-factor.repository.ts'
import { deleteSessionsOfUser } from '../sessions/sessions.repository.ts'
import { revokePrograms } from '../sign-in/access-of-person.repository.ts'
import { deleteAccountTokens } from '../sign-in/credentials.repository.ts'
import { appendRevocations } from '../sign-in/set-password.ts'
import {
  allowLeaving,
  cancelDeletion,
  findAllowance,
  findByCancelToken,
  requestDeletion,
} from './deletion.repository.ts'
import { readPerson } from './person-export.repository.ts'

/** Exporting and deleting one's own account. */
export interface AccountDeletionService {
  /** Allows the caller's API keys to export and delete the account for ten minutes, after a proof on the website. */
  allow(principal: Principal): Promise<void>
  /** Until when the caller's API keys may; undefined if they may not. */
  findAllowance(principal: Principal): Promise<Date | undefined>
  /**
   * Requests the deletion of the caller's account: signs out everywhere, revokes API keys and the access of agents, and mails
   * a link that cancels it. After seven days the account is deleted as by `AccountsService.delete`. `confirmEmail` is the
   * address of the account. Throws `recent_proof_required` for an API key without `allow`, `confirmation_mismatch`, and
   * `last_owner` for the only owner of workspaces, which its message names.
   */
  requestDeletion(principal: Principal, input: { confirmEmail: string }): Promise<void>
  /** The person of a link that cancels a deletion. Throws `link_invalid`. */
  findByLink(token: string): Promise<{ name: string; email: string }>
  /** Cancels a deletion. What was revoked stays revoked. Throws `link_invalid`. */
  cancel(token: string): Promise<void>
  /**
   * Everything that is the caller's, as JSON in chunks, which is read while it is sent, and the name of its file. Throws `recent_proof_required` for an
   * API key without `allow`.
   */
  exportPerson(principal: Principal): Promise<{ name: string; json: AsyncGenerator<string> }>
}

const namedWorkspacesMax = 10

export function createAccountDeletionService(options: {
  db: Database
  clock: Clock
  changes: Changes
  jobs: JobQueue
  pictureUrlOf: (key: string | null) => string | null
}): AccountDeletionService {
  const { db, clock, changes, jobs, pictureUrlOf } = options
  const requestedSince = () => new Date(clock.now().getTime() - deletionWaitMs)

  /** Pages of the website ask for a proof themselves, and operators need none. */
  async function assertAllowed(executor: Executor, { source, user }: Principal): Promise<void> {
    if (source === 'api' && !(await findAllowance(executor, user.id, clock.now())))
      throw errors.recentProofRequired()
  }

  return {
    allow: ({ user }) => allowLeaving(db, user.id, new Date(clock.now().getTime() + leavingAllowedMs)),

    findAllowance: ({ user }) => findAllowance(db, user.id, clock.now()),

    requestDeletion: (principal, { confirmEmail }) =>
      changes.make(principal, async ({ tx, now }) => {
        const user = await lockUser(tx, principal.user.id)
        await requireLiveCredential(tx, principal, now)
        await assertAllowed(tx, principal)
        if (!user || canonicalizeEmail(trimEmail(confirmEmail)) !== canonicalizeEmail(user.email))
          throw errors.confirmationMismatch({ field: 'confirmEmail' })
        await assertNoLastOwner(tx, user.id)
        await requestDeletion(tx, user.id, now)
        await deleteSessionsOfUser(tx, user.id)
        await deletePendingSignInsOfUser(tx, user.id)
        await deleteAccountTokens(tx, user.id)
        const { grants } = await revokePrograms(tx, user.id, now)
        await appendRevocations(tx, principal, { grants, now })
        const { requestId } = principal
        await jobs.enqueue(tx, 'send_account_deletion', { userId: user.id }, { requestId })
      }),

    async findByLink(token) {
      const user = await findByCancelToken(db, hashSecret(token), requestedSince())
      if (!user) throw errors.linkInvalid()
      return { name: user.name, email: user.email }
    },

    async cancel(token) {
      if ((await cancelDeletion(db, hashSecret(token), requestedSince())) === undefined)
        throw errors.linkInvalid()
    },

    async exportPerson(principal) {
      await assertAllowed(db, principal)
      const json = readPerson(db, principal.user, pictureUrlOf)
      return { name: `account-${dateOf(clock.now())}.json`, json }
    },
  }
}

/** Throws `last_owner` for the only owner of workspaces. Locks their members, so that no other owner leaves meanwhile. */
async function assertNoLastOwner(tx: Executor, userId: string): Promise<void> {
  for (const { id } of await listCrowdedMemberships(tx, userId)) await lockMembersOfWorkspace(tx, id)
  const owned = (await listCrowdedMemberships(tx, userId)).filter(
    ({ role, ownerCount }) => role === 'owner' && ownerCount === 1,
  )
  if (owned.length === 0) return
  const named = owned.slice(0, namedWorkspacesMax).map(({ slug }) => slug)
  const more = owned.length > named.length ? ` and ${owned.length - named.length} more` : ''
  throw errors.lastOwner({ addition: `You are the only owner of: ${named.join(', ')}${more}.` })
}
