import { sql } from 'drizzle-orm'
import { selectRows, type TestApp } from './test-app.ts'

/** Every row of every table, as text: what is not in it is stored nowhere. */
export async function dumpDatabase({ db }: Pick<TestApp, 'db'>): Promise<string> {
  const tables = await selectRows<{ name: string }>(
    db,
    sql`select format('%I.%I', schemaname, tablename) as name from pg_tables
      where schemaname not in ('pg_catalog', 'information_schema')`,
  )
  if (tables.length <= 15) throw new Error('There are tables missing.')
  const texts = await Promise.all(
    tables.map(({ name }) =>
      selectRows<{ row: string }>(db, sql`select t::text as row from ${sql.raw(name)} t`),
    ),
  )
  return texts.flatMap((rows) => rows.map(({ row }) => row)).join('\n')
}
