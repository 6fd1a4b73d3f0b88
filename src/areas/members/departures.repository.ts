import { and, eq, ne, sql } from 'drizzle-orm'
import type { Executor } from '../../db/client.ts'
import { hasAddress } from '../../db/has-address.ts'
import { departures } from '../../db/schema/departures.ts'
import { users } from '../../db/schema/users.ts'

/** Notes that somebody is out of a workspace, and how; of several times the last one counts. */
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
      // Who was removed cannot make it less by declining.
      ...(kind === 'declined' && { setWhere: ne(departures.kind, 'removed') }),
    })
}

/** Forgets that somebody went out of a workspace: they were invited, or came back. */
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
