import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { errors } from '../../src/kernel/errors.ts'
import { createId } from '../../src/kernel/ids.ts'
import { letAgentIn } from '../support/agent-caller.ts'
import { createComment } from '../support/comments.ts'
import { addPerson, createCompany, patch } from '../support/company.ts'
import { anyIssues, expectError } from '../support/expect-error.ts'
import { findNotifications, insertNotification } from '../support/notifications.ts'
import { addEvidence, createSeed, joinSeed, type TestSeed } from '../support/seeds.ts'
import { startTestApp, type TestPerson } from '../support/test-app.ts'
import { createTestClock } from '../support/test-clock.ts'
import { addMember } from '../support/workspaces.ts'

const clock = createTestClock()
const service = await startTestApp({ clock })
const { as, config, db } = service
const company = await createCompany(service)
const { workspace, owner, member } = company

interface Told {
  id: string
  kind: string
  text: string
  seedId: string
  evidenceId: string | null
  commentId: string | null
  body: string | null
  answered: boolean | null
  createdAt: string
  readAt: string | null
  url: string
}
interface Inbox {
  notifications: Told[]
  note: string
  nextCursor: string | null
}

/** A person with an agent, and a seed of the owner which they follow. */
async function createReader() {
  const person = await addPerson(service, workspace, 'member', 'Grace Hopper')
  const agent = await letAgentIn(service, workspace, person)
  const seed = await createSeed(service, owner, company)
  await joinSeed(service, person, seed)
  const inbox = (args = {}) => agent.use<Inbox>('inbox', args)
  return { person, agent, seed, inbox }
}

const mentionOf = ({ id, name }: TestPerson) => `[@${name}](user:${id})`

async function mention(person: TestPerson, seed: TestSeed, more: { evidenceId?: string } = {}) {
  clock.advance(1000)
  return createComment(service, owner, seed, { body: `${mentionOf(person)}, who was asked?`, ...more })
}

describe('inbox', () => {
  it('has mentions, comments, evidence and changes of status of followed seeds, with what was written', async () => {
    const { person, seed, inbox } = await createReader()
    const asked = await mention(person, seed)
    clock.advance(1000)
    const said = await createComment(service, owner, seed, { body: 'I asked *nobody* yet.' })
    clock.advance(1000)
    const evidence = await addEvidence(service, owner, seed)
    clock.advance(1000)
    await as(owner, patch(`/v1/seeds/${seed.id}`, { status: 'validating' }))
    const { notifications, note, nextCursor } = await inbox()
    const base = { seedId: seed.id, readAt: null }
    const seedUrl = `${config.webUrl}/w/${workspace.slug}/seeds/${seed.id}`
    expect(notifications.map((item) => ({ ...item, id: undefined, createdAt: undefined }))).toEqual([
      {
        ...{ ...base, kind: 'status', evidenceId: null, commentId: null, body: null, answered: null },
        text: `${owner.name} changed the status of Fewer meetings from open to validating`,
        url: seedUrl,
      },
      {
        ...{ ...base, kind: 'evidence', evidenceId: evidence.id, commentId: null, answered: null },
        body: evidence.summary,
        text: `${owner.name} added evidence that supports Fewer meetings`,
        url: `${seedUrl}#evidence-${evidence.id}`,
      },
      {
        ...{ ...base, kind: 'comment', evidenceId: null, commentId: said.id, answered: null },
        body: 'I asked *nobody* yet.',
        text: `${owner.name} commented on Fewer meetings`,
        url: `${seedUrl}#comment-${said.id}`,
      },
      {
        ...{ ...base, kind: 'mention', evidenceId: null, commentId: asked.id, answered: false },
        body: `${mentionOf(person)}, who was asked?`,
        text: `${owner.name} mentioned you in Fewer meetings`,
        url: `${seedUrl}#comment-${asked.id}`,
      },
    ])
    expect(note).toContain('content, not instructions')
    expect(nextCursor).toBeNull()
  })

  it('says that a mention is answered once the person or the agent has commented in the same thread', async () => {
    const { person, agent, seed, inbox } = await createReader()
    const evidence = await addEvidence(service, owner, seed)
    await createComment(service, person, seed, { body: 'Before any question.' })
    const onSeed = await mention(person, seed)
    const onEvidence = await mention(person, seed, { evidenceId: evidence.id })
    const answers = async () => {
      const { notifications } = await inbox()
      const answeredOf = ({ id }: { id: string }) =>
        notifications.find(({ commentId }) => commentId === id)?.answered
      return [answeredOf(onSeed), answeredOf(onEvidence)]
    }
    expect(await answers()).toEqual([false, false])
    clock.advance(1000)
    await createComment(service, owner, seed, { body: 'I wonder too.' })
    expect(await answers()).toEqual([false, false])
    await createComment(service, person, seed, { body: 'Sixty teams.' })
    expect(await answers()).toEqual([true, false])
    await agent.use('add_comment', { seedId: seed.id, evidenceId: evidence.id, body: 'Ten of them.' })
    expect(await answers()).toEqual([true, true])
  })

  it('has those that are unread first, in pages, and marks nothing', async () => {
    const { person, seed, inbox } = await createReader()
    const ids: string[] = []
    for (let i = 0; i < 6; i++) {
      clock.advance(1000)
      ids.unshift(
        await insertNotification(
          service,
          { workspaceId: workspace.id, userId: person.id },
          {
            ...{ kind: 'status', seedId: seed.id, data: { from: 'open', to: 'dropped' } },
            ...{ createdAt: clock.now(), readAt: i % 2 === 0 ? null : clock.now() },
          },
        ),
      )
    }
    const wanted = [...ids.filter((_, i) => i % 2 === 1), ...ids.filter((_, i) => i % 2 === 0)]
    for (const limit of [1, 2, 3, 4, 6, 7]) {
      const found: string[] = []
      let pages = 0
      for (let cursor: string | null | undefined; cursor !== null; pages++) {
        const page: Inbox = await inbox({ limit, ...(cursor !== undefined && { cursor }) })
        found.push(...page.notifications.map(({ id }) => id))
        cursor = page.nextCursor
      }
      expect(found).toEqual(wanted)
      expect(pages).toBe(Math.ceil(ids.length / limit))
    }
    const isRead = (await findNotifications(service, person)).map((notification) => notification.isRead)
    expect(isRead).toEqual([false, true, false, true, false, true])
  })

  it('has nothing of other workspaces, other people, deleted seeds, or about accounts and access', async () => {
    const { person, agent, seed, inbox } = await createReader()
    const other = await createCompany(service)
    await addMember(service, other.workspace, person, 'member')
    const elsewhere = await createSeed(service, other.owner, other)
    await createComment(service, other.owner, elsewhere, { body: mentionOf(person) })
    const deleted = await createSeed(service, owner, company)
    await mention(person, deleted)
    await db.execute(sql`update seeds set deleted_at = now() where id = ${deleted.id}`)
    const here = { workspaceId: workspace.id, userId: person.id }
    const role = await insertNotification(service, here)
    await mention(member, seed)
    const asked = await mention(person, seed)
    // What a comment on a followed seed tells of the mention of somebody else.
    const found = (await inbox()).notifications
    expect(found.map(({ kind }) => kind)).toEqual(['mention', 'comment'])
    expect(found[0]?.commentId).toBe(asked.id)

    // Nor does it mark them.
    await agent.use('mark_read', { until: new Date(clock.now().getTime() + 86_400_000).toISOString() })
    const all = (await findNotifications(service, person)).map(({ id }) => id)
    for (const id of all) await agent.use('mark_read', { ids: [id] })
    const unread = (await findNotifications(service, person)).filter((notification) => !notification.isRead)
    expect(unread).toHaveLength(2)
    expect(unread.map(({ id }) => id)).toContain(role)
    expect(unread.map(({ kind }) => kind).toSorted()).toEqual(['mention', 'role_changed'])
  })

  it('is the same over HTTP', async () => {
    const { person, agent, seed, inbox } = await createReader()
    await mention(person, seed)
    const answer = await agent.send('inbox:list', { limit: 5 })
    expect(answer.statusCode, answer.body).toBe(200)
    expect(answer.json()).toEqual(await inbox())
    expectError(await agent.send('inbox:list', { cursor: 'x' }), errors.cursorInvalid, { field: 'cursor' })
  })

  it('is for viewers too, who follow and mark as read', async () => {
    const viewer = await addPerson(service, workspace, 'viewer', 'Vera Viewer')
    const agent = await letAgentIn(service, workspace, viewer)
    const seed = await createSeed(service, owner, company)
    await mention(viewer, seed)
    const { notifications } = await agent.use<Inbox>('inbox')
    expect(notifications).toHaveLength(1)
    await agent.use('mark_read', { ids: [notifications[0]?.id] })
    expect((await agent.use<Inbox>('inbox')).notifications[0]?.readAt).not.toBeNull()
    await agent.use('follow_seed', { seedId: seed.id, follow: false })
  })
})

describe('mark_read', () => {
  it('marks by ids, or until a time', async () => {
    const { person, agent, seed, inbox } = await createReader()
    for (let i = 0; i < 3; i++) await mention(person, seed)
    const [newest, middle, oldest] = (await inbox()).notifications
    expect(await agent.use('mark_read', { ids: [newest?.id, createId()] })).toEqual({ ok: true })
    const unread = async () =>
      (await inbox()).notifications.filter(({ readAt }) => readAt === null).map(({ id }) => id)
    expect(await unread()).toEqual([middle?.id, oldest?.id])
    await agent.use('mark_read', { until: oldest?.createdAt })
    expect(await unread()).toEqual([middle?.id])
  })

  it('takes one of both', async () => {
    const { agent } = await createReader()
    const until = clock.now().toISOString()
    for (const body of [{}, { ids: [createId()], until }])
      expectError(await agent.send('inbox:markRead', body), errors.decodeError, { issues: anyIssues })
    const { isError, content } = await agent.call('mark_read')
    expect(isError).toBe(true)
    expect(content[0]?.text).toMatch(/^Invalid arguments for mark_read.*: ids, until\.$/)
  })
})
