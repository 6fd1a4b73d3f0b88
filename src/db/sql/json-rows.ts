import { Column, is, sql, type SQL, type Subquery } from 'drizzle-orm'
import { PgTimestamp } from 'drizzle-orm/pg-core'
import type { Executor } from '../client.ts'

export type Columns<Item> = Record<keyof Item & string, Column | SQL | SQL.Aliased>

/** Columns under the names of the properties of an item. Times have the form of the API. */
export function itemColumns<Item>(columns: Columns<Item>): Record<keyof Item & string, SQL.Aliased> {
  const named = Object.entries<Column | SQL | SQL.Aliased>(columns).map(([name, column]) => [
    name,
    sql`${is(column, PgTimestamp) ? timestampText(column) : column}`.as(name),
  ])
  return Object.fromEntries(named) as Record<keyof Item & string, SQL.Aliased>
}

/** Reads all rows of a query of `itemColumns` as one JSON text, in the order of the query. */
export function selectJsonRows(executor: Pick<Executor, 'select'>, query: { as(alias: string): Subquery }) {
  const rows = query.as('rows')
  return executor.select(jsonRows(sql`row_to_json(${sql.identifier('rows')})`)).from(rows)
}

/** An item as a JSON column, for a query that selects more than items. A little slower than `selectJsonRows`. */
export function jsonItem<Item>(columns: Columns<Item>): SQL.Aliased {
  return sql`(select row_to_json(item) from ${itemOf(columns)})`.as('item')
}

/** An item as the text of a JSON object, which has no line feed. */
export function jsonItemText<Item>(columns: Columns<Item>): SQL<string> {
  return sql<string>`(select row_to_json(item)::text from ${itemOf(columns)})`
}

/** Aggregates items as a JSON array, in an order. They are separated by a comma, a space, a line feed and a space. */
export function jsonArray<Item>(columns: Columns<Item>, order: SQL | SQL.Aliased): SQL {
  return sql`json_agg((select item from ${itemOf(columns)}) order by ${order})`
}

function itemOf<Item>(columns: Columns<Item>): SQL {
  const fields = Object.values<SQL.Aliased>(itemColumns(columns)).map(
    ({ sql: value, fieldAlias }) => sql`${value} as ${sql.identifier(fieldAlias)}`,
  )
  return sql`(select ${sql.join(fields, sql`, `)}) as item`
}

/** Aggregates items. */
export function jsonRows(item: SQL | SQL.Aliased) {
  return {
    // JSON without this between its tokens has it nowhere: a string contains no line feed. So it separates the items.
    text: sql<string>`coalesce(string_agg(${item}::text, E',\\n'), '')`.as('text'),
    count: sql<number>`count(*)::int`.as('count'),
  }
}

/** Runs a query that returns one row. */
export async function readOne<Row>(query: PromiseLike<Row[]>): Promise<Row> {
  const [row] = await query
  if (row === undefined) throw new Error('an aggregate returned no row')
  return row
}

/** Runs a query of `selectJsonRows` that finds at most one row. Returns its item; undefined if there is none. */
export async function readItem(query: PromiseLike<{ text: string }[]>): Promise<unknown> {
  const { text } = await readOne(query)
  return text === '' ? undefined : JSON.parse(text)
}

/** A time in RFC 3339 with milliseconds, in UTC. */
export function timestampText(column: Column | SQL | SQL.Aliased): SQL<string> {
  return sql<string>`to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`
}

/** The date of a time, in UTC. */
export function dateText(column: Column): SQL<string> {
  return sql<string>`to_char(${column} at time zone 'UTC', 'YYYY-MM-DD')`
}

/** The times of the rows that `jsonRows` aggregates: milliseconds since 1970, separated by commas. */
export function timesOf(at: Column): SQL<string> {
  return sql<string>`coalesce(string_agg(((extract(epoch from ${at}) * 1000)::bigint)::text, ','), '')`
}

/** The URL of a picture by its key, made with the statement's `pictureUrlPrefix`. */
export function pictureUrl(key: Column | SQL.Aliased): SQL<string | null> {
  return sql<string | null>`${sql.placeholder('pictureUrlPrefix')}::text || ${key}`
}
