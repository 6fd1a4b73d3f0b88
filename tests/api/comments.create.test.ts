import { describe, expect, it } from 'vitest'
import { errors } from '../../src/kernel/errors.ts'
import { createId } from '../../src/kernel/ids.ts'
import { addPerson, createCompany, del, get, post } from '../support/company.ts'
import { createComment, findNotices, type TestComment } from '../support/comments.ts'
import { anyIssues, expectError, issuesOf } from '../support/expect-error.ts'
import { addEvidence, createSeed, joinSeed } from '../support/seeds.ts'
import { startTestApp, type TestPerson } from '../support/test-app.ts'
import { createTestClock } from '../support/test-clock.ts'
import { eventBy, findEvents } from '../support/workspaces.ts'

const clock = createTestClock()
const service = await startTestApp({ clock })
const { as } = service
const company = await createCompany(service)
const { owner, admin, member, viewer } = company

const comment = (person: TestPerson, seed: { id: string }, body: object) =>
  as(person, post(`/v1/seeds/${seed.id}/comments`, body))

const mentionOf = ({ id, name }: Pick<TestPerson, 'id' | 'name'>) => `[@${name}](user:${id})`

async function createFinding() {
  const seed = await createSeed(service, member, company)
  await joinSeed(service, member, seed)
  return { seed, evidence: await addEvidence(service, member, seed) }
}

describe('200', () => {
  it('adds the comment, and appends an event without its text', async () => {
    const seed = await createSeed(service, owner, company)
    const answer = await comment(member, seed, { body: ' **Who**\r\nsays so? ' })
    expect(answer.statusCode, answer.body).toBe(200)
    const { ok, comment: created } = answer.json<{ ok: boolean; comment: TestComment }>()
    expect(ok).toBe(true)
    expect(created).toEqual({
      id: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-7/) as string,
      workspaceId: company.workspace.id,
      url: `${seed.url}#comment-${created.id}`,
      seedId: seed.id,
      evidenceId: null,
      body: '**Who**\nsays so?',
      mentions: [],
      teamMentions: [],
      authorUserId: member.id,
      authorName: 'Mary Member',
      agentName: null,
      createdAt: clock.now().toISOString(),
      editedAt: null,
      attachments: [],
    })
    expect((await as(viewer, get(`/v1/seeds/${seed.id}/comments`))).json()).toEqual([created])
    expect((await findEvents(service, company.workspace)).at(-1)).toEqual(
      eventBy(
        member,
        { type: 'comment', id: created.id },
        { type: 'comment.added', summary: 'Mary Member commented on the seed Fewer meetings' },
      ),
    )
    const [event] = (await as(viewer, get(`${company.url}/events?limit=1`))).json<{ data: unknown }[]>()
    expect(event?.data).toEqual({
      commentId: created.id,
      seedId: seed.id,
      title: 'Fewer meetings',
      evidenceId: null,
    })
  })

  it('leaves the time of the last change of the seed as it is', async () => {
    const seed = await createSeed(service, owner, company)
    clock.advance(5_000)
    await createComment(service, member, seed)
    const { updatedAt } = (await as(viewer, get(`/v1/seeds/${seed.id}`))).json<{ updatedAt: string }>()
    expect(updatedAt).toBe(seed.updatedAt)
  })

  it('adds a comment on evidence', async () => {
    const { seed, evidence } = await createFinding()
    const { evidenceId } = await createComment(service, owner, seed, { evidenceId: evidence.id })
    expect(evidenceId).toBe(evidence.id)
    expect((await findEvents(service, company.workspace)).at(-1)?.summary).toBe(
      'Olga Owner commented on evidence of the seed Fewer meetings',
    )
  })

  it('returns mentions of members with their names now, each person once', async () => {
    const seed = await createSeed(service, owner, company)
    const renamed = await addPerson(service, company.workspace, 'viewer', 'Old [name]')
    const body = `${mentionOf({ ...viewer, name: 'V' })} and [@](user:${renamed.id}), ${mentionOf(viewer)}`
    const { id } = await createComment(service, member, seed, { body })
    const read = async () =>
      (await as(viewer, get(`/v1/seeds/${seed.id}/comments`)))
        .json<TestComment[]>()
        .find((one) => one.id === id)
    const users = [viewer, renamed].toSorted((one, other) => (one.id < other.id ? -1 : 1))
    expect(await read()).toMatchObject({
      body: `[@Vera Viewer](user:${viewer.id}) and [@Old \\[name\\]](user:${renamed.id}), [@Vera Viewer](user:${viewer.id})`,
      mentions: users.map(({ id: userId, name }) => ({ userId, name })),
    })
    await as(renamed, { method: 'PATCH', url: '/v1/me', payload: { name: 'New name' } })
    expect((await read())?.body).toContain(`[@New name](user:${renamed.id})`)
  })

  it('turns mentions of people who are not in the workspace into text', async () => {
    const seed = await createSeed(service, owner, company)
    const stranger = await service.createPerson({ name: 'Sally Stranger' })
    const unknown = createId()
    const created = await createComment(service, member, seed, {
      body: `${mentionOf(stranger)}, [@Nobody](user:${unknown}), [@${'x'.repeat(201)}](user:${viewer.id})`,
    })
    expect(created).toMatchObject({
      body: `@Sally Stranger, @Nobody, [@${'x'.repeat(201)}](user:${viewer.id})`,
      mentions: [],
    })
  })

  it.each([
    (mention: string) => `Write \`${mention}\`.`,
    (mention: string) => `\`\`\`\n${mention}\n\`\`\``,
    (mention: string) => `Thus:\n\n    ${mention}`,
    (mention: string) => `Thus: \\${mention}`,
  ])('keeps as text, and tells nobody of, what looks like a mention in code (%#)', async (quote) => {
    const seed = await createSeed(service, owner, company)
    for (const mention of [mentionOf(viewer), `[@](user:${viewer.id})`, `[@V](user:${viewer.id})`]) {
      const body = quote(mention)
      const created = await createComment(service, member, seed, { body })
      expect(created).toMatchObject({ body, mentions: [] })
      const listed = await as(member, get(`/v1/seeds/${seed.id}/comments`))
      expect(listed.json<TestComment[]>().at(-1)).toMatchObject({ body, mentions: [] })
      expect(Object.keys(await findNotices(service, created.id))).not.toContain(viewer.id)
    }
  })

  it('tells those whom it mentions and those who follow the seed, each once, and not its author', async () => {
    const seed = await createSeed(service, owner, company)
    for (const person of [owner, admin]) await createComment(service, person, seed)
    const { id } = await createComment(service, member, seed, {
      body: `${mentionOf(admin)} ${mentionOf(viewer)} ${mentionOf(member)}`,
    })
    expect(await findNotices(service, id)).toEqual({
      [owner.id]: 'comment',
      [admin.id]: 'mention',
      [viewer.id]: 'mention',
    })
    // Who was mentioned or has commented follows the seed.
    const next = await createComment(service, owner, seed)
    expect(Object.keys(await findNotices(service, next.id)).toSorted()).toEqual(
      [admin.id, viewer.id, member.id].toSorted(),
    )
  })

  it('tells nobody who has left the workspace', async () => {
    const seed = await createSeed(service, owner, company)
    const leaver = await addPerson(service, company.workspace, 'member')
    await createComment(service, leaver, seed)
    await as(leaver, del(`${company.url}/members/${leaver.id}`))
    const { id } = await createComment(service, member, seed, { body: `${mentionOf(leaver)} ?` })
    expect(await findNotices(service, id)).not.toHaveProperty(leaver.id)
  })

  it('accepts 5,000 characters', async () => {
    const seed = await createSeed(service, owner, company)
    expect((await comment(member, seed, { body: '𝄞'.repeat(5000) })).statusCode).toBe(200)
  })
})

describe('400', () => {
  it('returns decode_error for texts that are empty, blank, too long, or have control characters', async () => {
    const seed = await createSeed(service, owner, company)
    for (const body of ['', ' \n', 'x'.repeat(5001), 'a\u0000b', 'a\u202eb\u0007']) {
      const answer = await comment(member, seed, { body })
      expectError(answer, errors.decodeError, { issues: anyIssues })
      expect(issuesOf(answer).map(({ path }) => path)).toEqual([['body']])
    }
  })
})

describe('403', () => {
  it('returns role_insufficient for a viewer, and adds nothing', async () => {
    const seed = await createSeed(service, owner, company)
    expectError(await comment(viewer, seed, { body: 'Hello' }), errors.roleInsufficient)
    expect((await as(viewer, get(`/v1/seeds/${seed.id}/comments`))).json()).toEqual([])
  })
})

describe('404', () => {
  it('returns not_found for seeds of other workspaces, and for evidence of other seeds', async () => {
    const { seed, evidence } = await createFinding()
    const stranger = await service.createPerson({ name: 'Sally Stranger' })
    expectError(await comment(stranger, seed, { body: 'Hello' }), errors.notFound)
    expectError(await comment(member, { id: createId() }, { body: 'Hello' }), errors.notFound)
    const other = await createSeed(service, owner, company)
    for (const evidenceId of [evidence.id, createId(), 'x'])
      expectError(await comment(member, other, { body: 'Hello', evidenceId }), errors.notFound)
  })
})
