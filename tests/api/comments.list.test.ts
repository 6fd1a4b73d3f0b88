import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { errors } from '../../src/kernel/errors.ts'
import { createId } from '../../src/kernel/ids.ts'
import { createCompany, get } from '../support/company.ts'
import { createComment, type TestComment } from '../support/comments.ts'
import { expectError } from '../support/expect-error.ts'
import { addEvidence, createSeed, joinSeed } from '../support/seeds.ts'
import { startTestApp } from '../support/test-app.ts'

const service = await startTestApp()
const { as } = service
const company = await createCompany(service)
const { owner, member, viewer } = company

const read = async (url: string) => (await as(viewer, get(url))).json<TestComment[]>()

describe('200', () => {
  it('returns the comments on the seed and on its evidence, oldest first, or only those on one piece', async () => {
    const seed = await createSeed(service, member, company)
    await joinSeed(service, member, seed)
    const [one, other] = [await addEvidence(service, member, seed), await addEvidence(service, member, seed)]
    const first = await createComment(service, owner, seed)
    const second = await createComment(service, member, seed, { evidenceId: one.id })
    const third = await createComment(service, owner, seed, { evidenceId: other.id })
    const url = `/v1/seeds/${seed.id}/comments`
    expect(await read(url)).toEqual([first, second, third])
    expect(await read(`${url}?evidenceId=${one.id}`)).toEqual([second])
    for (const none of [createId(), 'x']) expect(await read(`${url}?evidenceId=${none}`)).toEqual([])
  })

  it('is sorted as asked, in pages too', async () => {
    const seed = await createSeed(service, member, company)
    const piece = await addEvidence(service, member, seed)
    const ids: string[] = []
    for (const evidenceId of [undefined, piece.id, piece.id])
      ids.push((await createComment(service, owner, seed, evidenceId ? { evidenceId } : {})).id)
    const url = `/v1/seeds/${seed.id}/comments`
    const idsAt = async (query: string) => (await read(`${url}?${query}`)).map(({ id }) => id)
    expect(await idsAt('sort=createdAt')).toEqual(ids)
    expect(await idsAt('sort=-createdAt')).toEqual(ids.toReversed())
    expect(await idsAt(`sort=-createdAt&evidenceId=${piece.id}`)).toEqual(ids.slice(1).toReversed())
    const first = await as(viewer, get(`${url}?sort=-createdAt&limit=2`))
    expect(first.json<TestComment[]>().map(({ id }) => id)).toEqual(ids.slice(1).toReversed())
    const next = new URL(/<([^>]*)>/.exec(String(first.headers.link))?.[1] ?? '')
    expect((await read(next.pathname + next.search)).map(({ id }) => id)).toEqual(ids.slice(0, 1))
    // A cursor is of one order.
    next.searchParams.delete('sort')
    const refused = await as(viewer, get(next.pathname + next.search))
    expectError(refused, errors.cursorInvalid, { field: 'cursor' })
  })

  it('returns the mention of a deleted person as text without their name', async () => {
    const seed = await createSeed(service, member, company)
    const body = `[@Dora Deleted](user:${viewer.id}) [@Mary](user:${member.id})`
    const { id } = await createComment(service, member, seed, { body })
    await service.db.execute(
      sql`delete from comment_mentions where comment_id = ${id} and user_id = ${viewer.id}`,
    )
    const [shown] = await read(`/v1/seeds/${seed.id}/comments`)
    expect(shown?.body).toBe(`@Deleted user [@Mary Member](user:${member.id})`)
  })

  it('ends pages of long comments at 1 MiB', async () => {
    const seed = await createSeed(service, member, company)
    await service.db.execute(sql`
      insert into comments (id, seed_id, body, author_name, created_at)
      select gen_random_uuid(), ${seed.id}, repeat('𝄞', 5000), 'Olga', now() + i * interval '1 ms'
      from generate_series(1, 60) as i`)
    const answer = await as(viewer, get(`/v1/seeds/${seed.id}/comments?limit=200`))
    expect(Buffer.byteLength(answer.body)).toBeLessThanOrEqual(1024 * 1024)
    expect(answer.json<unknown[]>().length).toBeGreaterThan(45)
    expect(answer.headers.link).toContain('rel="next"')
  })
})

describe('404', () => {
  it('returns not_found to people of other workspaces', async () => {
    const seed = await createSeed(service, member, company)
    const stranger = await service.createPerson({ name: 'Sally Stranger' })
    expectError(await as(stranger, get(`/v1/seeds/${seed.id}/comments`)), errors.notFound)
  })
})
