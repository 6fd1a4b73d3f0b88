import { describe, expect, it } from 'vitest'
import { errors } from '../../src/kernel/errors.ts'
import { createId } from '../../src/kernel/ids.ts'
import { createComment } from '../support/comments.ts'
import { createCompany, del, get } from '../support/company.ts'
import { countQueries } from '../support/count-queries.ts'
import { expectError } from '../support/expect-error.ts'
import { createSeed } from '../support/seeds.ts'
import { startTestApp } from '../support/test-app.ts'

const service = await startTestApp()
const { as } = service
const company = await createCompany(service)
const { owner, member } = company
const seed = await createSeed(service, owner, company)
const body = `[@Mary](user:${member.id}), who says so?`

describe('200', () => {
  it('returns to every member the same comment as the list, with the names of those whom it mentions', async () => {
    const { id } = await createComment(service, owner, seed, { body })
    const list = (await as(owner, get(`/v1/seeds/${seed.id}/comments`))).json<{ id: string }[]>()
    const comment = list.find((one) => one.id === id)
    expect(comment).toMatchObject({
      body: `[@Mary Member](user:${member.id}), who says so?`,
      mentions: [{ userId: member.id, name: 'Mary Member' }],
    })
    for (const role of ['owner', 'admin', 'member', 'viewer'] as const) {
      const answer = await as(company[role], get(`/v1/comments/${id}`))
      expect(answer.statusCode, answer.body).toBe(200)
      expect(answer.json()).toEqual(comment)
    }
  })

  it('runs three queries: for the key, for the workspace and for the comment', async () => {
    const { id } = await createComment(service, owner, seed, { body })
    expect(await countQueries(() => as(company.viewer, get(`/v1/comments/${id}`)))).toBe(3)
  })
})

describe('404', () => {
  it('is the same for an unknown and a malformed id, and for a comment of another workspace', async () => {
    const { id } = await createComment(service, owner, seed)
    const other = await createCompany(service)
    for (const path of [id, createId(), 'x', '%00', "'"])
      expectError(await as(other.owner, get(`/v1/comments/${path}`)), errors.notFound)
  })

  it('is the answer once the comment or its seed is deleted', async () => {
    const first = await createComment(service, owner, seed)
    expect((await as(owner, del(`/v1/comments/${first.id}`))).statusCode).toBe(200)
    expectError(await as(owner, get(`/v1/comments/${first.id}`)), errors.notFound)
    const own = await createSeed(service, owner, company)
    const second = await createComment(service, owner, own)
    expect((await as(owner, del(`/v1/seeds/${own.id}`))).statusCode).toBe(200)
    expectError(await as(owner, get(`/v1/comments/${second.id}`)), errors.notFound)
  })
})
