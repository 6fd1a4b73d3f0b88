import { and, eq, exists, isNull, lte, notExists } from 'drizzle-orm'
import type { AnyPgColumn, PgTable } from 'drizzle-orm/pg-core'
import type { Database } from '../../db/client.ts'
import { accountTokens, passwords, sessions } from '../../db/schema/accounts.ts'
import { apiKeys } from '../../db/schema/api-keys.ts'
import { departures } from '../../db/schema/departures.ts'
import { memberships } from '../../db/schema/memberships.ts'
import { users } from '../../db/schema/users.ts'

/**
 * Deletes the accounts of sign-ups since before `createdBefore` whose address was never verified, and that have no link,
 * session, API key or membership. Their address may be that of somebody who never asked for an account. Links are kept
 * for `endedLinkKeptMs` after they end, so such an account lives as long after its last one. Accounts of commands have no
 * password, and stay. Returns the number of deleted accounts.
 */
export async function deleteAbandonedSignUps(db: Database, createdBefore: Date): Promise<number> {
  const rowsOf = (table: PgTable & { userId: AnyPgColumn }) =>
    db.select({ userId: table.userId }).from(table).where(eq(table.userId, users.id))
  // Whoever verifies the address meanwhile has locked the row, and the condition is then checked again.
  const { rowCount } = await db
    .delete(users)
    .where(
      and(
        isNull(users.emailVerifiedAt),
        isNull(users.firstSignedInAt),
        lte(users.createdAt, createdBefore),
        exists(rowsOf(passwords)),
        ...[accountTokens, sessions, apiKeys, memberships, departures].map((table) =>
          notExists(rowsOf(table)),
        ),
      ),
    )
  return rowCount ?? 0
}
