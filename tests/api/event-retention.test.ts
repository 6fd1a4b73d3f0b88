import { readFile } from 'node:fs/promises'
import { sql } from 'drizzle-orm'
import { describe, expect, it, vi } from 'vitest'
import { listWrongPositions } from '../../src/areas/events/event-feed.repository.ts'
import { deleteOldEvents } from '../../src/areas/events/event-retention.repository.ts'
import { errors } from '../../src/kernel/errors.ts'
import { createKey } from '../support/api-keys.ts'
import { createCompany, get, patch, post, type TestCompany } from '../support/company.ts'
import { eventually } from '../support/eventually.ts'
import { expectError } from '../support/expect-error.ts'
import { createSeed, insertGrant } from '../support/seeds.ts'
import { createTestClock } from '../support/test-clock.ts'
import { clone, selectRows, startTestApp } from '../support/test-app.ts'
import { findEvents } from '../support/workspaces.ts'

const dayMs = 86_400_000
const clock = createTestClock()
const service = await startTestApp({
  clock,
  environment: { DATABASE_URL: await clone(), EVENTS_KEPT_DAYS: '31' },
})
const { as, db, services } = service
await services.startJobs()

/** Runs an hourly clean-up in the process, as the queue does, and waits until it has ended. Throws its error. */
async function cleanUp(name: string): Promise<void> {
  const task = `clean_up_${name}`
  // In place of one that has failed.
  const jobKey = `${task}, by hand`
  await db.execute(sql`select graphile_worker.add_job(${task}, job_key => ${jobKey})`)
  const failed = await eventually(async () => {
    const waiting = sql`select last_error from graphile_worker.jobs where task_identifier = ${task}`
    const [job] = await selectRows<{ last_error: string | null }>(db, waiting)
    if (job?.last_error === null) throw new Error(`${task} has not ended`)
    return job
  })
  if (failed) throw new Error(String(failed.last_error))
}

interface Changes {
  events: { id: string; type: string }[]
  cursor: string
  hasMore: boolean
}

const ask = ({ owner, url }: TestCompany, after?: string) =>
  as(owner, get(`${url}/events/changes${after === undefined ? '' : `?after=${after}`}`))
const read = async (company: TestCompany, after?: string) => (await ask(company, after)).json<Changes>()
const add = (company: TestCompany, title: string) => createSeed(service, company.owner, company, { title })

describe('events, with EVENTS_KEPT_DAYS', () => {
  it('are kept by a process whose clock is not the one of the database', async () => {
    const company = await createCompany(service)
    const { events } = await read(company)
    clock.advance(40 * dayMs)
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 6 * 60_000 })
    await expect(cleanUp('events')).rejects.toThrow(/the clock of this process differs by 3\d\d s/)
    vi.useRealTimers()
    expect((await read(company)).events).toEqual(events)
    // Tried again, with a clock that is right.
    await cleanUp('events')
    expect((await read(company)).events).not.toEqual(events)
  })

  it('are deleted when they are older, and whoever has read them goes on', async () => {
    const company = await createCompany(service)
    const seed = await createSeed(service, company.owner, company)
    const early = (await read(company)).cursor
    await add(company, 'Second')
    const { cursor, events: before } = await read(company)
    clock.advance(20 * dayMs)
    const other = await createCompany(service)
    const ofOther = await read(other)
    await cleanUp('events')
    expect(await read(company)).toEqual({ events: before, cursor, hasMore: false })

    clock.advance(12 * dayMs)
    await cleanUp('events')
    expect((await findEvents(service, company.workspace)).length).toBe(0)
    expect(await read(other)).toEqual(ofOther)
    expectError(await ask(company, early), errors.cursorExpired)
    const stream = await as(company.owner, get(`${company.url}/events/stream?after=${early}`))
    expectError(stream, errors.cursorExpired)
    // What `admin check --restored` looks at.
    expect(await listWrongPositions(db, 10)).toEqual([])
    // Nothing behind these was deleted.
    expect(await read(company, cursor)).toEqual({ events: [], cursor, hasMore: false })
    expect(await read(company)).toEqual({ events: [], cursor, hasMore: false })

    await add(company, 'Third')
    const types = ['seed.created']
    expect((await read(company, cursor)).events.map(({ type }) => type)).toEqual(types)
    expect((await read(company)).events.map(({ type }) => type)).toEqual(types)
    expectError(await ask(company, early), errors.cursorExpired)
    const list = await as(company.owner, get(`${company.url}/events`))
    expect(list.json<{ type: string }[]>().map(({ type }) => type)).toEqual(types)
    expect((await as(company.owner, get(`/v1/seeds/${seed.id}`))).json()).toMatchObject({ title: seed.title })
  })

  it('are deleted without a gap, however many there are, and beside new ones', async () => {
    const company = await createCompany(service)
    await db.execute(sql`
      insert into events (id, workspace_id, type, actor_type, actor_name, source, summary, created_at)
      select gen_random_uuid(), ${company.workspace.id}, 'seed.created', 'system', 'System', 'system', 'x',
        -- The sixth last took effect before five that are older.
        ${clock.now().toISOString()}::timestamptz + case when n = 1195 then interval '2 days' else '0' end
      from generate_series(1, 1200) as n`)
    clock.advance(32 * dayMs)
    const limit = new Date(clock.now().getTime() - 31 * dayMs)
    const changes = Array.from({ length: 20 }, (_, i) => add(company, `Seed ${i}`))
    await Promise.all([deleteOldEvents(db, limit), deleteOldEvents(db, limit), ...changes])
    const positions = await selectRows<{ first: number; last: number; count: number }>(
      db,
      sql`select min(position)::int as first, max(position)::int as last, count(*)::int as count from events
        where workspace_id = ${company.workspace.id}`,
    )
    // After the event that created the workspace.
    expect(positions).toEqual([{ first: 1196, last: 1221, count: 26 }])
    const { events } = await read(company)
    expect(events).toHaveLength(26)
  })

  it('are not needed by what a seed says of its status', async () => {
    const company = await createCompany(service)
    const { member } = company
    const seed = await createSeed(service, member, company)
    const path = `/v1/seeds/${seed.id}`
    const decidedAt = clock.now().toISOString()
    await as(member, patch(path, { status: 'dropped', statusReason: '誰も使わない' }))
    clock.advance(40 * dayMs)
    await cleanUp('events')
    const decision = { decidedAt, decidedByUserId: member.id, decidedByName: member.name }
    expect((await as(company.viewer, get(path))).json()).toMatchObject({
      ...{ status: 'dropped', statusReason: '誰も使わない' },
      ...decision,
    })
    await as(member, patch(path, { status: 'validating', statusReason: 'Somebody does' }))
    const none = { decidedAt: null, decidedByUserId: null, decidedByName: null }
    expect((await as(member, get(path))).json()).toMatchObject({ statusReason: 'Somebody does', ...none })
    clock.advance(1_000)
    // The same reason again is not taken for a change by the version before.
    await as(member, patch(path, { status: 'open', statusReason: 'Somebody does' }))
    expect((await as(member, get(path))).json()).toMatchObject({ statusReason: 'Somebody does', ...none })
  })
})

describe('the status of a seed', () => {
  it('has no reason any more after the version before has changed it', async () => {
    const company = await createCompany(service)
    const seed = await createSeed(service, company.member, company)
    const path = `/v1/seeds/${seed.id}`
    await as(company.member, patch(path, { status: 'validating', statusReason: 'Why not' }))
    clock.advance(1_000)
    const decidedAt = clock.now().toISOString()
    await db.execute(
      sql`update seeds set status = 'validated', updated_at = ${decidedAt} where id = ${seed.id}`,
    )
    const unknown = { statusReason: null, decidedByUserId: null, decidedByName: null }
    expect((await as(company.member, get(path))).json()).toMatchObject({ decidedAt, ...unknown })
  })

  it('is told of older seeds by the migration, from their newest event', async () => {
    const company = await createCompany(service)
    const { member } = company
    const [decided, open] = [
      await createSeed(service, member, company),
      await createSeed(service, member, company),
    ]
    const path = `/v1/seeds/${decided.id}`
    await as(member, patch(path, { status: 'dropped', statusReason: 'Too dear' }))
    clock.advance(1_000)
    await as(member, patch(path, { status: 'validated', statusReason: 'Not too dear' }))
    await as(member, patch(path, { title: 'Another' }))
    const after = (await as(member, get(path))).json<object>()
    const columns = sql`status_changed_at = null, status_reason = null, status_changed_by_user_id = null`
    await db.execute(sql`update seeds set ${columns}, status_changed_by_name = null`)
    const migration = await readFile('drizzle/0028_decisions_and_retention.sql', 'utf8')
    const fill = migration.split('--> statement-breakpoint').find((text) => text.includes('UPDATE seeds SET'))
    await db.execute(sql.raw(String(fill)))
    expect((await as(member, get(path))).json()).toEqual(after)
    expect((await as(member, get(`/v1/seeds/${open.id}`))).json()).toMatchObject({ statusReason: null })
  })
})

describe('ended access', () => {
  it('is deleted after 400 days', async () => {
    const company = await createCompany(service)
    const { owner } = company
    const expiresAt = new Date(clock.now().getTime() + dayMs).toISOString()
    const [kept, revoked, expired] = [
      (await createKey(service, owner)).id,
      (await createKey(service, owner)).id,
      (await createKey(service, owner, { expiresAt })).id,
    ]
    const revocation = await as(owner, post(`/v1/api-keys/${revoked}/revoke`))
    expect(revocation.statusCode).toBe(200)
    const grant = await insertGrant(service, company.workspace, owner, { createdAt: clock.now() })
    const all = [kept, revoked, expired, grant.id]
    const listLeft = async () => {
      await cleanUp('ended_api_keys')
      await cleanUp('ended_grants')
      const [keys, grants] = [sql`select id from api_keys`, sql`select id from agent_grants`]
      const rows = await selectRows<{ id: string }>(db, sql`${keys} union all ${grants}`)
      return all.filter((id) => rows.some((row) => row.id === id))
    }
    clock.advance(399 * dayMs)
    expect(await listLeft()).toEqual(all)
    clock.advance(3 * dayMs)
    expect(await listLeft()).toEqual([kept])
  })
})
