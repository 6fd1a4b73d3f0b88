import { readFile } from 'node:fs/promises'
import pg from 'pg'
import { createId } from '../../src/kernel/ids.ts'
import { afterFile } from './after-file.ts'
import { createEmptyDatabase } from './test-app.ts'

/** When the baseline was made, by which the migrator knows that it has been applied. */
const baseline = 1_795_410_319_500

/** A database at the baseline, as the first release left it, or at a later migration, with three workspaces. */
export async function openDatabaseAtBaseline({ until }: { until?: string } = {}): Promise<{
  pool: pg.Pool
  workspaces: string[]
}> {
  const pool = new pg.Pool({ connectionString: await createEmptyDatabase(), max: 6 })
  afterFile(() => pool.end())
  await pool.query(await readFile('drizzle/0000_baseline.sql', 'utf8'))
  await pool.query(`
    create schema drizzle;
    create table drizzle.__drizzle_migrations (id serial primary key, hash text not null, created_at bigint);
    insert into drizzle.__drizzle_migrations (hash, created_at) values ('baseline', ${baseline})`)
  if (until !== undefined) await migrateUntil(pool, until)
  const workspaces = [createId(), createId(), createId()]
  for (const id of workspaces)
    await pool.query(`insert into workspaces (id, name, slug, created_at) values ($1, 'Acme', $2, now())`, [
      id,
      id,
    ])
  return { pool, workspaces }
}

async function migrateUntil(pool: pg.Pool, tag: string): Promise<void> {
  const { entries } = JSON.parse(await readFile('drizzle/meta/_journal.json', 'utf8')) as {
    entries: { tag: string; when: number }[]
  }
  const last = entries.findIndex((entry) => entry.tag === tag)
  for (const entry of entries.slice(1, last + 1)) {
    await pool.query(await readFile(`drizzle/${entry.tag}.sql`, 'utf8'))
    await pool.query('insert into drizzle.__drizzle_migrations (hash, created_at) values ($1, $2)', [
      entry.tag,
      entry.when,
    ])
  }
}
