import { and, is, SQL, sql } from 'drizzle-orm'
import type { AnyPgColumn } from 'drizzle-orm/pg-core'
import type { Executor } from '../client.ts'
import type { ListOrder } from '../../kernel/pagination.ts'
import type { evidence, seeds } from '../schema/seeds.ts'
import { pageLimit } from './hidden-parameter.ts'
import { keysetOf, orderByOf } from './keyset.ts'
import { bytesBefore } from './text-bytes.ts'

/** The ids of the rows of a page by a time, by default newest first, each with the total bytes of the texts of the rows before it. */
export function selectPageBytes(
  executor: Executor,
  table: typeof seeds | typeof evidence,
  bytes: SQL<number>,
  filter: SQL | undefined,
  at: AnyPgColumn<{ data: Date }> | SQL = table.createdAt,
  order: ListOrder = 'newestFirst',
) {
  const { isOnPage, orderBy } = keysetOf(order, at, table.id)
  const page = executor
    .select({ id: table.id, at: is(at, SQL) ? at.as('sorted_at') : at, size: bytes.as('row_size') })
    .from(table as typeof seeds)
    .where(and(filter, isOnPage))
    .orderBy(...orderBy)
    .limit(pageLimit)
    .as('page')
  const inOrder = sql.join(orderByOf(order, page.at, page.id), sql`, `)
  return executor
    .select({ id: page.id, bytesBefore: bytesBefore(page.size, inOrder).as('bytes_before') })
    .from(page)
    .as('page_bytes')
}
