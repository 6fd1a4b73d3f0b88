import { describe, expect, it } from 'vitest'
import { errors } from '../../src/kernel/errors.ts'
import { createCompany, get, patch } from '../support/company.ts'
import { expectError, issuesOf } from '../support/expect-error.ts'
import { badDates, createSeed, findSeed } from '../support/seeds.ts'
import { createTestClock } from '../support/test-clock.ts'
import { startTestApp } from '../support/test-app.ts'
import { eventBy, findEvents } from '../support/workspaces.ts'
import { createId } from '../../src/kernel/ids.ts'

const clock = createTestClock()
const service = await startTestApp({ clock })
const { as } = service
const company = await createCompany(service)

const full = {
  title: 'Fewer meetings',
  summary: 'A day of none',
  problem: 'No time',
  audience: 'Makers',
  hypothesis: 'A day is enough',
  successCriteria: ['Ten teams'],
  question: 'Do we keep it?',
  decideBy: '2026-12-11',
}
const update = (id: string, body: object) => as(company.member, patch(`/v1/seeds/${id}`, body))
const read = async (id: string) =>
  (await as(company.member, get(`/v1/seeds/${id}`))).json<Record<string, unknown>>()

describe('200', () => {
  it.each([
    ['title', 'No meetings', 'the title', ' from Fewer meetings to No meetings'],
    ['summary', 'Two\nlines', 'the summary'],
    ['problem', 'Another', 'the problem'],
    ['audience', 'All', 'the audience'],
    ['hypothesis', 'Two days', 'the hypothesis'],
    ['successCriteria', ['a', 'b'], 'the success criteria'],
    ['question', 'それで、作りますか？', 'the question'],
    ['decideBy', '2028-02-29', 'the date to decide by'],
    ['status', 'validating', 'the status', ' from open to validating'],
  ])(
    'changes the field %s and nothing else, and appends an event',
    async (name, value, told, change = '') => {
      const seed = await createSeed(service, company.member, company, full)
      clock.advance(5_000)
      const answer = await update(seed.id, { [name]: value })
      expect(answer.statusCode).toBe(200)
      expect(answer.json()).toEqual({ ok: true })
      const changed = await read(seed.id)
      expect(changed).toEqual({
        ...seed,
        [name]: value,
        // The same texts, with ids and states.
        ...(name === 'successCriteria' && { criteria: changed.criteria }),
        updatedAt: clock.now().toISOString(),
        activityAt: clock.now().toISOString(),
      })
      expect((await findEvents(service, company.workspace)).at(-1)).toEqual(
        eventBy(
          company.member,
          { type: 'seed', id: seed.id },
          {
            type: 'seed.updated',
            summary: `Mary Member changed ${told} of the seed${name === 'title' ? '' : ' Fewer meetings'}${change}`,
          },
        ),
      )
    },
  )

  it('changes several fields with one event', async () => {
    const seed = await createSeed(service, company.member, company, full)
    const before = await findEvents(service, company.workspace)
    await update(seed.id, { title: 'No meetings', problem: '', status: 'dropped' })
    expect(await read(seed.id)).toMatchObject({ title: 'No meetings', problem: null, status: 'dropped' })
    const told = (await findEvents(service, company.workspace)).slice(before.length)
    expect(told.map(({ summary }) => summary)).toEqual([
      'Mary Member changed the seed No meetings: the title from Fewer meetings to No meetings, the problem and the status from open to dropped',
    ])
  })

  it('sets an optional field to null when it is empty', async () => {
    const seed = await createSeed(service, company.member, company, full)
    await update(seed.id, { problem: '', audience: '', hypothesis: '', successCriteria: [], question: '' })
    expect(await read(seed.id)).toMatchObject({
      title: full.title,
      problem: null,
      audience: null,
      hypothesis: null,
      successCriteria: [],
      question: null,
    })
  })

  it.each(['question', 'decideBy'])('sets %s to null, once', async (name) => {
    const seed = await createSeed(service, company.member, company, full)
    expect((await update(seed.id, { [name]: null })).statusCode).toBe(200)
    expect(await read(seed.id)).toMatchObject({ ...full, [name]: null })
    const events = await findEvents(service, company.workspace)
    const told = `Mary Member changed the ${name === 'question' ? name : 'date to decide by'} of the seed Fewer meetings`
    expect(events.at(-1)).toMatchObject({ type: 'seed.updated', summary: told })
    await update(seed.id, { [name]: null })
    expect(await findEvents(service, company.workspace)).toEqual(events)
  })

  it('allows changes between statuses in any order', async () => {
    const { id } = await createSeed(service, company.member, company)
    for (const status of ['validated', 'open', 'dropped', 'validating', 'open']) {
      expect((await update(id, { status })).statusCode).toBe(200)
      expect((await read(id)).status).toBe(status)
    }
  })

  it('lets members change seeds that others created', async () => {
    const { id } = await createSeed(service, company.member, company)
    const answer = await as(company.admin, patch(`/v1/seeds/${id}`, { title: 'Mine now' }))
    expect(answer.statusCode).toBe(200)
  })

  it.each([
    ['an empty object', {}],
    ['the current values', { ...full, status: 'open' }],
    [
      'values that are the same after normalization',
      { title: ' Fewer meetings ', summary: 'A day of none\r\n' },
    ],
  ])('changes nothing and appends no event for %s', async (_name, body) => {
    const seed = await createSeed(service, company.member, company, full)
    const [row, events] = [await findSeed(service, seed), await findEvents(service, company.workspace)]
    clock.advance(5_000)
    expect((await update(seed.id, body)).json()).toEqual({ ok: true })
    expect(await findSeed(service, seed)).toEqual(row)
    expect(await findEvents(service, company.workspace)).toEqual(events)
  })

  it('keeps all of 4 concurrent changes of different fields', async () => {
    const seed = await createSeed(service, company.member, company)
    const changes = [{ title: 'New' }, { problem: 'P' }, { audience: 'A' }, { status: 'validating' }]
    const answers = await Promise.all(changes.map((body) => update(seed.id, body)))
    expect(answers.map(({ statusCode }) => statusCode)).toEqual([200, 200, 200, 200])
    expect(await read(seed.id)).toMatchObject(Object.assign({}, ...changes) as object)
  })
})

describe('400', () => {
  it('returns 400 for invalid fields and for no body, and changes nothing', async () => {
    const seed = await createSeed(service, company.member, company, full)
    const [row, events] = [await findSeed(service, seed), await findEvents(service, company.workspace)]
    for (const [body, tag, path] of [
      [{ title: '' }, 'Refinement', ['title']],
      [{ title: null }, 'Type', ['title']],
      [{ title: 'x'.repeat(121) }, 'Refinement', ['title']],
      [{ summary: ' ' }, 'Refinement', ['summary']],
      [{ problem: null }, 'Type', ['problem']],
      [{ problem: ' ' }, 'Refinement', ['problem']],
      [{ audience: 'a\0' }, 'Refinement', ['audience']],
      [{ hypothesis: 5 }, 'Type', ['hypothesis']],
      [{ successCriteria: null }, 'Type', ['successCriteria']],
      [{ successCriteria: ['x', ''] }, 'Refinement', ['successCriteria', 1]],
      [{ status: 'closed' }, 'Type', ['status']],
      [{ question: 'x'.repeat(301) }, 'Refinement', ['question']],
      ...badDates.map(
        (decideBy) =>
          [{ decideBy }, typeof decideBy === 'string' ? 'Refinement' : 'Type', ['decideBy']] as const,
      ),
      [{ participantCount: 5 }, 'Unexpected', ['participantCount']],
      [{ title: 'Good', workspaceId: 'x' }, 'Unexpected', ['workspaceId']],
    ] as const) {
      const answer = await update(seed.id, body)
      expect(answer.statusCode, JSON.stringify(body)).toBe(400)
      expect(issuesOf(answer)[0], JSON.stringify(body)).toEqual({ _tag: tag, path })
    }
    const bare = await as(company.member, { method: 'PATCH', url: `/v1/seeds/${seed.id}` })
    expect(issuesOf(bare)).toEqual([{ _tag: 'Missing', path: [] }])
    expect(await findSeed(service, seed)).toEqual(row)
    expect(await findEvents(service, company.workspace)).toEqual(events)
  })
})

describe('403 and 404', () => {
  it('returns 403 to a viewer, and 404 for a seed of another workspace, an unknown id and a malformed id', async () => {
    const seed = await createSeed(service, company.member, company)
    const row = await findSeed(service, seed)
    const body = { title: 'Taken' }
    expectError(await as(company.viewer, patch(`/v1/seeds/${seed.id}`, body)), errors.roleInsufficient)
    const { owner } = await createCompany(service)
    for (const id of [seed.id, createId(), 'x']) {
      expectError(await as(owner, patch(`/v1/seeds/${id}`, body)), errors.notFound)
    }
    expect(await findSeed(service, seed)).toEqual(row)
  })
})
