import { and, desc, eq, gt, isNull, lt, or, sql, type SQL } from 'drizzle-orm'
import type { Adapter, AdapterPayload } from 'oidc-provider'
import { appendServiceEvent } from '../areas/events/events.repository.ts'
import type { Executor } from '../db/client.ts'
import { agentGrants } from '../db/schema/agent-grants.ts'
import { oauthRecords } from '../db/schema/oauth.ts'
import type { Clock } from '../kernel/clock.ts'
import { isStorable } from '../kernel/text.ts'
import { hashSecret } from '../kernel/tokens.ts'

// What these are found by is the secret itself.
const secretKinds = new Set(['AccessToken', 'AuthorizationCode', 'Interaction', 'RefreshToken', 'Session'])

/** Two processes of one client may refresh at once: the later one is a race, not a theft, for this long. */
const refreshGraceMs = 10_000

/** How long a client may be registered without anybody's consent before it is forgotten. */
const unusedClientKeptMs = 7 * 24 * 60 * 60 * 1000

/** The most records that requests without a credential leave behind. Past that the oldest are deleted. */
export interface RecordBounds {
  /** Authorization requests that wait for consent. */
  pendingRequestsMax: number
  /** Clients that nobody has given access to. */
  unusedClientsMax: number
  /** Of these, how many one client address may have registered. */
  unusedClientsPerAddressMax: number
}

export const recordBounds: RecordBounds = {
  pendingRequestsMax: 10_000,
  unusedClientsMax: 10_000,
  unusedClientsPerAddressMax: 1_000,
}

export interface RecordAdapterOptions {
  db: Executor
  clock: Clock
  bounds: RecordBounds
  /** The error for what is used a second time. */
  alreadyUsed: () => Error
  /** A digest of the address that the current request came from. */
  findOrigin: () => string | undefined
}

/**
 * Where the OAuth server keeps its records: in PostgreSQL. Three things are left to us: secrets are hashed at rest, what
 * is used once is used once also by two at the same moment (the later one gets `alreadyUsed`), and racing refreshes have
 * their grace.
 */
export function createRecordAdapter(options: RecordAdapterOptions): (kind: string) => Adapter {
  const { db, clock, bounds, alreadyUsed, findOrigin } = options
  const keepWithinBounds = createTrimmer(db, bounds)
  return (kind) => {
    // Who the person is, is known by the website's session alone: the server's own never remembers anybody.
    if (kind === 'Session') return createForgetfulAdapter()
    const isSecret = secretKinds.has(kind)
    const keyOf = (id: string) => (isSecret ? hashSecret(id).toString('base64url') : id)
    const isRecord = (id: string) => and(eq(oauthRecords.kind, kind), eq(oauthRecords.key, keyOf(id)))
    return {
      async upsert(id, payload, expiresInSeconds) {
        const { jti, ...rest } = payload
        const now = clock.now()
        const row = {
          payload: isSecret ? rest : { ...rest, jti },
          grantId: payload.grantId ?? null,
          clientId: payload.clientId ?? null,
          origin: kind === 'Client' ? (findOrigin() ?? null) : null,
          expiresAt: expiresInSeconds ? new Date(now.getTime() + expiresInSeconds * 1000) : null,
        }
        await db
          .insert(oauthRecords)
          .values({ kind, key: keyOf(id), ...row, createdAt: now })
          .onConflictDoUpdate({ target: [oauthRecords.kind, oauthRecords.key], set: row })
        await keepWithinBounds(kind)
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
        if (!record) return undefined
        const { payload, consumedAt } = record
        const isConsumed = consumedAt && !(kind === 'RefreshToken' && isWithinGrace(consumedAt, now))
        return {
          ...(payload as AdapterPayload),
          ...(isSecret && { jti: id }),
          ...(isConsumed && { consumed: Math.floor(consumedAt.getTime() / 1000) }),
        }
      },

      async consume(id) {
        const now = clock.now()
        const mayRace = kind === 'RefreshToken'
        const { rowCount } = await db
          .update(oauthRecords)
          .set({ consumedAt: sql`coalesce(${oauthRecords.consumedAt}, ${now.toISOString()})` })
          .where(
            and(
              isRecord(id),
              or(
                isNull(oauthRecords.consumedAt),
                mayRace ? gt(oauthRecords.consumedAt, new Date(now.getTime() - refreshGraceMs)) : undefined,
              ),
            ),
          )
        // Somebody was first.
        if (rowCount !== 1) throw alreadyUsed()
      },

      async destroy(id) {
        await db.delete(oauthRecords).where(isRecord(id))
        if (kind === 'Grant') await endGrantsWithEvent(db, eq(agentGrants.id, id), clock.now())
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

/** Deletes what has expired, and clients that nobody ever gave access to. Revokes nothing. */
export async function deleteStaleRecords(db: Executor, now: Date): Promise<void> {
  await db.delete(oauthRecords).where(lt(oauthRecords.expiresAt, now))
  await db
    .delete(oauthRecords)
    .where(
      and(
        eq(oauthRecords.kind, 'Client'),
        lt(oauthRecords.createdAt, new Date(now.getTime() - unusedClientKeptMs)),
        isUnusedClient,
      ),
    )
}

/** Deletes the oldest of the records that are more than the bounds allow. Revokes nothing. */
export async function deleteExcessRecords(db: Executor, bounds: RecordBounds): Promise<void> {
  await deleteExcessRequests(db, bounds)
  await deleteExcessClients(db, bounds)
}

async function deleteExcessRequests(db: Executor, { pendingRequestsMax }: RecordBounds): Promise<void> {
  // Two processes at once each delete what the other one does not.
  await db.execute(sql`
    delete from ${oauthRecords} where kind = 'Interaction' and key in (
      select key from ${oauthRecords} where kind = 'Interaction'
      order by created_at desc, key offset ${pendingRequestsMax} for update skip locked
    )`)
}

async function deleteExcessClients(db: Executor, bounds: RecordBounds): Promise<void> {
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
      where ${oauthRecords.kind} = 'Client' and (
        unused.place > ${unusedClientsMax}
        or (unused.origin is not null and unused.place_of_origin > ${unusedClientsPerAddressMax})
      )
      for update of oauth_records skip locked
    )`)
}

/** Keeps records within their bounds, give or take a hundredth: to count at each insert would cost more than it saves. */
function createTrimmer(db: Executor, bounds: RecordBounds): (kind: string) => Promise<void> {
  const { pendingRequestsMax, unusedClientsMax, unusedClientsPerAddressMax } = bounds
  const trimmers = new Map([
    [
      'Interaction',
      {
        run: deleteExcessRequests,
        every: Math.ceil(pendingRequestsMax / 100),
        inserted: 0,
        isRunning: false,
      },
    ],
    [
      'Client',
      {
        run: deleteExcessClients,
        every: Math.ceil(Math.min(unusedClientsMax, unusedClientsPerAddressMax) / 100),
        inserted: 0,
        isRunning: false,
      },
    ],
  ])
  return async (kind) => {
    const trimmer = trimmers.get(kind)
    if (!trimmer) return
    trimmer.inserted += 1
    // One at a time: of a crowd, each would count the same rows, and all would wait for a connection.
    if (trimmer.isRunning || trimmer.inserted < trimmer.every) return
    trimmer.isRunning = true
    trimmer.inserted = 0
    try {
      await trimmer.run(db, bounds)
    } finally {
      trimmer.isRunning = false
    }
  }
}

const isUnusedClient = sql`not exists (
  select from ${agentGrants} where ${agentGrants.clientId} = ${oauthRecords.key}
)`

/** An agent in the operators' list. */
export interface ClientRow {
  id: string
  name: string | null
  /** Null for a client that is known by its metadata document: it registers nowhere. */
  registeredAt: Date | null
  lastUsedAt: Date | null
  /** How many grants it has that hold. */
  grantCount: number
  /** How many clients there are, beyond the limit too. */
  total: number
}

/** Clients that are registered or have been given access, the one registered or let in last first. */
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

/** Deletes what the server keeps of a person: requests, codes and tokens of their grants. */
export async function deleteRecordsOfPerson(db: Executor, userId: string): Promise<void> {
  const ofGrants = sql`${oauthRecords.grantId} in (
    select ${agentGrants.id}::text from ${agentGrants} where ${agentGrants.userId} = ${userId}
  )`
  await db.delete(oauthRecords).where(or(ofGrants, sql`${oauthRecords.payload} ->> 'accountId' = ${userId}`))
}

/** Forgets a client and ends every grant that it has. Returns how many, or undefined where there was no such client. */
export async function deleteClient(db: Executor, clientId: string, now: Date): Promise<number | undefined> {
  const { rowCount } = await db
    .delete(oauthRecords)
    .where(and(eq(oauthRecords.kind, 'Client'), eq(oauthRecords.key, clientId)))
  const ended = await endGrantsWithEvent(db, eq(agentGrants.clientId, clientId), now)
  // Who names a metadata document is nowhere registered.
  return rowCount === 1 || ended > 0 ? ended : undefined
}

/**
 * Ends the grants that a new consent of the same person to the same client for the same workspace replaces. Returns
 * their ids.
 */
export async function replaceGrants(
  db: Executor,
  grant: { userId: string; clientId: string; workspaceId: string },
  now: Date,
): Promise<string[]> {
  const isSame = and(
    eq(agentGrants.userId, grant.userId),
    eq(agentGrants.clientId, grant.clientId),
    eq(agentGrants.workspaceId, grant.workspaceId),
  )
  const ended = await endGrants(db, isSame, now)
  return ended.map(({ id }) => id)
}

export async function insertGrant(db: Executor, row: typeof agentGrants.$inferInsert): Promise<void> {
  await db.insert(agentGrants).values(row)
}

async function endGrants(db: Executor, condition: SQL | undefined, now: Date) {
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

/** Ends grants by nobody's decision in the workspace, which is told of it. Returns how many there were. */
async function endGrantsWithEvent(db: Executor, condition: SQL | undefined, now: Date): Promise<number> {
  return db.transaction(async (tx) => {
    const ended = await endGrants(tx, condition, now)
    for (const { id, workspaceId, clientName } of ended) {
      await appendServiceEvent(tx, {
        workspaceId,
        type: 'integration.revoked',
        target: { type: 'integration', id },
        summary: `The access of ${clientName} was ended by its own doing or by an operator`,
        at: now,
      })
    }
    return ended.length
  })
}

/** Whether a grant still holds: what agents were given ends with it at once, also at the token endpoint. */
function isLiveGrant(id: string, now: Date): SQL {
  return sql`exists (select from ${agentGrants} where ${and(
    sql`${agentGrants.id}::text = ${id}`,
    isNull(agentGrants.revokedAt),
    gt(agentGrants.expiresAt, now),
  )})`
}

function isWithinGrace(consumedAt: Date, now: Date): boolean {
  return now.getTime() - consumedAt.getTime() < refreshGraceMs
}

function createForgetfulAdapter(): Adapter {
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
