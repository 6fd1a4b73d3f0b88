import { sql } from 'drizzle-orm'
import { describe, expect, it, vi } from 'vitest'
import { errors } from '../../src/kernel/errors.ts'
import {
  createCompany,
  createInvite,
  createSeed,
  createTeam,
  insertGrant,
  post,
  randomEmail,
  type TestCompany,
  type TestRequest,
} from '../support/company.ts'
import { startDatabaseProxy } from '../support/database-proxy.ts'
import { expectError } from '../support/expect-error.ts'
import { buildUpload } from '../support/forms.ts'
import { makePng } from '../support/images.ts'
import { clone, selectRows, startTestApp, type TestPerson } from '../support/test-app.ts'
import { makeFolder } from '../support/uploads.ts'
import { randomSlug } from '../support/workspaces.ts'

const database = await startDatabaseProxy(await clone())
const service = await startTestApp({
  environment: { DATABASE_URL: database.url, DATA_DIR: await makeFolder() },
})
const { app, as, db } = service
const png = await makePng()

const uploadTo = (url: string): TestRequest => ({ method: 'POST', url, ...buildUpload(png) })

const joinedSeed = async (company: TestCompany) => {
  const seed = await createSeed(service, company.owner, company)
  await as(company.owner, post(`${seed.url}/join`))
  return seed
}

/** A request of each POST, sent by the owner unless told. */
const requests: Record<string, (company: TestCompany) => TestRequest | Promise<TestRequest>> = {
  'apiKeys.create': () => post('/v1/api-keys', { name: 'One' }),
  'apiKeys.revoke': async ({ owner }) => {
    const { id } = (await as(owner, post('/v1/api-keys', { name: 'Two' }))).json<{ id: string }>()
    return post(`/v1/api-keys/${id}/revoke`)
  },
  'me.uploadPhoto': () => uploadTo('/v1/me/photo'),
  'workspaces.create': () => post('/v1/workspaces', { name: 'Beta', slug: randomSlug('beta') }),
  'workspaces.uploadIcon': ({ url }) => uploadTo(`${url}/icon`),
  'invites.create': ({ url }) => post(`${url}/invites`, { email: randomEmail(), role: 'member' }),
  'invites.resend': async (company) => {
    const { id } = await createInvite(service, company.owner, company)
    return post(`${company.url}/invites/${id}/resend`)
  },
  'invites.revoke': async (company) => {
    const { id } = await createInvite(service, company.owner, company)
    return post(`${company.url}/invites/${id}/revoke`)
  },
  'invites.accept': async (company) => {
    const other = await createCompany(service)
    const { token } = await createInvite(service, other.owner, other, { email: company.owner.email })
    return post(`/v1/invites/${token}/accept`)
  },
  'teams.create': ({ url }) => post(`${url}/teams`, { name: 'Design' }),
  'teams.addMember': async (company) => {
    const team = await createTeam(service, company.owner, company)
    return post(`${team.url}/members`, { userId: company.member.id })
  },
  'seeds.create': ({ url }) => post(`${url}/seeds`, { title: 'Rain', summary: 'Water from above' }),
  'seeds.join': async (company) => post(`${(await createSeed(service, company.owner, company)).url}/join`),
  'seeds.leave': async (company) => post(`${(await joinedSeed(company)).url}/leave`),
  'seeds.addEvidence': async (company) =>
    post(`${(await joinedSeed(company)).url}/evidence`, {
      kind: 'interview',
      verdict: 'supports',
      summary: 'They like it',
    }),
  'integrations.revoke': async (company) =>
    post(
      `${company.url}/integrations/${await insertGrant(service, company.workspace, company.owner)}/revoke`,
    ),
}

/** How many rows each table has, and how many keys are revoked: whatever is done twice shows in it. */
async function takeStock(): Promise<Record<string, number>> {
  const tables = await selectRows<{ name: string }>(
    db,
    sql`select format('%I.%I', schemaname, tablename) as name from pg_tables
      where schemaname in ('public', 'graphile_worker') and tablename <> 'idempotent_requests'`,
  )
  const counts = [...tables.map(({ name }) => name), 'api_keys where revoked_at is not null'].map(
    (from) => `select '${from}' as name, count(*)::int as count from ${from}`,
  )
  const rows = await selectRows<{ name: string; count: number }>(db, sql.raw(counts.join(' union all ')))
  return Object.fromEntries(rows.map(({ name, count }) => [name, count]))
}

/** The caller's request, and what it does. */
async function prepare(id: string): Promise<{ owner: TestPerson; request: TestRequest }> {
  const company = await createCompany(service)
  const request = await requests[id]?.(company)
  if (!request) throw new Error(`${id} has no request`)
  const headers = { ...request.headers, 'idempotency-key': randomSlug() }
  return { owner: company.owner, request: { ...request, headers } }
}

const ofNoWorkspace = ['apiKeys.create', 'apiKeys.revoke', 'me.uploadPhoto']

describe('the requests', () => {
  it('are those of every POST under /v1', () => {
    const posts = Object.entries(app.swagger().paths ?? {}).flatMap(([path, methods]) => {
      const { post: operation } = methods as { post?: { operationId: string } }
      return operation && path.startsWith('/v1/') ? [operation.operationId] : []
    })
    expect(Object.keys(requests).toSorted()).toEqual(posts.toSorted())
  })
})

describe.each(Object.keys(requests))('%s with an Idempotency-Key', (id) => {
  it('is carried out once when nobody learns of its commit', async () => {
    const { owner, request } = await prepare(id)
    const before = await takeStock()
    database.breakNext('commit', 'after')
    const lost = await as(owner, request)
    expect(database.hasBroken()).toBe(true)
    expectError(lost, errors.databaseUnavailable)
    expect(lost.headers['retry-after']).toBeDefined()
    const after = await takeStock()
    expect(after).not.toEqual(before)
    const events = Number(after['public.events']) - Number(before['public.events'])
    expect(events).toBe(ofNoWorkspace.includes(id) ? 0 : 1)

    const retries = [await as(owner, request), await as(owner, request)]
    for (const retry of retries) {
      expect(retry.statusCode, retry.body).toBe(200)
      expect(retry.headers['idempotent-replayed']).toBe('true')
      expect(retry.headers['content-type']).toBe('application/json; charset=utf-8')
      expect(retry.body).toBe(retries[0]?.body)
    }
    expect(await takeStock()).toEqual(after)
  })

  it('is carried out by the retry when it fails before its commit', async () => {
    const { owner, request } = await prepare(id)
    const before = await takeStock()
    database.breakNext('commit', 'before')
    expectError(await as(owner, request), errors.databaseUnavailable)
    expect(await takeStock()).toEqual(before)

    const first = await as(owner, request)
    expect(first.statusCode, first.body).toBe(200)
    expect(first.headers['idempotent-replayed']).toBeUndefined()
    const after = await takeStock()
    expect(after).not.toEqual(before)
    const again = await as(owner, request)
    expect(again.headers['idempotent-replayed']).toBe('true')
    expect(again.body).toBe(first.body)
    expect(await takeStock()).toEqual(after)
  })
})

describe('a commit that is still on its way when its connection breaks', () => {
  it('is waited for: the key is not freed, and the retry gets its answer', async () => {
    const { owner, request } = await prepare('seeds.create')
    const before = await takeStock()
    const countWaiting = async () => {
      const waiting = sql`select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
      return (await selectRows(db, waiting)).length
    }
    database.breakNext('commit', 'during')
    const first = as(owner, request)
    await vi.waitFor(async () => expect(await countWaiting()).toBe(1))
    const retry = as(owner, request)
    await vi.waitFor(async () => expect(await countWaiting()).toBe(2))
    database.release()
    expectError(await first, errors.databaseUnavailable)
    expect((await retry).statusCode).toBe(200)
    expect((await retry).headers['idempotent-replayed']).toBe('true')
    const after = await takeStock()
    expect(Number(after['public.seeds']) - Number(before['public.seeds'])).toBe(1)
    expect(Number(after['public.events']) - Number(before['public.events'])).toBe(1)
  })
})

describe('a replayed answer', () => {
  it('holds the secret of the key that was created', async () => {
    const { owner, request } = await prepare('apiKeys.create')
    database.breakNext('commit', 'after')
    await as(owner, request)
    const { secret } = (await as(owner, request)).json<{ secret: string }>()
    expect((await as({ apiKey: secret }, { url: '/v1/me' })).statusCode).toBe(200)
  })
})
