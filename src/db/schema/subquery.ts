import { sql, type SQL } from 'drizzle-orm'

/**
 * A value that contains a subquery, for any place of a query. In what a query of one table selects, Drizzle leaves out the table
 * of each column that stands directly in a template, also of those of the query around a subquery. There `id` would be a
 * column of the subquery's own table. Within another template, as here, it writes the table.
 */
export function subquery<Value>(value: SQL<Value>): SQL<Value> {
  return sql<Value>`${value}`
}
