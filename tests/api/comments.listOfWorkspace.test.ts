import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { errors } from '../../src/kernel/errors.ts'
import { createId } from '../../src/kernel/ids.ts'
import { createComment, type TestComment } from '../support/comments.ts'
import { createCompany, del, get, type TestCompany } from '../support/company.ts'
import { countQueries } from '../support/count-queries.ts'
import { expectError } from '../support/expect-error.ts'
import { addEvidence, createSeed } from '../support/seeds.ts'
import { startTestApp } from '../support/test-app.ts'

const service = await startTestApp()
const { as, db } = service

async function read({ url, viewer }: TestCompany, query = ''): Promise<TestComment[]> {
  const answer = await as(viewer, get(`${url}/comments${query}`))
  expect(answer.statusCode, answer.body).toBe(200)
  return answer.json<TestComment[]>()
}

const idsOf = (comments: { id: string }[]) => comments.map(({ id }) => id)

/** Sets when a comment was written, was edited, and by which agent. */
async function date({ id }: TestComment, createdAt: string, editedAt: string | null = null) {
  await db.execute(
    sql`update comments set created_at = ${createdAt}, edited_at = ${editedAt} where id = ${id}`,
  )
}

/** A company with comments on two seeds, oldest first. */
async function start() {
  const company = await createCompany(service)
  const { owner, member } = company
  const [one, other] = [await createSeed(service, owner, company), await createSeed(service, owner, company)]
  const piece = await addEvidence(service, owner, one)
  const comments = [
    await createComment(service, member, one, { body: `[@Mary](user:${member.id}), who says so?` }),
    await createComment(service, owner, other),
    await createComment(service, owner, one, { evidenceId: piece.id }),
    await createComment(service, member, other),
  ] as const
  for (const [i, comment] of comments.entries()) await date(comment, `2026-01-0${i + 1}T00:00:00Z`)
  return { company, one, other, comments }
}

describe('200', () => {
  it('returns the comments on all seeds and their evidence, newest first, as the lists of the seeds have them', async () => {
    const { company, one, other, comments } = await start()
    const all = await read(company)
    expect(idsOf(all)).toEqual(idsOf([...comments]).reverse())
    const lists = await Promise.all(
      [one, other].map(async ({ id }) =>
        (await as(company.viewer, get(`/v1/seeds/${id}/comments`))).json<TestComment[]>(),
      ),
    )
    expect(all.toSorted(byId)).toEqual(lists.flat().toSorted(byId))
  })

  it('returns none of other workspaces, of deleted comments and of deleted seeds', async () => {
    const { company, one, other, comments } = await start()
    await start()
    const [first, second, third, fourth] = comments
    expect((await as(company.owner, del(`/v1/comments/${fourth.id}`))).statusCode).toBe(200)
    expect(idsOf(await read(company))).toEqual(idsOf([third, second, first]))
    expect((await as(company.owner, del(`/v1/seeds/${one.id}`))).statusCode).toBe(200)
    expect(idsOf(await read(company))).toEqual([second.id])
    expect(idsOf(await read(company, `?seedIds=${one.id},${other.id}&since=2026-01-01`))).toEqual([second.id])
  })

  it('filters by seeds, whose ids are repeated or separated by commas', async () => {
    const { company, one, other, comments } = await start()
    const [first, second, third, fourth] = comments
    const stranger = await start()
    expect(idsOf(await read(company, `?seedIds=${one.id}`))).toEqual([third.id, first.id])
    const all = idsOf([fourth, third, second, first])
    for (const query of [
      `seedIds=${one.id},${other.id}`,
      `seedIds=${one.id}&seedIds=${other.id}`,
      `seedIds=${one.id},${one.id}&seedIds=${other.id},${stranger.one.id},${createId()},x`,
    ])
      expect(idsOf(await read(company, `?${query}`)), query).toEqual(all)
    for (const none of ['x', '', createId(), stranger.one.id])
      expect(await read(company, `?seedIds=${none}`), none).toEqual([])
  })

  it('filters by when comments were written or edited, newest first all the same', async () => {
    const { company, one, comments } = await start()
    const [first, second, third, fourth] = comments
    await date(first, '2026-01-01T00:00:00Z', '2026-02-01T00:00:00Z')
    await date(third, '2026-01-03T00:00:00Z', '2026-01-03T12:00:00Z')
    expect(idsOf(await read(company, '?since=2026-01-03'))).toEqual(idsOf([fourth, third, first]))
    expect(idsOf(await read(company, '?since=2026-01-03T12:00:00Z'))).toEqual(idsOf([fourth, third, first]))
    expect(idsOf(await read(company, '?since=2026-01-03T12:00:00.001Z'))).toEqual(idsOf([fourth, first]))
    expect(idsOf(await read(company, '?since=2026-02-01'))).toEqual([first.id])
    expect(await read(company, '?since=2026-02-02')).toEqual([])
    expect(idsOf(await read(company, `?since=2026-01-03&seedIds=${one.id}`))).toEqual(idsOf([third, first]))
    expect(idsOf(await read(company, '?since=2025-01-01'))).toEqual(idsOf([fourth, third, second, first]))
  })

  it('filters by what people wrote themselves, or agents for them', async () => {
    const { company, one, comments } = await start()
    const [first, second, third, fourth] = comments
    await db.execute(sql`update comments set agent_name = 'Robbie' where id in (${second.id}, ${third.id})`)
    expect(idsOf(await read(company, '?by=agents'))).toEqual(idsOf([third, second]))
    expect(idsOf(await read(company, '?by=people'))).toEqual(idsOf([fourth, first]))
    expect(idsOf(await read(company, `?by=agents&since=2026-01-01&seedIds=${one.id}`))).toEqual([third.id])
  })

  it('has pages with every filter', async () => {
    const { company, one, other, comments } = await start()
    await date(comments[0], '2026-01-01T00:00:00Z', '2026-02-01T00:00:00Z')
    const filters = ['', 'since=2026-01-02T12:00:00Z', `seedIds=${one.id},${other.id}`, 'by=people']
    for (const filter of [...filters, filters.slice(1).join('&')]) {
      const whole = idsOf(await read(company, `?${filter}`))
      const paged: string[] = []
      let url: string | undefined = `${company.url}/comments?limit=1&${filter}`
      while (url !== undefined) {
        const answer = await as(company.viewer, get(url))
        expect(answer.statusCode, answer.body).toBe(200)
        paged.push(...idsOf(answer.json<TestComment[]>()))
        const next: string | undefined = /<([^>]*)>/.exec(String(answer.headers.link ?? ''))?.[1]
        url = next === undefined ? undefined : new URL(next).pathname + new URL(next).search
      }
      expect(paged, filter).toEqual(whole)
      expect(whole.length, filter).toBeGreaterThan(2)
    }
  })

  it('runs two queries: one for the key and the workspace, one for the comments', async () => {
    const { company } = await start()
    expect(await countQueries(() => read(company))).toBe(2)
  })
})

describe('400', () => {
  it('returns id_limit for more than 100 seeds', async () => {
    const company = await createCompany(service)
    const ids = Array.from({ length: 101 }, createId)
    expect(await read(company, `?seedIds=${ids.slice(1).join()}`)).toEqual([])
    const answer = await as(company.owner, get(`${company.url}/comments?seedIds=${ids.join()}`))
    expectError(answer, errors.idLimit, { field: 'seedIds' })
  })

  it('returns decode_error for times and authors of other forms', async () => {
    const company = await createCompany(service)
    for (const query of ['since=yesterday', 'by=robots', 'seedId=x']) {
      const answer = await as(company.owner, get(`${company.url}/comments?${query}`))
      expect(answer.json(), query).toMatchObject({ code: 'decode_error' })
    }
  })
})

function byId(one: { id: string }, other: { id: string }): number {
  return one.id.localeCompare(other.id)
}
