import { and, eq, ne, sql } from 'drizzle-orm'
import type { Executor } from '../../db/client.ts'
import { hasAddress } from '../../db/has-address.ts'
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

/** Deletes the record of a departure, when the person is invited or comes back. */
export async function forgetDeparture(
  executor: Executor,
  workspaceId: string,
  person: { userId: string } | { email: string },
): Promise<void> {
  const isPerson =
    'userId' in person
      ? eq(departures.userId, person.userId)
      : sql`${departures.userId} = (select id from ${users} where ${hasAddress(users.canonicalEmail, person.email)})`
  await executor.delete(departures).where(and(eq(departures.workspaceId, workspaceId), isPerson))
}
