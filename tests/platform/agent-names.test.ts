import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { migrateDatabase } from '../../src/db/migrate.ts'
import { openOlderDatabase } from '../support/older-database.ts'

it('the migration names the agents of what was written before, from the events', async () => {
  const { entries } = JSON.parse(await readFile('drizzle/meta/_journal.json', 'utf8')) as {
    entries: { idx: number; tag: string }[]
  }
  const migration = entries.find(({ tag }) => tag.endsWith('_agent_names'))
  const pool = await openOlderDatabase(Number(migration?.idx) - 1)
  const [user, workspace, grant, seed, own, ofAgent, ofPerson, ofEnded] = Array.from({ length: 8 }, () =>
    randomUUID(),
  )
  const insert = (text: string, values: unknown[]) => pool.query(text, values)
  await insert(
    `insert into users (id, name, email, canonical_email, created_at) values ($1, 'Ada', 'a@b.example', 'a@b.example', now())`,
    [user],
  )
  await insert(`insert into workspaces (id, name, slug, created_at) values ($1, 'Acme', 'acme', now())`, [
    workspace,
  ])
  await insert(
    `insert into memberships (workspace_id, user_id, role, joined_at, last_used_at) values ($1, $2, 'owner', now(), now())`,
    [workspace, user],
  )
  await insert(
    `insert into agent_grants (id, client_id, client_name, workspace_id, user_id, scopes, created_at, expires_at)
      values ($1, 'x', 'Claude Code', $2, $3, '{}', now(), now())`,
    [grant, workspace, user],
  )
  for (const id of [seed, own])
    await insert(
      `insert into seeds (id, workspace_id, title, summary, status, created_at, updated_at)
        values ($1, $2, 'Title', 'Summary', 'open', now(), now())`,
      [id, workspace],
    )
  for (const id of [ofAgent, ofPerson, ofEnded])
    await insert(
      `insert into evidence (id, seed_id, kind, verdict, summary, author_name, created_at)
        values ($1, $2, 'note', 'neutral', 'Summary', 'Ada', now())`,
      [id, seed],
    )
  for (const [type, actor, target, by] of [
    ['seed.created', 'agent', seed, grant],
    ['seed.updated', 'agent', own, grant],
    ['seed.created', 'user', own, null],
    ['evidence.added', 'agent', ofAgent, grant],
    ['evidence.added', 'user', ofPerson, null],
    ['evidence.added', 'agent', ofEnded, randomUUID()],
  ])
    await insert(
      `insert into events (id, workspace_id, type, actor_type, actor_name, grant_id, source, target_id, summary, created_at)
        values (gen_random_uuid(), $1, $2, $3, 'Ada', $4, 'mcp', $5, 'Summary', now())`,
      [workspace, type, actor, by, target],
    )
  await migrateDatabase(pool)
  const { rows } = await pool.query<{ id: string; agent_name: string | null }>(
    'select id, agent_name from seeds union all select id, agent_name from evidence',
  )
  expect(Object.fromEntries(rows.map(({ id, agent_name: name }) => [id, name]))).toEqual({
    [String(seed)]: 'Claude Code',
    [String(own)]: null,
    [String(ofAgent)]: 'Claude Code',
    [String(ofPerson)]: null,
    [String(ofEnded)]: 'An unnamed application',
  })
})
