import { and, eq, sql, type Column } from 'drizzle-orm'
import type { Executor } from '../../db/client.ts'
import { memberships } from '../../db/schema/memberships.ts'
import { seedFollowers } from '../../db/schema/seeds.ts'
import { keysParameter } from '../../db/sql/batch.ts'
import { hiddenParameter } from '../../db/sql/hidden-parameter.ts'
import { isOfSeedAndUser, type SeedKey } from '../../db/sql/seed-keys.ts'
import { prepared } from '../../db/sql/prepared.ts'
import { subquery } from '../../db/schema/subquery.ts'

const insertIntoFollowers = prepared((executor) =>
  executor
    .insert(seedFollowers)
    .select((query) =>
      query
        .select({
          seedId: sql<string>`${sql.placeholder('seedId')}::uuid`.as('seed_id'),
          userId: memberships.userId,
          workspaceId: memberships.workspaceId,
        })
        .from(memberships)
        .where(
          and(
            eq(memberships.workspaceId, hiddenParameter('workspaceId', 'uuid')),
            sql`${memberships.userId} = any(${keysParameter('userIds', 'uuid')})`,
          ),
        )
        // A membership that ends at the same time is waited for, and left out.
        .for('key share'),
    )
    .onConflictDoNothing()
    .prepare('seed_followers_insert'),
)

/** Lets those of some people who are members of the workspace follow a seed in it. One prepared statement. */
export async function insertFollowers(
  executor: Executor,
  seed: SeedKey,
  userIds: readonly string[],
): Promise<void> {
  await insertIntoFollowers(executor).execute({ ...seed, userIds: [...userIds] })
}

const deleteFromFollowers = prepared((executor) =>
  executor.delete(seedFollowers).where(isOfSeedAndUser(seedFollowers)).prepare('seed_followers_delete'),
)

/** Makes a person stop following a seed. One prepared statement. */
export async function deleteFollower(executor: Executor, seed: SeedKey, userId: string): Promise<void> {
  await deleteFromFollowers(executor).execute({ ...seed, userId })
}

/** Whether the statement's `userId` follows a seed. */
export function isFollowing(seedId: Column) {
  const isFollower = and(
    eq(seedFollowers.seedId, seedId),
    eq(seedFollowers.userId, sql.placeholder('userId')),
  )
  return subquery(sql<boolean>`exists (select from ${seedFollowers} where ${isFollower})`)
}
