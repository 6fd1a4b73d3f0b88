import { alias } from 'drizzle-orm/pg-core'
import { and, asc, count, desc, eq, gt, isNull, lte, ne, or, sql } from 'drizzle-orm'
import type { Executor } from '../../db/client.ts'
import { keysParameter } from '../../db/sql/batch.ts'
import { pageLimit } from '../../db/sql/hidden-parameter.ts'
import { prepared } from '../../db/sql/prepared.ts'
import { apiKeys } from '../../db/schema/api-keys.ts'
import { memberships } from '../../db/schema/memberships.ts'
import { users } from '../../db/schema/users.ts'

/** The active keys of a user: neither revoked nor expired. */
const isActiveOfUser = and(
  eq(apiKeys.userId, sql.placeholder('userId')),
  isNull(apiKeys.revokedAt),
  or(isNull(apiKeys.expiresAt), gt(apiKeys.expiresAt, sql.placeholder('now'))),
)

const keyColumns = {
  id: apiKeys.id,
  name: apiKeys.name,
  tokenPrefix: apiKeys.tokenPrefix,
  lastFour: apiKeys.lastFour,
  createdAt: apiKeys.createdAt,
  lastUsedAt: apiKeys.lastUsedAt,
  expiresAt: apiKeys.expiresAt,
  access: apiKeys.access,
  workspaceIds: apiKeys.workspaceIds,
  maxRole: apiKeys.maxRole,
  rotatedAt: apiKeys.rotatedAt,
}

/** Which keys a statement is about: those of a user that are active at a time. */
export interface ActiveKeysOf {
  userId: string
  now: Date
}

const selectActive = prepared((executor) =>
  executor
    .select(keyColumns)
    .from(apiKeys)
    .where(isActiveOfUser)
    .orderBy(desc(apiKeys.createdAt), desc(apiKeys.id))
    .prepare('api_keys_select_active'),
)

export type ApiKeyRow = Awaited<ReturnType<typeof listActiveApiKeys>>[number]

/** A user's active keys, newest first. */
export function listActiveApiKeys(executor: Executor, { userId, now }: ActiveKeysOf) {
  return selectActive(executor).execute({ userId, now: now.toISOString() })
}

const selectActiveById = prepared((executor) =>
  executor
    .select(keyColumns)
    .from(apiKeys)
    .where(and(eq(apiKeys.id, sql.placeholder('id')), isActiveOfUser))
    .prepare('api_keys_select_active_by_id'),
)

/** An active key of a user. */
export async function findActiveApiKey(
  executor: Executor,
  { id, userId, now }: ActiveKeysOf & { id: string },
): Promise<ApiKeyRow | undefined> {
  const [key] = await selectActiveById(executor).execute({ id, userId, now: now.toISOString() })
  return key
}

const replaced = alias(apiKeys, 'replaced')

const selectReplaced = prepared((executor) =>
  executor
    .select({ id: replaced.id })
    .from(replaced)
    // The rotation set both times, and kept the name.
    .innerJoin(
      apiKeys,
      and(
        ...[eq(apiKeys.userId, replaced.userId), eq(apiKeys.name, replaced.name)],
        ...[eq(apiKeys.createdAt, replaced.rotatedAt), ne(apiKeys.id, replaced.id)],
      ),
    )
    .where(
      and(
        eq(apiKeys.id, sql.placeholder('id')),
        eq(apiKeys.userId, sql.placeholder('userId')),
        isNull(apiKeys.revokedAt),
        isNull(replaced.revokedAt),
        gt(replaced.expiresAt, sql.placeholder('now')),
      ),
    )
    .prepare('api_keys_select_replaced'),
)

/** The id of the rotated key that an unrevoked key took the place of, while it works on. */
export async function findReplacedApiKey(
  executor: Executor,
  { id, userId, now }: ActiveKeysOf & { id: string },
): Promise<string | undefined> {
  const [key] = await selectReplaced(executor).execute({ id, userId, now: now.toISOString() })
  return key?.id
}

const countActive = prepared((executor) =>
  executor.select({ count: count() }).from(apiKeys).where(isActiveOfUser).prepare('api_keys_count_active'),
)

export async function countActiveApiKeys(executor: Executor, { userId, now }: ActiveKeysOf): Promise<number> {
  const [row] = await countActive(executor).execute({ userId, now: now.toISOString() })
  return row?.count ?? 0
}

export async function insertApiKey(executor: Executor, row: typeof apiKeys.$inferInsert): Promise<void> {
  await executor.insert(apiKeys).values(row)
}

/** Sets the restrictions of a key, and when its owner is to be told that it expires. */
export async function updateRestrictions(
  executor: Executor,
  id: string,
  change: Pick<
    typeof apiKeys.$inferInsert,
    'expiresAt' | 'access' | 'workspaceIds' | 'maxRole' | 'expiryNoticeAt'
  >,
): Promise<void> {
  await executor.update(apiKeys).set(change).where(eq(apiKeys.id, id))
}

/** Notes that another key takes the place of this one, and when it ends: at `revokedAt`, or at `expiresAt` by itself. */
export async function endRotatedApiKey(
  executor: Executor,
  id: string,
  end: { rotatedAt: Date } & ({ revokedAt: Date } | { expiresAt: Date }),
): Promise<void> {
  await executor
    .update(apiKeys)
    .set({ ...end, expiryNoticeAt: null })
    .where(eq(apiKeys.id, id))
}

const selectMemberships = prepared((executor) =>
  executor
    .select({ workspaceId: memberships.workspaceId })
    .from(memberships)
    .where(
      and(
        eq(memberships.userId, sql.placeholder('userId')),
        sql`${memberships.workspaceId} = any(${keysParameter('workspaceIds', 'uuid')})`,
      ),
    )
    .prepare('memberships_select_some_of_user'),
)

/** Those of some workspaces that a user is a member of. */
export async function listJoinedWorkspaces(
  executor: Executor,
  input: { userId: string; workspaceIds: readonly string[] },
): Promise<string[]> {
  const rows = await selectMemberships(executor).execute({ ...input })
  return rows.map(({ workspaceId }) => workspaceId)
}

const selectDueNotices = prepared((executor) =>
  executor
    .select({ id: apiKeys.id })
    .from(apiKeys)
    .where(
      and(
        isNull(apiKeys.revokedAt),
        lte(apiKeys.expiryNoticeAt, sql.placeholder('now')),
        gt(apiKeys.expiresAt, sql.placeholder('now')),
      ),
    )
    .orderBy(asc(apiKeys.expiryNoticeAt))
    .limit(pageLimit)
    .prepare('api_keys_select_due_notices'),
)

/** The keys whose owners are to be told now that they expire, the first due first. */
export async function listDueExpiryNotices(
  executor: Executor,
  { now, limit }: { now: Date; limit: number },
): Promise<string[]> {
  const rows = await selectDueNotices(executor).execute({ now: now.toISOString(), limit })
  return rows.map(({ id }) => id)
}

/** A key that works and will expire, with its owner. `expiryNoticeAt` is null when there is nothing to tell. */
export async function findExpiringApiKey(executor: Executor, id: string, now: Date) {
  const [key] = await executor
    .select({
      name: apiKeys.name,
      lastFour: apiKeys.lastFour,
      expiresAt: apiKeys.expiresAt,
      expiryNoticeAt: apiKeys.expiryNoticeAt,
      owner: { id: users.id, name: users.name, email: users.email },
    })
    .from(apiKeys)
    .innerJoin(users, eq(users.id, apiKeys.userId))
    .where(and(eq(apiKeys.id, id), isNull(apiKeys.revokedAt), gt(apiKeys.expiresAt, now)))
  return key
}

/** Notes that the owner of a key was told that it expires, unless another expiry was chosen meanwhile. */
export async function setExpiryNoticed(executor: Executor, id: string, expiresAt: Date): Promise<void> {
  await executor
    .update(apiKeys)
    .set({ expiryNoticeAt: null })
    .where(and(eq(apiKeys.id, id), eq(apiKeys.expiresAt, expiresAt)))
}

/** Revokes a key of a user; a revoked key keeps its time. Returns its name; undefined if the user does not have the key. */
export async function revokeApiKeyOfUser(
  executor: Executor,
  key: { id: string; userId: string; revokedAt: Date },
): Promise<string | undefined> {
  const [revoked] = await executor
    .update(apiKeys)
    .set({ revokedAt: sql`coalesce(${apiKeys.revokedAt}, ${key.revokedAt.toISOString()})` })
    .where(and(eq(apiKeys.id, key.id), eq(apiKeys.userId, key.userId)))
    .returning({ name: apiKeys.name })
  return revoked?.name
}

/** Revokes a key. Returns its owner, and when it was revoked: now, or before. */
export async function revokeApiKey(
  executor: Executor,
  key: { id: string; revokedAt: Date },
): Promise<{ name: string; email: string; revokedAt: Date | null } | undefined> {
  const [revoked] = await executor
    .update(apiKeys)
    .set({ revokedAt: sql`coalesce(${apiKeys.revokedAt}, ${key.revokedAt.toISOString()})` })
    .from(users)
    .where(and(eq(apiKeys.id, key.id), eq(users.id, apiKeys.userId)))
    .returning({ name: apiKeys.name, email: users.email, revokedAt: apiKeys.revokedAt })
  return revoked
}

/** Revokes the keys of a user that are not revoked. Returns how many of them were still active. */
export async function revokeApiKeysOfUser(
  executor: Executor,
  { userId, revokedAt }: { userId: string; revokedAt: Date },
): Promise<number> {
  const revoked = await executor
    .update(apiKeys)
    .set({ revokedAt })
    .where(and(eq(apiKeys.userId, userId), isNull(apiKeys.revokedAt)))
    .returning({ expiresAt: apiKeys.expiresAt })
  return revoked.filter(({ expiresAt }) => expiresAt === null || expiresAt > revokedAt).length
}

/** Deletes the keys that were revoked, or expired, before a time. */
export async function deleteEndedApiKeys(executor: Executor, before: Date): Promise<void> {
  const endedAt = sql`least(${apiKeys.revokedAt}, ${apiKeys.expiresAt})`
  await executor.delete(apiKeys).where(sql`${endedAt} < ${before.toISOString()}`)
}

/** Revokes the API keys of everybody, service accounts included. Returns the number of those that were not revoked. */
export async function revokeAllKeys(executor: Executor, now: Date): Promise<number> {
  const { rowCount } = await executor.update(apiKeys).set({ revokedAt: now }).where(isNull(apiKeys.revokedAt))
  return rowCount ?? 0
}
