import { and, asc, eq, or, sql } from 'drizzle-orm'
import type { Executor } from '../../db/client.ts'
import { prepared } from '../../db/sql/prepared.ts'
import { memberships } from '../../db/schema/memberships.ts'
import { seedParticipants, seeds } from '../../db/schema/seeds.ts'
import { users } from '../../db/schema/users.ts'
import type { Role } from '../../domain/roles.ts'

const selectParticipant = prepared((executor) =>
  executor
    .select({ name: users.name, role: memberships.role })
    .from(seedParticipants)
    .innerJoin(
      memberships,
      and(
        eq(memberships.workspaceId, seedParticipants.workspaceId),
        eq(memberships.userId, seedParticipants.userId),
      ),
    )
    .innerJoin(users, eq(users.id, seedParticipants.userId))
    .where(
      and(
        eq(seedParticipants.seedId, sql.placeholder('seedId')),
        eq(seedParticipants.userId, sql.placeholder('userId')),
      ),
    )
    .prepare('seed_participants_select'),
)

/** The name and the role of a participant of a seed, who may become its lead. */
export async function findParticipant(
  executor: Executor,
  seedId: string,
  userId: string,
): Promise<{ name: string; role: Role } | undefined> {
  const [participant] = await selectParticipant(executor).execute({ seedId, userId })
  return participant
}

const clearLead = prepared((executor) =>
  executor
    .update(seeds)
    .set({ leadUserId: null })
    .where(eq(seeds.id, sql.placeholder('seedId')))
    .prepare('seeds_clear_lead'),
)

/** Leaves a seed without a lead. One prepared statement. */
export async function clearLeadOf(executor: Executor, seedId: string): Promise<void> {
  await clearLead(executor).execute({ seedId })
}

/**
 * Leaves the seeds that a person leads in a workspace without a lead. Before their membership is deleted: changes of
 * seeds lock the seed first, and memberships after it.
 */
export async function clearLeadsOf(executor: Executor, workspaceId: string, userId: string): Promise<void> {
  await executor
    .update(seeds)
    .set({ leadUserId: null })
    .where(and(eq(seeds.workspaceId, workspaceId), eq(seeds.leadUserId, userId)))
}

/**
 * Clears a person as the creator and the lead of all seeds. Before their evidence, comments, memberships and account are
 * changed: changes of seeds lock the seed first, and these after it. Locked by id, so that two deletions of people do not
 * wait for each other.
 */
export async function clearPersonOfSeeds(executor: Executor, userId: string): Promise<void> {
  const { id, createdByUserId, leadUserId } = seeds
  const isOfPerson = or(eq(createdByUserId, userId), eq(leadUserId, userId))
  await executor.select({ id }).from(seeds).where(isOfPerson).orderBy(asc(id)).for('no key update')
  await executor
    .update(seeds)
    .set({
      createdByUserId: sql`nullif(${createdByUserId}, ${userId})`,
      leadUserId: sql`nullif(${leadUserId}, ${userId})`,
    })
    .where(isOfPerson)
}
