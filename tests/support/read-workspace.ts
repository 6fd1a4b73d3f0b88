import { sql } from 'drizzle-orm'
import { selectRows, type TestApp } from './test-app.ts'

/** Makes a function that reads everything that is stored of a workspace, but for when somebody last used it. */
export async function createWorkspaceReader({ db }: Pick<TestApp, 'db'>) {
  const tables = await selectRows<{ name: string }>(
    db,
    sql`select relname as name from pg_attribute join pg_class on pg_class.oid = attrelid
      where attname = 'workspace_id' and relkind = 'r' and relnamespace = 'public'::regnamespace`,
  )
  return ({ id }: { id: string }): Promise<Record<string, unknown>[]> => {
    const parts = [
      `select 'workspaces' as source, to_jsonb(t) as stored from workspaces t where id = '${id}'`,
      `select 'evidence', to_jsonb(t) from evidence t where seed_id in (select id from seeds where workspace_id = '${id}')`,
      ...tables.map(
        ({ name }) =>
          `select '${name}', to_jsonb(t) - 'last_used_at' from ${name} t where workspace_id = '${id}'`,
      ),
    ]
    return selectRows(db, sql.raw(`${parts.join(' union all ')} order by source, stored`))
  }
}
