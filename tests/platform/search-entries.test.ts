import pg from 'pg'
import { expect, it } from 'vitest'
import { createId } from '../../src/kernel/ids.ts'
import { afterFile } from '../support/after-file.ts'
import { clone } from '../support/test-app.ts'

const pool = new pg.Pool({ connectionString: await clone(), max: 1 })
afterFile(() => pool.end())

const [workspaceId, personId, seedId, evidenceId] = [createId(), createId(), createId(), createId()]
await pool.query(`insert into workspaces (id, name, slug, created_at) values ($1, 'Acme', $2, now())`, [
  workspaceId,
  workspaceId,
])
await pool.query(
  `insert into users (id, email, name, created_at) values ($1, 'ada@example.com', 'Ada', now())`,
  [personId],
)
await pool.query(
  `insert into memberships (workspace_id, user_id, role, joined_at, last_used_at) values ($1, $2, 'owner', now(), now())`,
  [workspaceId, personId],
)
await pool.query(
  `insert into seeds (id, workspace_id, title, summary, status, created_at, updated_at)
    values ($1, $2, 'Fewer meetings', 'A day of none', 'open', now(), now())`,
  [seedId, workspaceId],
)
await pool.query(
  `insert into evidence (id, seed_id, kind, verdict, summary, author_name, created_at)
    values ($1, $2, 'note', 'supports', 'Two hours saved', 'Ada', now())`,
  [evidenceId, seedId],
)

it.each([
  ['the status of a seed', seedId, `update seeds set status = 'dropped', updated_at = now()`, false],
  ['the title of a seed, to the same', seedId, `update seeds set title = title, summary = summary`, false],
  ['the case of a title', seedId, `update seeds set title = 'Fewer Meetings'`, false],
  ['the words of a title', seedId, `update seeds set title = 'No meetings'`, true],
  ['the order of its words', seedId, `update seeds set title = 'Meetings, no'`, true],
  ['the verdict of evidence', evidenceId, `update evidence set verdict = 'neutral'`, false],
  ['the text of evidence', evidenceId, `update evidence set summary = 'Three hours saved'`, true],
  ['the settings of a person', personId, 'update users set product_updates = false', false],
  ['the name of a person', personId, `update users set name = 'Ada Lovelace'`, true],
])('an entry is written if its words change: %s', async (_name, id, change, isWritten) => {
  const placeOf = async () =>
    (await pool.query<{ ctid: string }>('select ctid from search_entries where id = $1', [id])).rows
  const before = await placeOf()
  expect(before).toHaveLength(1)
  expect((await pool.query(change)).rowCount).toBe(1)
  expect((await placeOf())[0]?.ctid !== before[0]?.ctid).toBe(isWritten)
})

it('a large insert finds its rows by indexes, although its plans were made when the tables were small', async () => {
  const scanned = async () => {
    // What was read is counted at the end of this statement.
    await pool.query('select pg_stat_force_next_flush()')
    const { rows } = await pool.query<{ read: number }>(
      `select sum(seq_tup_read)::int as read from pg_stat_user_tables
        where relname in ('evidence', 'seeds', 'memberships', 'search_entries')`,
    )
    return rows[0]?.read ?? Infinity
  }
  const addEvidence = (count: number) =>
    pool.query(
      `insert into evidence (id, seed_id, kind, verdict, summary, author_name, created_at)
        select gen_random_uuid(), $1, 'note', 'supports', 'Hours ' || n, 'Ada', now() from generate_series(1, $2::int) as n`,
      [seedId, count],
    )
  const addMembers = (first: number, count: number) =>
    pool.query(
      `with people as (
          insert into users (id, email, name, created_at)
          select gen_random_uuid(), 'p' || n || '@example.com', 'P', now() from generate_series($2::int, $2::int + $3::int - 1) as n
          returning id
        )
        insert into memberships (workspace_id, user_id, role, joined_at, last_used_at)
        select $1, id, 'member', now(), now() from people`,
      [workspaceId, first, count],
    )
  await pool.query('analyze evidence, seeds, users, memberships, search_entries')
  for (let i = 0; i < 10; i++) {
    await addEvidence(1)
    await addMembers(i, 1)
  }
  const before = await scanned()
  await addEvidence(1_000)
  await addMembers(1_000, 1_000)
  // A scan of all for each row would read half a million of each. Not of people, which the foreign key looks up.
  expect((await scanned()) - before).toBeLessThan(20_000)
})

it('the words of a person and of an address are made once for each statement that adds them, and are the same as one by one', async () => {
  const ids = Array.from({ length: 3 }, createId)
  await pool.query(
    `insert into workspaces (id, name, slug, created_at) select id, 'Acme', id, now() from unnest($1::uuid[]) as id`,
    [ids],
  )
  await pool.query(
    `insert into memberships (workspace_id, user_id, role, joined_at, last_used_at)
      select id, $1, 'member', now(), now() from unnest($2::uuid[]) as id`,
    [personId, ids],
  )
  await pool.query(
    `insert into invites (id, workspace_id, email, canonical_email, role, state, invited_by_user_id, created_at, expires_at)
      select gen_random_uuid(), id, email, email, 'member', state, $1, now(), now()
      from unnest($2::uuid[]) as id, (values ('a.b@example.com', 'open'), ('c@example.com', 'open'), ('d@example.com', 'revoked')) as of (email, state)`,
    [personId, ids],
  )
  const { rows } = await pool.query<{ kind: string; right: number; of: number }>(
    `select entries.kind, count(*)::int as of, count(*) filter (
        where words = search_keys(entries.workspace_id, entries.kind, title, body) and entries.at = sources.at
      )::int as right
      from search_entries as entries left join search_sources as sources using (id, workspace_id)
      where entries.workspace_id = any($1) group by 1 order by 1`,
    [ids],
  )
  expect(rows).toEqual([
    { kind: 'invited', of: 6, right: 6 },
    { kind: 'person', of: 3, right: 3 },
  ])
})
