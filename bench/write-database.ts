import type pg from 'pg'
import { canonicalizeEmail } from '../src/kernel/email.ts'
import { createId } from '../src/kernel/ids.ts'
import { createToken, hashSecret } from '../src/kernel/tokens.ts'
import { addCallers, type Caller } from './callers.ts'
import { fillSmall } from './databases.ts'
import type { Bench, BenchDatabase } from './harness.ts'

/**
 * People with a workspace each: so many that changes do not wait for the lock of a workspace, and that a workspace has as
 * few invites within an hour as the default limit allows.
 */
const writers = 100
/** Enough for all rounds: each is accepted once. */
const guests = 20_000

/** A database for writes. Its ids and tokens are the same in all copies. */
export interface WriteDatabase extends BenchDatabase {
  /** The callers of the small database, whose members, lists and workspaces are there too. */
  readers: readonly string[]
  /** The workspace of each caller. */
  slugs: readonly string[]
  /** A seed of each workspace, which its caller has joined. */
  seedIds: readonly string[]
  /** People who have been invited, each with the token of the invite. */
  guests: readonly (Caller & { token: string })[]
}

let prepared: Promise<WriteDatabase> | undefined

/** Returns a database with a hundred callers, each the admin of a workspace. It is only copied: no server uses it itself. */
export function openWriteDatabase(bench: Bench): Promise<WriteDatabase> {
  prepared ??= prepare(bench)
  return prepared
}

async function prepare(bench: Bench): Promise<WriteDatabase> {
  const slugs = Array.from({ length: writers }, (_, i) => `desk-${i + 1}`)
  const ids = slugs.map(() => createId())
  const seedIds = slugs.map(() => createId())
  let readers: readonly string[] = []
  let invited: WriteDatabase['guests'] = []
  const database = await bench.database('writes', async (pool, created) => {
    readers = await fillSmall(pool, created)
    const callers = await addCallers(pool, 'Writer', writers)
    await addWorkspaces(pool, { slugs, ids, seedIds, ownerId: created.userId, callers })
    invited = await addGuests(pool, { workspaceIds: ids, inviterId: created.userId })
    await pool.query('vacuum analyze')
    return callers.map(({ apiKey }) => apiKey)
  })
  return { ...database, readers, slugs, seedIds, guests: invited }
}

async function addWorkspaces(
  pool: pg.Pool,
  input: { slugs: string[]; ids: string[]; seedIds: string[]; ownerId: string; callers: Caller[] },
): Promise<void> {
  const { slugs, ids, seedIds, ownerId, callers } = input
  await pool.query(
    `insert into workspaces (id, name, slug, creator_user_id, created_at)
      select id, slug, slug, $3, now() from unnest($1::uuid[], $2::text[]) as new (id, slug)`,
    [ids, slugs, ownerId],
  )
  await pool.query(
    `insert into workspace_slugs (slug, workspace_id)
      select slug, id from unnest($1::uuid[], $2::text[]) as new (id, slug)`,
    [ids, slugs],
  )
  await pool.query(
    `insert into memberships (workspace_id, user_id, role, joined_at, last_used_at)
      select id, $2, 'owner', now(), now() from unnest($1::uuid[]) as workspace (id)
      union all
      select id, user_id, 'admin', now(), now() from unnest($1::uuid[], $3::uuid[]) as new (id, user_id)`,
    [ids, ownerId, callers.map(({ id }) => id)],
  )
  await pool.query(
    `insert into seeds (id, workspace_id, title, summary, status, created_at, updated_at)
      select id, workspace_id, 'Seed', 'Summary', 'open', now(), now()
      from unnest($1::uuid[], $2::uuid[]) as new (id, workspace_id)`,
    [seedIds, ids],
  )
  await pool.query(
    `insert into seed_participants (seed_id, user_id, workspace_id, joined_at)
      select seed_id, user_id, workspace_id, now()
      from unnest($1::uuid[], $2::uuid[], $3::uuid[]) as new (seed_id, user_id, workspace_id)`,
    [seedIds, callers.map(({ id }) => id), ids],
  )
}

async function addGuests(
  pool: pg.Pool,
  { workspaceIds, inviterId }: { workspaceIds: string[]; inviterId: string },
): Promise<WriteDatabase['guests']> {
  const people = (await addCallers(pool, 'Guest', guests)).map((guest) => ({
    ...guest,
    token: createToken(),
  }))
  const inviteIds = people.map(() => createId())
  await pool.query(
    `insert into invites (id, workspace_id, email, canonical_email, role, state, invited_by_user_id, created_at, expires_at)
      select id, ($2::uuid[])[1 + place % cardinality($2::uuid[])], email, canonical, 'member', 'open', $3,
        now() - interval '1 day', now() + interval '6 days'
      from unnest($1::uuid[], $4::text[], $5::text[]) with ordinality as new (id, email, canonical, place)`,
    [
      inviteIds,
      workspaceIds,
      inviterId,
      people.map(({ email }) => email),
      people.map(({ email }) => canonicalizeEmail(email)),
    ],
  )
  await pool.query(
    `insert into invite_tokens (token_hash, invite_id)
      select hash, id from unnest($1::bytea[], $2::uuid[]) as new (hash, id)`,
    [people.map(({ token }) => hashSecret(token)), inviteIds],
  )
  return people
}
