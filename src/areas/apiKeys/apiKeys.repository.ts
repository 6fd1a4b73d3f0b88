import { and, count, desc, eq, isNull, sql } from 'drizzle-orm'
import type { Executor } from '../../db/client.ts'
import { prepared } from '../../db/prepared.ts'
import { apiKeys } from '../../db/schema/api-keys.ts'
import { users } from '../../db/schema/users.ts'
import { writeUses } from '../../db/last-used.repository.ts'
import type { Use } from '../../db/use-recorder.ts'
import type { PrincipalUser } from '../../kernel/principal.ts'

/** A user's key, as it may be shown. */
export interface ApiKeyRow {
  id: string
  name: string
  tokenPrefix: string
  lastFour: string
  createdAt: Date
  lastUsedAt: Date | null
}

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
export function listActiveApiKeys(executor: Executor, userId: string): Promise<ApiKeyRow[]> {
  return selectActive(executor).execute({ userId })
}

/** Makes the transactions that add keys to a user take turns, so that none of them counts past another. */
export async function lockUserForNewApiKey(executor: Executor, userId: string): Promise<void> {
  await executor.select({ id: users.id }).from(users).where(eq(users.id, userId)).for('no key update')
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

/** Revokes a user's key, once: a second time changes nothing. Returns whether the user has such a key. */
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

/** Revokes anybody's key. Returns whose it is, and when it was revoked, now or before. */
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

/** An active key, and whose it is. */
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
      user: {
        id: users.id,
        name: users.name,
        email: users.email,
        emailVerifiedAt: users.emailVerifiedAt,
        imageKey: users.imageKey,
      },
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

/** Who the active ones among these keys belong to, in one round trip and in no particular order. */
export function findApiKeyOwners(
  executor: Executor,
  secretHashes: readonly Buffer[],
): Promise<ApiKeyOwner[]> {
  return selectOwners(executor).execute({ secretHashes })
}

/** Writes down when keys were last used, skipping those that another replica is just writing. */
export function recordApiKeyUses(executor: Executor, uses: readonly Use[]): Promise<void> {
  return writeUses(executor, apiKeys, uses)
}
