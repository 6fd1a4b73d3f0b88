import { and, eq, ne, sql } from 'drizzle-orm'
import type { Executor } from '../../db/client.ts'
import { comparableAddress } from '../../db/sql/has-address.ts'
import { prepared } from '../../db/sql/prepared.ts'
import { departures } from '../../db/schema/departures.ts'
import { users } from '../../db/schema/users.ts'

/** Records that a person left a workspace, was removed from it or declined it. The last record counts. */
export async function recordDeparture(
  executor: Executor,
  row: typeof departures.$inferInsert,
): Promise<void> {
  const { kind, createdAt } = row
  await executor
    .insert(departures)
    .values(row)
    .onConflictDoUpdate({
      target: [departures.workspaceId, departures.userId],
      set: { kind, createdAt },
      // Declining does not replace a removal.
      ...(kind === 'declined' && { setWhere: ne(departures.kind, 'removed') }),
    })
}

const isOfWorkspace = eq(departures.workspaceId, sql.placeholder('workspaceId'))

const deleteOfUser = prepared((executor) =>
  executor
    .delete(departures)
    .where(and(isOfWorkspace, eq(departures.userId, sql.placeholder('userId'))))
    .prepare('departures_delete_of_user'),
)

const deleteOfAddress = prepared((executor) => {
  const isOfAddress = eq(users.canonicalEmail, sql.placeholder('address'))
  const userId = executor.select({ id: users.id }).from(users).where(isOfAddress)
  return executor
    .delete(departures)
    .where(and(isOfWorkspace, eq(departures.userId, userId)))
    .prepare('departures_delete_of_address')
})

/** Deletes the record of a departure, when the person is invited or comes back. */
export async function forgetDeparture(
  executor: Executor,
  workspaceId: string,
  person: { userId: string } | { email: string },
): Promise<void> {
  if ('userId' in person) await deleteOfUser(executor).execute({ workspaceId, userId: person.userId })
  else await deleteOfAddress(executor).execute({ workspaceId, address: comparableAddress(person.email) })
}
