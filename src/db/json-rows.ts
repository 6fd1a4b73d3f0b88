import { Column, is, sql, type SQL, type Subquery } from 'drizzle-orm'
import { PgTimestamp } from 'drizzle-orm/pg-core'
import type { Executor } from './client.ts'

/**
 * A row as the JSON of an item, of columns under the names of its properties. Times have the form of the API. A query of
 * `jsonItem`s is read by `selectJsonRows`.
 */
export function jsonItem<Item>(
  columns: Record<keyof Item & string, Column | SQL | SQL.Aliased>,
): SQL.Aliased {
  const named = Object.entries<Column | SQL | SQL.Aliased>(columns).map(
    ([name, column]) =>
      sql`${is(column, PgTimestamp) ? timestampText(column) : column} as ${sql.identifier(name)}`,
  )
  return sql`(select row_to_json(item) from (select ${sql.join(named, sql`, `)}) as item)`.as('item')
}

/** Selects all rows of a subquery as one JSON text, in the order of the subquery. */
export function jsonRows({ item }: { item: SQL.Aliased }) {
  return {
    // JSON without line feeds between its tokens has none at all, so that they separate the items.
    text: sql<string>`coalesce(string_agg(${item}::text, E',\\n'), '')`.as('text'),
    count: sql<number>`count(*)::int`.as('count'),
  }
}

/** Reads all rows of a query of `jsonItem`s by `jsonRows`. */
export function selectJsonRows<Query extends { as(alias: string): { item: SQL.Aliased } }>(
  executor: Pick<Executor, 'select'>,
  query: Query,
) {
  const rows = query.as('rows')
  return executor.select(jsonRows(rows)).from(rows as unknown as Subquery)
}

/** Runs a query that returns one row. */
export async function readOne<Row>(query: PromiseLike<Row[]>): Promise<Row> {
  const [row] = await query
  if (row === undefined) throw new Error('an aggregate returned no row')
  return row
}

/** A time in RFC 3339 with milliseconds, in UTC. */
export function timestampText(column: Column | SQL.Aliased): SQL<string> {
  return sql<string>`to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`
}

/** The URL of a picture by its key, made with the statement's `pictureUrlPrefix`. */
export function pictureUrl(key: Column | SQL.Aliased): SQL<string | null> {
  return sql<string | null>`${sql.placeholder('pictureUrlPrefix')}::text || ${key}`
}
