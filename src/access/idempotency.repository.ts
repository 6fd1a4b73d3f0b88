import { and, eq, isNull, lt, notBetween, sql } from 'drizzle-orm'
import type { Clock } from '../kernel/clock.ts'
import type {
  AnswerToKeep,
  BeginResult,
  IdempotencyStore,
  IdempotentRequest,
  StoredAnswer,
} from '../kernel/idempotency.ts'
import type { Executor } from '../db/client.ts'
import { idempotentRequests } from '../db/schema/idempotent-requests.ts'

const keptMs = 24 * 60 * 60 * 1000
// Longer than nearly all requests take. If one takes longer, a second attempt may start, but only one can commit.
const lockMs = 2_500

/** Stores the responses to idempotent requests in the database, for all replicas. */
export function createIdempotencyStore(db: Executor, clock: Clock): IdempotencyStore {
  return {
    begin: (request) => begin(db, request, clock.now()),
    async complete(request, answer) {
      if (await keepAnswer(db, { request, answer })) return answer
      const earlier = await find(db, request)
      return toAnswer(earlier) ?? answer
    },
    async abandon(attempt) {
      const isMine = eq(idempotentRequests.lockedUntil, attempt.lockedUntil)
      await db.delete(idempotentRequests).where(and(isUnanswered(attempt), isMine))
    },
  }
}

/**
 * Stores the response to a request. In the transaction of the change, both are committed or neither. Returns false if
 * another attempt has already stored a response.
 */
export async function keepAnswer(db: Executor, { request, answer }: AnswerToKeep): Promise<boolean> {
  const { rowCount } = await db.update(idempotentRequests).set(answer).where(isUnanswered(request))
  return rowCount === 1
}

/** Deletes responses older than 24 hours. Returns their number. */
export async function deleteExpiredIdempotentRequests(db: Executor, now: Date): Promise<number> {
  const { rowCount } = await db.delete(idempotentRequests).where(lt(idempotentRequests.expiresAt, now))
  return rowCount ?? 0
}

async function begin(db: Executor, request: IdempotentRequest, now: Date): Promise<BeginResult> {
  const lockedUntil = new Date(now.getTime() + lockMs)
  const fresh = {
    fingerprint: request.fingerprint,
    status: null,
    contentType: null,
    sealedBody: null,
    lockedUntil,
    expiresAt: new Date(now.getTime() + keptMs),
  }
  const isExpired = lt(idempotentRequests.expiresAt, now)
  const isAbandoned = and(
    isNull(idempotentRequests.status),
    // The lock has expired, or was set by a clock ahead of this one.
    notBetween(idempotentRequests.lockedUntil, now, lockedUntil),
    eq(idempotentRequests.fingerprint, sql`excluded.fingerprint`),
  )
  // The primary key decides between concurrent attempts: one inserts, the others conflict.
  const { rowCount } = await db
    .insert(idempotentRequests)
    .values({ ...request, ...fresh })
    .onConflictDoUpdate({
      target: [idempotentRequests.apiKeyId, idempotentRequests.keyHash],
      set: fresh,
      setWhere: sql`${isExpired} or (${isAbandoned})`,
    })
  if (rowCount === 1) return { ...request, lockedUntil }
  const earlier = await find(db, request)
  // The other attempt has failed since, so a retry can begin.
  if (!earlier) return 'in_flight'
  if (!earlier.fingerprint.equals(request.fingerprint)) return 'reused'
  return toAnswer(earlier) ?? 'in_flight'
}

type Row = typeof idempotentRequests.$inferSelect

async function find(db: Executor, request: IdempotentRequest): Promise<Row | undefined> {
  const [row] = await db.select().from(idempotentRequests).where(isSame(request))
  return row
}

function toAnswer(row: Row | undefined): StoredAnswer | undefined {
  const { status = null, contentType = null, sealedBody = null } = row ?? {}
  if (status === null || contentType === null || sealedBody === null) return undefined
  return { status, contentType, sealedBody }
}

function isUnanswered(request: IdempotentRequest) {
  return and(isSame(request), isNull(idempotentRequests.status))
}

function isSame({ apiKeyId, keyHash }: IdempotentRequest) {
  return and(eq(idempotentRequests.apiKeyId, apiKeyId), eq(idempotentRequests.keyHash, keyHash))
}
