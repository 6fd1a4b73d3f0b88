import { sql, type Column, type SQL } from 'drizzle-orm'
import { hiddenParameter } from './hidden-parameter.ts'

/** The position of a page as the values `at` and `id` of a prepared statement. */
const parameters = { at: hiddenParameter('at', 'timestamptz'), id: hiddenParameter('id', 'uuid') }

/** Whether a row comes after a position in a list that is sorted by these columns, ascending (keyset pagination). */
export function isAfter(at: Column, id: Column, position: { at: unknown; id: unknown } = parameters): SQL {
  return sql`(${at}, ${id}) > (${position.at}::timestamptz, ${position.id}::uuid)`
}

/** Whether a row comes after a position in a list that is sorted by these columns, descending. */
export function isBefore(at: Column, id: Column, position: { at: unknown; id: unknown } = parameters): SQL {
  return sql`(${at}, ${id}) < (${position.at}::timestamptz, ${position.id}::uuid)`
}
