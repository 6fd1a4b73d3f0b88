import { describe, expect, it } from 'vitest'
import { errors } from '../../src/kernel/errors.ts'
import { createId } from '../../src/kernel/ids.ts'
import { addPerson, createCompany, get, patch } from '../support/company.ts'
import { createComment, findNotices, type TestComment } from '../support/comments.ts'
import { expectError } from '../support/expect-error.ts'
import { createSeed } from '../support/seeds.ts'
import { startTestApp, type TestPerson } from '../support/test-app.ts'
import { createTestClock } from '../support/test-clock.ts'
import { findEvents } from '../support/workspaces.ts'

const clock = createTestClock()
const service = await startTestApp({ clock })
const { as } = service
const company = await createCompany(service)
const { owner, admin, member, viewer } = company

const edit = (person: TestPerson, { id }: { id: string }, body: string) =>
  as(person, patch(`/v1/comments/${id}`, { body }))

async function findComment({ id, seedId }: TestComment): Promise<TestComment | undefined> {
  const all = (await as(viewer, get(`/v1/seeds/${seedId}/comments`))).json<TestComment[]>()
  return all.find((one) => one.id === id)
}

describe('200', () => {
  it('replaces the text, notes the time, and appends an event', async () => {
    const comment = await createComment(service, member, await createSeed(service, owner, company))
    clock.advance(60_000)
    const answer = await edit(member, comment, ' Who said so? ')
    expect(answer.json()).toEqual({ ok: true, requests: [] })
    expect(await findComment(comment)).toEqual({
      ...comment,
      body: 'Who said so?',
      editedAt: clock.now().toISOString(),
    })
    expect((await findEvents(service, company.workspace)).at(-1)).toMatchObject({
      type: 'comment.updated',
      summary: 'Mary Member edited a comment on the seed Fewer meetings',
    })
  })

  it('tells only those whom it did not mention before', async () => {
    const seed = await createSeed(service, owner, company)
    const comment = await createComment(service, member, seed, { body: `[@A](user:${admin.id})` })
    const before = await findNotices(service, comment.id)
    await edit(member, comment, `[@A](user:${admin.id}) [@V](user:${viewer.id})`)
    expect(await findNotices(service, comment.id)).toEqual({ ...before, [viewer.id]: 'mention' })
    await edit(member, comment, `[@V](user:${viewer.id})`)
    expect((await findComment(comment))?.mentions).toEqual([{ userId: viewer.id, name: 'Vera Viewer' }])
  })

  it('tells nobody of what looks like a mention in code', async () => {
    const comment = await createComment(service, member, await createSeed(service, owner, company))
    const body = `Like \`[@V](user:${viewer.id})\` in code, \`[@](user:${viewer.id})\` too`
    const before = await findNotices(service, comment.id)
    await edit(member, comment, body)
    expect(await findComment(comment)).toMatchObject({ body, mentions: [] })
    expect(await findNotices(service, comment.id)).toEqual(before)
  })

  it('changes nothing for the same text', async () => {
    const comment = await createComment(service, member, await createSeed(service, owner, company))
    const before = await findEvents(service, company.workspace)
    expect((await edit(member, comment, comment.body)).statusCode).toBe(200)
    expect(await findComment(comment)).toEqual(comment)
    expect(await findEvents(service, company.workspace)).toEqual(before)
  })
})

describe('403', () => {
  it('returns not_the_author to everybody else, whatever their role', async () => {
    const comment = await createComment(service, member, await createSeed(service, owner, company))
    for (const person of [owner, admin, await addPerson(service, company.workspace, 'member')])
      expectError(await edit(person, comment, 'Changed'), errors.notTheAuthor)
    expect(await findComment(comment)).toEqual(comment)
  })
})

describe('404', () => {
  it('returns not_found for comments of other workspaces, and for unknown ones', async () => {
    const comment = await createComment(service, member, await createSeed(service, owner, company))
    const stranger = await service.createPerson({ name: 'Sally Stranger' })
    expectError(await edit(stranger, comment, 'Changed'), errors.notFound)
    for (const id of [createId(), 'x']) expectError(await edit(member, { id }, 'Changed'), errors.notFound)
  })
})
