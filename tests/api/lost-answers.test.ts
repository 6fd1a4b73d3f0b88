import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { errors } from '../../src/kernel/errors.ts'
import { createCompany, get, type TestRequest } from '../support/company.ts'
import { startDatabaseProxy } from '../support/database-proxy.ts'
import { eventually } from '../support/eventually.ts'
import { expectError } from '../support/expect-error.ts'
import { findOperation, operations } from '../support/operations.ts'
import { prepareRequest } from '../support/prepare-request.ts'
import { clone, selectRows, startTestApp, type TestPerson } from '../support/test-app.ts'
import { untilWaiting } from '../support/until-waiting.ts'
import { makeFolder } from '../support/uploads.ts'
import { randomSlug } from '../support/workspaces.ts'

const database = await startDatabaseProxy(await clone())
const service = await startTestApp({
  environment: { DATABASE_URL: database.url, DATA_DIR: await makeFolder() },
})
const { as, db } = service

const posts = Object.keys(operations).filter((id) => findOperation(id).request.startsWith('POST /v1/'))

/** How many rows each table has, and how many keys are revoked: whatever is done twice shows in it. */
async function takeStock(): Promise<Record<string, number>> {
  const tables = await selectRows<{ name: string }>(
    db,
    sql`select format('%I.%I', schemaname, tablename) as name from pg_tables
      where schemaname in ('public', 'graphile_worker') and tablename <> 'idempotent_requests'`,
  )
  const changed = ['api_keys where revoked_at is not null', 'notifications where read_at is not null']
  const counts = [...tables.map(({ name }) => name), ...changed].map(
    (from) => `select '${from}' as name, count(*)::int as count from ${from}`,
  )
  const rows = await selectRows<{ name: string; count: number }>(db, sql.raw(counts.join(' union all ')))
  return Object.fromEntries(rows.map(({ name, count }) => [name, count]))
}

/** The request of an operation, with a key, and who sends it. */
async function prepare(id: string): Promise<{ actor: TestPerson; request: TestRequest }> {
  const company = await createCompany(service)
  const { actor, request } = await prepareRequest(service, findOperation(id), { company })
  const headers = { ...request.headers, 'idempotency-key': randomSlug() }
  return { actor, request: { ...request, headers } }
}

/** Waits until no attempt at a request has its Idempotency-Key locked. */
async function untilUnlocked(): Promise<void> {
  const locked = sql`select 1 from idempotent_requests where status is null`
  await eventually(async () => expect(await selectRows(db, locked)).toEqual([]))
}

const ofNoWorkspace = [
  'apiKeys.create',
  'apiKeys.createRestricted',
  'apiKeys.rotate',
  'apiKeys.revoke',
  'me.declineOffer',
  'notifications.markRead',
  'notifications.markUnread',
]

describe.each(posts)('%s with an Idempotency-Key', (id) => {
  it('executes the request once when the connection breaks after its commit', async () => {
    const { actor, request } = await prepare(id)
    const before = await takeStock()
    database.breakNext('commit', 'after')
    const lost = await as(actor, request)
    expect(database.hasBroken()).toBe(true)
    expectError(lost, errors.databaseUnavailable)
    expect(lost.headers['retry-after']).toBeDefined()
    const after = await takeStock()
    expect(after).not.toEqual(before)
    const events = Number(after['public.events']) - Number(before['public.events'])
    const { event, hasNoEvent } = findOperation(id)
    const places =
      id === 'me.uploadPhoto' ? (await as(actor, get('/v1/workspaces'))).json<unknown[]>().length : 1
    const expected = ofNoWorkspace.includes(id) || hasNoEvent ? 0 : places * (1 + (event?.also?.length ?? 0))
    expect(events).toBe(expected)

    const retries = [await as(actor, request), await as(actor, request)]
    if (findOperation(id).endsKey) {
      for (const retry of retries) expectError(retry, errors.apiKeyRequired)
      expect(await takeStock()).toEqual(after)
      return
    }
    for (const retry of retries) {
      expect(retry.statusCode, retry.body).toBe(200)
      expect(retry.headers['idempotent-replayed']).toBe('true')
      expect(retry.headers['content-type']).toBe('application/json; charset=utf-8')
      expect(retry.body).toBe(retries[0]?.body)
    }
    expect(await takeStock()).toEqual(after)
  })

  it('executes the retry when the connection breaks before its commit', async () => {
    const { actor, request } = await prepare(id)
    const before = await takeStock()
    database.breakNext('commit', 'before')
    expectError(await as(actor, request), errors.databaseUnavailable)
    expect(await takeStock()).toEqual(before)
    // The 503 does not wait for it.
    await untilUnlocked()

    const first = await as(actor, request)
    expect(first.statusCode, first.body).toBe(200)
    expect(first.headers['idempotent-replayed']).toBeUndefined()
    const after = await takeStock()
    expect(after).not.toEqual(before)
    const again = await as(actor, request)
    if (findOperation(id).endsKey) expectError(again, errors.apiKeyRequired)
    else {
      expect(again.headers['idempotent-replayed']).toBe('true')
      expect(again.body).toBe(first.body)
    }
    expect(await takeStock()).toEqual(after)
  })
})

describe('a commit that is in progress when its connection breaks', () => {
  it('keeps the Idempotency-Key locked until the commit, and replays the response to the retry', async () => {
    const { actor, request } = await prepare('seeds.create')
    const before = await takeStock()
    database.breakNext('commit', 'during')
    const first = as(actor, request)
    await untilWaiting(service, 1)
    const retry = as(actor, request)
    await untilWaiting(service, 2)
    database.release()
    expectError(await first, errors.databaseUnavailable)
    expect((await retry).statusCode).toBe(200)
    expect((await retry).headers['idempotent-replayed']).toBe('true')
    const after = await takeStock()
    expect(Number(after['public.seeds']) - Number(before['public.seeds'])).toBe(1)
    expect(Number(after['public.events']) - Number(before['public.events'])).toBe(1)
  })
})

describe('a replayed response', () => {
  it('returns the secret of the created API key again', async () => {
    const { actor, request } = await prepare('apiKeys.create')
    database.breakNext('commit', 'after')
    await as(actor, request)
    const { secret } = (await as(actor, request)).json<{ secret: string }>()
    expect((await as({ apiKey: secret }, { url: '/v1/me' })).statusCode).toBe(200)
  })
})
