import { sql, type Column, type SQL } from 'drizzle-orm'
import { hiddenParameter } from './hidden-parameter.ts'

/** The position of a page: the values `at` and `id` of a prepared statement. */
const position = sql`(${hiddenParameter('at', 'timestamptz')}, ${hiddenParameter('id', 'uuid')})`

/** Whether a row comes after a position in a list that is sorted by these columns, ascending (keyset pagination). */
export function isAfter(at: Column, id: Column): SQL {
  return sql`(${at}, ${id}) > ${position}`
}

/** Whether a row comes after a position in a list that is sorted by these columns, descending. */
export function isBefore(at: Column, id: Column): SQL {
  return sql`(${at}, ${id}) < ${position}`
}
