import { lockMembersWithCredential, type Changes } from '../../../access/change.ts'
import { insertServiceEvent } from '../../../access/event-log.repository.ts'
import {
  findMember,
  hasOwner,
  insertMemberIfNew,
  updateMemberRole,
} from '../../../access/memberships.repository.ts'
import type { RequireWorkspace } from '../../../access/workspace-access.ts'
import { findUserByEmail } from '../../../users/users.repository.ts'
import type { Database, Executor } from '../../../db/client.ts'
import type { Clock } from '../../../kernel/clock.ts'
import { parseEmail } from '../../../kernel/email.ts'
import { errors } from '../../../kernel/errors.ts'
import { isId } from '../../../kernel/ids.ts'
import { operatorName, type Principal } from '../../../domain/principal.ts'
import { isSlug } from '../../../domain/slugs.ts'
import { actionAllowedMs, formerSlugKeptMs, type AllowedAction } from '../../../domain/workspaces.ts'
import type { JobQueue } from '../../../platform/jobs/jobs.port.ts'
import { notifyMembers } from '../../notifications/notify.repository.ts'
import { insertAllowance, listAllowances, useAllowance } from './allowances.repository.ts'
import { lockBySlug, markDeleted, unmarkDeleted, type OwnedWorkspace } from './ownership.repository.ts'

/** What owners and operators do with a whole workspace. */
export interface OwnershipService {
  /** Allows the caller's API keys one action in the next ten minutes, once, after a proof on the website. */
  allow(principal: Principal, slug: string, action: AllowedAction): Promise<void>
  /** Until when the caller's API keys may run which actions. */
  listAllowances(principal: Principal, slug: string): Promise<ReadonlyMap<AllowedAction, Date>>
  /**
   * Makes a member an owner and the caller, an owner, an admin, in one change. Does nothing when the member is the caller.
   * Returns the name of the member. Throws `not_found` for a person who is not a member, and
   * `is_service_account`, `last_owner` if the member is suspended and there is no other owner; `recent_proof_required` for an API key without `allow`.
   */
  transfer(principal: Principal, slug: string, input: { userId: string }): Promise<string>
  /**
   * Deletes a workspace for everybody in it: it does not exist any more, and its slug is kept for 90 days. Operators can
   * restore it for 14 days. The owners are told by mail. `confirmSlug` is its current slug: throws `confirmation_mismatch`, and
   * `recent_proof_required` for an API key without `allow`.
   */
  delete(principal: Principal, slug: string, input: { confirmSlug: string }): Promise<void>
  /** The same by an operator, with the current slug. Throws `not_found`. */
  deleteForOperator(slug: string): Promise<OwnedWorkspace>
  /**
   * Restores a deleted workspace by its slug, with everything in it. Without an owner, because they have deleted their
   * accounts, it needs the email address of one. Throws `not_found`, `last_owner` without that address, and
   * `email_invalid`.
   */
  restore(slug: string, options: { ownerEmail?: string }): Promise<OwnedWorkspace>
}

export function createOwnershipService(options: {
  db: Database
  clock: Clock
  changes: Changes
  requireWorkspace: RequireWorkspace
  jobs: JobQueue
}): OwnershipService {
  const { db, clock, changes, requireWorkspace, jobs } = options

  /** Uses up what the caller has allowed. Pages of the website ask for no more, and operators need none. */
  async function assertAllowed(
    tx: Executor,
    { source, user }: Principal,
    { workspaceId, action, now }: { workspaceId: string; action: AllowedAction; now: Date },
  ): Promise<void> {
    if (source === 'api' && !(await useAllowance(tx, { workspaceId, userId: user.id, action }, now)))
      throw errors.recentProofRequired()
  }

  /** Marks a workspace as deleted and tells its owners. */
  async function markAndTell(
    tx: Executor,
    workspaceId: string,
    { now, actorName, requestId }: { now: Date; actorName: string; requestId: string | undefined },
  ) {
    const keptUntil = new Date(now.getTime() + formerSlugKeptMs)
    for (const userId of await markDeleted(tx, workspaceId, { now, keptUntil }))
      await jobs.enqueue(tx, 'send_workspace_deleted', { workspaceId, userId, actorName }, { requestId })
  }

  return {
    async allow(principal, slug, action) {
      const { id: workspaceId } = await requireWorkspace(principal, slug, action)
      const allowedUntil = new Date(clock.now().getTime() + actionAllowedMs)
      await insertAllowance(db, { workspaceId, userId: principal.user.id, action, allowedUntil })
    },

    async listAllowances(principal, slug) {
      const { id: workspaceId } = await requireWorkspace(principal, slug, 'workspaces.delete')
      const found = await listAllowances(db, { workspaceId, userId: principal.user.id }, clock.now())
      return new Map(found.map(({ action, allowedUntil }) => [action, allowedUntil]))
    },

    async transfer(principal, slug, { userId }) {
      const workspace = await requireWorkspace(principal, slug, 'workspaces.transferOwnership')
      if (!isId(userId)) throw errors.notFound()
      const { user, requestId } = principal
      return changes.makeIn(
        principal,
        workspace,
        lockMembersWithCredential,
        async ({ tx, now, write, appendEvent }) => {
          const { id: workspaceId } = workspace
          const target = await findMember(tx, workspaceId, userId)
          if (!target) throw errors.notFound()
          if (target.kind === 'service') throw errors.isServiceAccount()
          if (userId === user.id) return target.name
          if (target.isSuspended) throw errors.memberSuspended()
          await assertAllowed(tx, principal, { workspaceId, action: 'workspaces.transferOwnership', now })
          await updateMemberRole(tx, { workspaceId, userId, role: 'owner' })
          await updateMemberRole(tx, { workspaceId, userId: user.id, role: 'admin' })
          // The member may be about to be deleted.
          if (!(await hasOwner(tx, workspaceId))) throw errors.lastOwner()
          appendEvent({
            type: 'workspace.ownership_transferred',
            data: { workspaceId, userId, name: target.name, from: target.role, formerOwnerUserId: user.id },
          })
          if (target.role === 'owner') return target.name
          const change = { workspaceId, userId, role: 'owner', actorName: user.name }
          await jobs.enqueue(tx, 'send_role_changed', change, { requestId })
          const about = { workspaceId, actor: principal, at: now, hasOwnMail: true }
          write((executor) =>
            notifyMembers(executor, { kind: 'role_changed', data: { role: 'owner' }, ...about }, [userId]),
          )
          return target.name
        },
      )
    },

    async delete(principal, slug, { confirmSlug }) {
      const workspace = await requireWorkspace(principal, slug, 'workspaces.delete')
      const { user, requestId } = principal
      await changes.makeIn(
        principal,
        workspace,
        lockMembersWithCredential,
        async ({ tx, now, appendEvent }) => {
          const { id: workspaceId, name } = workspace
          await assertAllowed(tx, principal, { workspaceId, action: 'workspaces.delete', now })
          if (confirmSlug !== workspace.slug) throw errors.confirmationMismatch({ field: 'confirmSlug' })
          await markAndTell(tx, workspaceId, { now, actorName: user.name, requestId })
          appendEvent({ type: 'workspace.deleted', data: { workspaceId, name } })
        },
      )
    },

    deleteForOperator: (slug) =>
      // eslint-disable-next-line no-restricted-syntax -- a command of operators has no principal
      db.transaction(async (tx) => {
        const now = clock.now()
        const workspace = await requireBySlug(tx, slug, { isDeleted: false })
        const { id: workspaceId, name } = workspace
        await markAndTell(tx, workspaceId, { now, actorName: operatorName, requestId: undefined })
        const event = {
          workspaceId,
          type: 'workspace.deleted',
          data: { workspaceId, name },
          at: now,
        } as const
        await insertServiceEvent(tx, event, operatorName)
        return workspace
      }),

    restore: (slug, { ownerEmail }) =>
      // eslint-disable-next-line no-restricted-syntax -- a command of operators has no principal
      db.transaction(async (tx) => {
        const now = clock.now()
        const workspace = await requireBySlug(tx, slug, { isDeleted: true })
        const { id: workspaceId, name } = workspace
        if (ownerEmail !== undefined) await addOwner(tx, { workspaceId, email: ownerEmail, now })
        if (!(await hasOwner(tx, workspaceId))) throw errors.lastOwner()
        await unmarkDeleted(tx, workspace)
        const event = {
          workspaceId,
          type: 'workspace.restored',
          data: { workspaceId, name },
          at: now,
        } as const
        await insertServiceEvent(tx, event, operatorName)
        return workspace
      }),
  }
}

async function requireBySlug(
  tx: Executor,
  slug: string,
  filter: { isDeleted: boolean },
): Promise<OwnedWorkspace> {
  const workspace = isSlug(slug) ? await lockBySlug(tx, slug, filter) : undefined
  if (!workspace) throw errors.notFound()
  return workspace
}

/** Makes a person an owner, whether they are a member or not. */
async function addOwner(
  tx: Executor,
  { workspaceId, email, now }: { workspaceId: string; email: string; now: Date },
): Promise<void> {
  const address = parseEmail(email)
  if (address === undefined) throw errors.emailInvalid({ field: 'email' })
  const user = await findUserByEmail(tx, address)
  if (!user) throw errors.notFound()
  const membership = { workspaceId, userId: user.id, role: 'owner', joinedAt: now, lastUsedAt: now } as const
  if (!(await insertMemberIfNew(tx, membership))) await updateMemberRole(tx, membership)
}
