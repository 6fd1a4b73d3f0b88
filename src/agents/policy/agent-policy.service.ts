import { lockMembersWithCredential, type Changes } from '../../access/change.ts'
import type { RequireWorkspace } from '../../access/workspace-access.ts'
import type { Database, Executor } from '../../db/client.ts'
import {
  assertedScopes,
  clientIdLengthMax,
  consentVersion,
  policyClientsMax,
  toAskedScopes,
} from '../../domain/agent.ts'
import type { ExpectingCall, Principal } from '../../domain/principal.ts'
import { errors } from '../../kernel/errors.ts'
import { isStorableThroughout } from '../../kernel/text.ts'
import { assertExpected, versionOfFields } from '../../kernel/versions.ts'
import {
  applyPolicy,
  findPolicy,
  keepClients,
  listRegisteredClients,
  storePolicy,
  type PolicyRow,
} from './agent-policy.repository.ts'
import type { AgentPolicy } from './agent-policy.schemas.ts'

export type { AgentPolicy }

/** What an owner sets. */
export type AgentPolicyChange = Partial<Omit<AgentPolicy, 'updatedAt'>>

/** A client of a policy, as people know it. */
export interface PolicyClient {
  id: string
  /** The name that it registered with; null for one with a metadata document, and for one that was deleted. */
  name: string | null
}

/** Which agents get access to a workspace by assertions of identity providers (`createAssertions`). For owners. */
export interface AgentPolicyService {
  /** The policy; by default no agent gets access so. */
  get(principal: Principal, slug: string): Promise<AgentPolicy>
  /** The clients of the policy. */
  listClients(principal: Principal, slug: string): Promise<PolicyClient[]>
  /**
   * Changes it. What it does not allow any more ends, for the next request of the agents. Throws `not_found` for a client that
   * is neither registered nor has a metadata document, and `client_unusable`.
   */
  update(principal: ExpectingCall, slug: string, change: AgentPolicyChange): Promise<void>
}

/** The version of a policy: of what `update` changes. */
export const versionOfPolicy = (policy: Omit<AgentPolicy, 'updatedAt'>) =>
  versionOfFields(policy, ['assertedAgents', 'scopes', 'clients'])

export function createAgentPolicyService(options: {
  db: Database
  changes: Changes
  requireWorkspace: RequireWorkspace
}): AgentPolicyService {
  const { db, changes, requireWorkspace } = options

  return {
    async get(principal, slug) {
      const { id } = await requireWorkspace(principal, slug, 'workspaces.agentPolicy')
      return toPolicy(await findPolicy(db, id))
    },

    async listClients(principal, slug) {
      const { id: workspaceId } = await requireWorkspace(principal, slug, 'workspaces.agentPolicy')
      const { clients } = toPolicy(await findPolicy(db, workspaceId))
      const registered = await listRegisteredClients(db, clients)
      return clients.map((id) => ({ id, name: registered.find((client) => client.id === id)?.name ?? null }))
    },

    async update(principal, slug, change) {
      const workspace = await requireWorkspace(principal, slug, 'workspaces.updateAgentPolicy')
      if (!isStorableThroughout({ ...change })) throw errors.notFound()
      assertShort(change.clients ?? [])
      await changes.makeIn(
        principal,
        workspace,
        lockMembersWithCredential,
        async ({ tx, now, appendEvent }) => {
          const { assertedAgents, scopes, clients } = toPolicy(await findPolicy(tx, workspace.id))
          const before = { assertedAgents, scopes, clients }
          assertExpected(principal, versionOfPolicy(before))
          const after = {
            assertedAgents: change.assertedAgents ?? before.assertedAgents,
            scopes: toScopes(change.scopes ?? before.scopes),
            clients: [...new Set(change.clients ?? before.clients)],
          }
          principal.onVersion?.(versionOfPolicy(after))
          if (versionOfPolicy(before) === versionOfPolicy(after)) return
          const added = after.clients.filter((id) => !before.clients.includes(id))
          await assertUsable(tx, added)
          await keepClients(tx, added, now)
          const row = toRow(workspace.id, after, now)
          await storePolicy(tx, row)
          await applyPolicy(tx, row, now)
          const data = { workspaceId: workspace.id, from: before, to: after }
          appendEvent({ type: 'workspace.agent_policy_changed', data })
        },
      )
    },
  }
}

/** Throws what the schema of the operation says, for the page. */
function assertShort(clients: readonly string[]): void {
  if (clients.length > policyClientsMax)
    throw errors.clientUnusable({
      field: 'clients',
      message: `At most ${policyClientsMax} clients can get access so.`,
    })
  if (clients.some(({ length }) => length > clientIdLengthMax)) throw errors.notFound()
}

/** Throws `not_found` and `client_unusable` for clients that cannot get access by assertions. */
async function assertUsable(tx: Executor, ids: readonly string[]): Promise<void> {
  const registered = ids.filter((id) => !isDocumentUrl(id))
  const found = await listRegisteredClients(tx, registered)
  if (found.length < registered.length) throw errors.notFound()
  if (found.some(({ isPublic }) => isPublic)) throw errors.clientUnusable({ field: 'clients' })
}

/** Whether a client's id is the URL of a metadata document, which says how the client authenticates. */
function isDocumentUrl(id: string): boolean {
  return URL.canParse(id) && new URL(id).protocol === 'https:'
}

function toScopes(scopes: readonly string[]) {
  const known = toAskedScopes(scopes)
  return assertedScopes.filter((scope) => known.includes(scope))
}

function toPolicy(row: PolicyRow | undefined): AgentPolicy {
  if (!row) return { assertedAgents: 'off', scopes: toScopes([]), clients: [], updatedAt: null }
  const { isOn, scopes, clients, updatedAt } = row
  return {
    assertedAgents: isOn ? 'on' : 'off',
    scopes: toScopes(scopes),
    clients,
    updatedAt: updatedAt.toISOString(),
  }
}

function toRow(
  workspaceId: string,
  { assertedAgents, scopes, clients }: Omit<AgentPolicy, 'updatedAt'>,
  updatedAt: Date,
): PolicyRow {
  return { workspaceId, isOn: assertedAgents === 'on', scopes, clients, consentVersion, updatedAt }
}
