import { sql } from 'drizzle-orm'
import { selectRows, type TestApp } from './test-app.ts'

/**
 * Makes a function that reads everything that is stored of a workspace, but for when somebody last used it: as text, a line
 * for each row, since comparing objects took a third of the time of the tests that read it.
 */
export async function createWorkspaceReader({ db }: Pick<TestApp, 'db'>) {
  const tables = await selectRows<{ name: string }>(
    db,
    sql`select relname as name from pg_attribute join pg_class on pg_class.oid = attrelid
      where attname = 'workspace_id' and relkind = 'r' and relnamespace = 'public'::regnamespace`,
  )
  return async ({ id }: { id: string }): Promise<string> => {
    const parts = [
      `select 'workspaces' as source, to_jsonb(t) as stored from workspaces t where id = '${id}'`,
      `select 'evidence', to_jsonb(t) from evidence t where seed_id in (select id from seeds where workspace_id = '${id}')`,
      ...tables.map(
        ({ name }) =>
          `select '${name}', to_jsonb(t) - 'last_used_at' from ${name} t where workspace_id = '${id}'`,
      ),
    ]
    const lines = `select string_agg(source || ' ' || stored, e'\\n' order by source, stored) as text`
    const [row] = await selectRows<{ text: string }>(
      db,
      sql.raw(`${lines} from (${parts.join(' union all ')}) as rows`),
    )
    return String(row?.text)
  }
}
