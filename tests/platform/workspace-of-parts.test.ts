import type pg from 'pg'
import { expect, it } from 'vitest'
import { migrateDatabase } from '../../src/db/migrate.ts'
import { createId } from '../../src/kernel/ids.ts'
import { openDatabaseAtBaseline } from '../support/baseline-database.ts'

async function addSeed(pool: pg.Pool, workspaceId: string | undefined): Promise<string> {
  const id = createId()
  await pool.query(
    `insert into seeds (id, workspace_id, title, summary, status, created_at, updated_at)
      values ($1, $2, 'Fewer meetings', 'A day of none', 'open', now(), now())`,
    [id, workspaceId],
  )
  return id
}

/** As the version before adds evidence. */
const addEvidence = (pool: pg.Pool, seedId: string) =>
  pool.query(
    `insert into evidence (id, seed_id, kind, verdict, summary, author_name, created_at)
      values (gen_random_uuid(), $1, 'note', 'neutral', 'A note', 'Ada', now())`,
    [seedId],
  )

/** As the version before adds a comment. */
const addComment = (pool: pg.Pool, seedId: string) =>
  pool.query(
    `insert into comments (id, seed_id, body, author_name, created_at)
      values (gen_random_uuid(), $1, 'Who says so?', 'Ada', now())`,
    [seedId],
  )

async function workspacesOf(pool: pg.Pool, table: 'evidence' | 'comments'): Promise<unknown[]> {
  const { rows } = await pool.query<{ workspace_id: string }>(
    `select workspace_id from ${table} order by created_at`,
  )
  return rows.map((row) => row.workspace_id)
}

it('evidence of before gets the workspace of its seed, and so does what the version before adds later', async () => {
  const { pool, workspaces } = await openDatabaseAtBaseline()
  const [first, second] = workspaces
  const [one, other] = [await addSeed(pool, first), await addSeed(pool, second)]
  await addEvidence(pool, one)
  await addEvidence(pool, other)
  await migrateDatabase(pool)
  expect(await workspacesOf(pool, 'evidence')).toEqual([first, second])
  await addEvidence(pool, one)
  await addComment(pool, other)
  expect(await workspacesOf(pool, 'evidence')).toEqual([first, second, first])
  expect(await workspacesOf(pool, 'comments')).toEqual([second])
})

it('no evidence and no comment is in another workspace than its seed, and both go with it', async () => {
  const { pool, workspaces } = await openDatabaseAtBaseline()
  await migrateDatabase(pool)
  const [first, second] = workspaces
  const seedId = await addSeed(pool, first)
  await addEvidence(pool, seedId)
  await addComment(pool, seedId)
  for (const table of ['evidence', 'comments']) {
    const moved = pool.query(`update ${table} set workspace_id = $1`, [second])
    await expect(moved, table).rejects.toMatchObject({ constraint: `${table}_seed_fk` })
  }
  await pool.query('delete from seeds')
  expect([await workspacesOf(pool, 'evidence'), await workspacesOf(pool, 'comments')]).toEqual([[], []])
})

it('teams of invites of before get the workspace of the invite, and so does what the version before adds later', async () => {
  const { pool, workspaces } = await openDatabaseAtBaseline({ until: '0040_webhooks_of_teams_and_labels' })
  const [first, second] = workspaces
  const [invite, team, later, foreign] = [createId(), createId(), createId(), createId()]
  await pool.query(
    `with person as (
      insert into users (id, email, name, created_at) values ($1, 'ada@example.com', 'Ada', now()) returning id
    ) insert into invites (id, workspace_id, email, canonical_email, role, state, invited_by_user_id, created_at, expires_at)
      select $1, $2, 'bob@example.com', 'bob@example.com', 'member', 'open', id, now(), now() from person`,
    [invite, first],
  )
  await pool.query(
    `insert into teams (id, workspace_id, name, created_at)
      values ($1, $4, 'Team', now()), ($2, $4, 'Later', now()), ($3, $5, 'Foreign', now())`,
    [team, later, foreign, first, second],
  )
  const add = (teamId: string) =>
    pool.query('insert into invite_teams (invite_id, team_id) values ($1, $2)', [invite, teamId])
  await add(team)
  await add(foreign)
  await migrateDatabase(pool)
  await add(later)
  const { rows } = await pool.query('select team_id, workspace_id from invite_teams order by team_id')
  expect(rows).toEqual([team, later].map((id) => ({ team_id: id, workspace_id: first })))
  await expect(add(foreign)).rejects.toMatchObject({ constraint: 'invite_teams_team_fk' })
})
