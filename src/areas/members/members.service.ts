import { isAllowed, type WorkspaceAction } from '../../access/permissions.ts'
import type { RequireWorkspace } from '../../access/workspace-access.ts'
import type { Database, Executor } from '../../db/client.ts'
import type { Clock } from '../../kernel/clock.ts'
import { errors } from '../../kernel/errors.ts'
import { isId } from '../../kernel/ids.ts'
import {
  decodeCursor,
  pageLimitDefault,
  toPage,
  type Page,
  type PageRequest,
} from '../../kernel/pagination.ts'
import type { Principal } from '../../kernel/principal.ts'
import { mayActOn, mayGrant, type Role } from '../../kernel/roles.ts'
import type { PictureStore } from '../../pictures/picture-store.ts'
import type { JobQueue } from '../../platform/jobs/jobs.port.ts'
import { appendEvent } from '../events/events.repository.ts'
import { recordDeparture } from './departures.repository.ts'
import {
  countOwners,
  deleteMember,
  findMember,
  listMembers,
  lockMembersOfWorkspace,
  requireRoleNow,
  updateMemberRole,
} from './members.repository.ts'

export interface Member {
  userId: string
  name: string
  email: string
  image: string | null
  role: Role
  joinedAt: string
}

export interface MembersService {
  /** In the order in which they joined. */
  list(principal: Principal, slug: string, page: PageRequest): Promise<Page<Member>>
  /** Throws `not_found` for somebody who is not in the workspace, `role_too_high` and `last_owner`. */
  updateRole(principal: Principal, slug: string, userId: string, input: { role: Role }): Promise<void>
  /** Removes somebody, or lets the caller leave. Throws `not_found`, `role_too_high` and `last_owner`. */
  remove(principal: Principal, slug: string, userId: string): Promise<void>
}

export interface MembersServiceOptions {
  db: Database
  clock: Clock
  requireWorkspace: RequireWorkspace
  pictures: PictureStore
  jobs: JobQueue
}

export function createMembersService(options: MembersServiceOptions): MembersService {
  const { db, clock, requireWorkspace, pictures, jobs } = options

  /** Both members as they are now, once the caller is known to be allowed to act on the other one. */
  async function requireTarget(
    tx: Executor,
    input: { workspaceId: string; action: WorkspaceAction; actorId: string; targetId: string },
  ): Promise<{ actorRole: Role; target: { role: Role; name: string } }> {
    const { workspaceId, action, actorId, targetId } = input
    await lockMembersOfWorkspace(tx, workspaceId)
    const actorRole = await requireRoleNow(tx, workspaceId, actorId)
    if (!isAllowed(actorRole, action)) throw errors.roleInsufficient()
    const target = await findMember(tx, workspaceId, targetId)
    if (!target) throw errors.notFound()
    if (actorId !== targetId && !mayActOn(actorRole, target.role)) throw errors.roleTooHigh()
    return { actorRole, target }
  }

  async function assertNotLastOwner(tx: Executor, workspaceId: string): Promise<void> {
    if ((await countOwners(tx, workspaceId)) === 1) throw errors.lastOwner()
  }

  return {
    async list(principal, slug, { limit = pageLimitDefault, cursor }) {
      const { id } = await requireWorkspace(principal, slug, 'members.list')
      const listId = `members.list ${id}`
      const rows = await listMembers(db, {
        workspaceId: id,
        after: decodeCursor(listId, cursor),
        limit: limit + 1,
      })
      return toPage(rows, limit, {
        listId,
        positionOf: (row) => [row.joinedAt.toISOString(), row.userId],
        toItem: ({ imageKey, joinedAt, ...row }) => ({
          ...row,
          image: pictures.urlOf(imageKey),
          joinedAt: joinedAt.toISOString(),
        }),
      })
    },

    async updateRole(principal, slug, userId, { role }) {
      const { id } = await requireWorkspace(principal, slug, 'members.updateRole')
      if (!isId(userId)) throw errors.notFound()
      const { user } = principal
      await db.transaction(async (tx) => {
        const { actorRole, target } = await requireTarget(tx, {
          workspaceId: id,
          action: 'members.updateRole',
          actorId: user.id,
          targetId: userId,
        })
        if (!mayGrant(actorRole, role)) throw errors.roleTooHigh()
        if (target.role === role) return
        if (target.role === 'owner') await assertNotLastOwner(tx, id)
        await updateMemberRole(tx, { workspaceId: id, userId, role })
        await appendEvent(tx, principal, {
          workspaceId: id,
          type: 'member.role_changed',
          target: { type: 'user', id: userId },
          summary: `${user.name} changed the role of ${target.name} from ${target.role} to ${role}`,
          at: clock.now(),
        })
        if (userId !== user.id) {
          await jobs.enqueue(tx, 'send_role_changed', { workspaceId: id, userId, role, actorName: user.name })
        }
      })
    },

    async remove(principal, slug, userId) {
      const { user } = principal
      const isSelf = userId === user.id
      const action: WorkspaceAction = isSelf ? 'members.leave' : 'members.remove'
      const { id, name } = await requireWorkspace(principal, slug, action)
      if (!isId(userId)) throw errors.notFound()
      await db.transaction(async (tx) => {
        const { target } = await requireTarget(tx, {
          workspaceId: id,
          action,
          actorId: user.id,
          targetId: userId,
        })
        if (target.role === 'owner') await assertNotLastOwner(tx, id)
        await deleteMember(tx, id, userId)
        await recordDeparture(tx, {
          workspaceId: id,
          userId,
          kind: isSelf ? 'left' : 'removed',
          createdAt: clock.now(),
        })
        await appendEvent(tx, principal, {
          workspaceId: id,
          type: isSelf ? 'member.left' : 'member.removed',
          target: { type: 'user', id: userId },
          summary: isSelf ? `${user.name} left ${name}` : `${user.name} removed ${target.name}`,
          at: clock.now(),
        })
      })
    },
  }
}
