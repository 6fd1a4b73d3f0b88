import type { Changes } from '../../access/change.ts'
import { isAllowed } from '../../access/permissions.ts'
import type { RequireWorkspace } from '../../access/workspace-access.ts'
import type { Database, Executor } from '../../db/client.ts'
import type { Clock } from '../../kernel/clock.ts'
import { errors } from '../../kernel/errors.ts'
import { isId } from '../../kernel/ids.ts'
import { readPage, type Page, type PageRequest } from '../../kernel/pagination.ts'
import type { Principal } from '../../kernel/principal.ts'
import { listLiveGrants, lockGrant, revokeGrant } from './integrations.repository.ts'
import type { AgentGrant } from './integrations.schemas.ts'

export type { AgentGrant }

export interface IntegrationsService {
  /** Live grants, newest first: all for owners and admins, only their own for others. */
  list(principal: Principal, slug: string, page: PageRequest): Promise<Page<AgentGrant>>
  /** Idempotent. Throws `not_found` for a grant of another person, unless the caller may revoke all. */
  revoke(principal: Principal, slug: string, grantId: string): Promise<void>
}

export interface IntegrationsServiceOptions {
  db: Database
  clock: Clock
  changes: Changes
  requireWorkspace: RequireWorkspace
}

export function createIntegrationsService(options: IntegrationsServiceOptions): IntegrationsService {
  const { db, clock, changes, requireWorkspace } = options
  return {
    async list(principal, slug, page) {
      const { id: workspaceId, role } = await requireWorkspace(principal, slug, 'integrations.list')
      const userId = isAllowed(role, 'integrations.listAll') ? undefined : principal.user.id
      return readPage<AgentGrant>(page, {
        listId: `integrations.list ${workspaceId} ${userId ?? ''}`,
        order: 'newestFirst',
        read: (range) => listLiveGrants(db, { workspaceId, userId, now: clock.now(), ...range }),
        positionOf: ({ createdAt, id }) => ({ at: createdAt, id }),
      })
    },

    async revoke(principal, slug, grantId) {
      const workspace = await requireWorkspace(principal, slug, 'integrations.revoke')
      if (!isId(grantId)) throw errors.notFound()
      const { user } = principal
      const lock = (tx: Executor) => lockGrant(tx, workspace.id, grantId)
      await changes.makeIn(principal, workspace, lock, async ({ tx, now, appendEvent }, grant) => {
        const mayRevoke = grant.userId === user.id || isAllowed(workspace.role, 'integrations.revokeAny')
        if (!mayRevoke) throw errors.notFound()
        if (grant.revokedAt) return
        await revokeGrant(tx, grantId, now)
        appendEvent({
          type: 'integration.revoked',
          target: { type: 'integration', id: grantId },
          summary: `${user.name} revoked the access of ${grant.clientName}`,
        })
      })
    },
  }
}
