import { and, asc, eq, or, sql } from 'drizzle-orm'
import type { EventDataOf } from '../../domain/events.ts'
import type { Executor } from '../../db/client.ts'
import { isOfSeedAndUser, isSeed, type SeedKey } from '../../db/sql/seed-keys.ts'
import { prepared } from '../../db/sql/prepared.ts'
import { isMembershipOf, memberships } from '../../db/schema/memberships.ts'
import { seedParticipants, seeds } from '../../db/schema/seeds.ts'
import { isActive, users } from '../../db/schema/users.ts'
import type { Role } from '../../domain/roles.ts'
import { deleteMovesOfPerson } from './seed-merging.repository.ts'

const selectParticipant = prepared((executor) =>
  executor
    .select({ name: users.name, role: memberships.role })
    .from(seedParticipants)
    .innerJoin(memberships, isMembershipOf(seedParticipants, seedParticipants.userId))
    .innerJoin(users, eq(users.id, seedParticipants.userId))
    .where(and(isOfSeedAndUser(seedParticipants), eq(users.kind, 'person'), isActive))
    .prepare('seed_participants_select'),
)

/** The name and the role of a person in a seed, who may become its lead: a service account and a suspended person cannot. */
export async function findParticipant(
  executor: Executor,
  seed: SeedKey,
  userId: string,
): Promise<{ name: string; role: Role } | undefined> {
  const [participant] = await selectParticipant(executor).execute({ ...seed, userId })
  return participant
}

const selectLead = prepared((executor) =>
  executor
    .select({ id: users.id, name: users.name })
    .from(seeds)
    .innerJoin(users, eq(users.id, seeds.leadUserId))
    .where(isSeed)
    .prepare('seed_lead_select'),
)

/** Who leads a seed. */
export async function findLead(
  executor: Executor,
  seed: SeedKey,
): Promise<{ id: string; name: string } | undefined> {
  const [lead] = await selectLead(executor).execute({ ...seed })
  return lead
}

const clearLead = prepared((executor) =>
  executor.update(seeds).set({ leadUserId: null }).where(isSeed).prepare('seeds_clear_lead'),
)

/** Leaves a seed without a lead. One prepared statement. */
export async function clearLeadOf(executor: Executor, seed: SeedKey): Promise<void> {
  await clearLead(executor).execute({ ...seed })
}

/**
 * Leaves the seeds that a person leads in a workspace without a lead. Before their membership is deleted: changes of
 * seeds lock the seed first, and memberships after it. Returns what the events say of those that are not deleted.
 */
export async function clearLeadsOf(
  executor: Executor,
  workspaceId: string,
  { userId, name }: { userId: string; name: string },
): Promise<EventDataOf<'seed.updated'>[]> {
  const { id, title, deletedAt } = seeds
  const left = await executor
    .update(seeds)
    .set({ leadUserId: null })
    .where(and(eq(seeds.workspaceId, workspaceId), eq(seeds.leadUserId, userId)))
    .returning({ id, title, deletedAt })
  return left
    .filter((seed) => seed.deletedAt === null)
    .map((seed) => describeClearedLead({ seedId: seed.id, title: seed.title }, { userId, name }))
}

/** What the event says of a seed that somebody no longer leads, and nobody else does. */
export function describeClearedLead(
  seed: { seedId: string; title: string },
  { userId, name }: { userId: string; name: string },
): EventDataOf<'seed.updated'> {
  return {
    ...{ ...seed, titleBefore: null, status: null, statusReason: null },
    ...{ fields: ['leadUserId'], leadUserId: null, leadName: null },
    ...{ leadUserIdBefore: userId, leadNameBefore: name },
  }
}

/**
 * Clears a person as the creator and the lead of all seeds, and as who changed their status or merged them. Before their evidence, comments, memberships and account are
 * changed: changes of seeds lock the seed first, and these after it. Locked by id, so that two deletions of people do not
 * wait for each other.
 */
export async function clearPersonOfSeeds(executor: Executor, userId: string): Promise<void> {
  const { id, createdByUserId, leadUserId, statusChangedByUserId, statusChangedByName, mergedByUserId } =
    seeds
  const columns = [createdByUserId, leadUserId, statusChangedByUserId, mergedByUserId]
  const isOfPerson = or(...columns.map((column) => eq(column, userId)))
  await executor.select({ id }).from(seeds).where(isOfPerson).orderBy(asc(id)).for('no key update')
  await executor
    .update(seeds)
    .set({
      createdByUserId: sql`nullif(${createdByUserId}, ${userId})`,
      leadUserId: sql`nullif(${leadUserId}, ${userId})`,
      mergedByUserId: sql`nullif(${mergedByUserId}, ${userId})`,
      statusChangedByUserId: sql`nullif(${statusChangedByUserId}, ${userId})`,
      statusChangedByName: sql`case when ${statusChangedByUserId} is distinct from ${userId} then ${statusChangedByName} end`,
    })
    .where(isOfPerson)
  await deleteMovesOfPerson(executor, userId)
}
