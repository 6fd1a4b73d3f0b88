import { and, eq, isNull, lt, notBetween, sql } from 'drizzle-orm'
import type { Clock } from '../kernel/clock.ts'
import type {
  AnswerToKeep,
  BeginResult,
  IdempotencyStore,
  IdempotentRequest,
  StoredAnswer,
} from '../kernel/idempotency.ts'
import type { Executor } from './client.ts'
import { idempotentRequests } from './schema/idempotent-requests.ts'

const keptMs = 24 * 60 * 60 * 1000
// Longer than nearly every request takes. When one takes longer, a second attempt only works in vain: one can commit.
const lockMs = 2_500

/** Keeps the answers to idempotent requests in the database, where every replica finds them. */
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
 * Stores the answer to a request. Given the transaction of the change, both are committed or neither. Returns whether it
 * is the first: of several attempts at a request one can commit.
 */
export async function keepAnswer(db: Executor, { request, answer }: AnswerToKeep): Promise<boolean> {
  const { rowCount } = await db.update(idempotentRequests).set(answer).where(isUnanswered(request))
  return rowCount === 1
}

/** Deletes what is older than 24 hours; returns how many there were. */
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
    // Ended, or set by a clock that goes ahead of ours.
    notBetween(idempotentRequests.lockedUntil, now, lockedUntil),
    eq(idempotentRequests.fingerprint, sql`excluded.fingerprint`),
  )
  // Inserting is what decides between two at once: one of them inserts, the other conflicts.
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
  // Gone since: it has just failed, and a retry will begin anew.
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
