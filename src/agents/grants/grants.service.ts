import type { Changes } from '../../access/change.ts'
import { requireLiveCredential } from '../../access/live-credential.repository.ts'
import { isAllowed } from '../../access/permissions.ts'
import type { RequireWorkspace } from '../../access/workspace-access.ts'
import type { Database, Executor } from '../../db/client.ts'
import type { Clock } from '../../kernel/clock.ts'
import { toAgentScopes, type AgentScope, type GrantDays } from '../../domain/agent.ts'
import { askedConsentVersion, mayServeMembers } from '../../domain/agent-requests.ts'
import { errors } from '../../kernel/errors.ts'
import { isId } from '../../kernel/ids.ts'
import { readPage, type Page, type PageRequest } from '../../kernel/pagination.ts'
import type { Principal } from '../../domain/principal.ts'
import type { Role } from '../../domain/roles.ts'
import { versionOfFields } from '../../kernel/versions.ts'
import { notifyMembers } from '../../areas/notifications/notify.repository.ts'
import {
  findClientNames,
  findGrantDetails,
  findLiveGrant,
  listCalls,
  letReturn,
  listEndedAgents,
  listLiveGrants,
  listGrantAddresses,
  listRevokedAgents,
  listToolUses,
  findGrant,
  prolongGrant,
  revokeGrant,
  updateAsking,
  updateGrantScopes,
  type EndedAgent,
  type GrantToChange,
  type GrantAddress,
  type RevokedAgent,
  type ToolUse,
} from './grants.repository.ts'
import type { AgentCall, AgentGrant } from './grants.schemas.ts'

export type { AgentCall, AgentGrant, EndedAgent, RevokedAgent, ToolUse }

/** A grant with what its page shows. */
export interface GrantDetails extends Omit<AgentGrant, 'clientId'> {
  /** The version of the consent that its person gave. */
  consentVersion: number
  /** When it was revoked, or expired; null while it is active. */
  endedAt: string | null
  /** Where its tokens were fetched, the latest first: the newest of the last 90 days. Undefined unless it is the caller's. */
  addresses: readonly GrantAddress[] | undefined
}

export interface GrantsService {
  /** Live grants, newest first: all for owners and admins, only their own for others. */
  list(principal: Principal, slug: string, page: PageRequest): Promise<Page<AgentGrant>>
  /** A grant that `list` shows to the caller, or showed before it ended. Throws `not_found`. */
  get(principal: Principal, slug: string, grantId: string): Promise<GrantDetails>
  /** A grant that `list` shows to the caller. Throws `not_found`. */
  getLive(principal: Principal, slug: string, grantId: string): Promise<AgentGrant>
  /** The calls of such a grant, newest first: of the last 30 days, and about the last 1,000. Throws `not_found`. */
  listCalls(principal: Principal, slug: string, grantId: string, page: PageRequest): Promise<Page<AgentCall>>
  /**
   * Idempotent. Returns the name of the agent. Throws `not_found` for a grant of another person, unless the caller may
   * revoke all.
   */
  revoke(principal: Principal, slug: string, grantId: string): Promise<string>
  /**
   * Sets what an agent of the caller may do, from its next request on, besides what every agent may. Returns the name of
   * the agent. Throws `not_found` for a grant of another person, and for one that has ended.
   */
  updateScopes(
    principal: Principal,
    slug: string,
    grantId: string,
    scopes: readonly AgentScope[],
  ): Promise<string>
  /**
   * Lets other members ask an agent of the caller, or no longer. Returns the name of the agent. Throws `not_found` for a grant
   * of another person, for one that has ended, and to allow it for one that others cannot ask (`mayServeMembers`).
   */
  updateAsking(principal: Principal, slug: string, grantId: string, membersMayAsk: boolean): Promise<string>
  /**
   * Lets a grant of the caller end so many days from now, unless it ends later anyway. Returns the name of the agent.
   * Throws `not_found` for a grant of another person, and for one that has ended.
   */
  prolong(principal: Principal, slug: string, grantId: string, days: GrantDays): Promise<string>
  /** The caller's own agents that the organization could give access, which was revoked, the latest first. */
  listRevoked(principal: Principal, slug: string): Promise<RevokedAgent[]>
  /**
   * Lets the organization give an agent of the caller the access again that was revoked. Returns the name of the agent. Throws
   * `not_found` for a grant that is not of this kind.
   */
  allowAgain(principal: Principal, slug: string, grantId: string): Promise<string>
  /** The calls of the last 30 days of grants that `list` shows to the caller, the most called tool first. */
  listToolUses(principal: Principal, slug: string, grantIds: readonly string[]): Promise<ToolUse[]>
  /**
   * The caller's own agents whose access ended in the last 14 days, the latest first, at most five: without those that the
   * caller revoked or has connected again.
   */
  listEnded(principal: Principal, slug: string): Promise<EndedAgent[]>
  /**
   * The names of agents by grant, also of grants that have ended: of all people for owners and admins, only of their own
   * for others.
   */
  findClientNames(
    principal: Principal,
    slug: string,
    grantIds: readonly string[],
  ): Promise<ReadonlyMap<string, string>>
}

/** The version of a grant: of what its person can change. */
export const versionOfGrant = (grant: AgentGrant) =>
  versionOfFields(grant, ['expiresAt', 'scopes', 'membersMayAsk'])

export interface GrantsServiceOptions {
  db: Database
  clock: Clock
  changes: Changes
  requireWorkspace: RequireWorkspace
}

const dayMs = 24 * 60 * 60 * 1000
const usesShownMs = 30 * dayMs
const endedShownMs = 14 * dayMs
const addressesMax = 20

export function createGrantsService(options: GrantsServiceOptions): GrantsService {
  const { db, clock, changes, requireWorkspace } = options
  const lockGrant = (workspaceId: string, grantId: string) => (tx: Executor) =>
    findGrant(tx, workspaceId, grantId, { isLocked: true })

  /**
   * A grant of the caller that has not ended. Only who gave access knows the agent, so not even an owner may widen it, nor a
   * person one that the organization gave.
   */
  function assertOwn(grant: GrantToChange, { user }: Principal, now: Date): void {
    if (grant.assertedIssuer !== null) throw errors.notFound()
    if (grant.userId !== user.id || grant.revokedAt || grant.expiresAt <= now) throw errors.notFound()
  }

  return {
    async list(principal, slug, page) {
      const { id: workspaceId, role } = await requireWorkspace(principal, slug, 'integrations.list')
      const userId = grantorShown(principal, role)
      return readPage<AgentGrant>(page, {
        listId: `integrations.list ${workspaceId} ${userId ?? ''}`,
        order: 'newestFirst',
        read: (range) => listLiveGrants(db, { workspaceId, userId, now: clock.now(), ...range }),
        positionOf: ({ createdAt, id }) => ({ at: createdAt, id }),
      })
    },

    async get(principal, slug, grantId) {
      const { id: workspaceId, role } = await requireWorkspace(principal, slug, 'integrations.list')
      const found = isId(grantId) ? await findGrantDetails(db, workspaceId, grantId) : undefined
      const userId = grantorShown(principal, role) ?? found?.userId
      if (!found || found.userId !== userId) throw errors.notFound()
      const { createdAt, lastUsedAt, expiresAt, revokedAt, ...rest } = found
      const endedAt = revokedAt ?? (expiresAt <= clock.now() ? expiresAt : null)
      return {
        ...rest,
        createdAt: createdAt.toISOString(),
        lastUsedAt: lastUsedAt?.toISOString() ?? null,
        expiresAt: expiresAt.toISOString(),
        endedAt: endedAt?.toISOString() ?? null,
        // Where a person is concerns nobody else.
        addresses:
          userId === principal.user.id ? await listGrantAddresses(db, grantId, addressesMax) : undefined,
      }
    },

    async getLive(principal, slug, grantId) {
      const { id: workspaceId, role } = await requireWorkspace(principal, slug, 'integrations.get')
      const query = { workspaceId, grantId, now: clock.now() }
      const found = isId(grantId) ? await findLiveGrant(db, query) : undefined
      const userId = grantorShown(principal, role) ?? found?.userId
      if (!found || found.userId !== userId) throw errors.notFound()
      return found
    },

    async listCalls(principal, slug, grantId, page) {
      const { id: workspaceId, role } = await requireWorkspace(principal, slug, 'integrations.listCalls')
      const found = isId(grantId) ? await findGrant(db, workspaceId, grantId) : undefined
      const userId = grantorShown(principal, role) ?? found?.userId
      if (!found || found.userId !== userId) throw errors.notFound()
      return readPage<AgentCall>(page, {
        listId: `integrations.listCalls ${grantId}`,
        order: 'newestFirst',
        read: (range) => listCalls(db, { workspaceId, grantId, ...range }),
        positionOf: ({ calledAt, id }) => ({ at: calledAt, id }),
      })
    },

    async revoke(principal, slug, grantId) {
      const workspace = await requireWorkspace(principal, slug, 'integrations.revoke')
      if (!isId(grantId)) throw errors.notFound()
      const { user } = principal
      // Everybody may ask for this, as often as they like, so what changes nothing takes no turn.
      const found = await findGrant(db, workspace.id, grantId)
      const mayRevoke = found?.userId === user.id || isAllowed(workspace.role, 'integrations.revokeAny')
      if (!found || !mayRevoke) throw errors.notFound()
      if (found.revokedAt) return changes.makeAtOnce(principal, async () => found.clientName)
      const lock = lockGrant(workspace.id, grantId)
      return changes.makeIn(principal, workspace, lock, async ({ tx, now, write, appendEvent }, grant) => {
        if (grant.revokedAt) return grant.clientName
        await revokeGrant(tx, grantId, now)
        if (grant.userId !== user.id) {
          const data = { grantId, clientName: grant.clientName, reason: 'revoked' } as const
          const notice = {
            kind: 'agent',
            data,
            workspaceId: workspace.id,
            actor: principal,
            at: now,
          } as const
          write((executor) => notifyMembers(executor, notice, [grant.userId]))
        }
        appendEvent({
          type: 'integration.revoked',
          data: { grantId, clientName: grant.clientName, userId: grant.userId, reason: 'revoked' },
        })
        return grant.clientName
      })
    },

    async updateScopes(principal, slug, grantId, chosen) {
      const workspace = await requireWorkspace(principal, slug, 'integrations.updateScopes')
      if (!isId(grantId)) throw errors.notFound()
      const { user } = principal
      const scopes = toAgentScopes(chosen)
      const lock = lockGrant(workspace.id, grantId)
      return changes.makeIn(principal, workspace, lock, async ({ tx, now, appendEvent }, grant) => {
        assertOwn(grant, principal, now)
        if (scopes.join() === toAgentScopes(grant.scopes).join()) return grant.clientName
        await requireLiveCredential(tx, principal, now)
        await updateGrantScopes(tx, grantId, scopes)
        appendEvent({
          type: 'integration.changed',
          data: {
            grantId,
            clientName: grant.clientName,
            userId: user.id,
            from: toAgentScopes(grant.scopes),
            to: scopes,
            ...(grant.membersMayAsk && !mayServeMembers(scopes) && { membersMayAsk: false }),
          },
        })
        return grant.clientName
      })
    },

    async updateAsking(principal, slug, grantId, membersMayAsk) {
      const workspace = await requireWorkspace(principal, slug, 'integrations.updateAsking')
      if (!isId(grantId)) throw errors.notFound()
      const lock = lockGrant(workspace.id, grantId)
      return changes.makeIn(principal, workspace, lock, async ({ tx, now, appendEvent }, grant) => {
        assertOwn(grant, principal, now)
        const { userId, clientName, consentVersion } = grant
        if (membersMayAsk === grant.membersMayAsk) return clientName
        const isPossible = mayServeMembers(grant.scopes) && consentVersion >= askedConsentVersion
        if (membersMayAsk && !isPossible) throw errors.notFound()
        await requireLiveCredential(tx, principal, now)
        await updateAsking(tx, grantId, membersMayAsk)
        const scopes = toAgentScopes(grant.scopes)
        const data = { grantId, clientName, userId, from: scopes, to: scopes, membersMayAsk }
        appendEvent({ type: 'integration.changed', data })
        return clientName
      })
    },

    async prolong(principal, slug, grantId, days) {
      const workspace = await requireWorkspace(principal, slug, 'integrations.prolong')
      if (!isId(grantId)) throw errors.notFound()
      const lock = lockGrant(workspace.id, grantId)
      return changes.makeIn(principal, workspace, lock, async ({ tx, now, appendEvent }, grant) => {
        assertOwn(grant, principal, now)
        const { userId, clientId, clientName, expiresAt: expiredAt } = grant
        const expiresAt = new Date(now.getTime() + days * dayMs)
        if (expiresAt <= expiredAt) return clientName
        await requireLiveCredential(tx, principal, now)
        await prolongGrant(tx, { id: grantId, clientId }, { expiresAt, now })
        const scopes = toAgentScopes(grant.scopes)
        appendEvent({
          type: 'integration.changed',
          data: {
            grantId,
            clientName,
            userId,
            from: scopes,
            to: scopes,
            expiredAt: expiredAt.toISOString(),
            expiresAt: expiresAt.toISOString(),
          },
        })
        return clientName
      })
    },

    async listRevoked(principal, slug) {
      const { id: workspaceId } = await requireWorkspace(principal, slug, 'integrations.list')
      return listRevokedAgents(db, { workspaceId, userId: principal.user.id })
    },

    async allowAgain(principal, slug, grantId) {
      const workspace = await requireWorkspace(principal, slug, 'integrations.allowAgain')
      if (!isId(grantId)) throw errors.notFound()
      const lock = lockGrant(workspace.id, grantId)
      return changes.makeIn(principal, workspace, lock, async ({ tx, now }, grant) => {
        const { userId, clientName, assertedIssuer, revokedAt, mayReturn } = grant
        if (userId !== principal.user.id || assertedIssuer === null || !revokedAt) throw errors.notFound()
        if (mayReturn) return clientName
        await requireLiveCredential(tx, principal, now)
        await letReturn(tx, grantId)
        return clientName
      })
    },

    async listToolUses(principal, slug, grantIds) {
      const { id: workspaceId, role } = await requireWorkspace(principal, slug, 'integrations.list')
      const userId = grantorShown(principal, role)
      const since = new Date(clock.now().getTime() - usesShownMs)
      return grantIds.length === 0 ? [] : listToolUses(db, { workspaceId, userId, grantIds, since })
    },

    async listEnded(principal, slug) {
      const { id: workspaceId } = await requireWorkspace(principal, slug, 'integrations.list')
      const now = clock.now()
      const since = new Date(now.getTime() - endedShownMs)
      return listEndedAgents(db, { workspaceId, userId: principal.user.id, now, since })
    },

    async findClientNames(principal, slug, grantIds) {
      const { id: workspaceId, role } = await requireWorkspace(principal, slug, 'integrations.list')
      const userId = grantorShown(principal, role)
      return grantIds.length === 0 ? new Map() : findClientNames(db, { workspaceId, userId, grantIds })
    },
  }
}

/** Whose grants the caller may list: undefined for those of all people. */
function grantorShown({ user }: Principal, role: Role): string | undefined {
  return isAllowed(role, 'integrations.listAll') ? undefined : user.id
}
