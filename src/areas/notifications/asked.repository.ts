import { and, eq, sql } from 'drizzle-orm'
import type { Executor } from '../../db/client.ts'
import { isMembershipOf, memberships } from '../../db/schema/memberships.ts'
import { notifications } from '../../db/schema/notifications.ts'
import { isOfSeed, isOfSeedAndUser, type SeedKey } from '../../db/sql/seed-keys.ts'
import { prepared } from '../../db/sql/prepared.ts'
import type { NotificationDataByKind } from '../../domain/notifications.ts'
import type { Role } from '../../domain/roles.ts'

/** That somebody was asked to join a seed: their notification is the request, while there is one. */
export interface Asked {
  as: NotificationDataByKind['asked_to_join']['as']
  /** Null if their account was deleted. */
  askedByUserId: string | null
  /** What the person who asked is in the workspace now; null if they are not a member. */
  askedByRole: Role | null
}

const isRequest = eq(notifications.kind, sql`'asked_to_join'`)

const selectAsked = prepared((executor) =>
  executor
    .select({
      as: sql<Asked['as']>`${notifications.data} ->> 'as'`,
      askedByUserId: notifications.actorUserId,
      askedByRole: memberships.role,
    })
    .from(notifications)
    .leftJoin(memberships, isMembershipOf(notifications, notifications.actorUserId))
    .where(
      and(
        eq(notifications.seedId, sql.placeholder('seedId')),
        eq(notifications.userId, sql.placeholder('userId')),
        isRequest,
      ),
    )
    .prepare('notifications_select_asked'),
)

/** What a person was asked to join a seed as; undefined if they were not. */
export async function findAsked(
  executor: Executor,
  seedId: string,
  userId: string,
): Promise<Asked | undefined> {
  const [asked] = await selectAsked(executor).execute({ seedId, userId })
  return asked
}

const deleteOfPerson = prepared((executor) =>
  executor
    .delete(notifications)
    .where(and(isOfSeedAndUser(notifications), isRequest))
    .prepare('notifications_delete_asked'),
)

/** Ends that a person is asked to join a seed. One prepared statement. */
export async function deleteAsked(executor: Executor, seed: SeedKey, userId: string): Promise<void> {
  await deleteOfPerson(executor).execute({ ...seed, userId })
}

const deleteOfSeed = prepared((executor) =>
  executor
    .delete(notifications)
    .where(and(isOfSeed(notifications), isRequest))
    .prepare('notifications_delete_asked_of_seed'),
)

/** Ends that anybody is asked to join a seed. One prepared statement. */
export async function deleteAskedOfSeed(executor: Executor, seed: SeedKey): Promise<void> {
  await deleteOfSeed(executor).execute({ ...seed })
}
