import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { errors } from '../../src/kernel/errors.ts'
import { createId, isId } from '../../src/kernel/ids.ts'
import { createCompany, get, patch, post } from '../support/company.ts'
import { expectError } from '../support/expect-error.ts'
import { addEvidence, createSeed, type TestEvidence, type TestSeed } from '../support/seeds.ts'
import { selectRows, startTestApp } from '../support/test-app.ts'

const service = await startTestApp()
const { as, db } = service
const company = await createCompany(service)
const { member, viewer } = company

type Criteria = TestSeed['criteria']

const texts = ['Ten of twelve would pay', '十二人のうち十人', 'عشرة من اثني عشر']
const create = (fields: object = { successCriteria: texts }) => createSeed(service, member, company, fields)
const update = (seed: { id: string }, body: object, headers = {}) =>
  as(member, { ...patch(`/v1/seeds/${seed.id}`, body), headers })
const read = async ({ id }: { id: string }) => (await as(viewer, get(`/v1/seeds/${id}`))).json<TestSeed>()
const pieceOf = async ({ id }: { id: string }) =>
  (await as(viewer, get(`/v1/evidence/${id}`))).json<TestEvidence>()
const etagOf = async (seed: { id: string }) =>
  String((await as(member, get(`/v1/seeds/${seed.id}`))).headers.etag)
/** A criterion of a seed by its place. */
const at = ({ criteria }: { criteria: Criteria }, place: number) => {
  const criterion = criteria[place]
  if (!criterion) throw new Error('the seed has no such criterion')
  return criterion
}
interface TestEvent extends Record<string, unknown> {
  type: string
  target_id: string
  summary: string
  data: Record<string, unknown>
}
const findEvents = () =>
  selectRows<TestEvent>(
    db,
    sql`select type, target_id, summary, data from events where workspace_id = ${company.workspace.id} order by id`,
  )
const eventsSince = async (before: unknown[]) => (await findEvents()).slice(before.length)

describe('the criteria of a seed', () => {
  it('are the texts in their order, each with an id, and open; in lists, exports and alone', async () => {
    const seed = await create()
    expect(seed.criteria.map(({ text, state }) => [text, state])).toEqual(texts.map((text) => [text, 'open']))
    expect(seed.criteria.every(({ id }) => isId(id))).toBe(true)
    expect(seed.successCriteria).toEqual(texts)
    expect((await read(seed)).criteria).toEqual(seed.criteria)
    const list = await as(viewer, get(`${company.url}/seeds?ids=${seed.id}`))
    expect(list.json<TestSeed[]>()[0]?.criteria).toEqual(seed.criteria)
  })

  it('can be given with states when a seed is created, with an event for each that is not open', async () => {
    const before = await findEvents()
    const seed = await create({ criteria: [{ text: ' A ', state: 'met' }, { text: 'B' }] })
    expect(seed.criteria).toMatchObject([
      { text: 'A', state: 'met' },
      { text: 'B', state: 'open' },
    ])
    expect(seed.successCriteria).toEqual(['A', 'B'])
    expect((await eventsSince(before)).map(({ type, summary }) => [type, summary])).toEqual([
      ['seed.created', 'Mary Member created the seed Fewer meetings'],
      ['seed.criterion_changed', 'Mary Member marked “A” as met in the seed Fewer meetings'],
    ])
  })

  it('keep id and state where a text stays, in any order, also of the same text twice', async () => {
    const seed = await create({ successCriteria: ['a', 'b', 'a'] })
    await update(seed, {
      criteria: seed.criteria.map((each, i) => ({ ...each, state: i === 2 ? 'met' : 'open' })),
    })
    await update(seed, { successCriteria: ['c', 'a', 'a', 'a', 'b'] })
    const { criteria } = await read(seed)
    const [first, second, third] = [at(seed, 0), at(seed, 1), at(seed, 2)]
    expect(criteria.map(({ text, state }) => [text, state])).toEqual([
      ['c', 'open'],
      ['a', 'open'],
      ['a', 'met'],
      ['a', 'open'],
      ['b', 'open'],
    ])
    expect([1, 2, 4].map((place) => at({ criteria }, place).id)).toEqual([first.id, third.id, second.id])
  })

  it('change by id: text, state, order, and what is left out goes', async () => {
    const seed = await create()
    const [first, second, third] = [at(seed, 0), at(seed, 1), at(seed, 2)]
    const before = await findEvents()
    const answer = await update(seed, {
      criteria: [
        { id: third.id, text: 'Other words', state: 'missed' },
        { text: 'New', state: 'met' },
        { text: first.text },
      ],
    })
    expect(answer.statusCode, answer.body).toBe(200)
    const { criteria, successCriteria } = await read(seed)
    expect(successCriteria).toEqual(['Other words', 'New', first.text])
    expect(criteria).toEqual([
      { id: third.id, text: 'Other words', state: 'missed' },
      { id: expect.not.stringMatching(second.id) as string, text: 'New', state: 'met' },
      first,
    ])
    expect(await eventsSince(before)).toMatchObject([
      { type: 'seed.updated', data: { fields: ['successCriteria'] } },
      {
        type: 'seed.criterion_changed',
        target_id: seed.id,
        data: { criterionId: third.id, text: 'Other words', from: 'open', to: 'missed' },
      },
      { type: 'seed.criterion_changed', data: { text: 'New', from: 'open', to: 'met' } },
    ])
  })

  it('have an event for each state that changes, and none for what does not', async () => {
    const seed = await create()
    const before = await findEvents()
    const states = ['met', 'open', 'missed']
    const given = seed.criteria.map((each, i) => ({ ...each, state: states[i] }))
    await update(seed, { criteria: given })
    const changed = await read(seed)
    expect(changed.criteria.map(({ state }) => state)).toEqual(states)
    expect((await eventsSince(before)).map(({ type, data }) => [type, data.to])).toEqual([
      ['seed.criterion_changed', 'met'],
      ['seed.criterion_changed', 'missed'],
    ])
    const again = await findEvents()
    for (const body of [
      { criteria: given },
      { criteria: given.map(({ text }) => ({ text })) },
      { successCriteria: texts },
    ])
      expect((await update(seed, body)).statusCode).toBe(200)
    expect(await read(seed)).toEqual(changed)
    expect(await eventsSince(again)).toEqual([])
  })

  it('are part of the version once one has a state', async () => {
    const seed = await create()
    const before = await etagOf(seed)
    expect((await update(seed, { problem: 'P' }, { 'if-match': before })).statusCode).toBe(200)
    const met = seed.criteria.map((each) => ({ ...each, state: 'met' }))
    const current = await etagOf(seed)
    expect((await update(seed, { criteria: met }, { 'if-match': current })).statusCode).toBe(200)
    expectError(
      await update(seed, { criteria: seed.criteria }, { 'if-match': current }),
      errors.preconditionFailed,
    )
    await update(seed, { criteria: seed.criteria })
    expect((await update(seed, { problem: 'Q' }, { 'if-match': current })).statusCode).toBe(200)
  })

  it('are not given twice, nor by an id that the seed does not have, and nothing changes then', async () => {
    const [seed, other] = [await create(), await create()]
    const foreign = { id: at(other, 0).id, text: texts[0] }
    for (const body of [
      { criteria: [], successCriteria: [] },
      { criteria: [{ text: 'A' }], successCriteria: ['A'] },
    ]) {
      expectError(await update(seed, body), errors.criteriaTwice, { field: 'criteria' })
      const refused = await as(member, post(`${company.url}/seeds`, { title: 'A', summary: 'B', ...body }))
      expectError(refused, errors.criteriaTwice, { field: 'criteria' })
    }
    for (const id of [foreign.id, createId(), 'a', '']) {
      const body = { criteria: [{ id, text: 'A' }], problem: 'P' }
      expectError(await update(seed, body), errors.criterionNotFound)
      const refused = await as(member, post(`${company.url}/seeds`, { title: 'A', summary: 'B', ...body }))
      expectError(refused, errors.criterionNotFound)
    }
    const { id } = at(seed, 0)
    const twice = {
      criteria: [
        { id, text: 'A' },
        { id, text: 'B' },
      ],
    }
    expectError(await update(seed, twice), errors.criteriaTwice, { field: 'criteria' })
    expect(await read(seed)).toEqual({ ...seed, joined: false, following: false })
  })

  it.each([
    ['a text that is blank', [{ text: ' ' }]],
    ['a text that is too long', [{ text: 'a'.repeat(301) }]],
    ['an unknown state', [{ text: 'A', state: 'done' }]],
    ['an unknown field', [{ text: 'A', met: true }]],
    ['no text', [{ state: 'met' }]],
    ['more than 20', Array.from({ length: 21 }, (_, i) => ({ text: String(i) }))],
    ['texts alone', ['A']],
  ])('returns 400 for %s', async (_, criteria) => {
    const seed = await create()
    expect((await update(seed, { criteria })).statusCode).toBe(400)
    expect((await read(seed)).criteria).toEqual(seed.criteria)
  })

  it('stay the texts when the version before writes those alone', async () => {
    const seed = await create()
    await update(seed, { criteria: seed.criteria.map((each) => ({ ...each, state: 'met' })) })
    const piece = await addEvidence(service, member, seed, {
      criterionIds: seed.criteria.map(({ id }) => id),
    })
    await db.execute(
      sql`update seeds set success_criteria = ${sql.param([texts[2], 'New', texts[0]])}::text[] where id = ${seed.id}`,
    )
    const { criteria, successCriteria } = await read(seed)
    expect(successCriteria).toEqual([texts[2], 'New', texts[0]])
    expect(criteria).toEqual([
      { ...at(seed, 2), state: 'met' },
      { id: expect.toSatisfy(isId) as string, text: 'New', state: 'open' },
      { ...at(seed, 0), state: 'met' },
    ])
    expect((await pieceOf(piece)).criterionIds).toEqual([at(seed, 0).id, at(seed, 2).id])
    const [copy] = await selectRows<{ criteria: Criteria }>(
      db,
      sql`insert into seeds (id, workspace_id, title, summary, success_criteria, status, created_at, updated_at)
        select gen_random_uuid(), workspace_id, title, summary, success_criteria, status, created_at, updated_at
        from seeds where id = ${seed.id} returning criteria`,
    )
    expect(copy?.criteria.map(({ text, state }) => [text, state])).toEqual(
      successCriteria.map((text) => [text, 'open']),
    )
    expect(copy?.criteria.every(({ id }) => isId(id) && !criteria.some((own) => own.id === id))).toBe(true)
  })
})

describe('the criteria of evidence', () => {
  const correct = (piece: { id: string }, body: object, headers = {}) =>
    as(member, { ...patch(`/v1/evidence/${piece.id}`, body), headers })

  it('are those of its seed, each once, in the order of the seed', async () => {
    const seed = await create()
    const [first, second, third] = [at(seed, 0).id, at(seed, 1).id, at(seed, 2).id]
    const piece = await addEvidence(service, member, seed, { criterionIds: [third, first, third] })
    expect(piece.criterionIds).toEqual([first, third])
    const list = await as(viewer, get(`/v1/seeds/${seed.id}/evidence`))
    expect(list.json<TestEvidence[]>()[0]?.criterionIds).toEqual([first, third])
    const before = await findEvents()
    expect((await correct(piece, { criterionIds: [second, first] })).statusCode).toBe(200)
    expect((await pieceOf(piece)).criterionIds).toEqual([first, second])
    expect(await eventsSince(before)).toMatchObject([
      {
        type: 'evidence.updated',
        data: { fields: ['criterionIds'] },
        summary: 'Mary Member corrected the success criteria of evidence of the seed Fewer meetings',
      },
    ])
    const again = await findEvents()
    expect((await correct(piece, { criterionIds: [second, first, first] })).statusCode).toBe(200)
    expect((await correct(piece, { summary: piece.summary })).statusCode).toBe(200)
    expect(await eventsSince(again)).toEqual([])
    expect((await correct(piece, { criterionIds: [] })).statusCode).toBe(200)
    expect((await pieceOf(piece)).criterionIds).toEqual([])
  })

  it('are part of its version once there is one', async () => {
    const seed = await create()
    const piece = await addEvidence(service, member, seed)
    const etag = async () => String((await as(member, get(`/v1/evidence/${piece.id}`))).headers.etag)
    const before = await etag()
    const body = { criterionIds: [at(seed, 0).id] }
    expect((await correct(piece, body, { 'if-match': before })).statusCode).toBe(200)
    expectError(await correct(piece, { kind: 'note' }, { 'if-match': before }), errors.preconditionFailed)
  })

  it('returns 404 for one of another seed, and changes nothing', async () => {
    const [seed, other] = [await create(), await create()]
    const piece = await addEvidence(service, member, seed)
    const foreign = [at(seed, 0).id, at(other, 0).id]
    for (const criterionIds of [foreign, [createId()], ['a']]) {
      const answer = await correct(piece, { criterionIds, kind: 'note' })
      expectError(answer, errors.criterionNotFound)
      const added = await as(
        member,
        post(`/v1/seeds/${seed.id}/evidence`, {
          kind: 'note',
          verdict: 'neutral',
          summary: 'A',
          criterionIds,
        }),
      )
      expectError(added, errors.criterionNotFound)
    }
    expect(await pieceOf(piece)).toEqual(piece)
    expect((await read(seed)).evidenceCounts).toEqual({ supports: 1, contradicts: 0, neutral: 0 })
  })

  it('lose a criterion that the seed loses, withdrawn evidence too', async () => {
    const seed = await create()
    const [first, second, third] = seed.criteria.map(({ id }) => id)
    const piece = await addEvidence(service, member, seed, { criterionIds: [first, second, third] })
    const withdrawn = await addEvidence(service, member, seed, { criterionIds: [second] })
    await as(member, post(`/v1/evidence/${withdrawn.id}/withdraw`))
    await update(seed, { successCriteria: [texts[2], texts[0]] })
    expect((await pieceOf(piece)).criterionIds).toEqual([first, third])
    expect((await pieceOf(withdrawn)).criterionIds).toEqual([])
    await update(seed, { criteria: [{ id: third, text: 'Other words' }] })
    expect((await pieceOf(piece)).criterionIds).toEqual([third])
    await update(seed, { successCriteria: [] })
    expect((await pieceOf(piece)).criterionIds).toEqual([])
    // What comes back is another one.
    await update(seed, { successCriteria: texts })
    expect((await pieceOf(piece)).criterionIds).toEqual([])
  })

  it('has no criterion that goes while it is added', async () => {
    for (let i = 0; i < 5; i++) {
      const seed = await create()
      const body = { kind: 'note', verdict: 'neutral', summary: 'A', criterionIds: [at(seed, 0).id] }
      const [, added] = await Promise.all([
        update(seed, { successCriteria: [] }),
        as(member, post(`/v1/seeds/${seed.id}/evidence`, body)),
      ])
      const list = (await as(viewer, get(`/v1/seeds/${seed.id}/evidence`))).json<TestEvidence[]>()
      expect(list.flatMap(({ criterionIds }) => criterionIds)).toEqual([])
      if (added.statusCode !== 200) expectError(added, errors.criterionNotFound)
    }
  })
})
