import { and, count, desc, eq, isNull, sql } from 'drizzle-orm'
import type { Executor } from '../../db/client.ts'
import { prepared } from '../../db/prepared.ts'
import { apiKeys } from '../../db/schema/api-keys.ts'
import { principalColumns, users } from '../../db/schema/users.ts'
import { writeUses } from '../../db/last-used.repository.ts'
import type { Use } from '../../db/use-recorder.ts'
import type { PrincipalUser } from '../../kernel/principal.ts'

const activeKeysOfUser = and(eq(apiKeys.userId, sql.placeholder('userId')), isNull(apiKeys.revokedAt))

const selectActive = prepared((executor) =>
  executor
    .select({
      id: apiKeys.id,
      name: apiKeys.name,
      tokenPrefix: apiKeys.tokenPrefix,
      lastFour: apiKeys.lastFour,
      createdAt: apiKeys.createdAt,
      lastUsedAt: apiKeys.lastUsedAt,
    })
    .from(apiKeys)
    .where(activeKeysOfUser)
    .orderBy(desc(apiKeys.createdAt), desc(apiKeys.id))
    .prepare('api_keys_select_active'),
)

/** A user's active keys, newest first. */
export function listActiveApiKeys(executor: Executor, userId: string) {
  return selectActive(executor).execute({ userId })
}

export async function countActiveApiKeys(executor: Executor, userId: string): Promise<number> {
  const [row] = await executor
    .select({ count: count() })
    .from(apiKeys)
    .where(and(eq(apiKeys.userId, userId), isNull(apiKeys.revokedAt)))
  return row?.count ?? 0
}

export async function insertApiKey(executor: Executor, row: typeof apiKeys.$inferInsert): Promise<void> {
  await executor.insert(apiKeys).values(row)
}

/** Revokes a key of a user; a revoked key keeps its time. Returns whether the user has the key. */
export async function revokeApiKeyOfUser(
  executor: Executor,
  key: { id: string; userId: string; revokedAt: Date },
): Promise<boolean> {
  const { rowCount } = await executor
    .update(apiKeys)
    .set({ revokedAt: sql`coalesce(${apiKeys.revokedAt}, ${key.revokedAt.toISOString()})` })
    .where(and(eq(apiKeys.id, key.id), eq(apiKeys.userId, key.userId)))
  return rowCount === 1
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

/** An active key and its owner. */
export interface ApiKeyOwner {
  apiKeyId: string
  secretHash: Buffer
  user: PrincipalUser
}

const selectOwners = prepared((executor) =>
  executor
    .select({
      apiKeyId: apiKeys.id,
      secretHash: apiKeys.secretHash,
      user: principalColumns,
    })
    .from(apiKeys)
    .innerJoin(users, eq(users.id, apiKeys.userId))
    .where(
      and(
        sql`${apiKeys.secretHash} = any(${sql.placeholder('secretHashes')}::bytea[])`,
        isNull(apiKeys.revokedAt),
      ),
    )
    .prepare('api_keys_select_owners'),
)

/** The owners of the active keys with these hashes, in one round trip, in no particular order. */
export function findApiKeyOwners(
  executor: Executor,
  secretHashes: readonly Buffer[],
): Promise<ApiKeyOwner[]> {
  return selectOwners(executor).execute({ secretHashes })
}

/** Records when keys were last used. Skips rows that another replica has locked. */
export function recordApiKeyUses(executor: Executor, uses: readonly Use[]): Promise<void> {
  return writeUses(executor, apiKeys, uses)
}
