import { and, desc, eq, gt, isNull, sql, type SQL } from 'drizzle-orm'
import { unionAll } from 'drizzle-orm/pg-core'
import { insertServiceEvent } from '../../../access/event-log.repository.ts'
import { notifyMembers } from '../../../areas/notifications/notify.repository.ts'
import type { Database, Executor } from '../../../db/client.ts'
import { agentGrants, agentPolicies } from '../../../db/schema/agent-grants.ts'
import { oauthRecords } from '../../../db/schema/oauth.ts'
import { isActivePerson, users } from '../../../db/schema/users.ts'
import { isWorkspace, workspaces } from '../../../db/schema/workspaces.ts'
import { isStorable } from '../../../kernel/text.ts'
import type { JobQueue } from '../../../platform/jobs/jobs.port.ts'

/**
 * Whether anybody has ever given a client access, in a grant that may have ended, or lets identity providers give it by the
 * policy of a workspace.
 */
export async function hasGrant(db: Executor, clientId: string): Promise<boolean> {
  if (!isStorable(clientId)) return false
  const ofGrants = db
    .select({ clientId: agentGrants.clientId })
    .from(agentGrants)
    .where(eq(agentGrants.clientId, clientId))
    .limit(1)
  const { clients, isOn } = agentPolicies
  const ofPolicies = db
    .select({ clientId: sql<string>`${clientId}` })
    .from(agentPolicies)
    .where(and(eq(isOn, true), sql`${clients} @> array[${clientId}]::text[]`))
    .limit(1)
  return (await unionAll(ofGrants, ofPolicies).limit(1)).length > 0
}

/** The live grants that a person gave to a client, the newest first: of all workspaces, or of one. */
export async function listLiveGrantsOf(
  db: Executor,
  { userId, clientId, workspaceId }: { userId: string; clientId: string; workspaceId?: string },
  now: Date,
) {
  const { id, scopes, membersMayAsk, expiresAt } = agentGrants
  return db
    .select({ id, workspaceId: agentGrants.workspaceId, scopes, membersMayAsk, expiresAt })
    .from(agentGrants)
    .where(
      and(
        eq(agentGrants.userId, userId),
        eq(agentGrants.clientId, clientId),
        workspaceId === undefined ? undefined : eq(agentGrants.workspaceId, workspaceId),
        isNull(agentGrants.assertedIssuer),
        isLive(now),
      ),
    )
    .orderBy(desc(agentGrants.createdAt), desc(id))
}

/** Changes what a grant says of its client, what the client may do, and who may ask it. */
export async function changeGrant(
  db: Executor,
  id: string,
  values: Pick<
    typeof agentGrants.$inferSelect,
    'clientName' | 'clientUri' | 'scopes' | 'consentVersion' | 'membersMayAsk'
  >,
): Promise<void> {
  await db.update(agentGrants).set(values).where(eq(agentGrants.id, id))
}

/** Inserts a grant, and marks its client, if that is registered, as one to keep. */
export async function insertGrant(db: Executor, row: typeof agentGrants.$inferInsert): Promise<void> {
  await db.insert(agentGrants).values(row)
  await db
    .update(oauthRecords)
    .set({ grantedAt: row.createdAt })
    .where(and(eq(oauthRecords.kind, 'Client'), eq(oauthRecords.key, row.clientId)))
}

async function revokeGrants(db: Executor, condition: SQL | undefined, now: Date, mayReturn = false) {
  return db
    .update(agentGrants)
    .set({ revokedAt: now, ...(mayReturn && { mayReturn }) })
    .where(and(condition, isNull(agentGrants.revokedAt)))
    .returning({
      id: agentGrants.id,
      workspaceId: agentGrants.workspaceId,
      clientName: agentGrants.clientName,
      userId: agentGrants.userId,
    })
}

/**
 * Revokes grants, with an event for each: by request of the agent or an operator, or because a code or token was used
 * again, of which the people are told by mail. Returns their number.
 */
export async function revokeGrantsWithEvent(
  { db, jobs }: { db: Database; jobs: JobQueue },
  condition: SQL | undefined,
  { now, cause, requestId }: { now: Date; cause: 'request' | 'reuse'; requestId: string | undefined },
): Promise<number> {
  return db.transaction(async (tx) => {
    const revoked = await revokeGrants(tx, condition, now)
    const reason = cause === 'reuse' ? 'reused' : 'ended'
    for (const { id, workspaceId, clientName, userId } of revoked) {
      const data = { grantId: id, clientName, userId, reason } as const
      await insertServiceEvent(tx, { workspaceId, type: 'integration.revoked', data, at: now })
      if (cause !== 'reuse') continue
      await jobs.enqueue(tx, 'send_access_ended', { grantId: id }, { requestId })
      const notice = { kind: 'agent', data: { grantId: id, clientName, reason: 'reused' } } as const
      await notifyMembers(tx, { ...notice, workspaceId, actor: null, at: now, hasOwnMail: true }, [userId])
    }
    return revoked.length
  })
}

/**
 * Revokes the grants that a provider's assertions gave to agents of a person, with an event for each. They return with the
 * next assertion once the person has linked an account of the provider again.
 */
export async function revokeAssertedGrants(
  tx: Executor,
  { userId, issuer }: { userId: string; issuer: string },
  now: Date,
): Promise<void> {
  const isOfIssuer = and(eq(agentGrants.userId, userId), eq(agentGrants.assertedIssuer, issuer))
  const isAsserted = and(isOfIssuer, gt(agentGrants.expiresAt, now))
  for (const { id, workspaceId, clientName } of await revokeGrants(tx, isAsserted, now, true)) {
    const data = { grantId: id, clientName, userId, reason: 'ended' } as const
    await insertServiceEvent(tx, { workspaceId, type: 'integration.revoked', data, at: now })
  }
}

/** Who gave a grant, and for what; undefined if the person has left the workspace. */
export async function findGrantForNotice(
  db: Executor,
  grantId: string,
): Promise<
  | {
      userId: string
      name: string
      email: string
      clientName: string
      workspaceId: string
      workspaceName: string
      workspaceSlug: string
    }
  | undefined
> {
  const [found] = await db
    .select({
      userId: agentGrants.userId,
      workspaceId: agentGrants.workspaceId,
      name: users.name,
      email: users.email,
      clientName: agentGrants.clientName,
      workspaceName: workspaces.name,
      workspaceSlug: workspaces.slug,
    })
    .from(agentGrants)
    .innerJoin(users, eq(users.id, agentGrants.userId))
    .innerJoin(workspaces, isWorkspace(agentGrants.workspaceId))
    .where(eq(agentGrants.id, grantId))
  return found
}

/** The condition of an active grant whose person is not suspended. Its tokens end with it, also at the token endpoint. */
export function isLiveGrant(id: string, now: Date): SQL | undefined {
  return and(eq(agentGrants.id, id), isLive(now), isActivePerson(agentGrants.userId))
}

/** The condition of a grant that was neither revoked nor has expired. */
export const isLive = (now: Date) => and(isNull(agentGrants.revokedAt), gt(agentGrants.expiresAt, now))

/** Revokes all grants, without events. Returns their number. */
export async function revokeAllGrants(db: Executor, now: Date): Promise<number> {
  return (await revokeGrants(db, undefined, now)).length
}
