import { sql } from 'drizzle-orm'
import pg from 'pg'
import { afterFile } from './after-file.ts'
import { selectRows, type TestApp } from './test-app.ts'

/**
 * Makes a function that reads everything that is stored of a workspace, but for when somebody last used it or was active: as text, a line
 * for each row, since comparing objects took a third of the time of the tests that read it.
 */
export async function createWorkspaceReader({ config, db }: Pick<TestApp, 'config' | 'db'>) {
  const tables = await selectRows<{ name: string; stored: string }>(
    db,
    sql`select table_name as name, case when bool_or(column_name = 'last_used_at')
        then '(to_jsonb(t) - ''last_used_at'' - ''last_activity_at'')::text' else 't::text' end as stored
      from information_schema.columns join information_schema.tables using (table_schema, table_name)
      where table_schema = 'public' and table_type = 'BASE TABLE'
      group by table_name having bool_or(column_name = 'workspace_id')`,
  )
  const parts = [
    `select 'workspaces' as source, t::text as stored from workspaces t where id = $1`,
    `select 'evidence', t::text from evidence t where seed_id in (select id from seeds where workspace_id = $1)`,
    ...tables.map(({ name, stored }) => `select '${name}', ${stored} from ${name} t where workspace_id = $1`),
  ]
  const lines = `select string_agg(source || ' ' || stored, e'\\n' order by source, stored) as text`
  const text = `${lines} from (${parts.join(' union all ')}) as rows`

  // A connection of its own, where a statement can be prepared: planning this one takes longer than running it.
  const client = new pg.Client({ connectionString: String(config.databaseDirectUrl) })
  await client.connect()
  afterFile(() => client.end())
  return async ({ id }: { id: string }): Promise<string> => {
    const { rows } = await client.query<{ text: string }>({ name: 'workspace', text, values: [id] })
    return String(rows[0]?.text)
  }
}
