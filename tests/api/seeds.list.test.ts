import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import type { Verdict } from '../../src/domain/seeds.ts'
import { errors } from '../../src/kernel/errors.ts'
import { createId } from '../../src/kernel/ids.ts'
import { createCompany, get, patch, post } from '../support/company.ts'
import { countQueries } from '../support/count-queries.ts'
import { anyIssues, expectError, issuesOf } from '../support/expect-error.ts'
import { addEvidence, createEmptySeed, createSeed, joinSeed, type TestSeed } from '../support/seeds.ts'
import { startTestApp } from '../support/test-app.ts'
import { createTestClock } from '../support/test-clock.ts'

const clock = createTestClock()
const service = await startTestApp({ clock })
const { as } = service

function nextOf(link: unknown): URL | undefined {
  const next = /<([^>]+)>; rel="next"/.exec(String(link))?.[1]
  return next === undefined ? undefined : new URL(next)
}

describe('200', () => {
  it('returns the seeds of the workspace to every member, newest first', async () => {
    const [company, other] = [await createCompany(service), await createCompany(service)]
    expect((await as(company.viewer, get(`${company.url}/seeds`))).body).toBe('[]')
    const first = await createEmptySeed(service, company.member, company, { title: 'First' })
    const second = await createEmptySeed(service, company.admin, company, { title: 'Second' })
    await createEmptySeed(service, other.member, other)
    for (const role of ['owner', 'admin', 'member', 'viewer'] as const) {
      const answer = await as(company[role], get(`${company.url}/seeds`))
      expect(answer.statusCode).toBe(200)
      expect(answer.json()).toEqual([second, first])
      expect(answer.headers.link).toBeUndefined()
    }
  })

  it('counts participants, and says whether the caller is one', async () => {
    const company = await createCompany(service)
    const seed = await createEmptySeed(service, company.member, company)
    await joinSeed(service, company.member, seed)
    await joinSeed(service, company.admin, seed)
    const joined = { participantCount: 2, activityAt: clock.now().toISOString() }
    const read = async (role: 'member' | 'owner') =>
      (await as(company[role], get(`${company.url}/seeds`))).json<TestSeed[]>()
    expect(await read('member')).toEqual([{ ...seed, ...joined, joined: true, following: true }])
    expect(await read('owner')).toEqual([{ ...seed, ...joined, joined: false }])
  })

  it('filters by status', async () => {
    const company = await createCompany(service)
    const ids: Record<string, string> = {}
    for (const status of ['open', 'validating', 'validated', 'dropped']) {
      const { id } = await createEmptySeed(service, company.member, company)
      await as(company.member, patch(`/v1/seeds/${id}`, { status }))
      ids[status] = id
    }
    for (const [status, id] of Object.entries(ids)) {
      const answer = await as(company.viewer, get(`${company.url}/seeds?status=${status}`))
      expect(answer.json<TestSeed[]>().map((seed) => [seed.id, seed.status])).toEqual([[id, status]])
    }
  })

  it('filters by several statuses, by ids, by the lead and by the last activity, together', async () => {
    const company = await createCompany(service)
    const list = async (query: string) => {
      const answer = await as(company.viewer, get(`${company.url}/seeds?${query}`))
      expect(answer.statusCode, answer.body).toBe(200)
      return answer.json<TestSeed[]>().map(({ title }) => title)
    }
    const make = async (title: string, fields: object = {}) => {
      clock.advance(1_000)
      const seed = await createSeed(service, company.member, company, { title })
      await as(company.member, patch(`/v1/seeds/${seed.id}`, fields))
      return seed
    }
    const first = await make('First', { status: 'dropped' })
    const second = await make('Second', { status: 'validating', leadUserId: null })
    const third = await make('Third')
    expect(await list('status=open&status=dropped')).toEqual(['Third', 'First'])
    expect(await list(`ids=${first.id}&ids=${third.id}&ids=${createId()}&ids=x`)).toEqual(['Third', 'First'])
    expect(await list(`ids=${first.id},${second.id}`)).toEqual(['Second', 'First'])
    expect(await list('ids=x')).toEqual([])
    expect(await list(`leadUserId=${company.member.id}`)).toEqual(['Third', 'First'])
    expect(await list(`leadUserId=${company.owner.id}`)).toEqual([])
    clock.advance(60_000)
    const since = clock.now().toISOString()
    expect(await list(`updatedSince=${since}`)).toEqual([])
    await as(company.member, post(`/v1/seeds/${first.id}/comments`, { body: 'Why?' }))
    clock.advance(1_000)
    await joinSeed(service, company.admin, second)
    expect(await list(`updatedSince=${since}`)).toEqual(['Second', 'First'])
    expect(await list(`updatedSince=${since}&status=dropped`)).toEqual(['First'])
    expect(await list('sort=activityAt')).toEqual(['Second', 'First', 'Third'])
  })

  it('filters by the balance of the evidence, by no lead, and by the caller', async () => {
    const company = await createCompany(service)
    const list = async (query: string, role: 'viewer' | 'member' = 'viewer') => {
      const answer = await as(company[role], get(`${company.url}/seeds?${query}`))
      expect(answer.statusCode, answer.body).toBe(200)
      return answer.json<TestSeed[]>().map(({ title }) => title)
    }
    const make = async (title: string, ...found: Verdict[]) => {
      clock.advance(1_000)
      const seed = await createSeed(service, company.member, company, { title })
      for (const verdict of found) await addEvidence(service, company.member, seed, { verdict })
      return seed
    }
    const without = await make('Without')
    await make('For', 'supports', 'supports', 'contradicts')
    await make('Against', 'contradicts', 'neutral')
    await make('Even', 'supports', 'contradicts')
    await make('Neutral', 'neutral')
    const withdrawn = await make('Withdrawn')
    const { id } = await addEvidence(service, company.member, withdrawn, { verdict: 'supports' })
    expect(await list('balance=for')).toEqual(['Withdrawn', 'For'])
    await as(company.member, post(`/v1/evidence/${id}/withdraw`))
    expect(await list('balance=for')).toEqual(['For'])
    expect(await list('balance=against')).toEqual(['Against'])
    expect(await list('balance=even')).toEqual(['Neutral', 'Even'])
    expect(await list('balance=none')).toEqual(['Withdrawn', 'Without'])
    expect(await list('balance=none&q=without')).toEqual(['Without'])
    expect(await list('leadUserId=none')).toEqual([])
    await as(company.member, patch(`/v1/seeds/${without.id}`, { leadUserId: null }))
    expect(await list('leadUserId=none')).toEqual(['Without'])
    expect(await list('leadUserId=none&balance=for')).toEqual([])
    expect(await list('leadUserId=me')).toEqual([])
    expect(await list('leadUserId=me&balance=even', 'member')).toEqual(['Neutral', 'Even'])
    expect(await list('createdByUserId=me')).toEqual([])
    expect(await list('createdByUserId=me&balance=for', 'member')).toEqual(['For'])
    const table = await as(company.viewer, get(`${company.url}/seeds/export?balance=against`))
    expect(table.body.trim().split('\r\n')).toHaveLength(2)
    for (const query of ['balance=most', 'balance=']) {
      const answer = await as(company.viewer, get(`${company.url}/seeds?${query}`))
      expectError(answer, errors.decodeError, { issues: anyIssues })
    }
    const page = await as(company.viewer, get(`${company.url}/seeds?balance=even&limit=1`))
    const cursor = nextOf(page.headers.link)?.searchParams.get('cursor')
    const moved = await as(company.viewer, get(`${company.url}/seeds?balance=none&limit=1&cursor=${cursor}`))
    expectError(moved, errors.cursorInvalid, { field: 'cursor' })
  })

  it('refuses a cursor of other filters, more than 100 ids, and unknown statuses', async () => {
    const company = await createCompany(service)
    for (let n = 0; n < 2; n++) await createSeed(service, company.member, company)
    const url = `${company.url}/seeds?limit=1&status=open`
    const next = nextOf((await as(company.viewer, get(`${url}&status=dropped`))).headers.link)
    const cursor = next?.searchParams.get('cursor') ?? ''
    expectError(await as(company.viewer, get(`${url}&cursor=${cursor}`)), errors.cursorInvalid, {
      field: 'cursor',
    })
    const ids = `ids=${createId()}&`.repeat(101)
    const tooMany = await as(company.viewer, get(`${company.url}/seeds?${ids}`))
    expect(issuesOf(tooMany)).toEqual([{ _tag: 'Refinement', path: ['ids'] }])
    const separated = Array.from({ length: 101 }, () => createId()).join()
    const alsoTooMany = await as(company.viewer, get(`${company.url}/seeds?ids=${separated}`))
    expectError(alsoTooMany, errors.idLimit, { field: 'ids' })
    const unknown = await as(company.viewer, get(`${company.url}/seeds?status=open&status=closed`))
    expect(unknown.json<{ issues: object[] }>().issues).toContainEqual({
      ...{ _tag: 'Type', path: ['status', 1] },
      message: 'must be one of open, validating, validated, dropped',
    })
  })

  it('pages through the seeds of one status, and returns 400 when a cursor is used with another status', async () => {
    const company = await createCompany(service)
    const ids: string[] = []
    for (let i = 0; i < 3; i++) ids.unshift((await createEmptySeed(service, company.member, company)).id)
    const seen: string[] = []
    let url = `${company.url}/seeds?status=open&limit=1`
    for (let i = 0; i < 3; i++) {
      const answer = await as(company.viewer, get(url))
      seen.push(...answer.json<TestSeed[]>().map(({ id }) => id))
      const next = /<([^>]+)>/.exec(String(answer.headers.link))?.[1]
      expect(next === undefined).toBe(i === 2)
      if (next === undefined) break
      const { pathname, search } = new URL(next)
      url = pathname + search
      const moved = url.replace('status=open', 'status=dropped')
      expectError(await as(company.viewer, get(moved)), errors.cursorInvalid, { field: 'cursor' })
    }
    expect(seen).toEqual(ids)
  })

  it('searches all words of the texts, whole or by their beginning, ignoring case and accents', async () => {
    const company = await createCompany(service)
    const titled = await createEmptySeed(service, company.member, company, { title: 'Zürich 100%_a\\b' })
    const summed = await createEmptySeed(service, company.member, company, { summary: 'Of Łódź\nand zürich' })
    const problem = await createEmptySeed(service, company.member, company, { problem: 'ZÜRICH is far' })
    const other = await createEmptySeed(service, company.member, company, {
      audience: 'Zürich',
      hypothesis: 'X',
    })
    const search = async (q: string, filter = '') => {
      const answer = await as(company.viewer, get(`${company.url}/seeds?q=${encodeURIComponent(q)}${filter}`))
      expect(answer.statusCode, answer.body).toBe(200)
      return answer.json<TestSeed[]>().map(({ id }) => id)
    }
    expect(await search('zÜRich')).toEqual([other.id, problem.id, summed.id, titled.id])
    for (const q of [' łódź ', 'lod zur', 'zurich LODZ']) expect(await search(q), q).toEqual([summed.id])
    for (const q of ['100%', '%_a', '_a\\', 'a\\b 100']) expect(await search(q), q).toContain(titled.id)
    for (const q of ['urich', 'xylophone', 'far 100', '%']) expect(await search(q), q).toEqual([])
    expect(await search(' ')).toHaveLength(4)
    await as(company.member, patch(`/v1/seeds/${titled.id}`, { question: 'Für wen? 誰のため？' }))
    for (const q of ['fur wen', '誰のため']) expect(await search(q), q).toEqual([titled.id])
    expect(await search('zur', '&status=dropped')).toEqual([])
    const elsewhere = await createCompany(service)
    await createEmptySeed(service, elsewhere.member, elsewhere, { title: 'Zürich' })
    expect(await search('zur')).toHaveLength(4)
  })

  it('finds the same by words that most seeds have, page by page, without the seeds that lack them', async () => {
    const company = await createCompany(service)
    const lacking = await createEmptySeed(service, company.member, company, { title: 'Another thing' })
    await service.db.execute(sql`
      insert into seeds (id, workspace_id, title, summary, status, created_at, updated_at)
      select ('01936f2e-7c1a-7000-8000-' || right(replace(${company.workspace.id}, '-', ''), 6) || lpad(to_hex(i), 6, '0'))::uuid,
        ${company.workspace.id}, case when i % 3 = 0 then 'Rare' else 'Common idea' end || ' ' || i, 'What it is about',
        case when i % 2 = 0 then 'open' else 'dropped' end, '2020-01-01'::timestamptz + i * interval '1 second', now()
      from generate_series(1, 240) as i`)
    const titlesOf = async (query: string) => {
      const titles: string[] = []
      for (let url = `${company.url}/seeds?limit=100&q=${query}`; url !== '';) {
        const answer = await as(company.viewer, get(url))
        expect(answer.statusCode, answer.body).toBe(200)
        titles.push(...answer.json<TestSeed[]>().map(({ title }) => title))
        const { pathname = '', search = '' } = nextOf(answer.headers.link) ?? {}
        url = pathname + search
      }
      return titles
    }
    const numbers = Array.from({ length: 240 }, (_, i) => 240 - i)
    const common = numbers.filter((i) => i % 3 !== 0)
    expect(await titlesOf('comm%20IDEA')).toEqual(common.map((i) => `Common idea ${i}`))
    expect(await titlesOf('idea&status=open')).toEqual(
      common.filter((i) => i % 2 === 0).map((i) => `Common idea ${i}`),
    )
    expect(await titlesOf('rare')).toHaveLength(80)
    expect(await titlesOf('thing')).toEqual([lacking.title])
  })

  it('searches deleted seeds by the same words', async () => {
    const company = await createCompany(service)
    const seed = await createEmptySeed(service, company.owner, company, {
      title: 'Zürich',
      problem: 'Far away',
    })
    await createEmptySeed(service, company.owner, company, { title: 'Zürich' })
    expect((await as(company.owner, { method: 'DELETE', url: `/v1/seeds/${seed.id}` })).statusCode).toBe(200)
    for (const [q, ids] of [
      ['zur far', [seed.id]],
      ['away ZURICH', [seed.id]],
      ['urich', []],
    ] as const) {
      const answer = await as(
        company.owner,
        get(`${company.url}/seeds?deleted=true&q=${encodeURIComponent(q)}`),
      )
      expect(
        answer.json<TestSeed[]>().map(({ id }) => id),
        q,
      ).toEqual(ids)
    }
  })

  it('filters by creator, by whether the caller has joined, and by all filters together', async () => {
    const company = await createCompany(service)
    const [first, second, third] = [
      await createEmptySeed(service, company.member, company),
      await createEmptySeed(service, company.admin, company, { title: 'Second' }),
      await createEmptySeed(service, company.member, company, { title: 'Third' }),
    ]
    await joinSeed(service, company.member, second)
    await joinSeed(service, company.member, third)
    await joinSeed(service, company.owner, first)
    const list = async (query: string) =>
      (await as(company.member, get(`${company.url}/seeds?${query}`))).json<TestSeed[]>().map(({ id }) => id)
    expect(await list(`createdByUserId=${company.member.id}`)).toEqual([third.id, first.id])
    for (const id of [company.viewer.id, 'nobody']) expect(await list(`createdByUserId=${id}`)).toEqual([])
    expect(await list('joined=true')).toEqual([third.id, second.id])
    expect(await list('joined=false')).toEqual([first.id])
    // All filters at once.
    await as(company.admin, patch(`/v1/seeds/${third.id}`, { status: 'validating' }))
    expect(await list(`joined=true&createdByUserId=${company.member.id}&status=validating&q=third`)).toEqual([
      third.id,
    ])
    expect(await list(`joined=true&createdByUserId=${company.member.id}&status=open`)).toEqual([])
  })

  it('sorts by updatedAt over all pages', async () => {
    const company = await createCompany(service)
    const ids: string[] = []
    for (let i = 0; i < 4; i++) ids.push((await createEmptySeed(service, company.member, company)).id)
    const [first = '', second = '', third = '', fourth = ''] = ids
    for (const id of [third, first]) {
      clock.advance(1_000)
      await as(company.member, patch(`/v1/seeds/${id}`, { summary: 'Changed' }))
    }
    const seen: string[] = []
    let url: string | undefined = `${company.url}/seeds?sort=updatedAt&limit=1`
    while (url !== undefined) {
      const answer: Awaited<ReturnType<typeof as>> = await as(company.viewer, get(url))
      seen.push(...answer.json<TestSeed[]>().map(({ id }) => id))
      url = /<https?:\/\/[^/]+([^>]+)>/.exec(String(answer.headers.link))?.[1]
    }
    expect(seen).toEqual([first, third, fourth, second])
  })

  it('runs as many queries for 11 seeds as for one', async () => {
    const company = await createCompany(service)
    await createEmptySeed(service, company.member, company)
    const count = () => countQueries(() => as(company.member, get(`${company.url}/seeds`)))
    await count()
    const one = await count()
    for (let i = 0; i < 10; i++) await createEmptySeed(service, company.member, company)
    expect(await count()).toBe(one)
  })
})

describe('400', () => {
  it('returns 400 for invalid filters and sort orders', async () => {
    const company = await createCompany(service)
    for (const [query, field] of [
      ['joined=yes', 'joined'],
      ['joined=', 'joined'],
      ['sort=title', 'sort'],
      ['q=%00', 'q'],
      [`q=${'x'.repeat(101)}`, 'q'],
    ] as const) {
      const answer = await as(company.viewer, get(`${company.url}/seeds?${query}`))
      expectError(answer, errors.decodeError, { issues: anyIssues })
      expect(issuesOf(answer)).toMatchObject([{ path: [field] }])
    }
  })

  it('returns 400 for an invalid status', async () => {
    const company = await createCompany(service)
    for (const status of ['closed', '', 'OPEN', 'open,dropped']) {
      const answer = await as(company.viewer, get(`${company.url}/seeds?status=${status}`))
      expectError(answer, errors.decodeError, { issues: anyIssues })
      expect(issuesOf(answer)).toEqual([{ _tag: 'Type', path: ['status'] }])
    }
  })
})

describe('403 and 404', () => {
  it('returns 403 to a stranger, and 404 for an unknown workspace', async () => {
    const company = await createCompany(service)
    const stranger = await service.createPerson()
    expectError(await as(stranger, get(`${company.url}/seeds`)), errors.notAMember)
    expectError(await as(stranger, get('/v1/workspaces/no-such-workspace/seeds')), errors.notFound)
  })
})
