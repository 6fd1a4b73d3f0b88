import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { errors } from '../../src/kernel/errors.ts'
import { letAgentIn, type AgentCaller } from '../support/agent-caller.ts'
import { createComment, type TestComment } from '../support/comments.ts'
import { createCompany, del } from '../support/company.ts'
import { expectError } from '../support/expect-error.ts'
import {
  addEvidence,
  createSeed,
  findFollowers,
  findSeed,
  joinSeed,
  type TestSeed,
} from '../support/seeds.ts'
import { selectRows, startTestApp } from '../support/test-app.ts'
import { createTestClock } from '../support/test-clock.ts'
import { findEvents } from '../support/workspaces.ts'

const clock = createTestClock()
const service = await startTestApp({ clock })
const { as, db } = service
const company = await createCompany(service)
const { workspace, owner, admin, member } = company
const agent = await letAgentIn(service, workspace, member)
const ofOther = await letAgentIn(service, workspace, owner)
// Who may delete what others wrote, by hand.
const ofAdmin = await letAgentIn(service, workspace, admin)
const another = await letAgentIn(service, workspace, member)

const add = async (by: AgentCaller, seedId: string, body = 'Who was asked?') =>
  (await by.use<{ comment: TestComment }>('add_comment', { seedId, body, detail: 'full' })).comment

const create = async (by: AgentCaller, title = 'Robots') =>
  (await by.use<{ seed: TestSeed }>('create_seed', { title, summary: 'They help', detail: 'full' })).seed

const bodyOf = async ({ id }: { id: string }) =>
  (await selectRows<{ body: string }>(db, sql`select body from comments where id = ${id}`))[0]?.body

const isDeleted = async (seed: TestSeed) => (await findSeed(service, seed))?.deleted_at !== null

/** The last change. That an agent is used for the first time is recorded a moment later. */
const lastEvent = async () =>
  (await findEvents(service, workspace)).findLast(({ type }) => type !== 'integration.used')

describe('update_comment and delete_comment', () => {
  it('correct what the agent wrote, as events of the agent', async () => {
    const seed = await createSeed(service, owner, company)
    const comment = await add(agent, seed.id)
    expect(await agent.use('update_comment', { commentId: comment.id, body: 'Who, and when?' })).toEqual({
      ok: true,
    })
    expect(await bodyOf(comment)).toBe('Who, and when?')
    expect(await lastEvent()).toMatchObject({ type: 'comment.updated', grant_id: agent.grantId })
    const answer = await agent.send('comments:delete', { commentId: comment.id })
    expect(answer.statusCode, answer.body).toBe(200)
    expect(await bodyOf(comment)).toBeUndefined()
    expect(await lastEvent()).toMatchObject({ type: 'comment.deleted', grant_id: agent.grantId })
    expectError(await agent.send('comments:delete', { commentId: comment.id }), errors.notFound)
  })

  it('refuse what the person wrote by hand, what other agents wrote, and what others wrote', async () => {
    const seed = await createSeed(service, owner, company)
    const before = await add(agent, seed.id)
    // As the version before stored it.
    await db.execute(sql`update comments set grant_id = null where id = ${before.id}`)
    const comments = [
      before,
      await createComment(service, member, seed),
      await createComment(service, owner, seed),
      await add(another, seed.id),
      await add(ofOther, seed.id),
    ]
    for (const { id: commentId, body } of comments) {
      for (const by of [agent, ofAdmin]) {
        const changed = await by.send('comments:update', { commentId, body: 'Changed' })
        expectError(changed, errors.notTheAuthor)
        expectError(await by.send('comments:delete', { commentId }), errors.notTheAuthor)
      }
      expect(await bodyOf({ id: commentId })).toBe(body)
    }
    const { content } = await agent.call('delete_comment', { commentId: comments[1]?.id })
    expect(content[0]?.text).toContain('You change only comments that you wrote, not those of your person.')
  })

  it('leave to people what they may: the author, owners and admins', async () => {
    const seed = await createSeed(service, owner, company)
    for (const person of [member, admin]) {
      const { id } = await add(agent, seed.id)
      expect((await as(person, del(`/v1/comments/${id}`))).statusCode).toBe(200)
      expect(await bodyOf({ id })).toBeUndefined()
    }
  })
})

describe('delete_seed and restore_seed', () => {
  it('take back a seed that the agent created, also with what it added', async () => {
    const seed = await create(agent)
    const seedId = seed.id
    await add(agent, seedId)
    const finding = { kind: 'note', verdict: 'supports', summary: 'Two offices asked.' }
    await agent.use('add_evidence', { seedId, ...finding })
    expect(await agent.use('delete_seed', { seedId })).toEqual({ ok: true })
    expect(await isDeleted(seed)).toBe(true)
    expect(await lastEvent()).toMatchObject({ type: 'seed.deleted', grant_id: agent.grantId })
    expectError(await agent.send('seeds:delete', { seedId }), errors.notFound)
    expectError(await another.send('seeds:restore', { seedId }), errors.notTheAuthor)
    expectError(await ofAdmin.send('seeds:restore', { seedId }), errors.notTheAuthor)
    expect(await agent.use('restore_seed', { seedId })).toEqual({ ok: true })
    expect(await isDeleted(seed)).toBe(false)
    expect(await lastEvent()).toMatchObject({ type: 'seed.restored', grant_id: agent.grantId })
  })

  it('refuse seeds of the person, of other agents and of others, also for the agent of an admin', async () => {
    const seeds = [
      await createSeed(service, member, company),
      await createSeed(service, owner, company),
      await create(another),
      await create(ofOther),
    ]
    for (const seed of seeds) {
      for (const by of [agent, ofAdmin])
        expectError(await by.send('seeds:delete', { seedId: seed.id }), errors.notTheAuthor)
      expect(await isDeleted(seed)).toBe(false)
    }
  })

  it.each<[what: string, use: (seed: TestSeed) => Promise<unknown>]>([
    ['others joined', (seed) => joinSeed(service, owner, seed)],
    ['others commented on', (seed) => createComment(service, owner, seed)],
    ['the person commented on by hand', (seed) => createComment(service, member, seed)],
    ['the person added evidence to by hand', (seed) => addEvidence(service, member, seed)],
    ['another agent of the person commented on', ({ id }) => add(another, id)],
  ])('refuse a seed that %s', async (_what, use) => {
    const seed = await create(agent)
    await use(seed)
    expectError(await agent.send('seeds:delete', { seedId: seed.id }), errors.seedInUse)
    expect(await isDeleted(seed)).toBe(false)
    const { content } = await agent.call('delete_seed', { seedId: seed.id })
    expect(content[0]?.text).toContain('Set its status to dropped instead.')
  })
})

describe('follow_seed', () => {
  it('follows and unfollows for the person', async () => {
    const seed = await createSeed(service, owner, company)
    const seedId = seed.id
    expect(await agent.use('follow_seed', { seedId, follow: true })).toEqual({ ok: true })
    expect(await findFollowers(service, seed)).toContain(member.id)
    await agent.use('follow_seed', { seedId, follow: false })
    expect(await findFollowers(service, seed)).not.toContain(member.id)
  })
})

describe('list_comments', () => {
  interface Listed {
    comments: TestComment[]
    nextCursor: string | null
  }

  it('reaches all comments of a seed, and of the workspace', async () => {
    const seed = await createSeed(service, owner, company)
    const ids: string[] = []
    for (let i = 0; i < 25; i++) {
      clock.advance(1000)
      ids.unshift((await createComment(service, owner, seed, { body: `Comment ${i}` })).id)
    }
    const first = await agent.use<Listed>('list_comments', { seedId: seed.id })
    expect(first.comments).toHaveLength(20)
    const rest = await agent.use<Listed>('list_comments', { seedId: seed.id, cursor: first.nextCursor })
    expect([...first.comments, ...rest.comments].map(({ id }) => id)).toEqual(ids)
    expect(rest.nextCursor).toBeNull()
    clock.advance(1000)
    const ofAgent = await add(agent, (await createSeed(service, owner, company)).id)
    const newest = await agent.use<Listed>('list_comments', { limit: 2 })
    expect(newest.comments.map(({ id }) => id)).toEqual([ofAgent.id, ids[0]])
    const byAgents = await agent.use<Listed>('list_comments', { by: 'agents', limit: 1 })
    expect(byAgents.comments.map(({ id }) => id)).toEqual([ofAgent.id])
  })

  it('has none of other workspaces, and none of a deleted seed', async () => {
    const other = await createCompany(service)
    const seed = await createSeed(service, other.owner, other)
    await createComment(service, other.owner, seed)
    const deleted = await createSeed(service, owner, company)
    await createComment(service, owner, deleted)
    await as(owner, del(`/v1/seeds/${deleted.id}`))
    for (const { id: seedId } of [seed, deleted]) {
      expectError(await agent.send('comments:list', { seedId }), errors.notFound)
      const { content } = await agent.call('list_comments', { seedId })
      expect(content[0]?.text).toContain('No seed of this workspace has this seedId.')
    }
  })
})
