import { and, desc, eq, gt, lt, or, sql } from 'drizzle-orm'
import type { Executor } from '../../../db/client.ts'
import { agentGrants } from '../../../db/schema/agent-grants.ts'
import { oauthRecords } from '../../../db/schema/oauth.ts'
import type { Clock } from '../../../kernel/clock.ts'
import { consentLifetimeSeconds, grantLifetimeSeconds } from '../protocol.ts'
import { isServiceClient } from './service-clients.repository.ts'

const grantOfClient = sql`select from ${agentGrants} where ${agentGrants.clientId} = ${oauthRecords.key}`

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

/** Deletes expired records, and clients that were not used for long. Revokes nothing. */
export async function deleteStaleRecords(db: Executor, now: Date): Promise<void> {
  await db.delete(oauthRecords).where(lt(oauthRecords.expiresAt, now))
  await db.delete(oauthRecords).where(
    and(
      eq(oauthRecords.kind, 'Client'),
      or(
        and(lt(oauthRecords.createdAt, new Date(now.getTime() - unusedClientKeptMs)), isUnusedClient),
        lt(oauthRecords.grantedAt, new Date(now.getTime() - usedClientKeptMs)),
        // Its grant went with the service account, or long after it ended.
        and(isServiceClient, sql`not exists (${grantOfClient})`),
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

/** Keeps the records of requests and clients within bounds, as they are inserted. */
export function createTrimmer(options: { db: Executor; clock: Clock; bounds: RecordBounds }): Trimmer {
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
const isUnusedClient = sql`${oauthRecords.grantedAt} is null and not exists (${grantOfClient})`
