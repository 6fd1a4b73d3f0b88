import { expect, it } from 'vitest'
import { migrateDatabase } from '../../src/db/migrate.ts'
import { createId } from '../../src/kernel/ids.ts'
import { openDatabaseAtBaseline } from '../support/baseline-database.ts'

it('webhooks of before note when their secret was made, and who was last shown it, if they are still there', async () => {
  const { pool, workspaces } = await openDatabaseAtBaseline({ until: '0045_ends_of_requests' })
  const [ada, deleted] = [createId(), createId()]
  await pool.query(
    `insert into users (id, email, canonical_email, name, created_at) values ($1, 'ada@example.com', 'ada@example.com', 'Ada', now())`,
    [ada],
  )
  let position = 0
  const add = async (...events: [type: string, actor: string, at: string][]) => {
    const id = createId()
    await pool.query(
      `insert into webhooks (id, workspace_id, url, sealed_secret, created_at)
        values ($1, $2, 'https://hooks.example.com/', '\\x00', '2026-01-01T00:00:00Z')`,
      [id, workspaces[0]],
    )
    for (const [type, actor, at] of events)
      await pool.query(
        `insert into events (id, workspace_id, type, actor_type, actor_user_id, actor_name, source, summary, target_type,
          target_id, created_at, position)
          values ($1, $2, $3, 'user', $4, 'Ada', 'api', '', 'webhook', $5, $6, $7)`,
        [createId(), workspaces[0], type, actor, id, at, ++position],
      )
    return id
  }
  const [day, later, last] = [
    '2026-01-01T00:00:00.000Z',
    '2026-02-01T00:00:00.000Z',
    '2026-03-01T00:00:00.000Z',
  ]
  const created = ['webhook.created', deleted, day] as [string, string, string]
  const ids = [
    await add(created, ['webhook.secret_rotated', ada, later], ['webhook.updated', deleted, last]),
    await add(['webhook.created', ada, day], ['webhook.secret_rotated', deleted, later]),
    await add(),
  ]
  await migrateDatabase(pool)
  const { rows } = await pool.query<{ id: string; at: Date; shown: string | null }>(
    'select id, secret_created_at as at, shown_to_user_id as shown from webhooks',
  )
  const found = ids.map((id) => rows.find((row) => row.id === id))
  expect(found.map((row) => [row?.at.toISOString(), row?.shown])).toEqual([
    [later, ada],
    [later, null],
    [day, null],
  ])
})
