import { and, desc, eq, gt, isNull, lt, or, sql, type SQL } from 'drizzle-orm'
import type { Adapter, AdapterPayload } from 'oidc-provider'
import { insertServiceEvent } from '../access/event-log.repository.ts'
import type { Database, Executor } from '../db/client.ts'
import { agentGrants } from '../db/schema/agent-grants.ts'
import { oauthRecords } from '../db/schema/oauth.ts'
import { users } from '../db/schema/users.ts'
import { workspaces } from '../db/schema/workspaces.ts'
import type { Clock } from '../kernel/clock.ts'
import { isStorable } from '../kernel/text.ts'
import { hashSecret } from '../kernel/tokens.ts'
import type { JobQueue } from '../platform/jobs/jobs.port.ts'
import { consentLifetimeSeconds, grantLifetimeSeconds } from './protocol.ts'

// The ids of these records are secrets.
const secretKinds = new Set(['AccessToken', 'AuthorizationCode', 'Interaction', 'RefreshToken', 'Session'])

const dayMs = 24 * 60 * 60 * 1000
/** How long a registered client is kept that nobody ever gave access. */
const unusedClientKeptMs = 7 * dayMs
/** How long one is kept that somebody did: a year after its last use, which is at most the lifetime of a grant later. */
const usedClientKeptMs = 365 * dayMs + grantLifetimeSeconds * 1000

/** How long a new client is kept whatever the bounds: the time that its person has for consent. */
const newClientKeptMs = consentLifetimeSeconds * 1000

/**
 * The maximum numbers of records that unauthenticated requests create. Beyond them, the oldest are deleted, but no new
 * clients: if there are too many of these, others are refused.
 */
export interface RecordBounds {
  /** Pending authorization requests. */
  pendingRequestsMax: number
  /** Clients that never had a grant. */
  unusedClientsMax: number
  /** Of these, the ones that were registered from one address. */
  unusedClientsPerAddressMax: number
}

export const recordBounds: RecordBounds = {
  pendingRequestsMax: 10_000,
  unusedClientsMax: 10_000,
  unusedClientsPerAddressMax: 1_000,
}

export interface RecordAdapterOptions {
  db: Database
  clock: Clock
  jobs: JobQueue
  bounds: RecordBounds
  /** Creates the error for a record that was already consumed. */
  alreadyUsed: () => Error
  /** Creates the error for a client that would displace one that was just registered. */
  tooMany: (until: Date) => Error
  /** A digest of the client's address of the current request. */
  findOrigin: () => string | undefined
  /** Whether the current request used a code or token that was used before, so that a grant ends with it. */
  isReuse: () => boolean
}

/**
 * Stores the records of the OAuth server in PostgreSQL. Ids that are secrets are hashed. Of parallel calls of `consume`
 * one succeeds and the others throw `alreadyUsed`. Refresh tokens are exchanged by `createRefreshAdapter`.
 */
export function createRecordAdapter(options: RecordAdapterOptions): (kind: string) => Adapter {
  const { db, clock, jobs, bounds, alreadyUsed, tooMany, findOrigin, isReuse } = options
  const trimmer = createTrimmer({ db, clock, bounds })

  async function endGrant(id: string): Promise<void> {
    await db.delete(oauthRecords).where(and(eq(oauthRecords.kind, 'Grant'), eq(oauthRecords.key, id)))
    const cause = isReuse() ? 'reuse' : 'request'
    await revokeGrantsWithEvent({ db, jobs }, eq(agentGrants.id, id), { now: clock.now(), cause })
  }

  return (kind) => {
    // People are identified by the website's session only.
    if (kind === 'Session') return createNoopAdapter()
    const isRecord = (id: string) => and(eq(oauthRecords.kind, kind), eq(oauthRecords.key, keyOf(kind, id)))
    return {
      async upsert(id, payload, expiresInSeconds) {
        const now = clock.now()
        const fullUntil = trimmer.fullUntil(kind)
        if (fullUntil && fullUntil > now) throw tooMany(fullUntil)
        const row = {
          payload: toStored(kind, payload),
          grantId: payload.grantId ?? null,
          clientId: payload.clientId ?? null,
          origin: kind === 'Client' ? (findOrigin() ?? null) : null,
          expiresAt: expiresInSeconds ? new Date(now.getTime() + expiresInSeconds * 1000) : null,
          generation: generationOf(kind, payload),
        }
        await db
          .insert(oauthRecords)
          .values({ kind, key: keyOf(kind, id), ...row, createdAt: now })
          .onConflictDoUpdate({ target: [oauthRecords.kind, oauthRecords.key], set: row })
        await trimmer.keepWithinBounds(kind)
      },

      async find(id) {
        if (!isStorable(id)) return undefined
        const now = clock.now()
        const [record] = await db
          .select({ payload: oauthRecords.payload, consumedAt: oauthRecords.consumedAt })
          .from(oauthRecords)
          .where(
            and(
              isRecord(id),
              or(isNull(oauthRecords.expiresAt), gt(oauthRecords.expiresAt, now)),
              kind === 'Grant' ? isLiveGrant(id, now) : undefined,
            ),
          )
        return record && toPayload(kind, id, record)
      },

      async consume(id) {
        const { rowCount } = await db
          .update(oauthRecords)
          .set({ consumedAt: clock.now() })
          .where(and(isRecord(id), isNull(oauthRecords.consumedAt)))
        if (rowCount === 1) return
        // Another request consumed it first. What that one gets is revoked as at a later use (RFC 6749 §4.1.2).
        const [record] = await db
          .select({ grantId: oauthRecords.grantId })
          .from(oauthRecords)
          .where(isRecord(id))
        if (record?.grantId != null) await endGrant(record.grantId)
        throw alreadyUsed()
      },

      async destroy(id) {
        // A request that was answered is kept with its answer, until both expire.
        if (kind === 'Interaction') return
        if (kind === 'Grant') await endGrant(id)
        else await db.delete(oauthRecords).where(isRecord(id))
      },

      async revokeByGrantId(grantId) {
        await db
          .delete(oauthRecords)
          .where(and(eq(oauthRecords.kind, kind), eq(oauthRecords.grantId, grantId)))
      },

      findByUid: () => Promise.resolve(undefined),
      findByUserCode: () => Promise.resolve(undefined),
    }
  }
}

/** The key under which a record is stored. */
export function keyOf(kind: string, id: string): string {
  return secretKinds.has(kind) ? hashSecret(id).toString('base64url') : id
}

/** How many exchanges were before a refresh token; null for other kinds. */
export function generationOf(kind: string, { rotations }: AdapterPayload): number | null {
  return kind === 'RefreshToken' ? (rotations ?? 0) : null
}

/** What is stored of a payload: all but a secret id, and the hash of a client's secret. */
export function toStored(kind: string, payload: AdapterPayload): AdapterPayload {
  const { jti, ...rest } = payload
  if (secretKinds.has(kind)) return rest
  const { client_secret: secret } = rest
  return { ...rest, jti, ...(secret !== undefined && { client_secret: hashClientSecret(secret) }) }
}

/** Hashes the secret of a client, which the OAuth server has generated, for storage. */
export function hashClientSecret(secret: string): string {
  return `sha256:${hashSecret(secret).toString('hex')}`
}

/** The payload of a stored record, as oidc-provider saved it. */
export function toPayload(
  kind: string,
  id: string,
  { payload, consumedAt }: { payload: Record<string, unknown>; consumedAt: Date | null },
): AdapterPayload {
  return {
    ...(payload as AdapterPayload),
    ...(secretKinds.has(kind) && { jti: id }),
    ...(consumedAt && { consumed: Math.floor(consumedAt.getTime() / 1000) }),
  }
}

/** Deletes expired records, and clients that were not used for long. Revokes nothing. */
export async function deleteStaleRecords(db: Executor, now: Date): Promise<void> {
  await db.delete(oauthRecords).where(lt(oauthRecords.expiresAt, now))
  await db
    .delete(oauthRecords)
    .where(
      and(
        eq(oauthRecords.kind, 'Client'),
        or(
          and(lt(oauthRecords.createdAt, new Date(now.getTime() - unusedClientKeptMs)), isUnusedClient),
          lt(oauthRecords.grantedAt, new Date(now.getTime() - usedClientKeptMs)),
        ),
      ),
    )
}

/** Deletes the oldest records beyond the bounds, but no new clients. Revokes nothing. */
export async function deleteExcessRecords(db: Executor, bounds: RecordBounds, now: Date): Promise<void> {
  await deleteExcessRequests(db, bounds)
  await deleteExcessClients(db, bounds, now)
}

async function deleteExcessRequests(db: Executor, { pendingRequestsMax }: RecordBounds): Promise<void> {
  // Parallel processes skip the rows that another one deletes.
  await db.execute(sql`
    delete from ${oauthRecords} where kind = 'Interaction' and key in (
      select key from ${oauthRecords} where kind = 'Interaction'
      order by created_at desc, key offset ${pendingRequestsMax} for update skip locked
    )`)
}

async function deleteExcessClients(db: Executor, bounds: RecordBounds, now: Date): Promise<void> {
  const { unusedClientsMax, unusedClientsPerAddressMax } = bounds
  await db.execute(sql`
    delete from ${oauthRecords} where kind = 'Client' and key in (
      select ${oauthRecords.key} from ${oauthRecords} join (
        select ${oauthRecords.key}, ${oauthRecords.origin},
          row_number() over (order by ${oauthRecords.createdAt} desc, ${oauthRecords.key}) as place,
          row_number() over (
            partition by ${oauthRecords.origin} order by ${oauthRecords.createdAt} desc, ${oauthRecords.key}
          ) as place_of_origin
        from ${oauthRecords} where ${oauthRecords.kind} = 'Client' and ${isUnusedClient}
      ) as unused on unused.key = ${oauthRecords.key}
      where ${oauthRecords.kind} = 'Client' and ${oauthRecords.createdAt} <= ${newSince(now)} and (
        unused.place > ${unusedClientsMax}
        or (unused.origin is not null and unused.place_of_origin > ${unusedClientsPerAddressMax})
      )
      for update of oauth_records skip locked
    )`)
}

/** The time since when clients are new. */
const newSince = (now: Date) => new Date(now.getTime() - newClientKeptMs).toISOString()

/** Until when there are as many new clients without a grant as there may be unused ones. */
async function findFullUntil(
  db: Executor,
  { unusedClientsMax }: RecordBounds,
  now: Date,
): Promise<Date | undefined> {
  const [row] = await db
    .select({ createdAt: oauthRecords.createdAt })
    .from(oauthRecords)
    .where(
      and(
        eq(oauthRecords.kind, 'Client'),
        gt(oauthRecords.createdAt, new Date(newSince(now))),
        isUnusedClient,
      ),
    )
    .orderBy(desc(oauthRecords.createdAt))
    .offset(unusedClientsMax - 1)
    .limit(1)
  return row && new Date(row.createdAt.getTime() + newClientKeptMs)
}

interface Trimmer {
  /** Deletes excess records after every hundredth part of a bound, since counting after each insert would be slow. */
  keepWithinBounds(kind: string): Promise<void>
  /** Until when no record of a kind can be added. */
  fullUntil(kind: string): Date | undefined
}

function createTrimmer(options: { db: Executor; clock: Clock; bounds: RecordBounds }): Trimmer {
  const { db, clock, bounds } = options
  const { pendingRequestsMax, unusedClientsMax, unusedClientsPerAddressMax } = bounds
  let clientsFullUntil: Date | undefined
  const trims = new Map([
    [
      'Interaction',
      {
        run: () => deleteExcessRequests(db, bounds),
        every: Math.ceil(pendingRequestsMax / 100),
        inserted: 0,
        isRunning: false,
      },
    ],
    [
      'Client',
      {
        run: async () => {
          await deleteExcessClients(db, bounds, clock.now())
          clientsFullUntil = await findFullUntil(db, bounds, clock.now())
        },
        every: Math.ceil(Math.min(unusedClientsMax, unusedClientsPerAddressMax) / 100),
        inserted: 0,
        isRunning: false,
      },
    ],
  ])
  return {
    fullUntil: (kind) => (kind === 'Client' ? clientsFullUntil : undefined),
    async keepWithinBounds(kind) {
      const trim = trims.get(kind)
      if (!trim) return
      trim.inserted += 1
      // One at a time, since parallel runs would count the same rows and occupy connections.
      if (trim.isRunning || trim.inserted < trim.every) return
      trim.isRunning = true
      trim.inserted = 0
      try {
        await trim.run()
      } finally {
        trim.isRunning = false
      }
    },
  }
}

// The release before creates grants without `granted_at`.
const isUnusedClient = sql`${oauthRecords.grantedAt} is null and not exists (
  select from ${agentGrants} where ${agentGrants.clientId} = ${oauthRecords.key}
)`

/** Whether anybody has ever given a client access; the grant may have ended. */
export async function hasGrant(db: Executor, clientId: string): Promise<boolean> {
  if (!isStorable(clientId)) return false
  const found = await db
    .select({ id: agentGrants.id })
    .from(agentGrants)
    .where(eq(agentGrants.clientId, clientId))
    .limit(1)
  return found.length > 0
}

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

/** Deletes the records of a person: their requests, and the codes and tokens of their grants. */
export async function deleteRecordsOfPerson(db: Executor, userId: string): Promise<void> {
  const ofGrants = sql`${oauthRecords.grantId} in (
    select ${agentGrants.id}::text from ${agentGrants} where ${agentGrants.userId} = ${userId}
  )`
  const { payload } = oauthRecords
  const ofAccount = sql`${payload} ->> 'accountId' = ${userId}`
  const decidedByAccount = sql`${payload} #>> '{result,login,accountId}' = ${userId}`
  await db.delete(oauthRecords).where(or(ofGrants, ofAccount, decidedByAccount))
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
  const revoked = await revokeGrantsWithEvent({ db, jobs }, isOfClient, { now, cause: 'request' })
  // A client with a metadata document has no record.
  return rowCount === 1 || revoked > 0 ? revoked : undefined
}

/**
 * Revokes the grants that a new grant of the same person, client and workspace replaces. Returns their ids. Appends no
 * events.
 */
export async function revokeReplacedGrants(
  db: Executor,
  grant: { userId: string; clientId: string; workspaceId: string },
  now: Date,
): Promise<string[]> {
  const isSame = and(
    eq(agentGrants.userId, grant.userId),
    eq(agentGrants.clientId, grant.clientId),
    eq(agentGrants.workspaceId, grant.workspaceId),
  )
  const revoked = await revokeGrants(db, isSame, now)
  return revoked.map(({ id }) => id)
}

/** Inserts a grant, and marks its client, if that is registered, as one to keep. */
export async function insertGrant(db: Executor, row: typeof agentGrants.$inferInsert): Promise<void> {
  await db.insert(agentGrants).values(row)
  await db
    .update(oauthRecords)
    .set({ grantedAt: row.createdAt })
    .where(and(eq(oauthRecords.kind, 'Client'), eq(oauthRecords.key, row.clientId)))
}

async function revokeGrants(db: Executor, condition: SQL | undefined, now: Date) {
  return db
    .update(agentGrants)
    .set({ revokedAt: now })
    .where(and(condition, isNull(agentGrants.revokedAt)))
    .returning({
      id: agentGrants.id,
      workspaceId: agentGrants.workspaceId,
      clientName: agentGrants.clientName,
    })
}

/**
 * Revokes grants, with an event for each: by request of the agent or an operator, or because a code or token was used
 * again, of which the people are told by mail. Returns their number.
 */
async function revokeGrantsWithEvent(
  { db, jobs }: { db: Database; jobs: JobQueue },
  condition: SQL | undefined,
  { now, cause }: { now: Date; cause: 'request' | 'reuse' },
): Promise<number> {
  return db.transaction(async (tx) => {
    const revoked = await revokeGrants(tx, condition, now)
    for (const { id, workspaceId, clientName } of revoked) {
      await insertServiceEvent(tx, {
        workspaceId,
        type: 'integration.revoked',
        target: { type: 'integration', id },
        summary:
          cause === 'reuse'
            ? `The access of ${clientName} ended, because a code or token that it had exchanged was used again`
            : `The access of ${clientName} was revoked by the agent or an operator`,
        at: now,
      })
      if (cause === 'reuse') await jobs.enqueue(tx, 'send_access_ended', { grantId: id })
    }
    return revoked.length
  })
}

/** Who gave a grant, and for what; undefined if the person has left the workspace. */
export async function findGrantForNotice(
  db: Executor,
  grantId: string,
): Promise<
  | { name: string; email: string; clientName: string; workspaceName: string; workspaceSlug: string }
  | undefined
> {
  const [found] = await db
    .select({
      name: users.name,
      email: users.email,
      clientName: agentGrants.clientName,
      workspaceName: workspaces.name,
      workspaceSlug: workspaces.slug,
    })
    .from(agentGrants)
    .innerJoin(users, eq(users.id, agentGrants.userId))
    .innerJoin(workspaces, eq(workspaces.id, agentGrants.workspaceId))
    .where(eq(agentGrants.id, grantId))
  return found
}

/** Whether a grant is active. Its tokens end with it, also at the token endpoint. */
function isLiveGrant(id: string, now: Date): SQL {
  return sql`exists (select from ${agentGrants} where ${and(
    eq(agentGrants.id, id),
    isNull(agentGrants.revokedAt),
    gt(agentGrants.expiresAt, now),
  )})`
}

function createNoopAdapter(): Adapter {
  const nothing = () => Promise.resolve(undefined)
  return {
    upsert: nothing,
    find: nothing,
    findByUid: nothing,
    findByUserCode: nothing,
    consume: nothing,
    destroy: nothing,
    revokeByGrantId: nothing,
  }
}
