import { and, desc, sql, type SQL } from 'drizzle-orm'
import type { AnyPgColumn } from 'drizzle-orm/pg-core'
import type { Executor } from '../client.ts'
import type { evidence, seeds } from '../schema/seeds.ts'
import { pageLimit } from './hidden-parameter.ts'
import { isBefore } from './keyset.ts'
import { bytesBefore } from './text-bytes.ts'

/** The ids of the rows of a page, newest first, each with the total bytes of the texts of the rows before it. */
export function placeRows(
  executor: Executor,
  table: typeof seeds | typeof evidence,
  bytes: SQL<number>,
  filter: SQL | undefined,
  at: AnyPgColumn<{ data: Date }> = table.createdAt,
) {
  const page = executor
    .select({ id: table.id, at, size: bytes.as('row_size') })
    .from(table as typeof seeds)
    .where(and(filter, isBefore(at, table.id)))
    .orderBy(desc(at), desc(table.id))
    .limit(pageLimit)
    .as('page')
  const order = sql`${desc(page.at)}, ${desc(page.id)}`
  return executor
    .select({ id: page.id, bytesBefore: bytesBefore(page.size, order).as('bytes_before') })
    .from(page)
    .as('placed')
}
