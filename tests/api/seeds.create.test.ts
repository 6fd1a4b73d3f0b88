import { describe, expect, it } from 'vitest'
import { errors } from '../../src/kernel/errors.ts'
import { createCompany, get, post } from '../support/company.ts'
import { anyIssues, expectError, issuesOf } from '../support/expect-error.ts'
import {
  badDates,
  createSeed,
  findFollowers,
  findParticipants,
  findSeed,
  type TestSeed,
} from '../support/seeds.ts'
import { createTestClock } from '../support/test-clock.ts'
import { startTestApp } from '../support/test-app.ts'
import { eventBy, findEvents } from '../support/workspaces.ts'

const clock = createTestClock()
const service = await startTestApp({ clock })
const { as } = service
const company = await createCompany(service)

const create = (body: object) => as(company.member, post(`${company.url}/seeds`, body))
const least = { title: 'Fewer meetings', summary: 'A day of none' }

async function expectNothingMade(run: () => Promise<unknown>): Promise<void> {
  const before = (await as(company.owner, get(`${company.url}/seeds?limit=200`))).body
  const events = await findEvents(service, company.workspace)
  await run()
  expect((await as(company.owner, get(`${company.url}/seeds?limit=200`))).body).toBe(before)
  expect(await findEvents(service, company.workspace)).toEqual(events)
}

describe('200', () => {
  it('creates an open seed, in which its creator takes part, leads and follows, and appends an event', async () => {
    const fields = {
      title: 'Fewer meetings',
      summary: 'A day of none',
      problem: 'No time to think',
      audience: 'Makers',
      hypothesis: 'A free day is enough',
      successCriteria: ['Ten teams keep it', 'Nobody goes back'],
      question: 'Do we keep it?',
      decideBy: '2026-12-11',
    }
    const answer = await create(fields)
    expect(answer.statusCode).toBe(200)
    const { ok, seed } = answer.json<{ ok: boolean; seed: TestSeed }>()
    expect(ok).toBe(true)
    expect(seed).toEqual({
      ...fields,
      criteria: fields.successCriteria.map((text) => ({
        id: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-7/) as string,
        ...{ text, state: 'open' },
      })),
      id: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-7/) as string,
      status: 'open',
      ...{ statusReason: null, decidedAt: null, decidedByUserId: null, decidedByName: null },
      createdByUserId: company.member.id,
      createdByName: 'Mary Member',
      agentName: null,
      workspaceId: company.workspace.id,
      url: `http://localhost:3000/s/${seed.id}`,
      leadUserId: company.member.id,
      leadName: 'Mary Member',
      ...{ teamId: null, teamName: null, labels: [] },
      participantCount: 1,
      joined: true,
      following: true,
      evidenceCounts: { supports: 0, contradicts: 0, neutral: 0 },
      ...{ commentCount: 0, attachments: [] },
      lastEvidenceAt: null,
      lastCommentAt: null,
      createdAt: clock.now().toISOString(),
      updatedAt: clock.now().toISOString(),
      activityAt: clock.now().toISOString(),
    })
    expect((await as(company.member, get(`/v1/seeds/${seed.id}`))).json()).toEqual(seed)
    expect((await as(company.viewer, get(`/v1/seeds/${seed.id}`))).json()).toEqual({
      ...seed,
      ...{ joined: false, following: false },
    })
    expect(await findSeed(service, seed)).toMatchObject({
      workspace_id: company.workspace.id,
      title: 'Fewer meetings',
      success_criteria: fields.successCriteria,
      status: 'open',
    })
    expect(await findParticipants(service, seed)).toEqual([company.member.id])
    expect(await findFollowers(service, seed)).toEqual([company.member.id])
    expect((await findEvents(service, company.workspace)).at(-1)).toEqual(
      eventBy(
        company.member,
        { type: 'seed', id: seed.id },
        { type: 'seed.created', summary: 'Mary Member created the seed Fewer meetings' },
      ),
    )
  })

  it('stores null for optional fields that are missing or empty', async () => {
    const none = {
      problem: null,
      audience: null,
      hypothesis: null,
      successCriteria: [],
      question: null,
      decideBy: null,
    }
    expect(await createSeed(service, company.member, company)).toMatchObject(none)
    const empty = { problem: '', audience: '', hypothesis: '', successCriteria: [] }
    expect(await createSeed(service, company.member, company, { ...empty, question: '' })).toMatchObject(none)
    const nulls = { question: null, decideBy: null }
    expect(await createSeed(service, company.member, company, nulls)).toMatchObject(none)
  })

  it('normalizes text, and stores line breaks as LF', async () => {
    const seed = await createSeed(service, company.member, company, {
      title: '  Cafe\u0301  ',
      summary: '\r\n one\r\n\r\ntwo\nthree \n',
      problem: 'a\r\nb',
      successCriteria: [' Cafe\u0301 '],
      question: ' Cafe\u0301\r\n\u3000か？ ',
    })
    expect(seed).toMatchObject({
      title: 'Café',
      summary: 'one\n\ntwo\nthree',
      problem: 'a\nb',
      successCriteria: ['Café'],
      question: 'Café か？',
    })
  })

  it('accepts the longest allowed texts, counted in characters', async () => {
    const longest = {
      title: '🌱'.repeat(120),
      summary: '🌱'.repeat(2000),
      problem: 'p'.repeat(2000),
      audience: 'a'.repeat(2000),
      hypothesis: 'h'.repeat(2000),
      successCriteria: Array.from({ length: 20 }, (_, i) => String(i % 10).repeat(300)),
      question: '🌱'.repeat(300),
      decideBy: '9999-12-31',
    }
    expect(await createSeed(service, company.member, company, longest)).toMatchObject(longest)
  })

  it('replays the response for the same Idempotency-Key', async () => {
    const request = { ...post(`${company.url}/seeds`, least), headers: { 'idempotency-key': 'seed-1' } }
    const [first, second] = [await as(company.member, request), await as(company.member, request)]
    expect(second.body).toBe(first.body)
    expect(second.headers['idempotent-replayed']).toBe('true')
  })
})

describe('400', () => {
  const texts = [
    ['title', 120],
    ['summary', 2000],
  ] as const
  it.each(texts)('returns 400 for an invalid %s', async (name, max) => {
    const bad = [
      undefined,
      null,
      5,
      true,
      [],
      {},
      '',
      ' ',
      '\n',
      '\u200b',
      'a\0',
      'a\u0007b',
      'x'.repeat(max + 1),
    ]
    await expectNothingMade(async () => {
      for (const value of bad) {
        const answer = await create({ ...least, [name]: value })
        expectError(answer, errors.decodeError, { issues: anyIssues })
        const issue = issuesOf(answer)[0]
        expect(issue?.path, JSON.stringify(value)).toEqual([name])
        const tag = value === undefined ? 'Missing' : typeof value === 'string' ? 'Refinement' : 'Type'
        expect(issue?._tag).toBe(tag)
      }
    })
  })

  it('returns 400 for control characters other than white space, and for a lone carriage return in a text', async () => {
    await expectNothingMade(async () => {
      for (const [bad, path] of [
        [{ title: 'a\u001bb' }, ['title']],
        [{ successCriteria: ['a\u007fb'] }, ['successCriteria', 0]],
        [{ summary: 'a\rb' }, ['summary']],
        [{ problem: 'a\u0084b' }, ['problem']],
      ] as const) {
        const answer = await create({ ...least, ...bad })
        expect(issuesOf(answer)).toEqual([{ _tag: 'Refinement', path }])
      }
    })
  })

  it.each(['problem', 'audience', 'hypothesis'])(
    'returns 400 for null, white space and over 2,000 characters in %s',
    async (name) => {
      await expectNothingMade(async () => {
        for (const value of [null, 5, ' ', '\n', 'x'.repeat(2001), 'a\0']) {
          const answer = await create({ ...least, [name]: value })
          expect(answer.statusCode, JSON.stringify(value)).toBe(400)
          expect(issuesOf(answer)[0]?.path).toEqual([name])
        }
      })
    },
  )

  it('returns 400 for invalid success criteria, and for more than 20', async () => {
    await expectNothingMade(async () => {
      for (const value of [null, 'one', [''], [' '], [5], [null], ['x'.repeat(301)], Array(21).fill('x')]) {
        const answer = await create({ ...least, successCriteria: value })
        expect(answer.statusCode, JSON.stringify(value)).toBe(400)
        expect(issuesOf(answer)[0]?.path[0]).toBe('successCriteria')
      }
    })
  })

  it.each(badDates)('returns 400 for the date %j to decide by', async (decideBy) => {
    await expectNothingMade(async () => {
      const answer = await create({ ...least, decideBy })
      expectError(answer, errors.decodeError, { issues: anyIssues })
      expect(issuesOf(answer)).toEqual([
        { _tag: typeof decideBy === 'string' ? 'Refinement' : 'Type', path: ['decideBy'] },
      ])
    })
  })

  it('returns 400 for an invalid question', async () => {
    await expectNothingMade(async () => {
      for (const value of [5, [], ' ', '\u200b', 'a\0', 'x'.repeat(301)]) {
        const answer = await create({ ...least, question: value })
        expect(answer.statusCode, JSON.stringify(value)).toBe(400)
        expect(issuesOf(answer)[0]?.path).toEqual(['question'])
      }
    })
  })

  it('returns 400 with all issues, including unknown fields', async () => {
    await expectNothingMade(async () => {
      const answer = await create({ title: 5, status: 'open', id: 'x' })
      expect(issuesOf(answer)).toEqual([
        { _tag: 'Unexpected', path: ['id'] },
        { _tag: 'Unexpected', path: ['status'] },
        { _tag: 'Missing', path: ['summary'] },
        { _tag: 'Type', path: ['title'] },
      ])
    })
  })
})

describe('403 and 404', () => {
  it('returns 403 to viewers and strangers', async () => {
    await expectNothingMade(async () => {
      expectError(await as(company.viewer, post(`${company.url}/seeds`, least)), errors.roleInsufficient)
      const stranger = await service.createPerson()
      expectError(await as(stranger, post(`${company.url}/seeds`, least)), errors.notAMember)
    })
  })

  it('returns 404 for an unknown workspace', async () => {
    const answer = await as(company.member, post('/v1/workspaces/no-such-workspace/seeds', least))
    expectError(answer, errors.notFound)
  })
})
