import { and, eq, gt, isNull, lt, or, sql } from 'drizzle-orm'
import type { Adapter } from 'oidc-provider'
import type { Database, Executor } from '../../../db/client.ts'
import { agentGrants } from '../../../db/schema/agent-grants.ts'
import { oauthRecords } from '../../../db/schema/oauth.ts'
import type { Clock } from '../../../kernel/clock.ts'
import { isStorable } from '../../../kernel/text.ts'
import type { JobQueue } from '../../../platform/jobs/jobs.port.ts'
import { isLiveGrant, revokeGrantsWithEvent } from './grant-records.repository.ts'
import { codeSecondsLeft, isCodeLive } from './authorization-decisions.repository.ts'
import { createTrimmer, type RecordBounds } from './record-bounds.repository.ts'
import { generationOf, keyOf, toPayload, toStored, withScopes } from './stored-records.ts'

export interface RecordAdapterOptions {
  db: Database
  clock: Clock
  jobs: JobQueue
  bounds: RecordBounds
  /** Creates the error for a record that was already consumed. */
  alreadyUsed: () => Error
  /** Creates the error for a client's JWT that was already used. */
  replayed: () => Error
  /** Creates the error for a client that would displace one that was just registered. */
  tooMany: (until: Date) => Error
  /** A digest of the client's address of the current request. */
  findOrigin: () => string | undefined
  /** The metadata document by which the client of the current request is known; undefined if it is registered. */
  findDocument: () => object | undefined
  /** Whether the current request used a code or token that was used before, so that a grant ends with it. */
  isReuse: () => boolean
  /** The request that is handled. */
  findRequestId: () => string | undefined
}

/**
 * Stores the records of the OAuth server in PostgreSQL. Ids that are secrets are hashed. Of parallel calls of `consume`
 * one succeeds and the others throw `alreadyUsed`. Refresh tokens are exchanged by `createRefreshAdapter`.
 */
export function createRecordAdapter(options: RecordAdapterOptions): (kind: string) => Adapter {
  const {
    db,
    clock,
    jobs,
    bounds,
    alreadyUsed,
    replayed,
    tooMany,
    findOrigin,
    findRequestId,
    findDocument,
    isReuse,
  } = options
  const trimmer = createTrimmer({ db, clock, bounds })

  async function endGrant(id: string): Promise<void> {
    await db.delete(oauthRecords).where(and(eq(oauthRecords.kind, 'Grant'), eq(oauthRecords.key, id)))
    const cause = isReuse() ? 'reuse' : 'request'
    await revokeGrantsWithEvent({ db, jobs }, eq(agentGrants.id, id), {
      now: clock.now(),
      cause,
      requestId: findRequestId(),
    })
  }

  return (kind) => {
    // People are identified by the website's session only.
    if (kind === 'Session') return createNoopAdapter()
    // Codes last a minute, so the clock of the database decides: those of replicas may differ by more.
    const isCode = kind === 'AuthorizationCode'
    const isRecord = (id: string) => and(eq(oauthRecords.kind, kind), eq(oauthRecords.key, keyOf(kind, id)))
    return {
      async upsert(id, payload, expiresInSeconds) {
        const now = clock.now()
        const fullUntil = trimmer.fullUntil(kind)
        if (fullUntil && fullUntil > now) throw tooMany(fullUntil)
        // What the person is shown is what counts, whatever the client publishes meanwhile.
        const document = kind === 'Interaction' ? findDocument() : undefined
        const row = {
          payload: { ...toStored(kind, payload), ...(document && { document }) },
          grantId: payload.grantId ?? null,
          clientId: payload.clientId ?? null,
          origin: kind === 'Client' ? (findOrigin() ?? null) : null,
          expiresAt: !expiresInSeconds
            ? null
            : isCode
              ? sql`clock_timestamp() + make_interval(secs => ${expiresInSeconds})`
              : new Date(now.getTime() + expiresInSeconds * 1000),
          generation: generationOf(kind, payload),
        }
        const isOnce = kind === 'ReplayDetection'
        const { rowCount } = await db
          .insert(oauthRecords)
          .values({ kind, key: keyOf(kind, id), ...row, createdAt: now })
          .onConflictDoUpdate({
            target: [oauthRecords.kind, oauthRecords.key],
            set: row,
            // oidc-provider has looked for it before: of parallel uses one is the first.
            ...(isOnce && { setWhere: lt(oauthRecords.expiresAt, now) }),
          })
        if (isOnce && rowCount === 0) throw replayed()
        await trimmer.keepWithinBounds(kind)
      },

      async find(id) {
        if (!isStorable(id)) return undefined
        const now = clock.now()
        const { payload, consumedAt } = oauthRecords
        const isKept = and(isRecord(id), or(isNull(oauthRecords.expiresAt), gt(oauthRecords.expiresAt, now)))
        if (kind === 'Grant') {
          const [found] = await db
            .select({ payload, consumedAt, scopes: agentGrants.scopes })
            .from(oauthRecords)
            .innerJoin(agentGrants, isLiveGrant(id, now))
            .where(isKept)
          return found && withScopes(toPayload(kind, id, found), found.scopes)
        }
        if (isCode) {
          const [code] = await db
            .select({ payload, consumedAt, secondsLeft: codeSecondsLeft })
            .from(oauthRecords)
            .where(and(isRecord(id), isCodeLive))
          // oidc-provider compares with the clock of the process.
          return (
            code && { ...toPayload(kind, id, code), exp: Math.ceil(Date.now() / 1000) + code.secondsLeft }
          )
        }
        const [record] = await db.select({ payload, consumedAt }).from(oauthRecords).where(isKept)
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
