import { and, desc, eq, gt, or, sql } from 'drizzle-orm'
import type { Database, Executor } from '../../../db/client.ts'
import { agentGrants } from '../../../db/schema/agent-grants.ts'
import { oauthRecords } from '../../../db/schema/oauth.ts'
import type { JobQueue } from '../../../platform/jobs/jobs.port.ts'
import { revokeGrantsWithEvent } from './grant-records.repository.ts'

export interface ClientRow {
  id: string
  name: string | null
  /** Null for a client with a metadata document, which is not registered. */
  registeredAt: Date | null
  lastUsedAt: Date | null
  /** The number of active grants. */
  grantCount: number
  /** The number of clients, regardless of the limit. */
  total: number
}

/** Lists clients that are registered or have an active grant, by registration or first grant, newest first. */
export async function listClients(
  db: Executor,
  { limit, now }: { limit: number | undefined; now: Date },
): Promise<ClientRow[]> {
  const granted = db
    .select({
      id: agentGrants.clientId,
      name: sql<string>`(array_agg(${agentGrants.clientName} order by ${agentGrants.createdAt} desc))[1]`.as(
        'granted_name',
      ),
      firstAt: sql<Date>`min(${agentGrants.createdAt})`.as('first_at'),
      lastUsedAt: sql`max(${agentGrants.lastUsedAt})`.mapWith(agentGrants.lastUsedAt).as('last_used_at'),
      grantCount:
        sql<number>`count(*) filter (where ${agentGrants.revokedAt} is null and ${agentGrants.expiresAt} > ${now.toISOString()})::int`.as(
          'grant_count',
        ),
    })
    .from(agentGrants)
    .groupBy(agentGrants.clientId)
    .as('granted')
  const registered = db
    .select({
      key: oauthRecords.key,
      name: sql<string | null>`${oauthRecords.payload} ->> 'client_name'`.as('registered_name'),
      createdAt: oauthRecords.createdAt,
    })
    .from(oauthRecords)
    .where(eq(oauthRecords.kind, 'Client'))
    .as('registered')
  const rows = db
    .select({
      id: sql<string>`coalesce(${registered.key}, ${granted.id})`,
      name: sql<string | null>`coalesce(${registered.name}, ${granted.name})`,
      registeredAt: registered.createdAt,
      lastUsedAt: granted.lastUsedAt,
      grantCount: sql<number>`coalesce(${granted.grantCount}, 0)`,
      total: sql<number>`count(*) over ()::int`,
    })
    .from(registered)
    .fullJoin(granted, eq(registered.key, granted.id))
    .where(or(gt(granted.grantCount, 0), sql`${registered.key} is not null`))
    .orderBy(
      desc(sql`coalesce(${registered.createdAt}, ${granted.firstAt})`),
      sql`coalesce(${registered.key}, ${granted.id})`,
    )
  return limit === undefined ? rows : rows.limit(limit)
}

/** Deletes a client and revokes its grants, with events. Returns their number; undefined if there is no such client. */
export async function deleteClient(
  { db, jobs }: { db: Database; jobs: JobQueue },
  clientId: string,
  now: Date,
): Promise<number | undefined> {
  const { rowCount } = await db
    .delete(oauthRecords)
    .where(and(eq(oauthRecords.kind, 'Client'), eq(oauthRecords.key, clientId)))
  const isOfClient = eq(agentGrants.clientId, clientId)
  const revoked = await revokeGrantsWithEvent({ db, jobs }, isOfClient, {
    now,
    cause: 'request',
    requestId: undefined,
  })
  // A client with a metadata document has no record.
  return rowCount === 1 || revoked > 0 ? revoked : undefined
}
