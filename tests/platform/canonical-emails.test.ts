import pg from 'pg'
import { afterAll, describe, expect, it } from 'vitest'
import { migrateDatabase } from '../../src/db/migrate.ts'
import { createId } from '../../src/kernel/ids.ts'
import { openOlderDatabase } from '../support/older-database.ts'
import { clone } from '../support/test-app.ts'

const pools: pg.Pool[] = []
afterAll(async () => {
  for (const pool of pools) await pool.end()
})

function connect(url: string): pg.Pool {
  const pool = new pg.Pool({ connectionString: url, max: 2 })
  pools.push(pool)
  return pool
}

/** A database as the version before the canonical addresses left it. */
const openDatabaseBefore = () => openOlderDatabase(6)

async function insertUser(pool: pg.Pool, email: string, { isVerified = true } = {}): Promise<string> {
  const id = createId()
  await pool.query(
    `insert into users (id, email, name, email_verified_at, created_at)
      values ($1, $2, 'Viktor', case when $3::boolean then now() end, now())`,
    [id, email, isVerified],
  )
  return id
}

const canonicalEmailsOf = async (pool: pg.Pool, table: string) => {
  const { rows } = await pool.query<{ id: string; email: string; canonical_email: string | null }>(
    `select id, email, canonical_email from ${table} order by id`,
  )
  return rows
}

describe('migrating a database with people in it', () => {
  it('gives everybody the canonical form of their address, and keeps the address', async () => {
    const pool = await openDatabaseBefore()
    const ids: string[] = []
    const addresses = ['Viktor@Example.com', 'ada@example.com', 'Ü@BÜCHER.example', 'x@my_host.example']
    for (const address of addresses) ids.push(await insertUser(pool, address))
    await migrateDatabase(pool)
    expect(await canonicalEmailsOf(pool, 'users')).toEqual([
      { id: ids[0], email: 'Viktor@Example.com', canonical_email: 'viktor@example.com' },
      { id: ids[1], email: 'ada@example.com', canonical_email: 'ada@example.com' },
      { id: ids[2], email: 'Ü@BÜCHER.example', canonical_email: 'ü@xn--bcher-kva.example' },
      { id: ids[3], email: 'x@my_host.example', canonical_email: 'x@my_host.example' },
    ])
  })

  it('leaves an address that stands for another its row, and not its place', async () => {
    const pool = await openDatabaseBefore()
    const stranger = await insertUser(pool, 'vi\u212ator@example.com')
    await migrateDatabase(pool)
    expect(await canonicalEmailsOf(pool, 'users')).toMatchObject([{ id: stranger, canonical_email: null }])
    await pool.query(`update users set canonical_email = 'viktor@example.com' where id = $1`, [
      await insertUser(pool, 'viktor@example.com'),
    ])
  })

  it('keeps everybody of several with one address, and gives it to whoever has proven it, or the oldest', async () => {
    const pool = await openDatabaseBefore()
    await pool.query('drop index users_email_key')
    const claimed = await insertUser(pool, 'ADA@example.com', { isVerified: false })
    const first = await insertUser(pool, 'Ada@example.com')
    const second = await insertUser(pool, 'ada@example.com')
    await pool.query('create index users_email_key on users (lower(email))')
    await migrateDatabase(pool)
    await migrateDatabase(pool)
    expect(await canonicalEmailsOf(pool, 'users')).toEqual([
      { id: claimed, email: 'ADA@example.com', canonical_email: null },
      { id: first, email: 'Ada@example.com', canonical_email: 'ada@example.com' },
      { id: second, email: 'ada@example.com', canonical_email: null },
    ])
    await pool.query('delete from users where id in ($1, $2)', [first, claimed])
    await migrateDatabase(pool)
    expect(await canonicalEmailsOf(pool, 'users')).toMatchObject([
      { id: second, canonical_email: 'ada@example.com' },
    ])
  })

  it('fills more than a batch, invites as well, and what an older version writes afterwards', async () => {
    const pool = connect(await clone())
    const inviter = await insertUser(pool, 'olga@example.com')
    const workspaceId = createId()
    await pool.query(
      `insert into workspaces (id, name, slug, created_at) values ($1, 'Acme', 'acme', now())`,
      [workspaceId],
    )
    await pool.query(
      `insert into users (id, email, name, created_at)
        select gen_random_uuid(), 'Person-' || i || '@example.com', 'Person', now() from generate_series(1, 2500) as i`,
    )
    for (const email of ['Ada@example.com', 'ADA@example.com', 'bob@example.com'])
      await pool.query(
        `insert into invites (id, workspace_id, email, role, state, invited_by_user_id, created_at, expires_at)
          values ($1, $2, $3, 'member', 'open', $4, now(), now())`,
        [createId(), workspaceId, email, inviter],
      )
    await migrateDatabase(pool)
    const users = await canonicalEmailsOf(pool, 'users')
    expect(users).toHaveLength(2501)
    expect(users.filter((row) => row.canonical_email !== row.email.toLowerCase())).toEqual([])
    expect(await canonicalEmailsOf(pool, 'invites')).toMatchObject([
      { email: 'Ada@example.com', canonical_email: 'ada@example.com' },
      { email: 'ADA@example.com', canonical_email: null },
      { email: 'bob@example.com', canonical_email: 'bob@example.com' },
    ])
  })
})
