import type pg from 'pg'
import { fillDatabase } from '../tests/support/fill-database.ts'
import { addCallers } from './callers.ts'
import type { Bench, BenchDatabase } from './harness.ts'

/**
 * A workspace with events, and one with people and seeds. Their sizes differ, but the pages that are read have the same
 * size.
 */
interface Size {
  workspaces: number
  members: number
  events: number
  people: number
}

const small: Size = { workspaces: 10, members: 150, events: 1_000, people: 150 }
const big: Size = { workspaces: 10_000, members: 10_000, events: 1_000_000, people: 100_000 }

export const fillSmall = (pool: pg.Pool, database: BenchDatabase) => fill(pool, database, small)

export const openSmallDatabase = (bench: Bench) => bench.database('small', fillSmall)

export const openBigDatabase = (bench: Bench) =>
  bench.database('big', (pool, database) => fill(pool, database, big))

/** The small database, with 10,000 more seeds and 100,000 pieces of evidence in the second workspace. */
export const openSearchDatabase = (bench: Bench) =>
  bench.database('search', async (pool, database) => {
    const keys = await fillSmall(pool, database)
    await fillForSearch(pool)
    return keys
  })

/** The workspace with members and events, and the one with people and seeds. */
export const company = { id: '00000000-0000-7000-9000-000000000001', slug: 'bench-company' }
export const crowd = { id: '00000000-0000-7000-9000-000000000002', slug: 'bench-crowd' }

/** The seed with evidence. */
export const seedWithEvidence = '00000000-0000-7000-a000-000000000001'
/** A seed with 200 comments. */
export const seedWithComments = '00000000-0000-7000-a000-000000000002'
const seeds = 150

const callers = 20

const tokens = 10_000

/** The number of rare people and events, in a database of any size. */
export const rareName = 'zelda'
const rarePeople = 10
export const rareType = 'team.renamed'
const rareEvents = 20

/** SQL of the id with the number `i` in a group, in the form of UUIDv7, like the ids of the service. */
const idOf = (group: string) => `('00000000-0000-7000-${group}-' || lpad(to_hex(i), 12, '0'))::uuid`
const uuid = idOf('8000')

/**
 * Fills a database. Its user is a member of ten workspaces, and owns those with members and people. Returns the keys of
 * the callers, who are in the same workspaces.
 */
async function fill(pool: pg.Pool, { userId }: BenchDatabase, size: Size): Promise<string[]> {
  await fillDatabase(pool, size.workspaces)
  await pool.query(
    `insert into memberships (workspace_id, user_id, role, joined_at, last_used_at)
      select md5('filler-workspace-' || i)::uuid, $1, 'member', now(), now() - i * interval '1 hour'
      from generate_series(1, 10) as i`,
    [userId],
  )
  await pool.query(
    `insert into users (id, email, name, created_at)
      select ${uuid}, 'person-' || i || '@' || i % 97 || '.example.com',
        case when i % ${size.people / rarePeople} = 1 then 'Zelda ' else 'Person ' end || md5(i::text), now()
      from generate_series(1, ${size.people}) as i`,
  )
  for (const [{ id, slug }, members] of [
    [company, size.members],
    [crowd, size.people],
  ] as const) {
    await pool.query(
      `insert into workspaces (id, name, slug, creator_user_id, created_at) values ($1, $2, $2, $3, now())`,
      [id, slug, userId],
    )
    await pool.query('insert into workspace_slugs (slug, workspace_id) values ($1, $2)', [slug, id])
    // The owner joined last, and long before used another workspace.
    await pool.query(
      `insert into memberships (workspace_id, user_id, role, joined_at, last_used_at)
        values ($1, $2, 'owner', date_trunc('second', now()), now() - interval '1 day')`,
      [id, userId],
    )
    await pool.query(
      `insert into memberships (workspace_id, user_id, role, joined_at, last_used_at)
        select $1, ${uuid}, 'member', '2024-01-01'::timestamptz + i * interval '1 second', now()
        from generate_series(1, ${members}) as i`,
      [id],
    )
  }
  await pool.query(
    // With positions, which the trigger gives one by one: that takes long for many in one transaction.
    `insert into events (id, workspace_id, type, actor_type, actor_user_id, actor_name, source, summary, created_at, position)
      select ${uuid}, $1, case when i % ${size.events / rareEvents} = 0 then '${rareType}' else 'seed.updated' end,
        'user', $2, 'Bench', 'api', 'Bench did something', '2024-01-01'::timestamptz + i * interval '1 minute',
        i
      from generate_series(1, ${size.events}) as i`,
    [company.id, userId],
  )
  await pool.query('insert into event_positions values ($1, $2)', [company.id, size.events])
  await fillWithSeeds(pool)
  await fillWithTokens(pool)
  const added = await addCallers(pool, 'Caller', callers)
  await pool.query(
    `insert into memberships (workspace_id, user_id, role, joined_at, last_used_at)
      select workspace_id, new.user_id, case role when 'owner' then 'admin' else role end, now(), last_used_at
      from memberships as of_user, unnest($2::uuid[]) as new (user_id) where of_user.user_id = $1`,
    [userId, added.map(({ id }) => id)],
  )
  await pool.query('vacuum analyze')
  return added.map(({ apiKey }) => apiKey)
}

/** Adds seeds with a few participants to the second workspace, and evidence to one of them. */
async function fillWithSeeds(pool: pg.Pool): Promise<void> {
  await pool.query(
    `insert into seeds (id, workspace_id, title, summary, problem, audience, hypothesis, success_criteria, status,
        created_by_user_id, created_at, updated_at)
      select ${idOf('a000')}, $1, 'Seed ' || i, repeat('What it is about. ', 15), repeat('What is wrong today. ', 12),
        'People who work together', repeat('What we believe. ', 10), array['Ten people ask for it', 'One of them pays'],
        'open', ${uuid}, '2024-01-01'::timestamptz + i * interval '1 hour', now()
      from generate_series(1, ${seeds}) as i`,
    [crowd.id],
  )
  await pool.query(
    `insert into seed_participants (seed_id, user_id, workspace_id, joined_at)
      select seeds.id, ${uuid}, $1, now() from seeds, generate_series(1, 5) as i where workspace_id = $1`,
    [crowd.id],
  )
  await pool.query(
    `insert into evidence (id, seed_id, kind, verdict, summary, source_url, author_user_id, author_name, created_at)
      select ${idOf('b000')}, $1, 'interview',
        (array['supports', 'contradicts', 'neutral'])[i % 3 + 1], repeat('What somebody said. ', 15),
        'https://example.com/' || i, ${uuid}, 'Person', '2024-01-01'::timestamptz + i * interval '1 minute'
      from generate_series(1, ${seeds}) as i`,
    [seedWithEvidence],
  )
  await pool.query(
    `insert into comments (id, seed_id, body, author_user_id, author_name, created_at)
      select ${idOf('c000')}, $1, repeat('Somebody has something to say of it. ', 6),
        ('00000000-0000-7000-8000-' || lpad(to_hex(i % 5 + 1), 12, '0'))::uuid, 'Person',
        '2024-01-01'::timestamptz + i * interval '1 minute'
      from generate_series(1, 200) as i`,
    [seedWithComments],
  )
}

/** Adds seeds, and ten pieces of evidence to each, with words that more or fewer of them have. */
async function fillForSearch(pool: pg.Pool): Promise<void> {
  await pool.query(
    `insert into seeds (id, workspace_id, title, summary, status, created_at, updated_at)
      select ${idOf('a001')}, $1, 'Idea ' || i, 'What it is about: ' || md5(i::text), 'open',
        '2024-01-01'::timestamptz + i * interval '1 minute', now()
      from generate_series(1, 10000) as i`,
    [crowd.id],
  )
  await pool.query(
    `insert into evidence (id, seed_id, kind, verdict, summary, author_name, created_at)
      select ${idOf('b001')}, ('00000000-0000-7000-a001-' || lpad(to_hex(i % 10000 + 1), 12, '0'))::uuid, 'interview',
        'supports', 'Somebody said term' || i % 100 || ' and rare' || i % 1000 || ', ' || repeat(md5(i::text) || ' ', 5) || case when i % 100 = 50 then '請求書を音声で入力する' else '' end,
        'Person', '2024-01-01'::timestamptz + i * interval '1 minute'
      from generate_series(1, 100000) as i`,
  )
  await pool.query('vacuum analyze')
}

/**
 * Adds refresh tokens that agents used before, as every installation has them after some days. Without them, PostgreSQL
 * would plan for a table of a few rows, and keep that plan while the bench makes it thousands of times larger.
 */
async function fillWithTokens(pool: pg.Pool): Promise<void> {
  await pool.query(
    `insert into oauth_records (kind, key, grant_id, client_id, payload, created_at, consumed_at, expires_at)
      select 'RefreshToken', md5('token-' || i), ${uuid}::text, 'client-' || i % 100,
        jsonb_build_object('kind', 'RefreshToken', 'scope', 'validation-kit:read', 'filler', repeat('x', 500)),
        now() - interval '1 day', now() - interval '1 hour', now() + interval '30 days'
      from generate_series(1, ${tokens}) as i`,
  )
}
