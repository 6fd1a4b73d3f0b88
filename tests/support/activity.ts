import { sql } from 'drizzle-orm'
import { expect } from 'vitest'
import { eventually } from './eventually.ts'
import { selectRows, type TestApp } from './test-app.ts'

/**
 * Waits until the activity of who created a workspace is recorded, which happens a moment later: `lastActivityAt` is then the
 * same in two responses.
 */
export async function untilActivityIsRecorded(
  { db }: Pick<TestApp, 'db'>,
  { id }: { id: string },
): Promise<void> {
  const recorded = sql`select 1 from memberships where workspace_id = ${id} and last_activity_at is not null`
  await eventually(async () => expect(await selectRows(db, recorded)).not.toEqual([]))
}
