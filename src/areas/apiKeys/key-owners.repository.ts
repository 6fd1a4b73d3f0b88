import { and, eq, isNull, sql } from 'drizzle-orm'
import { isSlugInUse, workspaceOfCaller } from '../../access/access.repository.ts'
import type { Executor } from '../../db/client.ts'
import { byOrdinal, keysParameter, ordinal } from '../../db/sql/batch.ts'
import { prepared } from '../../db/sql/prepared.ts'
import { apiKeys } from '../../db/schema/api-keys.ts'
import { seeds } from '../../db/schema/seeds.ts'
import { isActive, principalColumns, users } from '../../db/schema/users.ts'
import { isWorkspace, workspaces, workspaceSlugs } from '../../db/schema/workspaces.ts'
import { writeUses } from '../../access/last-used.repository.ts'
import type { Use } from '../../concurrency/use-recorder.ts'
import type { KeyRestrictions } from '../../domain/key-restrictions.ts'
import type { PrincipalUser, WorkspaceOfCaller } from '../../domain/principal.ts'

/** A key that is not revoked, which may have expired, and its owner, who is not suspended. */
export interface ApiKeyOwner extends KeyRestrictions {
  apiKeyId: string
  /** Whether the owner is a service account. */
  isService: boolean
  user: PrincipalUser
}

const ownerColumns = {
  apiKeyId: apiKeys.id,
  expiresAt: apiKeys.expiresAt,
  access: apiKeys.access,
  workspaceIds: apiKeys.workspaceIds,
  maxRole: apiKeys.maxRole,
  isService: sql<boolean>`${users.kind} = 'service'`.as('is_service'),
  user: principalColumns,
}

const isAskedFor = and(eq(apiKeys.secretHash, sql`asked.secret_hash`), isNull(apiKeys.revokedAt))
const isActiveOwner = and(eq(users.id, apiKeys.userId), isActive)

const selectOwners = prepared((executor) =>
  executor
    .select({ ordinal, ...ownerColumns })
    .from(
      sql`unnest(${keysParameter('secretHashes', 'bytea')}) with ordinality as asked (secret_hash, ordinal)`,
    )
    .innerJoin(apiKeys, isAskedFor)
    .innerJoin(users, isActiveOwner)
    .prepare('api_keys_select_owners'),
)

/** The owners of keys that are not revoked, in one round trip, in the order of the hashes. */
export async function findApiKeyOwners(
  executor: Executor,
  secretHashes: readonly string[],
): Promise<(ApiKeyOwner | undefined)[]> {
  const rows = await selectOwners(executor).execute({ secretHashes: secretHashes.map(toBytea) })
  return byOrdinal(
    secretHashes.length,
    rows.map(({ ordinal, ...value }) => ({ ordinal, value })),
  )
}

/** The owner of a key, and the workspace of the target with their role in it. */
export interface OwnerAndWorkspace {
  owner: ApiKeyOwner
  workspace: WorkspaceOfCaller | undefined
}

const selectOwnersBySlug = prepared((executor) =>
  selectOwnersAnd(executor, 'text')
    .leftJoin(workspaceSlugs, and(eq(workspaceSlugs.slug, sql`asked.key`), isSlugInUse))
    .leftJoin(workspaces, isWorkspace(workspaceSlugs.workspaceId))
    .prepare('api_keys_select_owners_by_slug'),
)

const selectOwnersBySeed = prepared((executor) =>
  selectOwnersAnd(executor, 'uuid')
    .leftJoin(seeds, and(eq(seeds.id, sql`asked.key`), isNull(seeds.deletedAt)))
    .leftJoin(workspaces, isWorkspace(seeds.workspaceId))
    .prepare('api_keys_select_owners_by_seed'),
)

/** Selects the owners of keys, each with the workspace of a slug or seed, which the caller of the function joins. */
function selectOwnersAnd(executor: Executor, type: 'text' | 'uuid') {
  return executor
    .select({
      ordinal,
      ...ownerColumns,
      workspace: workspaceOfCaller(apiKeys.userId),
    })
    .from(
      sql`unnest(${keysParameter('secretHashes', 'bytea')}, ${keysParameter('keys', type)})
        with ordinality as asked (secret_hash, key, ordinal)`,
    )
    .innerJoin(apiKeys, isAskedFor)
    .innerJoin(users, isActiveOwner)
    .$dynamic()
}

/** A key by its hash in hexadecimal, with the slug or seed that its request is about. */
export interface KeyAndSubject {
  secretHash: string
  key: string
}

type Found = Promise<(OwnerAndWorkspace | undefined)[]>

/** The owners of keys that are not revoked, each with the workspace of a slug, in one round trip, in the order of the questions. */
export async function findOwnersBySlug(
  executor: Executor,
  questions: readonly KeyAndSubject[],
  { now, recordedSince }: { now: Date; recordedSince: Date },
): Found {
  const values = { ...toParameters(questions, recordedSince), now: now.toISOString() }
  return toOwners(questions, await selectOwnersBySlug(executor).execute(values))
}

/** The owners of keys that are not revoked, each with the workspace of a seed, in one round trip, in the order of the questions. */
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
    secretHashes: questions.map(({ secretHash }) => toBytea(secretHash)),
    keys: questions.map(({ key }) => key),
    recordedSince: recordedSince.toISOString(),
  }
}

// As PostgreSQL reads it: `pg` would make the same text of a Buffer.
function toBytea(hexadecimal: string): string {
  return `\\x${hexadecimal}`
}

function toOwners(
  { length }: readonly KeyAndSubject[],
  rows: readonly (ApiKeyOwner & { ordinal: number; workspace: WorkspaceOfCaller | null })[],
): (OwnerAndWorkspace | undefined)[] {
  return byOrdinal(
    length,
    rows.map(({ ordinal, workspace, ...owner }) => ({
      ordinal,
      value: { owner, workspace: workspace ?? undefined },
    })),
  )
}

/** Records when keys were last used. Retries those whose row is locked. */
export function recordApiKeyUses(
  executor: Executor,
  uses: readonly Use[],
  retry: (use: Use) => void,
): Promise<void> {
  return writeUses(executor, apiKeys, uses, retry)
}
