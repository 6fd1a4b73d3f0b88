import { createHash, randomUUID } from 'node:crypto'
import { expect, it } from 'vitest'
import { hashClientSecret } from '../../src/agent-oauth/oauth-records.repository.ts'
import { migrateDatabase } from '../../src/db/migrate.ts'
import { openOlderDatabase } from '../support/older-database.ts'

it('the migration hashes the secrets of clients as the service does, and keeps the rest', async () => {
  const pool = await openOlderDatabase(13)
  const [secret, confidential, open] = ['kF-_9'.repeat(12), randomUUID(), randomUUID()]
  const insert = (key: string, payload: object) =>
    pool.query(
      `insert into oauth_records (kind, key, payload, created_at) values ('Client', $1, $2, '2026-01-02')`,
      [key, JSON.stringify(payload)],
    )
  await insert(confidential, { client_id: confidential, client_secret: secret })
  await insert(open, { client_id: open })
  await migrateDatabase(pool)
  const { rows } = await pool.query<{ key: string; payload: object; granted_at: Date | null; uses: number }>(
    'select key, payload, granted_at, uses from oauth_records',
  )
  const hashed = hashClientSecret(secret)
  expect(hashed).toBe(`sha256:${createHash('sha256').update(secret).digest('hex')}`)
  expect(rows).toHaveLength(2)
  expect(rows).toContainEqual({
    key: confidential,
    payload: { client_id: confidential, client_secret: hashed },
    granted_at: null,
    uses: 0,
  })
  expect(rows).toContainEqual({ key: open, payload: { client_id: open }, granted_at: null, uses: 0 })
})
