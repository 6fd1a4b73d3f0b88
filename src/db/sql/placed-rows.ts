import { and, asc, desc, sql, type SQL } from 'drizzle-orm'
import type { AnyPgColumn } from 'drizzle-orm/pg-core'
import type { Executor } from '../client.ts'
import type { evidence, seeds } from '../schema/seeds.ts'
import { isAfter, isBefore } from './keyset.ts'
import { bytesBefore } from './text-bytes.ts'

/**
 * The ids of the rows of a page, each with the total bytes of the texts of the rows before it: newest first, or backward
 * from the position of the page.
 */
export function placeRows(
  executor: Executor,
  table: typeof seeds | typeof evidence,
  bytes: SQL<number>,
  filter: SQL | undefined,
  {
    at = table.createdAt,
    isBackward = false,
  }: { at?: AnyPgColumn<{ data: Date }>; isBackward?: boolean } = {},
) {
  const [direction, isInRange] = isBackward ? [asc, isAfter] : [desc, isBefore]
  const page = executor
    .select({ id: table.id, at, size: bytes.as('row_size') })
    .from(table as typeof seeds)
    .where(and(filter, isInRange(at, table.id)))
    .orderBy(direction(at), direction(table.id))
    .limit(sql.placeholder('limit'))
    .as('page')
  const order = sql`${direction(page.at)}, ${direction(page.id)}`
  return executor
    .select({ id: page.id, bytesBefore: bytesBefore(page.size, order).as('bytes_before') })
    .from(page)
    .as('placed')
}
