import type pg from 'pg'
import { fillDatabase } from '../tests/support/fill-database.ts'
import type { Bench, BenchDatabase } from './harness.ts'

/** A workspace with events and one with people. Their sizes differ, but the pages that are read have the same size. */
interface Size {
  workspaces: number
  members: number
  events: number
  people: number
}

const small: Size = { workspaces: 10, members: 150, events: 1_000, people: 150 }
const big: Size = { workspaces: 10_000, members: 10_000, events: 1_000_000, people: 100_000 }

export const openSmallDatabase = (bench: Bench) =>
  bench.database('small', (pool, database) => fill(pool, database, small))

export const openBigDatabase = (bench: Bench) =>
  bench.database('big', (pool, database) => fill(pool, database, big))

/** The workspace with members and events, and the one with people. */
export const company = { id: '00000000-0000-7000-9000-000000000001', slug: 'bench-company' }
export const crowd = { id: '00000000-0000-7000-9000-000000000002', slug: 'bench-crowd' }

/** The number of rare people and events, in a database of any size. */
export const rareName = 'zelda'
const rarePeople = 10
export const rareType = 'team.renamed'
const rareEvents = 20

/** Fills a database. Its user is a member of ten workspaces, and owns those with members and people. */
async function fill(pool: pg.Pool, { userId }: BenchDatabase, size: Size): Promise<void> {
  await fillDatabase(pool, size.workspaces)
  await pool.query(
    `insert into memberships (workspace_id, user_id, role, joined_at, last_used_at)
      select md5('filler-workspace-' || i)::uuid, $1, 'member', now(), now() - i * interval '1 hour'
      from generate_series(1, 10) as i`,
    [userId],
  )
  // In the form of UUIDv7, like the ids of the service.
  const uuid = `('00000000-0000-7000-8000-' || lpad(to_hex(i), 12, '0'))::uuid`
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
    `insert into events (id, workspace_id, type, actor_type, actor_user_id, actor_name, source, summary, created_at)
      select ${uuid}, $1, case when i % ${size.events / rareEvents} = 0 then '${rareType}' else 'seed.updated' end,
        'user', $2, 'Bench', 'api', 'Bench did something', '2024-01-01'::timestamptz + i * interval '1 minute'
      from generate_series(1, ${size.events}) as i`,
    [company.id, userId],
  )
  await pool.query('vacuum analyze')
}
