import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { errors } from '../../src/kernel/errors.ts'
import { createId } from '../../src/kernel/ids.ts'
import { letAgentIn } from '../support/agent-caller.ts'
import { addPerson, createCompany, del, get, patch, post } from '../support/company.ts'
import { expectError } from '../support/expect-error.ts'
import { createEmptySeed, createSeed, findFollowers, findParticipants, joinSeed } from '../support/seeds.ts'
import { createServiceAccount } from '../support/service-accounts.ts'
import { selectRows, startTestApp, type TestPerson } from '../support/test-app.ts'
import { createTestClock } from '../support/test-clock.ts'
import { addMember, createWorkspace, eventBy, findEvents } from '../support/workspaces.ts'

const clock = createTestClock()
const service = await startTestApp({ clock })
const { as, db } = service
const company = await createCompany(service)
const { workspace, owner, admin, member, viewer } = company

type As = 'participant' | 'lead'
const ask = (person: TestPerson, seed: { id: string }, userId: string, role: As = 'participant') =>
  as(person, post(`/v1/seeds/${seed.id}/invite-person`, { userId, as: role }))
const join = (person: TestPerson, seed: { id: string }) => as(person, post(`/v1/seeds/${seed.id}/join`))
const askedIn = async (person: TestPerson, seed: { id: string }) => {
  const answer = await as(person, get('/v1/me/notifications'))
  return answer
    .json<{ kind: string; seedId: string; text: string; path: string }[]>()
    .filter(({ kind, seedId }) => kind === 'asked_to_join' && seedId === seed.id)
}
const leadOf = async (seed: { id: string }) => {
  const [row] = await selectRows<{ lead_user_id: string | null }>(
    db,
    sql`select lead_user_id from seeds where id = ${seed.id}`,
  )
  return row?.lead_user_id
}
const eventsOf = async (seed: { id: string }) =>
  (await findEvents(service, workspace)).filter(({ target_id }) => target_id === seed.id)

describe('200', () => {
  it('tells the person in their inbox, as an event that everybody sees; joining ends it', async () => {
    const seed = await createSeed(service, owner, company, { title: '静かな部屋 🌱' })
    expect((await ask(owner, seed, member.id)).json()).toEqual({ ok: true })
    expect(await askedIn(member, seed)).toMatchObject([
      {
        text: `${owner.name} asks you to join 静かな部屋 🌱`,
        path: `/w/${workspace.slug}/seeds/${seed.id}#people`,
      },
    ])
    expect(await findParticipants(service, seed)).not.toContain(member.id)
    expect((await eventsOf(seed)).at(-1)).toEqual(
      eventBy(
        owner,
        { type: 'seed', id: seed.id },
        {
          type: 'seed.person_asked',
          summary: `${owner.name} asked ${member.name} to join the seed 静かな部屋 🌱`,
        },
      ),
    )
    const seen = await as(viewer, get(`/v1/workspaces/${workspace.slug}/events?types=seed.person_asked`))
    expect(seen.payload).toContain(seed.id)
    await join(member, seed)
    expect(await findParticipants(service, seed)).toContain(member.id)
    expect(await findFollowers(service, seed)).toContain(member.id)
    expect(await askedIn(member, seed)).toEqual([])
    expect(await leadOf(seed)).toBe(owner.id)
  })

  it('changes nothing for who was asked for the same, also at the same time, or has joined', async () => {
    const seed = await createEmptySeed(service, owner, company)
    const answers = await Promise.all([owner, admin, owner].map((person) => ask(person, seed, member.id)))
    expect(answers.map(({ statusCode }) => statusCode)).toEqual([200, 200, 200])
    expect(await askedIn(member, seed)).toHaveLength(1)
    await join(member, seed)
    expect((await ask(owner, seed, member.id)).statusCode).toBe(200)
    expect(await askedIn(member, seed)).toEqual([])
    const asked = (await eventsOf(seed)).filter(({ type }) => type === 'seed.person_asked')
    expect(asked).toHaveLength(1)
  })

  it('replaces the request if the person is to lead as well', async () => {
    const seed = await createSeed(service, owner, company)
    await ask(owner, seed, member.id)
    await ask(owner, seed, member.id, 'lead')
    expect(await askedIn(member, seed)).toMatchObject([
      { text: expect.stringContaining('join and lead') as string },
    ])
  })
})

describe('who was asked to lead', () => {
  it('leads once they join, if who asked leads it, with an event', async () => {
    const seed = await createSeed(service, owner, company)
    await ask(owner, seed, member.id, 'lead')
    expect(await leadOf(seed)).toBe(owner.id)
    await join(member, seed)
    expect(await leadOf(seed)).toBe(member.id)
    expect((await eventsOf(seed)).map(({ type }) => type).slice(-2)).toEqual(['seed.joined', 'seed.updated'])
    const [event] = await selectRows<{ data: object }>(
      db,
      sql`select data from events where seed_id = ${seed.id} and type = 'seed.updated'`,
    )
    expect(event?.data).toMatchObject({
      ...{ leadUserId: member.id, leadName: member.name },
      ...{ leadUserIdBefore: owner.id, leadNameBefore: owner.name },
    })
  })

  it('leads if nobody does, also if they had joined before', async () => {
    const seed = await createEmptySeed(service, owner, company)
    await joinSeed(service, member, seed)
    await db.execute(sql`update seeds set lead_user_id = null where id = ${seed.id}`)
    await ask(admin, seed, member.id, 'lead')
    await join(member, seed)
    expect(await leadOf(seed)).toBe(member.id)
  })

  it('leads if who asked is in other workspaces too, with other roles', async () => {
    const asker = await addPerson(service, workspace, 'member')
    await addMember(service, (await createCompany(service)).workspace, asker, 'viewer')
    await createWorkspace(service, asker)
    const seed = await createSeed(service, asker, company)
    await ask(asker, seed, member.id, 'lead')
    expect((await join(member, seed)).statusCode).toBe(200)
    expect(await leadOf(seed)).toBe(member.id)
  })

  it('takes the lead from nobody else than who asked', async () => {
    const seed = await createSeed(service, owner, company)
    await ask(admin, seed, member.id, 'lead')
    await join(member, seed)
    expect(await findParticipants(service, seed)).toContain(member.id)
    expect(await leadOf(seed)).toBe(owner.id)
    expect(await askedIn(member, seed)).toEqual([])
  })

  it.each(['viewer', 'removed'])('does not lead if who asked is %s meanwhile', async (role) => {
    const asker = await addPerson(service, workspace, 'member')
    await createWorkspace(service, asker)
    const seed = await createSeed(service, owner, company)
    await db.execute(sql`update seeds set lead_user_id = null where id = ${seed.id}`)
    await ask(asker, seed, member.id, 'lead')
    const url = `/v1/workspaces/${workspace.slug}/members/${asker.id}`
    const answer = await as(owner, role === 'removed' ? del(url) : patch(url, { role }))
    expect(answer.statusCode).toBe(200)
    await join(member, seed)
    expect(await findParticipants(service, seed)).toContain(member.id)
    expect(await leadOf(seed)).toBe(null)
  })
})

describe('the request', () => {
  it.each(['validated', 'dropped'])('ends when the seed is %s', async (status) => {
    const seed = await createSeed(service, owner, company)
    await ask(owner, seed, member.id)
    await as(owner, patch(`/v1/seeds/${seed.id}`, { status }))
    expect(await askedIn(member, seed)).toEqual([])
    await as(owner, patch(`/v1/seeds/${seed.id}`, { status: 'open' }))
    expect(await askedIn(member, seed)).toEqual([])
  })

  it('is hidden with the deleted seed, and ends with the membership of the person', async () => {
    const person = await addPerson(service, workspace, 'member')
    const [one, other] = [
      await createSeed(service, owner, company),
      await createSeed(service, owner, company),
    ]
    await ask(owner, one, person.id)
    await ask(owner, other, person.id)
    await as(owner, del(`/v1/seeds/${one.id}`))
    expect(await askedIn(person, one)).toEqual([])
    await as(owner, del(`/v1/workspaces/${workspace.slug}/members/${person.id}`))
    expect(
      await selectRows(
        db,
        sql`select 1 from notifications where user_id = ${person.id} and kind = 'asked_to_join'`,
      ),
    ).toEqual([])
  })

  it('ends when the person joins by adding evidence', async () => {
    const seed = await createSeed(service, owner, company)
    await ask(owner, seed, member.id)
    const finding = { kind: 'note', verdict: 'neutral', summary: 'ملاحظة', join: true }
    expect((await as(member, post(`/v1/seeds/${seed.id}/evidence`, finding))).statusCode).toBe(200)
    expect(await askedIn(member, seed)).toEqual([])
  })
})

describe('the errors', () => {
  it('return 404 for strangers and no ids, and 400 person_not_askable for viewers, service accounts and oneself', async () => {
    const seed = await createSeed(service, owner, company)
    const stranger = (await createCompany(service)).member
    const account = await createServiceAccount(service, owner, company)
    for (const userId of [stranger.id, createId(), 'x', 'x'.repeat(5_000)])
      expectError(await ask(owner, seed, userId), errors.notFound)
    for (const userId of [viewer.id, account.userId, owner.id])
      expectError(await ask(owner, seed, userId), errors.personNotAskable, { field: 'userId' })
    expect((await eventsOf(seed)).map(({ type }) => type)).not.toContain('seed.person_asked')
  })

  it('return 409 seed_closed, and 404 for seeds of others', async () => {
    const seed = await createSeed(service, owner, company)
    await as(owner, patch(`/v1/seeds/${seed.id}`, { status: 'dropped' }))
    expectError(await ask(owner, seed, member.id), errors.seedClosed)
    const { owner: stranger } = await createCompany(service)
    expectError(await ask(stranger, seed, member.id), errors.notFound)
  })
})

describe('an agent', () => {
  it('asks no more than 20 people at the same moment', async () => {
    const agent = await letAgentIn(service, workspace, admin)
    const seeds = []
    for (let i = 0; i < 25; i++) seeds.push(await createSeed(service, owner, company))
    const input = { userId: member.id, as: 'participant' }
    const answers = await Promise.all(
      seeds.map(({ id }) => agent.send('seeds:askToJoin', { seedId: id, ...input })),
    )
    const refused = answers.filter(({ statusCode }) => statusCode !== 200)
    expect(refused).toHaveLength(5)
    for (const answer of refused) expectError(answer, errors.tooManyAsked)
  })

  it('asks by ask_to_join, 20 people in 24 hours at most', async () => {
    const agent = await letAgentIn(service, workspace, admin)
    const first = await createSeed(service, owner, company)
    const input = { userId: member.id, as: 'participant' }
    expect(await agent.use('ask_to_join', { seedId: first.id, ...input })).toEqual({ ok: true })
    expect(await askedIn(member, first)).toMatchObject([
      { text: expect.stringContaining(`for ${admin.name} asks you`) as string },
    ])
    for (let i = 1; i < 20; i++) {
      const { id } = await createSeed(service, owner, company)
      await agent.use('ask_to_join', { seedId: id, ...input })
    }
    const last = await createSeed(service, owner, company)
    const refused = await agent.send('seeds:askToJoin', { seedId: last.id, ...input })
    expectError(refused, errors.tooManyAsked)
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(86_000)
    const answer = await agent.call('ask_to_join', { seedId: last.id, ...input })
    expect(answer.content[0]?.text).toMatch(/at most 20 people .* Try again in \d+ seconds/)
    // What changes nothing is not refused, nor is the person.
    await agent.use('ask_to_join', { seedId: first.id, ...input })
    expect((await ask(admin, last, member.id)).statusCode).toBe(200)
    clock.advance(24 * 60 * 60_000 + 1000)
    const { id } = await createSeed(service, owner, company)
    await agent.use('ask_to_join', { seedId: id, ...input })
  })
})
