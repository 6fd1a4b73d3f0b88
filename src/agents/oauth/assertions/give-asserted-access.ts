import { errors } from 'oidc-provider'
import { insertServiceEvent } from '../../../access/event-log.repository.ts'
import { notifyMembers } from '../../../areas/notifications/notify.repository.ts'
import type { Database, Executor } from '../../../db/client.ts'
import { assertedGrantDays, scopesOfRole, toAskedScopes, type AgentScope } from '../../../domain/agent.ts'
import type { Clock } from '../../../kernel/clock.ts'
import { createId } from '../../../kernel/ids.ts'
import type { AgentAssertion } from '../../../platform/identity/identity.port.ts'
import { lockUser } from '../../../users/users.repository.ts'
import { prolongGrant } from '../../grants/grants.repository.ts'
import { keepAllowedDocument } from '../documents/documents.repository.ts'
import { insertGrant } from '../records/grant-records.repository.ts'
import { AssertionUnusable } from './assertion-errors.ts'
import {
  findPersonByIdentity,
  isRevoked,
  listPoliciesOfMember,
  lockAssertedGrant,
  lockMembership,
  lockPolicy,
  renewAssertedGrant,
  useAssertion,
  type AssertedPerson,
} from './asserted-grants.repository.ts'

/** What a valid assertion asks for. */
export interface AssertedRequest {
  assertion: Pick<AgentAssertion, 'issuer' | 'subject' | 'id' | 'expiresAt'>
  /** The name of the provider. */
  providerName: string
  client: {
    clientId: string
    clientName: string
    clientUri: string | null
    /** Its metadata document; undefined for a registered client. */
    document: string | undefined
  }
  /** Null: the only workspace of the person that allows it. */
  workspaceSlug: string | null
  /** What the provider allows and the client asks for; undefined: all that the workspace allows. */
  scopes: readonly AgentScope[] | undefined
}

/** The access that an assertion gives. */
export interface AssertedAccess {
  grantId: string
  userId: string
  scopes: readonly AgentScope[]
}

interface Workspace {
  workspaceId: string
  workspaceName: string
}

/**
 * Gives an agent the access that the policy of a workspace allows it for a person whom a provider asserts: one grant of the
 * person, the client and the workspace, which later assertions renew. The person is told of a new one. Throws the errors of
 * the token endpoint.
 */
export async function giveAssertedAccess(
  { db, clock }: { db: Database; clock: Clock },
  request: AssertedRequest,
): Promise<AssertedAccess> {
  const { assertion, client } = request
  const found = await findPerson(db, assertion)
  const now = clock.now()
  const workspace = await findWorkspace(db, { ...request, userId: found.id, now })
  const of = { workspaceId: workspace.workspaceId, userId: found.id, clientId: client.clientId }
  return db.transaction(async (tx) => {
    // Assertions of a person are handled one after the other, and none while they unlink the account or leave.
    await lockUser(tx, found.id)
    const person = await findPerson(tx, assertion)
    if (person.id !== found.id) throw new AssertionUnusable(notLinked)
    const policy = await lockPolicy(tx, workspace.workspaceId)
    if (!policy?.isOn) throw new AssertionUnusable(notAllowed)
    if (!policy.clients.includes(client.clientId)) throw new errors.UnauthorizedClient(notThisClient)
    const role = await lockMembership(tx, of)
    if (!role) throw new errors.InvalidTarget(noWorkspace)
    if (await isRevoked(tx, of))
      throw new AssertionUnusable(
        'This access was revoked. The person can allow it again on the page of their agents.',
      )
    const allowed = toAskedScopes(policy.scopes)
    // Of the grant, which follows the role of the person, as much as the token can be used for now.
    const scopes = scopesOfRole(role, allowed).filter((scope) => request.scopes?.includes(scope) ?? true)
    if (!(await useAssertion(tx, assertion, now)))
      throw new AssertionUnusable('The assertion was used before. Get another one.')
    const { clientName, clientUri } = client
    const { consentVersion } = policy
    const values = {
      clientName,
      clientUri,
      scopes: allowed,
      consentVersion,
      assertedIssuer: assertion.issuer,
    }
    const expiresAt = new Date(now.getTime() + assertedGrantDays * 24 * 60 * 60 * 1000)
    const current = await lockAssertedGrant(tx, of, now)
    if (current) {
      await renewAssertedGrant(tx, current.id, values)
      await prolongGrant(tx, { id: current.id, clientId: client.clientId }, { expiresAt, now })
      return { grantId: current.id, userId: person.id, scopes }
    }
    const grantId = createId()
    await insertGrant(tx, { id: grantId, ...of, ...values, createdAt: now, expiresAt })
    await tellOfGrant(tx, { ...request, ...workspace, userId: person.id, grantId, scopes: allowed, now })
    return { grantId, userId: person.id, scopes }
  })
}

/** The person whose account at a provider an assertion names, who may let agents in now. */
async function findPerson(
  executor: Executor,
  assertion: AssertedRequest['assertion'],
): Promise<AssertedPerson> {
  const person = await findPersonByIdentity(executor, assertion)
  if (!person) throw new AssertionUnusable(notLinked)
  if (person.isSuspended) throw new AssertionUnusable('The account of the person is suspended.')
  if (!person.isStaying) throw new AssertionUnusable('The account of the person is about to be deleted.')
  return person
}

// ASCII, as all descriptions (RFC 6749 §5.2).
const notLinked =
  'Nobody here has linked this account of the identity provider. The person has to sign in with it, or link it, first.'
const notAllowed =
  'The workspace gives agents no access by assertions. An owner can allow it on the website, from the page of agents.'
const notThisClient =
  'The workspace does not give this client access by assertions. An owner can add it on the website, from the page of agents.'
const noWorkspace = 'The person is not a member of this workspace, or it does not exist.'

/** The workspace that a request is about. What the caller may not know of does not exist for them. */
async function findWorkspace(
  executor: Executor,
  { client, workspaceSlug, userId, now }: AssertedRequest & { userId: string; now: Date },
): Promise<Workspace> {
  const found = await listPoliciesOfMember(executor, { userId, slug: workspaceSlug, now })
  if (workspaceSlug !== null) {
    const [workspace] = found
    if (!workspace) throw new errors.InvalidTarget(noWorkspace)
    return workspace
  }
  const [workspace, ...others] = found.filter(({ clients }) => clients?.includes(client.clientId))
  if (!workspace) {
    if (found.length > 0) throw new errors.UnauthorizedClient(notThisClient)
    throw new AssertionUnusable(notAllowed)
  }
  if (others.length > 0)
    throw new errors.InvalidTarget(
      'Several workspaces of the person allow this. Name one by ?workspace=SLUG at the end of the resource.',
    )
  return workspace
}

/** Tells a person that an agent acts for them from now on, and records the event. */
async function tellOfGrant(
  tx: Executor,
  {
    client: { clientId, clientName, document },
    providerName,
    workspaceId,
    workspaceName,
    userId,
    grantId,
    scopes,
    now,
  }: AssertedRequest &
    Workspace & { userId: string; grantId: string; scopes: readonly AgentScope[]; now: Date },
): Promise<void> {
  if (document !== undefined) await keepAllowedDocument(tx, clientId, { content: document, now })
  const notice = { kind: 'agent', data: { grantId, clientName, reason: 'given' } } as const
  await notifyMembers(tx, { ...notice, workspaceId, actor: null, at: now }, [userId])
  const data = { grantId, clientName, userId, scopes: [...scopes], workspaceName, assertedBy: providerName }
  await insertServiceEvent(tx, { workspaceId, type: 'integration.granted', data, at: now }, providerName)
}
