import { asc, desc, sql, type Column, type SQL } from 'drizzle-orm'
import type { ListOrder } from '../../kernel/pagination.ts'
import { hiddenParameter } from './hidden-parameter.ts'

/** The position of a page: the values `at` and `id` of a prepared statement. */
const position = sql`(${hiddenParameter('at', 'timestamptz')}, ${hiddenParameter('id', 'uuid')})`

/** Whether a row comes after a position in a list that is sorted by these columns, ascending (keyset pagination). */
export function isAfter(at: Column | SQL, id: Column): SQL {
  return sql`(${at}, ${id}) > ${position}`
}

/** Whether a row comes after a position in a list that is sorted by these columns, descending. */
export function isBefore(at: Column | SQL, id: Column): SQL {
  return sql`(${at}, ${id}) < ${position}`
}

/** The condition and the order of a list that is sorted by these columns. */
export function keysetOf(order: ListOrder, at: Column | SQL, id: Column): { isOnPage: SQL; orderBy: SQL[] } {
  const isOnPage = order === 'newestFirst' ? isBefore(at, id) : isAfter(at, id)
  return { isOnPage, orderBy: orderByOf(order, at, id) }
}

/** The columns by which a list is sorted. */
export function orderByOf(order: ListOrder, at: Column | SQL | SQL.Aliased, id: Column | SQL.Aliased): SQL[] {
  const inOrder = order === 'newestFirst' ? desc : asc
  return [inOrder(at), inOrder(id)]
}
