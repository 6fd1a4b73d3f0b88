import { and, eq, isNull, lt, sql } from 'drizzle-orm'
import type { Clock } from '../kernel/clock.ts'
import type { BeginResult, IdempotencyStore, IdempotentRequest } from '../kernel/idempotency.ts'
import type { Executor } from './client.ts'
import { idempotentRequests } from './schema/idempotent-requests.ts'

const keptMs = 24 * 60 * 60 * 1000
// Longer than any request may take: whoever began one that is older has died.
const lockMs = 60 * 1000

/** Keeps the answers to idempotent requests in the database, where every replica finds them. */
export function createIdempotencyStore(db: Executor, clock: Clock): IdempotencyStore {
  return {
    begin: (request) => begin(db, request, clock.now()),
    complete: async (request, answer) => {
      await db.update(idempotentRequests).set(answer).where(isSame(request))
    },
    abandon: async (request) => {
      await db.delete(idempotentRequests).where(isSame(request))
    },
  }
}

/** Deletes what is older than 24 hours; returns how many there were. */
export async function deleteExpiredIdempotentRequests(db: Executor, now: Date): Promise<number> {
  const { rowCount } = await db.delete(idempotentRequests).where(lt(idempotentRequests.expiresAt, now))
  return rowCount ?? 0
}

async function begin(db: Executor, request: IdempotentRequest, now: Date): Promise<BeginResult> {
  const fresh = {
    fingerprint: request.fingerprint,
    status: null,
    contentType: null,
    sealedBody: null,
    lockedUntil: new Date(now.getTime() + lockMs),
    expiresAt: new Date(now.getTime() + keptMs),
  }
  const isExpired = lt(idempotentRequests.expiresAt, now)
  const isAbandoned = and(
    isNull(idempotentRequests.status),
    lt(idempotentRequests.lockedUntil, now),
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
  if (rowCount === 1) return 'begun'
  const [earlier] = await db.select().from(idempotentRequests).where(isSame(request))
  // Gone since: it has just failed, and a retry will begin anew.
  if (!earlier) return 'in_flight'
  if (!earlier.fingerprint.equals(request.fingerprint)) return 'reused'
  const { status, contentType, sealedBody } = earlier
  return status === null || contentType === null || sealedBody === null
    ? 'in_flight'
    : { status, contentType, sealedBody }
}

function isSame({ apiKeyId, keyHash }: IdempotentRequest) {
  return and(eq(idempotentRequests.apiKeyId, apiKeyId), eq(idempotentRequests.keyHash, keyHash))
}
