import { readFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { migrateDatabase } from '../../src/db/migrate.ts'
import { createId } from '../../src/kernel/ids.ts'
import { openDatabaseAtBaseline } from '../support/baseline-database.ts'

it('the entries of before are found by the words of now, with what the version before adds by triggers', async () => {
  const { pool, workspaces } = await openDatabaseAtBaseline()
  const [workspaceId = ''] = workspaces
  const person = createId()
  await pool.query(
    `insert into users (id, email, name, created_at) values ($1, 'jose@example.com', 'José', now())`,
    [person],
  )
  const invite = (email: string, state: string) =>
    pool.query(
      `insert into invites (id, workspace_id, email, canonical_email, role, state, invited_by_user_id, created_at, expires_at)
        values ($1, $2, $3, $3, 'member', $4, $5, now(), now())`,
      [createId(), workspaceId, email, state, person],
    )
  await invite('hopper@example.com', 'open')
  await invite('revoked@example.com', 'revoked')
  await pool.query(
    `insert into memberships (workspace_id, user_id, role, joined_at, last_used_at) values ($1, $2, 'owner', now(), now())`,
    [workspaceId, person],
  )
  const addSeed = (title: string) =>
    pool.query(
      `insert into seeds (id, workspace_id, title, summary, status, created_at, updated_at)
        values ($1, $2, $3, '', 'open', now(), now())`,
      [createId(), workspaceId, title],
    )
  await addSeed('請求書を音声で入力する')
  const count = async (kind: string, q: string, words = 'search_query($1, $2, false, true, $3)') => {
    const { rows } = await pool.query<{ count: number }>(
      `select count(*)::int from search_entries where workspace_id = $1 and kind = $2 and words @@ ${words}`,
      [workspaceId, kind, q],
    )
    return rows[0]?.count
  }
  await migrateDatabase(pool)
  await addSeed('音声入力')
  expect(await count('seed', '音声')).toBe(2)
  expect(await count('seed', '請求書')).toBe(1)
  expect(await count('person', 'jose')).toBe(1)
  expect(await count('invited', 'hopper')).toBe(1)
  expect(await count('invited', 'opper', 'search_similar($1, $2, false, true, $3, false)')).toBe(1)
  expect(await count('invited', 'example')).toBe(1)
  await invite('later@example.com', 'open')
  await pool.query(`update invites set state = 'accepted' where email like 'hopper%'`)
  expect(await count('invited', 'hopper')).toBe(0)
  expect(await count('invited', 'later')).toBe(1)
})

it('what has changed since is not written again, and what has not, only once', async () => {
  const { pool, workspaces } = await openDatabaseAtBaseline()
  await migrateDatabase(pool)
  await pool.query(
    `insert into teams (id, workspace_id, name, created_at) select gen_random_uuid(), $1, name, now() from unnest(array['Old', 'New']) as name`,
    [workspaces[0]],
  )
  await pool.query(
    `update search_entries set words = strip(words) where id = (select id from teams where name = 'Old')`,
  )
  const again = await readFile('drizzle/0011_search_entries_again.sql', 'utf8')
  expect((await pool.query(again)).rowCount).toBe(1)
  expect((await pool.query(again)).rowCount).toBe(0)
})

it('entries with words that are stored in parts and whole are written again, and only once', async () => {
  const { pool, workspaces } = await openDatabaseAtBaseline()
  await migrateDatabase(pool)
  const [, before] = (await readFile('drizzle/0010_search_by_words.sql', 'utf8')).split(
    /(?=CREATE FUNCTION search_lexemes\()/u,
  )
  await pool.query(before?.split('--> statement-breakpoint')[0]?.replace('CREATE', 'CREATE OR REPLACE') ?? '')
  await pool.query(
    `insert into teams (id, workspace_id, name, created_at)
      select gen_random_uuid(), $1, name, now() from unnest(array['2651da9d-aeb2', 'Words', 'العمل']) as name`,
    [workspaces[0]],
  )
  const count = async () => {
    const { rows } = await pool.query<{ count: number }>(
      `select count(*)::int from search_entries where words @@ search_query($1, 'team', false, true, '2651da9d-aeb2')`,
      [workspaces[0]],
    )
    return rows[0]?.count
  }
  expect(await count()).toBe(0)
  const [functions = '', entries = ''] = (
    await readFile('drizzle/0018_positions_of_split_words.sql', 'utf8')
  ).split('--> statement-breakpoint')
  await pool.query(functions)
  expect((await pool.query(entries)).rowCount).toBe(1)
  expect(await count()).toBe(1)
  expect((await pool.query(entries)).rowCount).toBe(0)
})
