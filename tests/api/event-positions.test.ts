import { sql } from 'drizzle-orm'
import type pg from 'pg'
import { describe, expect, it, onTestFinished } from 'vitest'
import { insertServiceEvent } from '../../src/access/event-log.repository.ts'
import { createId } from '../../src/kernel/ids.ts'
import { addPerson, createCompany, del, post, type TestCompany } from '../support/company.ts'
import { clone, selectRows, startTestApp } from '../support/test-app.ts'
import { untilWaiting } from '../support/until-waiting.ts'
import { createWorkspace, randomSlug } from '../support/workspaces.ts'

// A database of its own: it counts the statements that wait for locks.
const service = await startTestApp({ environment: { DATABASE_URL: await clone() } })
const { as, createPerson, db, services } = service

/** The insert of versions before positions. */
const insertOfBefore = `
  insert into events (id, workspace_id, type, actor_type, actor_user_id, actor_name, grant_id, api_key_id, source,
    target_type, target_id, summary, created_at)
  values ($1, $2, 'seed.created', 'user', null, 'Ada', null, null, 'api', null, null, $3, now())`

async function connect(): Promise<pg.PoolClient> {
  const client = await db.$client.connect()
  onTestFinished(() => client.release(true))
  return client
}

const insert = (client: pg.PoolClient, workspaceId: string, summary: string) =>
  client.query(insertOfBefore, [createId(), workspaceId, summary])

async function positionsOf({ id }: { id: string }): Promise<string[]> {
  const rows = await selectRows<{ line: string }>(
    db,
    sql`select position || ' ' || summary as line from events where workspace_id = ${id} order by position`,
  )
  return rows.map(({ line }) => line)
}

async function lastPositionOf({ id }: { id: string }): Promise<number | undefined> {
  const rows = await selectRows<{ last: string }>(
    db,
    sql`select last from event_positions where workspace_id = ${id}`,
  )
  return rows[0] && Number(rows[0].last)
}

describe('the positions of events', () => {
  it('are the numbers from 1 in each workspace, also of events of the version before', async () => {
    const owner = await createPerson({ name: 'Ada' })
    const [one, other] = [await createWorkspace(service, owner), await createWorkspace(service, owner)]
    const client = await connect()
    for (const workspace of [one, one, other, one]) await insert(client, workspace.id, 'of before')
    await as(owner, post(`/v1/workspaces/${one.slug}/teams`, { name: 'New' }))
    expect(await positionsOf(one)).toEqual([
      '1 Ada created the workspace Acme',
      ...['2 of before', '3 of before', '4 of before'],
      '5 Ada created the team New',
    ])
    expect(await positionsOf(other)).toEqual(['1 Ada created the workspace Acme', '2 of before'])
    expect([await lastPositionOf(one), await lastPositionOf(other)]).toEqual([5, 2])
  })

  it('have no gap after a rollback', async () => {
    const workspace = await createWorkspace(service, await createPerson())
    const client = await connect()
    await client.query('begin')
    await insert(client, workspace.id, 'rolled back')
    await insert(client, workspace.id, 'rolled back')
    await client.query('rollback')
    await insert(client, workspace.id, 'committed')
    expect((await positionsOf(workspace)).at(-1)).toBe('2 committed')
  })

  it('become visible in their order: a later event of the workspace waits for the commit of an earlier one', async () => {
    const owner = await createPerson({ name: 'Ada' })
    const [workspace, other] = [await createWorkspace(service, owner), await createWorkspace(service, owner)]
    const [early, late] = [await connect(), await connect()]
    await early.query('begin')
    await insert(early, workspace.id, 'early')
    const waiting = insert(late, workspace.id, 'late')
    await untilWaiting(service, 1)
    // Other workspaces do not wait.
    await as(owner, post(`/v1/workspaces/${other.slug}/teams`, { name: 'New' }))
    expect((await positionsOf(other)).at(-1)).toBe('2 Ada created the team New')
    expect(await positionsOf(workspace)).toHaveLength(1)
    await early.query('commit')
    await waiting
    expect((await positionsOf(workspace)).slice(1)).toEqual(['2 early', '3 late'])
  })

  it('are kept when they are given, as when a backup is restored', async () => {
    const workspace = await createWorkspace(service, await createPerson())
    await db.execute(sql`
      insert into events (id, workspace_id, type, actor_type, actor_name, source, summary, created_at, position)
      values (${createId()}, ${workspace.id}, 'seed.created', 'system', 'x', 'system', 'restored', now(), 7)`)
    expect((await positionsOf(workspace)).at(-1)).toBe('7 restored')
    expect(await lastPositionOf(workspace)).toBe(1)
  })

  it('disappear with the workspace, and who deletes it and who appends an event do not wait in a circle', async () => {
    const workspace = await createWorkspace(service, await createPerson())
    const [deleter, writer] = [await connect(), await connect()]
    await deleter.query('begin')
    await deleter.query('select from workspaces where id = $1 for update', [workspace.id])
    const appending = insert(writer, workspace.id, 'too late').catch((error: unknown) => error)
    await untilWaiting(service, 1)
    await deleter.query('delete from workspaces where id = $1', [workspace.id])
    await deleter.query('commit')
    expect(await appending).toMatchObject({ code: '23503' })
    expect([await positionsOf(workspace), await lastPositionOf(workspace)]).toEqual([[], undefined])
  })
})

describe('while the position of a workspace is locked', () => {
  it('nothing is waited for: a stored answer that waits does not hold up other changes', async () => {
    const company = await createCompany(service)
    const { url, owner, admin } = company
    const request = (title: string) => post(`${url}/seeds`, { title, summary: 'x' })
    const [first, second] = [await connect(), await connect()]
    // The request has begun, and waits.
    await first.query('begin')
    await first.query('lock table seeds in exclusive mode')
    const key = randomSlug('key')
    const waiting = as(owner, { ...request('First'), headers: { 'idempotency-key': key } }).then(
      (answer) => answer,
    )
    await untilWaiting(service, 1)
    // Now it will wait for its answer to be stored.
    await second.query('begin')
    const { rowCount } = await second.query(
      'select from idempotent_requests where api_key_id = $1 for update',
      [owner.apiKeyId],
    )
    expect(rowCount).toBe(1)
    await first.query('commit')
    await untilWaiting(service, 1)
    const answer = await as(admin, request('Second'))
    expect(answer.statusCode, answer.body).toBe(200)
    await second.query('commit')
    expect((await waiting).statusCode).toBe(200)
    expect((await positionsOf(company.workspace)).slice(1)).toEqual([
      '2 Adam Admin created the seed Second',
      '3 Olga Owner created the seed First',
    ])
  })

  it('events of several workspaces are inserted in the order of their ids, whoever appends them', async () => {
    const owner = await createPerson()
    const workspaces = await Promise.all([1, 2, 3].map(() => createWorkspace(service, owner)))
    const ids = workspaces.map(({ id }) => id).sort()
    const append = (order: string[]) =>
      db.transaction(async (tx) => {
        for (const workspaceId of order) {
          const data = { seedId: createId(), title: 'x' }
          await insertServiceEvent(tx, { workspaceId, type: 'seed.deleted', data, at: new Date() })
          // Statements of others come in between.
          await tx.execute(sql`select 1`)
        }
      })
    for (let i = 0; i < 20; i++) await Promise.all([append(ids), append(ids.toReversed())])
    for (const id of ids) expect(await lastPositionOf({ id })).toBe(41)
  })

  it('changes, the removal of a member, and the deletion of a person in several workspaces end without a deadlock', async () => {
    const companies = await Promise.all([1, 2, 3].map(() => createCompany(service)))
    const leaving = await Promise.all(Array.from({ length: 6 }, () => createPerson({ name: 'Leaving' })))
    for (const { workspace } of companies)
      for (const { id } of leaving)
        await db.execute(sql`insert into memberships (workspace_id, user_id, role, joined_at, last_used_at)
          values (${workspace.id}, ${id}, 'member', now(), now())`)
    const changeIn = async ({ url, admin, workspace }: TestCompany, i: number) => {
      const removed = await addPerson(service, workspace, 'viewer')
      return Promise.all([
        as(admin, {
          ...post(`${url}/seeds`, { title: `Seed ${i}`, summary: 'x' }),
          headers: { 'idempotency-key': randomSlug('key') },
        }),
        as(admin, del(`${url}/members/${removed.id}`)),
      ])
    }
    // In two rounds, so that nobody waits for a lock longer than is allowed on a busy machine.
    for (const round of [leaving.slice(0, 3), leaving.slice(3)]) {
      const [answers, deletions] = await Promise.all([
        Promise.all(
          companies.flatMap((company) => Array.from({ length: 5 }, (_, i) => changeIn(company, i))),
        ),
        Promise.all(round.map(({ id }) => services.accounts.delete(id, { withWorkspaces: false }))),
      ])
      expect(deletions.map(({ isDeleted }) => isDeleted)).toEqual(round.map(() => true))
      expect(answers.flat().map(({ statusCode }) => statusCode)).toEqual(Array(30).fill(200))
    }
    for (const { workspace } of companies) {
      const lines = await positionsOf(workspace)
      expect(lines.map((line) => Number(line.split(' ')[0]))).toEqual(lines.map((_, i) => i + 1))
      // A person who is deleted leaves the workspace, and their name is erased there.
      expect(lines).toHaveLength(1 + 20 + 2 * leaving.length)
    }
  })
})
