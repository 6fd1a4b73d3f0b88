import { lockMembers, type Changes, type Lock, type WorkspaceChangeContext } from '../../access/change.ts'
import { isAllowed, type WorkspaceAction } from '../../access/permissions.ts'
import type { AccessibleWorkspace, RequireWorkspace } from '../../access/workspace-access.ts'
import type { Database, Executor } from '../../db/client.ts'
import { errors } from '../../kernel/errors.ts'
import { isId } from '../../kernel/ids.ts'
import { readPage, type Page, type PageRequest } from '../../kernel/pagination.ts'
import { assertExpected, versionOfFields } from '../../kernel/versions.ts'
import type { ExpectingCall, Principal } from '../../domain/principal.ts'
import { mayActOn, mayGrant, type Role } from '../../domain/roles.ts'
import type { UserKind } from '../../domain/service-accounts.ts'
import type { PictureStore } from '../../pictures/picture-store.ts'
import type { JobQueue } from '../../platform/jobs/jobs.port.ts'
import { tellOfKnownSecrets } from '../apiKeys/known-secrets.ts'
import { tellStoppedKeys } from '../apiKeys/stopped-keys.ts'
import { clearLeadsOf } from '../seeds/leads.repository.ts'
import { recordDeparture } from './departures.repository.ts'
import { deleteMember, findShownMember, listMembers } from './members.repository.ts'
import { findMember, hasOwner, updateMemberRole } from '../../access/memberships.repository.ts'
import { notifyMembers } from '../notifications/notify.repository.ts'
import type { Member } from './members.schemas.ts'

export type { Member }

export interface MembersService {
  /** In the order in which they joined. */
  list(principal: Principal, slug: string, page: PageRequest): Promise<Page<Member>>
  /** Throws `not_found` for a person who is not a member. */
  get(principal: Principal, slug: string, userId: string): Promise<Member>
  /**
   * Returns the name of the member. Throws `not_found` for a person who is not a member, `role_too_high`,
   * `is_service_account`, `precondition_failed` and `last_owner`.
   */
  updateRole(principal: ExpectingCall, slug: string, userId: string, input: { role: Role }): Promise<string>
  /**
   * Removes a member, or lets the caller leave. Returns the name of the member. Throws `not_found`, `role_too_high`,
   * `is_service_account` and `last_owner`.
   */
  remove(principal: Principal, slug: string, userId: string): Promise<string>
}

/** The version of a member: of what `updateRole` changes. */
export const versionOfMember = (member: { role: Role }) => versionOfFields(member, ['role'])

export interface MembersServiceOptions {
  db: Database
  changes: Changes
  requireWorkspace: RequireWorkspace
  pictures: PictureStore
  jobs: JobQueue
}

export function createMembersService(options: MembersServiceOptions): MembersService {
  const { db, changes, requireWorkspace, pictures, jobs } = options

  /** Changes a member on whom the caller may act, while the members of the workspace are locked. Returns their name. */
  async function change(
    principal: Principal,
    { slug, userId }: { slug: string; userId: string },
    action: WorkspaceAction,
    run: (context: WorkspaceChangeContext, target: Target) => Promise<void>,
  ): Promise<string> {
    const workspace = await requireWorkspace(principal, slug, action)
    if (!isId(userId)) throw errors.notFound()
    const isSelf = userId === principal.user.id
    const lock: Lock<Target> = async (tx, input) => {
      const actorRole = await lockMembers(tx, input)
      const target = await findMember(tx, workspace.id, userId)
      // A key that acts with a lower role than its owner does not change what they are.
      const isAsThemselves = isSelf && actorRole === target?.role
      if (target && !isAsThemselves && !mayActOn(actorRole, target.role)) throw errors.roleTooHigh()
      return target && { ...target, actorRole, workspace }
    }
    return changes.makeIn(principal, workspace, lock, async (context, target) => {
      await run(context, target)
      return target.name
    })
  }

  async function assertOtherOwner(tx: Executor, workspaceId: string, userId: string): Promise<void> {
    if (!(await hasOwner(tx, workspaceId, userId))) throw errors.lastOwner()
  }

  return {
    async list(principal, slug, page) {
      const { id: workspaceId } = await requireWorkspace(principal, slug, 'members.list')
      const pictureUrlPrefix = pictures.urlPrefix
      return readPage<Member>(page, {
        listId: `members.list ${workspaceId}`,
        order: 'oldestFirst',
        read: (range) => listMembers(db, { workspaceId, pictureUrlPrefix, ...range }),
        positionOf: ({ joinedAt, userId }) => ({ at: joinedAt, id: userId }),
      })
    },

    async get(principal, slug, userId) {
      const { id: workspaceId } = await requireWorkspace(principal, slug, 'members.get')
      const query = { workspaceId, userId, pictureUrlPrefix: pictures.urlPrefix }
      const member = isId(userId) ? await findShownMember(db, query) : undefined
      if (!member) throw errors.notFound()
      return member
    },

    async updateRole(principal, slug, userId, { role }) {
      const { user } = principal
      return change(
        principal,
        { slug, userId },
        'members.updateRole',
        async ({ tx, now, write, appendEvent }, target) => {
          const { id: workspaceId } = target.workspace
          if (!mayGrant(target.actorRole, role)) throw errors.roleTooHigh()
          if (target.kind === 'service') throw errors.isServiceAccount()
          assertExpected(principal, versionOfMember(target))
          principal.onVersion?.(versionOfMember({ role }))
          if (target.role === role) return
          if (role === 'owner' && target.isSuspended) throw errors.memberSuspended()
          if (target.role === 'owner') await assertOtherOwner(tx, workspaceId, userId)
          // Who cannot change a seed does not lead one.
          const left = isAllowed(role, 'seeds.update')
            ? []
            : await clearLeadsOf(tx, workspaceId, { userId, name: target.name })
          await updateMemberRole(tx, { workspaceId, userId, role })
          appendEvent({
            type: 'member.role_changed',
            data: { userId, name: target.name, from: target.role, to: role },
          })
          for (const data of left) appendEvent({ type: 'seed.updated', data })
          const known = await tellOfKnownSecrets(tx, {
            ...{ workspaceId, userId, name: target.name, now },
            ...{ from: target.role, to: role, actor: principal },
          })
          if (known) appendEvent({ type: 'service_account.keys_known', data: known })
          if (userId !== user.id) {
            const payload = { workspaceId, userId, role, actorName: user.name }
            await jobs.enqueue(tx, 'send_role_changed', payload, { requestId: principal.requestId })
            const about = { workspaceId, actor: principal, at: now, hasOwnMail: true }
            write((executor) =>
              notifyMembers(executor, { kind: 'role_changed', data: { role }, ...about }, [userId]),
            )
          }
        },
      )
    },

    async remove(principal, slug, userId) {
      const { user } = principal
      const isSelf = userId === user.id
      const action = isSelf ? 'members.leave' : 'members.remove'
      return change(principal, { slug, userId }, action, async ({ tx, now, appendEvent }, target) => {
        const { id: workspaceId, name } = target.workspace
        if (target.kind === 'service') throw errors.isServiceAccount()
        if (target.role === 'owner') await assertOtherOwner(tx, workspaceId, userId)
        const left = await clearLeadsOf(tx, workspaceId, { userId, name: target.name })
        const stopped = await tellStoppedKeys(tx, { workspaceId, userId, actor: principal, now })
        await deleteMember(tx, workspaceId, userId)
        const kind = !isSelf ? 'removed' : target.role === 'viewer' ? 'left_as_viewer' : 'left'
        await recordDeparture(tx, { workspaceId, userId, kind, createdAt: now })
        for (const data of stopped) appendEvent({ type: 'api_key.stopped', data })
        const person = { userId, name: target.name }
        appendEvent(
          isSelf
            ? { type: 'member.left', data: { ...person, workspaceName: name } }
            : { type: 'member.removed', data: { ...person, reason: 'removed' } },
        )
        for (const data of left) appendEvent({ type: 'seed.updated', data })
        const known = await tellOfKnownSecrets(tx, {
          ...{ workspaceId, ...person, now },
          ...{ from: target.role, to: null, actor: principal },
        })
        if (known) appendEvent({ type: 'service_account.keys_known', data: known })
      })
    },
  }
}

/** A member, and the role of the caller. */
interface Target {
  role: Role
  name: string
  kind: UserKind
  isSuspended: boolean
  actorRole: Role
  workspace: AccessibleWorkspace
}
