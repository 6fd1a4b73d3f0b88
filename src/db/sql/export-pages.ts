import { and, asc, sql, type Column, type SQL } from 'drizzle-orm'
import type { PgTable } from 'drizzle-orm/pg-core'
import type { Executor } from '../client.ts'
import { jsonItemText, type Columns } from './json-rows.ts'

/** Rows that are exported whole: items of a table, in the order of its keys. */
export interface ExportSource<Item> {
  columns: Columns<Item>
  table: PgTable
  /** A table that the columns or the filter need too. */
  joined?: { table: PgTable; on: SQL | undefined }
  where: SQL | undefined
  /** The columns that identify a row, none of them null, in the order of an index. */
  keys: readonly Column[]
}

const rowsMax = 500

/**
 * Reads all rows of a source as texts of JSON objects, page by page: each page is a statement of its own, which is short,
 * and no connection is held while the caller waits for its reader. Rows that change meanwhile are read as they are then.
 */
export async function* readExportPages<Item>(
  executor: Executor,
  { columns, table, joined, where, keys }: ExportSource<Item>,
): AsyncGenerator<string[]> {
  let after: SQL | undefined
  for (;;) {
    const rows = executor
      .select({
        item: jsonItemText(columns),
        key: sql<string[]>`json_build_array(${sql.join([...keys], sql`, `)})`,
      })
      .from(table)
      .$dynamic()
    if (joined) rows.innerJoin(joined.table, joined.on)
    const page = await rows
      .where(and(where, after))
      .orderBy(...keys.map((key) => asc(key)))
      .limit(rowsMax)
    if (page.length > 0) yield page.map(({ item }) => item)
    const last = page.at(-1)
    if (page.length < rowsMax || !last) return
    const values = last.key.map((value, i) => sql`${value}::${sql.raw(keys[i]?.getSQLType() ?? 'text')}`)
    after = sql`(${sql.join([...keys], sql`, `)}) > (${sql.join(values, sql`, `)})`
  }
}
