import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { errors } from '../../src/kernel/errors.ts'
import { addPerson, createCompany, del, get, patch, post } from '../support/company.ts'
import { expectError, issuesOf } from '../support/expect-error.ts'
import { createEmptySeed, findParticipants, joinSeed } from '../support/seeds.ts'
import { startTestApp, type TestPerson } from '../support/test-app.ts'
import { untilWaiting } from '../support/until-waiting.ts'
import { eventBy, findEvents } from '../support/workspaces.ts'
import { createId } from '../../src/kernel/ids.ts'

const service = await startTestApp()
const { as, db } = service
const company = await createCompany(service)

const join = (person: TestPerson, id: string) => as(person, post(`/v1/seeds/${id}/join`))
const close = (id: string, status: string) => as(company.owner, patch(`/v1/seeds/${id}`, { status }))
const joinsOf = async (seed: { id: string }) =>
  (await findEvents(service, company.workspace)).filter(
    ({ type, target_id }) => type === 'seed.joined' && target_id === seed.id,
  )

describe('200', () => {
  it.each(['open', 'validating'])(
    'makes the caller a participant of a seed that is %s, and appends an event',
    async (status) => {
      const seed = await createEmptySeed(service, company.member, company)
      await close(seed.id, status)
      const answer = await join(company.member, seed.id)
      expect(answer.statusCode).toBe(200)
      expect(answer.json()).toEqual({ ok: true })
      expect(await findParticipants(service, seed)).toEqual([company.member.id])
      expect(await joinsOf(seed)).toEqual([
        eventBy(
          company.member,
          { type: 'seed', id: seed.id },
          { type: 'seed.joined', summary: 'Mary Member joined the seed Fewer meetings' },
        ),
      ])
    },
  )

  it('returns 200 when repeated, also after the seed has closed, and appends no second event', async () => {
    const seed = await createEmptySeed(service, company.member, company)
    await joinSeed(service, company.member, seed)
    expect((await join(company.member, seed.id)).json()).toEqual({ ok: true })
    await close(seed.id, 'validated')
    expect((await join(company.member, seed.id)).json()).toEqual({ ok: true })
    expect(await findParticipants(service, seed)).toEqual([company.member.id])
    expect(await joinsOf(seed)).toHaveLength(1)
  })

  it('creates one participation for 20 concurrent requests', async () => {
    const seed = await createEmptySeed(service, company.member, company)
    const answers = await Promise.all(Array.from({ length: 20 }, () => join(company.member, seed.id)))
    expect(new Set(answers.map(({ statusCode }) => statusCode))).toEqual(new Set([200]))
    expect(await findParticipants(service, seed)).toEqual([company.member.id])
    expect(await joinsOf(seed)).toHaveLength(1)
  })

  it('lets 10 members join concurrently', async () => {
    const seed = await createEmptySeed(service, company.member, company)
    const people: TestPerson[] = []
    for (let i = 0; i < 10; i++) people.push(await addPerson(service, company.workspace, 'member'))
    await Promise.all(people.map((person) => join(person, seed.id)))
    const { participantCount } = (await as(company.owner, get(`/v1/seeds/${seed.id}`))).json<{
      participantCount: number
    }>()
    expect(participantCount).toBe(10)
    expect(await joinsOf(seed)).toHaveLength(10)
  })
})

describe('400', () => {
  it('returns 400 for a body, and adds no participant', async () => {
    const seed = await createEmptySeed(service, company.member, company)
    const answer = await as(company.member, post(`/v1/seeds/${seed.id}/join`, { as: 'observer' }))
    expect(issuesOf(answer)).toEqual([{ _tag: 'Unexpected', path: ['as'] }])
    expect(await findParticipants(service, seed)).toEqual([])
  })
})

describe('403 and 404', () => {
  it('returns 403 to a viewer, and 404 for a seed of another workspace, an unknown id and a malformed id', async () => {
    const seed = await createEmptySeed(service, company.member, company)
    expectError(await join(company.viewer, seed.id), errors.roleInsufficient)
    const { owner } = await createCompany(service)
    for (const id of [seed.id, createId(), 'x']) expectError(await join(owner, id), errors.notFound)
    expect(await findParticipants(service, seed)).toEqual([])
  })
})

describe('409', () => {
  it.each(['validated', 'dropped'])('returns 409 seed_closed for a seed that is %s', async (status) => {
    const seed = await createEmptySeed(service, company.member, company)
    await close(seed.id, status)
    expectError(await join(company.member, seed.id), errors.seedClosed)
    expect(await findParticipants(service, seed)).toEqual([])
    expect(await joinsOf(seed)).toEqual([])
  })

  it('never lets anyone join after a concurrent request has closed the seed', async () => {
    for (let round = 0; round < 15; round++) {
      const seed = await createEmptySeed(service, company.member, company)
      const [joined, closed] = await Promise.all([join(company.member, seed.id), close(seed.id, 'dropped')])
      expect(closed.statusCode).toBe(200)
      const events = (await findEvents(service, company.workspace)).filter(
        ({ target_id }) => target_id === seed.id,
      )
      const types = events.map(({ type }) => type)
      if (joined.statusCode === 200) {
        expect(types.toSorted()).toEqual(['seed.created', 'seed.joined', 'seed.updated'])
        expect(await findParticipants(service, seed)).toEqual([company.member.id])
      } else {
        expectError(joined, errors.seedClosed)
        expect(types).toEqual(['seed.created', 'seed.updated'])
        expect(await findParticipants(service, seed)).toEqual([])
      }
    }
  })

  it('waits for an uncommitted change of the status, and then returns 409', async () => {
    const seed = await createEmptySeed(service, company.member, company)
    const client = await db.$client.connect()
    try {
      await client.query('begin')
      await client.query(`update seeds set status = 'dropped' where id = '${seed.id}'`)
      const joining = join(company.member, seed.id)
      await untilWaiting(service, 1)
      await client.query('commit')
      expectError(await joining, errors.seedClosed)
    } finally {
      client.release()
    }
    expect(await findParticipants(service, seed)).toEqual([])
  })
})

describe('removing a member', () => {
  it('ends their participation in seeds, and keeps the seeds that they created', async () => {
    const person = await addPerson(service, company.workspace, 'member')
    const seed = await createEmptySeed(service, person, company)
    await joinSeed(service, person, seed)
    await joinSeed(service, company.member, seed)
    expect((await as(company.owner, del(`${company.url}/members/${person.id}`))).statusCode).toBe(200)
    expect(await findParticipants(service, seed)).toEqual([company.member.id])
    expectError(await join(person, seed.id), errors.notFound)
    expect((await as(company.owner, get(`/v1/seeds/${seed.id}`))).json()).toMatchObject({
      createdByUserId: person.id,
      participantCount: 1,
    })
  })

  it('leaves no participation when the member joins a seed concurrently', async () => {
    for (let round = 0; round < 10; round++) {
      const person = await addPerson(service, company.workspace, 'member')
      const seed = await createEmptySeed(service, company.member, company)
      const [joined, removed] = await Promise.all([
        join(person, seed.id),
        as(company.owner, del(`${company.url}/members/${person.id}`)),
      ])
      expect(removed.statusCode).toBe(200)
      if (joined.statusCode !== 200) expectError(joined, errors.notFound)
      expect(await findParticipants(service, seed)).toEqual([])
    }
    const { rows } = await db.execute(sql`
      select from seed_participants where not exists (
        select from memberships where memberships.workspace_id = seed_participants.workspace_id
          and memberships.user_id = seed_participants.user_id)`)
    expect(rows).toEqual([])
  })
})
