import { isAllowed } from '../../access/permissions.ts'
import type { RequireWorkspace } from '../../access/workspace-access.ts'
import type { Database } from '../../db/client.ts'
import type { Clock } from '../../kernel/clock.ts'
import { errors } from '../../kernel/errors.ts'
import { createId, isId } from '../../kernel/ids.ts'
import {
  decodeCursor,
  pageLimitDefault,
  toPage,
  type Page,
  type PageRequest,
} from '../../kernel/pagination.ts'
import type { Principal } from '../../kernel/principal.ts'
import { appendEvent } from '../events/events.repository.ts'
import { lockMembersOfWorkspace, requireRoleNow } from '../members/members.repository.ts'
import {
  insertGrant,
  listLiveGrants,
  lockGrant,
  revokeGrant,
  revokeGrantsToClient,
  type GrantRow,
} from './integrations.repository.ts'

/** What a person has allowed an agent in a workspace. */
export interface AgentGrant extends Omit<GrantRow, 'createdAt' | 'lastUsedAt' | 'expiresAt'> {
  createdAt: string
  lastUsedAt: string | null
  expiresAt: string
}

/** What a person allows an agent. */
export interface NewGrant {
  clientId: string
  clientName: string
  clientUri: string | null
  scopes: string[]
  expiresAt: Date
}

export interface IntegrationsService {
  /**
   * Lets an agent into a workspace on the caller's behalf, in place of what they had allowed the same client there.
   * Returns the id of the grant.
   */
  allow(principal: Principal, slug: string, grant: NewGrant): Promise<string>
  /** The grants that are neither revoked nor expired, newest first: all of them for owners and admins, else one's own. */
  list(principal: Principal, slug: string, page: PageRequest): Promise<Page<AgentGrant>>
  /** Idempotent. Throws `not_found` for a grant that is not the caller's, unless they may revoke everybody's. */
  revoke(principal: Principal, slug: string, grantId: string): Promise<void>
}

export interface IntegrationsServiceOptions {
  db: Database
  clock: Clock
  requireWorkspace: RequireWorkspace
}

export function createIntegrationsService(options: IntegrationsServiceOptions): IntegrationsService {
  const { db, clock, requireWorkspace } = options
  return {
    async allow(principal, slug, grant) {
      const { id: workspaceId, name } = await requireWorkspace(principal, slug, 'integrations.allow')
      const { user } = principal
      const id = createId()
      await db.transaction(async (tx) => {
        // In turns, so that of two consents at once one replaces the other, and nobody allows what they have just left.
        await lockMembersOfWorkspace(tx, workspaceId)
        await requireRoleNow(tx, workspaceId, user.id)
        const now = clock.now()
        const { clientId } = grant
        await revokeGrantsToClient(tx, { workspaceId, userId: user.id, clientId, revokedAt: now })
        await insertGrant(tx, { ...grant, id, workspaceId, userId: user.id, createdAt: now })
        await appendEvent(tx, principal, {
          workspaceId,
          type: 'integration.allowed',
          target: { type: 'integration', id },
          summary: `${user.name} let ${grant.clientName} into ${name}`,
          at: now,
        })
      })
      return id
    },

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
      const { id: workspaceId, role } = await requireWorkspace(principal, slug, 'integrations.revoke')
      if (!isId(grantId)) throw errors.notFound()
      const { user } = principal
      await db.transaction(async (tx) => {
        const grant = await lockGrant(tx, workspaceId, grantId)
        const isTheirs = grant?.userId === user.id
        if (!grant || !(isTheirs || isAllowed(role, 'integrations.revokeAny'))) throw errors.notFound()
        if (grant.revokedAt) return
        const now = clock.now()
        await revokeGrant(tx, grantId, now)
        await appendEvent(tx, principal, {
          workspaceId,
          type: 'integration.revoked',
          target: { type: 'integration', id: grantId },
          summary: `${user.name} ended the access of ${grant.clientName}`,
          at: now,
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
