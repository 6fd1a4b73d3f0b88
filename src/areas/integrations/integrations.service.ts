import type { Changes } from '../../access/change.ts'
import { isAllowed } from '../../access/permissions.ts'
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
import { listLiveGrants, lockGrant, revokeGrant, type GrantRow } from './integrations.repository.ts'

/** What a person has allowed an agent in a workspace. */
export interface AgentGrant extends Omit<GrantRow, 'createdAt' | 'lastUsedAt' | 'expiresAt'> {
  createdAt: string
  lastUsedAt: string | null
  expiresAt: string
}

export interface IntegrationsService {
  /** The grants that are neither revoked nor expired, newest first: all of them for owners and admins, else one's own. */
  list(principal: Principal, slug: string, page: PageRequest): Promise<Page<AgentGrant>>
  /** Idempotent. Throws `not_found` for a grant that is not the caller's, unless they may revoke everybody's. */
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
    async list(principal, slug, { limit = pageLimitDefault, cursor }) {
      const { id: workspaceId, role } = await requireWorkspace(principal, slug, 'integrations.list')
      const userId = isAllowed(role, 'integrations.listAll') ? undefined : principal.user.id
      const listId = `integrations.list ${workspaceId} ${userId ?? ''}`
      const rows = await listLiveGrants(db, {
        workspaceId,
        userId,
        now: clock.now(),
        before: decodeCursor(listId, cursor),
        limit: limit + 1,
      })
      return toPage(rows, limit, {
        listId,
        positionOf: (row) => [row.createdAt.toISOString(), row.id],
        toItem: toAgentGrant,
      })
    },

    async revoke(principal, slug, grantId) {
      const workspace = await requireWorkspace(principal, slug, 'integrations.revoke')
      if (!isId(grantId)) throw errors.notFound()
      const { user } = principal
      const lock = (tx: Executor) => lockGrant(tx, workspace.id, grantId)
      await changes.makeIn(principal, workspace, lock, async ({ tx, now, tell }, grant) => {
        const mayRevoke = grant.userId === user.id || isAllowed(workspace.role, 'integrations.revokeAny')
        if (!mayRevoke) throw errors.notFound()
        if (grant.revokedAt) return
        await revokeGrant(tx, grantId, now)
        await tell({
          type: 'integration.revoked',
          target: { type: 'integration', id: grantId },
          summary: `${user.name} ended the access of ${grant.clientName}`,
        })
      })
    },
  }
}

function toAgentGrant(row: GrantRow): AgentGrant {
  return {
    ...row,
    createdAt: row.createdAt.toISOString(),
    lastUsedAt: row.lastUsedAt?.toISOString() ?? null,
    expiresAt: row.expiresAt.toISOString(),
  }
}
