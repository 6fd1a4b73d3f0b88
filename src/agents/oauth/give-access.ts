import type { WorkspaceChangeContext } from '../../access/change.ts'
import { insertEvent } from '../../access/event-log.repository.ts'
import { prolongGrant } from '../grants/grants.repository.ts'
import {
  consentVersion,
  grantDaysDefault,
  toAgentScopes,
  type AgentScope,
  type GrantDays,
} from '../../domain/agent.ts'
import { mayServeMembers } from '../../domain/agent-requests.ts'
import type { Principal } from '../../domain/principal.ts'
import { keepAllowedDocument } from './documents/documents.repository.ts'
import { storeDecision } from './records/authorization-decisions.repository.ts'
import { changeGrant, insertGrant, listLiveGrantsOf } from './records/grant-records.repository.ts'

/** What a person gives to a client. */
export interface Given {
  /** The authorization request that the person answers. */
  uid: string
  /** The id of the grant, unless there is one already. */
  newGrantId: string
  clientId: string
  clientName: string
  clientUri: string | null
  workspace: { id: string; name: string }
  scopes: readonly AgentScope[]
  /** Whether other members may ask the agent, as far as its scopes allow that. */
  membersMayAsk: boolean
  /** Null: until the access that the client has ends. */
  days: GrantDays | null
  /** The metadata document that the person was shown. Undefined for a registered client. */
  document: string | undefined
}

const dayMs = 24 * 60 * 60 * 1000

/**
 * Decides an authorization request: creates a grant, or changes the live one of the same person, client and workspace, so
 * that the other installations of the client keep their tokens. Under the lock of members. Returns whether the grant is
 * new; false also if the request was decided before, which changes nothing.
 */
export async function giveAccess(
  { tx, now, appendEvent }: WorkspaceChangeContext,
  principal: Principal,
  given: Given,
): Promise<boolean> {
  const { uid, newGrantId, clientId, clientName, clientUri, workspace, scopes, days, document } = given
  const { id: userId } = principal.user
  const [current] = await listLiveGrantsOf(tx, { userId, clientId, workspaceId: workspace.id }, now)
  const grantId = current?.id ?? newGrantId
  const result = { login: { accountId: userId, remember: false }, consent: { grantId } }
  if (!(await storeDecision(tx, uid, { result, scope: scopes.join(' ') }, now))) return false
  const membersMayAsk = given.membersMayAsk && mayServeMembers(scopes)
  if (document !== undefined) await keepAllowedDocument(tx, clientId, { content: document, now })

  const endIn = (chosen: GrantDays) => new Date(now.getTime() + chosen * dayMs)
  if (!current) {
    const expiresAt = endIn(days ?? grantDaysDefault)
    const about = { clientId, clientName, clientUri, workspaceId: workspace.id, userId }
    await insertGrant(tx, {
      id: grantId,
      ...about,
      scopes: [...scopes],
      membersMayAsk,
      consentVersion,
      createdAt: now,
      expiresAt,
    })
    const data = {
      ...{ grantId, clientName, userId, scopes: [...scopes], workspaceName: workspace.name },
      ...(membersMayAsk && { membersMayAsk }),
    }
    const event = { workspaceId: workspace.id, type: 'integration.granted', data, at: now } as const
    await insertEvent(tx, { ...principal, grantId }, event)
    return true
  }

  const expiresAt = days === null ? current.expiresAt : endIn(days)
  await changeGrant(tx, grantId, {
    clientName,
    clientUri,
    scopes: [...scopes],
    consentVersion,
    membersMayAsk,
  })
  await prolongGrant(tx, { id: grantId, clientId }, { expiresAt, now })
  const from = toAgentScopes(current.scopes)
  const isEndChanged = expiresAt.getTime() !== current.expiresAt.getTime()
  const asking = membersMayAsk !== current.membersMayAsk && { membersMayAsk }
  if (isEndChanged || asking || from.join() !== scopes.join()) {
    const end = { expiredAt: current.expiresAt.toISOString(), expiresAt: expiresAt.toISOString() }
    const data = { grantId, clientName, userId, from, to: [...scopes], ...(isEndChanged && end), ...asking }
    appendEvent({ type: 'integration.changed', data })
  }
  return false
}
