import { describe, expect, it } from 'vitest'
import { errors } from '../../src/kernel/errors.ts'
import { createCompany, get, patch } from '../support/company.ts'
import { expectError } from '../support/expect-error.ts'
import { addEvidence, createEmptySeed, joinSeed, type TestSeed } from '../support/seeds.ts'
import { createTestClock } from '../support/test-clock.ts'
import { startTestApp, type TestPerson } from '../support/test-app.ts'

// A second before midnight in UTC: most zones have another date.
const clock = createTestClock(new Date('2026-12-07T23:59:59Z'))
const service = await startTestApp({ clock })
const { as } = service
const company = await createCompany(service)

const dayMs = 24 * 60 * 60 * 1000

/** A seed for each date, or null, which is its title too. */
async function createDated({ member, url }: { member: TestPerson; url: string }, dates: (string | null)[]) {
  const seeds: TestSeed[] = []
  for (const decideBy of dates)
    seeds.push(await createEmptySeed(service, member, { url }, { title: String(decideBy), decideBy }))
  return seeds
}

/** The titles on each page of a list. */
async function pagesOf({ viewer, url }: { viewer: TestPerson; url: string }, query: string) {
  const pages: string[][] = []
  for (let next = `${url}/seeds?${query}`; next !== '';) {
    const answer = await as(viewer, get(next))
    expect(answer.statusCode, answer.body).toBe(200)
    pages.push(answer.json<TestSeed[]>().map(({ title }) => title))
    const link = /<([^>]+)>; rel="next"/.exec(String(answer.headers.link))?.[1]
    next = link === undefined ? '' : link.slice(new URL(link).origin.length)
  }
  return pages
}

describe('due', () => {
  const dates = [null, '2026-12-06', '2026-12-07', '2026-12-08', '2026-12-13', '2026-12-14', '9999-12-31']

  it('has what is past, or today to the sixth day after it, by the clock of the service in UTC', async () => {
    await createDated(company, dates)
    const due = async (when: string) => (await pagesOf(company, `sort=decideBy&due=${when}`)).flat()
    expect(await due('overdue')).toEqual(['2026-12-06'])
    expect(await due('week')).toEqual(['2026-12-07', '2026-12-08', '2026-12-13'])
    clock.advance(1_000)
    expect(await due('overdue')).toEqual(['2026-12-06', '2026-12-07'])
    expect(await due('week')).toEqual(['2026-12-08', '2026-12-13', '2026-12-14'])
  })

  it('has no seed that is decided or deleted, and none of another workspace', async () => {
    const [own, other] = [await createCompany(service), await createCompany(service)]
    const [open, validating, validated, dropped] = await createDated(own, [
      '2026-12-01',
      '2026-12-01',
      '2026-12-01',
      '2026-12-01',
    ])
    for (const [seed, status] of [
      [validating, 'validating'],
      [validated, 'validated'],
      [dropped, 'dropped'],
    ] as const)
      await as(own.member, patch(`/v1/seeds/${seed?.id}`, { status }))
    await createDated(other, ['2026-12-01'])
    const listed = await as(own.viewer, get(`${own.url}/seeds?due=overdue`))
    expect(listed.json<TestSeed[]>().map(({ id }) => id)).toEqual([validating?.id, open?.id])
    await as(own.owner, { method: 'DELETE', url: `/v1/seeds/${open?.id}` })
    const left = await as(own.viewer, get(`${own.url}/seeds?due=overdue`))
    expect(left.json<TestSeed[]>().map(({ id }) => id)).toEqual([validating?.id])
    expect((await as(other.owner, get(`${own.url}/seeds?due=overdue`))).statusCode).toBe(403)
  })

  it('is silent for more than 30 days without evidence that counts, since its creation if it has none', async () => {
    const own = await createCompany(service)
    const [never, quiet, told, withdrawn, dropped] = await createDated(own, [null, null, null, null, null])
    const created = clock.now()
    const isSilent = async () =>
      (await as(own.viewer, get(`${own.url}/seeds?due=silent&sort=createdAt`)))
        .json<TestSeed[]>()
        .map(({ id }) => id)
        .toReversed()
    for (const seed of [quiet, told, withdrawn]) if (seed) await joinSeed(service, own.member, seed)
    for (const seed of [quiet, withdrawn])
      if (seed) await addEvidence(service, own.member, seed, { summary: 'A' })
    await as(own.member, patch(`/v1/seeds/${dropped?.id}`, { status: 'dropped' }))
    expect(await isSilent()).toEqual([])
    clock.advance(30 * dayMs)
    expect(await isSilent()).toEqual([])
    if (told) await addEvidence(service, own.member, told)
    const [piece] = (await as(own.viewer, get(`/v1/seeds/${withdrawn?.id}/evidence`))).json<
      { id: string }[]
    >()
    await as(own.member, { method: 'POST', url: `/v1/evidence/${piece?.id}/withdraw` })
    clock.advance(1)
    expect(clock.now().getTime() - created.getTime()).toBe(30 * dayMs + 1)
    expect(await isSilent()).toEqual([never?.id, quiet?.id, withdrawn?.id])
    await as(own.owner, { method: 'DELETE', url: `/v1/seeds/${never?.id}` })
    expect(await isSilent()).toEqual([quiet?.id, withdrawn?.id])
    clock.advance(30 * dayMs)
    expect(await isSilent()).toEqual([quiet?.id, told?.id, withdrawn?.id])
  })

  it('keeps its cursor over midnight, and refuses that of another filter', async () => {
    const own = await createCompany(service)
    await createDated(own, ['2026-12-01', '2026-12-02', '2026-12-03'])
    const first = await as(own.viewer, get(`${own.url}/seeds?due=overdue&limit=2`))
    const link = /<([^>]+)>/.exec(String(first.headers.link))?.[1] ?? ''
    const { pathname, search } = new URL(link)
    clock.advance(24 * 60 * 60 * 1000)
    const second = await as(own.viewer, get(pathname + search))
    expect(second.json<TestSeed[]>().map(({ title }) => title)).toEqual(['2026-12-01'])
    const moved = await as(own.viewer, get((pathname + search).replace('overdue', 'week')))
    expectError(moved, errors.cursorInvalid, { field: 'cursor' })
  })

  it.each(['', 'today', 'OVERDUE'])('is not %j', async (due) => {
    expect((await as(company.viewer, get(`${company.url}/seeds?due=${due}`))).statusCode).toBe(400)
  })
})

describe('sort', () => {
  it('by decideBy is the earliest first, by -decideBy the latest, with undated seeds last, on pages of every size', async () => {
    const own = await createCompany(service)
    await createDated(own, [null, '2027-01-01', '1000-01-01', null, '9999-12-31', '2026-12-31', '2027-01-01'])
    const dated = ['1000-01-01', '2026-12-31', '2027-01-01', '2027-01-01', '9999-12-31']
    for (const limit of [1, 2, 3, 5, 6, 7, 200]) {
      const up = await pagesOf(own, `sort=decideBy&limit=${limit}`)
      expect(up.flat()).toEqual([...dated, 'null', 'null'])
      const down = await pagesOf(own, `sort=-decideBy&limit=${limit}`)
      expect(down.flat()).toEqual([...dated.toReversed(), 'null', 'null'])
      expect(up).toHaveLength(Math.ceil(7 / limit))
    }
    expect((await pagesOf(own, 'sort=decideBy&status=open&due=week')).flat()).toEqual([])
  })

  it('shows no seed twice and leaves none out while others change', async () => {
    const own = await createCompany(service)
    const [first] = await createDated(own, ['2026-12-20', '2026-12-21', '2026-12-22', null])
    const page = await as(own.viewer, get(`${own.url}/seeds?sort=decideBy&limit=2`))
    await as(own.member, patch(`/v1/seeds/${first?.id}`, { decideBy: null }))
    await createDated(own, ['2026-12-19'])
    const { pathname, search } = new URL(/<([^>]+)>/.exec(String(page.headers.link))?.[1] ?? '')
    const rest = await as(own.viewer, get(pathname + search))
    expect(rest.json<TestSeed[]>().map(({ decideBy }) => decideBy)).toEqual(['2026-12-22', null])
  })
})

it('viewers can read and cannot set the question and the date', async () => {
  const seed = await createEmptySeed(service, company.member, company, { question: 'Why?' })
  for (const body of [{ question: 'What?' }, { decideBy: '2026-12-24' }])
    expectError(await as(company.viewer, patch(`/v1/seeds/${seed.id}`, body)), errors.roleInsufficient)
  expect((await as(company.viewer, get(`/v1/seeds/${seed.id}`))).json()).toMatchObject({
    ...{ question: 'Why?', decideBy: null },
  })
})

it('versions from before the two fields stay valid while they are unused', async () => {
  const seed = await createEmptySeed(service, company.member, company)
  const read = async () => String((await as(company.member, get(`/v1/seeds/${seed.id}`))).headers.etag)
  const send = (etag: string, body: object) =>
    as(company.member, { ...patch(`/v1/seeds/${seed.id}`, body), headers: { 'if-match': etag } })
  const before = await read()
  expect((await send(before, { decideBy: '2026-12-24' })).statusCode).toBe(200)
  expectError(await send(before, { question: 'What?' }), errors.preconditionFailed)
  await as(company.member, patch(`/v1/seeds/${seed.id}`, { decideBy: null }))
  expect((await send(before, { question: 'What?' })).statusCode).toBe(200)
})
