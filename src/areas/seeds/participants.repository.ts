import { and, asc, eq, sql, type Column } from 'drizzle-orm'
import type { Executor } from '../../db/client.ts'
import { isForeignKeyViolation } from '../../db/errors.ts'
import { pageLimit } from '../../db/sql/hidden-parameter.ts'
import { itemColumns, pictureUrl, readOne, selectJsonRows } from '../../db/sql/json-rows.ts'
import { isAfter } from '../../db/sql/keyset.ts'
import { isOfSeed, isOfSeedAndUser, type SeedKey } from '../../db/sql/seed-keys.ts'
import { placeholdersOf, prepared } from '../../db/sql/prepared.ts'
import { subquery } from '../../db/schema/subquery.ts'
import { seedParticipants } from '../../db/schema/seeds.ts'
import { users } from '../../db/schema/users.ts'
import { errors } from '../../kernel/errors.ts'
import type { JsonRows, PageRange } from '../../kernel/pagination.ts'
import type { SeedParticipant } from './seeds.schemas.ts'

/** Whether the statement's `userId` is a participant of a seed. */
export function hasJoined(seedId: Column) {
  const isOfSeed = eq(seedParticipants.seedId, seedId)
  const isOfUser = eq(seedParticipants.userId, sql.placeholder('userId'))
  return subquery(sql<boolean>`exists (select from ${seedParticipants} where ${and(isOfSeed, isOfUser)})`)
}

const selectParticipants = prepared((executor) =>
  selectJsonRows(
    executor,
    executor
      .select(
        itemColumns<SeedParticipant>({
          userId: seedParticipants.userId,
          name: users.name,
          image: pictureUrl(users.imageKey),
          joinedAt: seedParticipants.joinedAt,
        }),
      )
      .from(seedParticipants)
      .innerJoin(users, eq(users.id, seedParticipants.userId))
      .where(and(isOfSeed(seedParticipants), isAfter(seedParticipants.joinedAt, seedParticipants.userId)))
      .orderBy(asc(seedParticipants.joinedAt), asc(seedParticipants.userId))
      .limit(pageLimit),
  ).prepare('seed_participants_select_of_seed'),
)

/** Participants of a seed, in the order in which they joined. */
export function listParticipants(
  executor: Executor,
  input: SeedKey & { pictureUrlPrefix: string } & PageRange,
): Promise<JsonRows> {
  return readOne(selectParticipants(executor).execute({ ...input }))
}

const selectLockedParticipant = prepared((executor) =>
  executor
    .select({ userId: seedParticipants.userId })
    .from(seedParticipants)
    .where(isOfSeedAndUser(seedParticipants))
    .for('key share')
    .prepare('seed_participants_lock'),
)

/** Whether a person has joined a seed. Locks the participation until the transaction ends. */
export async function lockParticipant(executor: Executor, seed: SeedKey, userId: string): Promise<boolean> {
  const rows = await selectLockedParticipant(executor).execute({ ...seed, userId })
  return rows.length > 0
}

const insertIntoParticipants = prepared((executor) =>
  executor
    .insert(seedParticipants)
    .values(placeholdersOf(seedParticipants))
    .prepare('seed_participants_insert'),
)

/** Adds the first participant to a new seed. One prepared statement. */
export async function insertParticipant(
  executor: Executor,
  row: typeof seedParticipants.$inferInsert,
): Promise<void> {
  await insertIntoParticipants(executor).execute(row)
}

/**
 * Adds a participant to a seed. Returns whether the person is new. Throws `not_found` for a person who is not a member of
 * the workspace.
 */
export async function insertParticipantIfNew(
  executor: Executor,
  row: typeof seedParticipants.$inferInsert,
): Promise<boolean> {
  try {
    const { rowCount } = await executor.insert(seedParticipants).values(row).onConflictDoNothing()
    return rowCount === 1
  } catch (error) {
    if (isForeignKeyViolation(error, 'seed_participants_membership_fk')) {
      throw errors.notFound({ cause: error })
    }
    throw error
  }
}

/** Removes a participant. Returns whether there was one. */
export async function deleteParticipant(
  executor: Executor,
  { workspaceId, seedId }: SeedKey,
  userId: string,
): Promise<boolean> {
  const { rowCount } = await executor
    .delete(seedParticipants)
    .where(
      and(
        eq(seedParticipants.workspaceId, workspaceId),
        eq(seedParticipants.seedId, seedId),
        eq(seedParticipants.userId, userId),
      ),
    )
  return rowCount === 1
}
