import { and, count, desc, eq, isNull, sql } from 'drizzle-orm'
import { isSlugInUse, workspaceOfCaller } from '../../access/access.repository.ts'
import type { Executor } from '../../db/client.ts'
import { byPlace, keysParameter } from '../../db/sql/batch.ts'
import { prepared } from '../../db/sql/prepared.ts'
import { apiKeys } from '../../db/schema/api-keys.ts'
import { seeds } from '../../db/schema/seeds.ts'
import { principalColumns, users } from '../../db/schema/users.ts'
import { workspaces, workspaceSlugs } from '../../db/schema/workspaces.ts'
import { writeUses } from '../../db/last-used.repository.ts'
import type { Use } from '../../db/use-recorder.ts'
import type { PrincipalUser, WorkspaceOfCaller } from '../../kernel/principal.ts'

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

/** An active key and its owner. */
export interface ApiKeyOwner {
  apiKeyId: string
  secretHash: Buffer
  user: PrincipalUser
}

const ownerColumns = { apiKeyId: apiKeys.id, secretHash: apiKeys.secretHash, user: principalColumns }

const selectOwners = prepared((executor) =>
  executor
    .select(ownerColumns)
    .from(apiKeys)
    .innerJoin(users, eq(users.id, apiKeys.userId))
    .where(
      and(
        sql`${apiKeys.secretHash} = any(${keysParameter('secretHashes', 'bytea')})`,
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

/** The owner of a key, and the workspace of the subject with their role in it. */
export interface OwnerAndWorkspace {
  owner: ApiKeyOwner
  workspace: WorkspaceOfCaller | undefined
}

const selectOwnersBySlug = prepared((executor) =>
  selectOwnersAnd(executor, 'text')
    .leftJoin(workspaceSlugs, and(eq(workspaceSlugs.slug, sql`asked.key`), isSlugInUse))
    .leftJoin(workspaces, eq(workspaces.id, workspaceSlugs.workspaceId))
    .prepare('api_keys_select_owners_by_slug'),
)

const selectOwnersBySeed = prepared((executor) =>
  selectOwnersAnd(executor, 'uuid')
    .leftJoin(seeds, eq(seeds.id, sql`asked.key`))
    .leftJoin(workspaces, eq(workspaces.id, seeds.workspaceId))
    .prepare('api_keys_select_owners_by_seed'),
)

/** Selects the owners of keys, each with the workspace of a slug or seed, which the caller of the function joins. */
function selectOwnersAnd(executor: Executor, type: 'text' | 'uuid') {
  return executor
    .select({
      place: sql<number>`asked.place::int`,
      ...ownerColumns,
      workspace: workspaceOfCaller(apiKeys.userId),
    })
    .from(
      sql`unnest(${keysParameter('secretHashes', 'bytea')}, ${keysParameter('keys', type)})
        with ordinality as asked (secret_hash, key, place)`,
    )
    .innerJoin(apiKeys, and(eq(apiKeys.secretHash, sql`asked.secret_hash`), isNull(apiKeys.revokedAt)))
    .innerJoin(users, eq(users.id, apiKeys.userId))
    .$dynamic()
}

/** A key by its hash, with the slug or seed that its request is about. */
export interface KeyAndSubject {
  secretHash: Buffer
  key: string
}

type Found = Promise<(OwnerAndWorkspace | undefined)[]>

/** The owners of active keys, each with the workspace of a slug, in one round trip, in the order of the questions. */
export async function findOwnersBySlug(
  executor: Executor,
  questions: readonly KeyAndSubject[],
  { now, recordedSince }: { now: Date; recordedSince: Date },
): Found {
  const values = { ...toParameters(questions, recordedSince), now: now.toISOString() }
  return toOwners(questions, await selectOwnersBySlug(executor).execute(values))
}

/** The owners of active keys, each with the workspace of a seed, in one round trip, in the order of the questions. */
export async function findOwnersBySeed(
  executor: Executor,
  questions: readonly KeyAndSubject[],
  { recordedSince }: { recordedSince: Date },
): Found {
  const values = toParameters(questions, recordedSince)
  return toOwners(questions, await selectOwnersBySeed(executor).execute(values))
}

function toParameters(questions: readonly KeyAndSubject[], recordedSince: Date) {
  return {
    secretHashes: questions.map(({ secretHash }) => secretHash),
    keys: questions.map(({ key }) => key),
    recordedSince: recordedSince.toISOString(),
  }
}

function toOwners(
  { length }: readonly KeyAndSubject[],
  rows: readonly (ApiKeyOwner & { place: number; workspace: WorkspaceOfCaller | null })[],
): (OwnerAndWorkspace | undefined)[] {
  return byPlace(
    length,
    rows.map(({ place, workspace, ...owner }) => ({
      place,
      value: { owner, workspace: workspace ?? undefined },
    })),
  )
}

/** Records when keys were last used. Skips rows that another replica has locked. */
export function recordApiKeyUses(executor: Executor, uses: readonly Use[]): Promise<void> {
  return writeUses(executor, apiKeys, uses)
}
