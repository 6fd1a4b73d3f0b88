import { describe, expect, it } from 'vitest'
import { errors } from '../../src/kernel/errors.ts'
import { addPerson, createCompany, del, get } from '../support/company.ts'
import { createComment, findNotices } from '../support/comments.ts'
import { expectError } from '../support/expect-error.ts'
import { createSeed } from '../support/seeds.ts'
import { startTestApp, type TestPerson } from '../support/test-app.ts'

const service = await startTestApp()
const { as } = service
const company = await createCompany(service)
const { owner, admin, member, viewer } = company

const remove = (person: TestPerson, { id }: { id: string }) => as(person, del(`/v1/comments/${id}`))

describe('200', () => {
  it('deletes the comment with the notifications of it, for its author, owners and admins', async () => {
    const seed = await createSeed(service, owner, company)
    for (const [person, by] of [
      [member, ''],
      [admin, 'by Mary Member '],
      [owner, 'by Mary Member '],
    ] as const) {
      const comment = await createComment(service, member, seed, { body: `[@V](user:${viewer.id})` })
      expect(await findNotices(service, comment.id)).toHaveProperty(viewer.id)
      expect((await remove(person, comment)).json()).toEqual({ ok: true })
      expect((await as(viewer, get(`/v1/seeds/${seed.id}/comments`))).json()).toEqual([])
      expect(await findNotices(service, comment.id)).toEqual({})
      expect((await as(viewer, get(`${company.url}/events?limit=1`))).json<unknown[]>()[0]).toMatchObject({
        type: 'comment.deleted',
        summary: `${person.name} deleted a comment ${by}on the seed Fewer meetings`,
        data: { commentId: comment.id, userId: member.id, name: 'Mary Member', isSelf: by === '' },
      })
    }
  })
})

describe('403', () => {
  it('returns not_the_author to other members, and role_insufficient to an author who became a viewer', async () => {
    const comment = await createComment(service, member, await createSeed(service, owner, company))
    const other = await addPerson(service, company.workspace, 'member')
    expectError(await remove(other, comment), errors.notTheAuthor)
    expectError(await remove(viewer, comment), errors.roleInsufficient)
  })
})

describe('404', () => {
  it('returns not_found the second time, and to people of other workspaces', async () => {
    const comment = await createComment(service, member, await createSeed(service, owner, company))
    const stranger = await service.createPerson({ name: 'Sally Stranger' })
    expectError(await remove(stranger, comment), errors.notFound)
    expect((await remove(member, comment)).statusCode).toBe(200)
    expectError(await remove(member, comment), errors.notFound)
  })
})
