import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { errors } from '../../src/kernel/errors.ts'
import { createId } from '../../src/kernel/ids.ts'
import { addPerson, createCompany, get, patch, post } from '../support/company.ts'
import { expectError, issuesOf } from '../support/expect-error.ts'
import { addEvidence, createSeed, findFollowers, joinSeed, type TestSeed } from '../support/seeds.ts'
import { selectRows, startTestApp, type TestPerson } from '../support/test-app.ts'
import { findEvents } from '../support/workspaces.ts'

const service = await startTestApp()
const { as, db } = service
const company = await createCompany(service)

const send = (person: TestPerson, { id }: { id: string }, verb: string) =>
  as(person, post(`/v1/seeds/${id}/${verb}`))
const isFollowing = async (person: TestPerson, { id }: { id: string }) =>
  (await as(person, get(`/v1/seeds/${id}`))).json<TestSeed>().following
/** Who is told of what about a seed. */
const noticesOf = (seed: { id: string }) =>
  selectRows<Record<string, unknown>>(
    db,
    sql`select user_id, kind, actor_user_id, actor_name, agent_name, data, read_at from notifications
      where seed_id = ${seed.id} order by created_at, user_id`,
  )

describe('200', () => {
  it.each(['admin', 'member', 'viewer'] as const)(
    'lets the %s follow a seed, and no longer, without an event',
    async (role) => {
      const seed = await createSeed(service, company.owner, company)
      const events = await findEvents(service, company.workspace)
      expect(await isFollowing(company[role], seed)).toBe(false)
      for (let i = 0; i < 2; i++) {
        const answer = await send(company[role], seed, 'follow')
        expect(answer.statusCode, answer.body).toBe(200)
        expect(answer.json()).toEqual({ ok: true })
        expect(await isFollowing(company[role], seed)).toBe(true)
      }
      expect(await isFollowing(company.owner, seed)).toBe(true)
      for (let i = 0; i < 2; i++) {
        expect((await send(company[role], seed, 'unfollow')).json()).toEqual({ ok: true })
        expect(await isFollowing(company[role], seed)).toBe(false)
      }
      expect(await isFollowing(company.owner, seed)).toBe(true)
      expect(await findEvents(service, company.workspace)).toEqual(events)
    },
  )

  it('begins with creating or joining a seed, and ends with leaving it', async () => {
    const seed = await createSeed(service, company.owner, company)
    await joinSeed(service, company.member, seed)
    expect(await findFollowers(service, seed)).toEqual([company.owner.id, company.member.id].sort())
    await send(company.member, seed, 'unfollow')
    // Joining again does not follow again.
    await joinSeed(service, company.member, seed)
    expect(await findFollowers(service, seed)).toEqual([company.owner.id])
    await send(company.owner, seed, 'leave')
    expect(await findFollowers(service, seed)).toEqual([])
  })

  it('ends with the membership', async () => {
    const seed = await createSeed(service, company.owner, company)
    const other = await addPerson(service, company.workspace, 'viewer')
    await send(other, seed, 'follow')
    await as(other, { method: 'DELETE', url: `${company.url}/members/${other.id}` })
    expect(await findFollowers(service, seed)).toEqual([company.owner.id])
  })

  it('tells followers of evidence and of a new status, but not who did it', async () => {
    const seed = await createSeed(service, company.owner, company)
    await joinSeed(service, company.member, seed)
    await send(company.viewer, seed, 'follow')
    const { id: evidenceId } = await addEvidence(service, company.member, seed)
    const told = [company.owner.id, company.viewer.id].sort()
    const by = {
      actor_user_id: company.member.id,
      actor_name: 'Mary Member',
      agent_name: null,
      read_at: null,
    }
    const ofEvidence = { kind: 'evidence', data: { evidenceId, verdict: 'supports' } }
    expect(await noticesOf(seed)).toEqual(told.map((user_id) => ({ user_id, ...by, ...ofEvidence })))

    await db.execute(sql`delete from notifications where seed_id = ${seed.id}`)
    await as(company.member, patch(`/v1/seeds/${seed.id}`, { title: 'Other', problem: 'Noise' }))
    expect(await noticesOf(seed)).toEqual([])
    await as(company.member, patch(`/v1/seeds/${seed.id}`, { status: 'validating' }))
    const ofStatus = { kind: 'status', data: { from: 'open', to: 'validating' } }
    expect(await noticesOf(seed)).toEqual(told.map((user_id) => ({ user_id, ...by, ...ofStatus })))
  })
})

describe.each(['follow', 'unfollow'])('%s', (verb) => {
  it('returns 400 for a body', async () => {
    const seed = await createSeed(service, company.owner, company)
    const answer = await as(company.owner, post(`/v1/seeds/${seed.id}/${verb}`, { why: 'not' }))
    expect(issuesOf(answer)).toEqual([{ _tag: 'Unexpected', path: ['why'] }])
  })

  it('returns 404 for a seed of another workspace, and for unknown and malformed ids', async () => {
    const seed = await createSeed(service, company.owner, company)
    const { owner } = await createCompany(service)
    for (const id of [seed.id, createId(), 'x']) expectError(await send(owner, { id }, verb), errors.notFound)
    expect(await findFollowers(service, seed)).toEqual([company.owner.id])
  })
})
