import type pg from 'pg'
import { expect, it } from 'vitest'
import { migrateDatabase } from '../../src/db/migrate.ts'
import { createId } from '../../src/kernel/ids.ts'
import { openDatabaseAtBaseline } from '../support/baseline-database.ts'

const addEvidence = (pool: pg.Pool, seedId: string, verdicts: string[]) =>
  pool.query(
    `insert into evidence (id, seed_id, kind, verdict, summary, author_name, created_at)
      select gen_random_uuid(), $1, 'note', verdict, 'A note', 'Ada', now() from unnest($2::text[]) as verdict`,
    [seedId, verdicts],
  )

it('the evidence of before is counted by the migration, and what the version before adds by triggers', async () => {
  const { pool, workspaces } = await openDatabaseAtBaseline()
  const [workspaceId] = workspaces
  const seedId = createId()
  await pool.query(
    `insert into seeds (id, workspace_id, title, summary, status, created_at, updated_at)
      values ($1, $2, 'Fewer meetings', 'A day of none', 'open', now(), now())`,
    [seedId, workspaceId],
  )
  await addEvidence(pool, seedId, ['supports', 'supports', 'neutral'])
  const counts = async () => {
    const { rows } = await pool.query<{ counts: number[] }>(
      'select array[supports_count, contradicts_count, neutral_count] as counts from seeds',
    )
    return rows.map((row) => row.counts)
  }
  await migrateDatabase(pool)
  expect(await counts()).toEqual([[2, 0, 1]])
  await addEvidence(pool, seedId, ['supports', 'contradicts'])
  expect(await counts()).toEqual([[3, 1, 1]])
  await pool.query(`update evidence set verdict = 'neutral' where verdict = 'contradicts'`)
  expect(await counts()).toEqual([[3, 0, 2]])
  await pool.query(`update evidence set withdrawn_at = now() where verdict = 'neutral'`)
  expect(await counts()).toEqual([[3, 0, 0]])
  await pool.query('delete from evidence')
  expect(await counts()).toEqual([[0, 0, 0]])
})
