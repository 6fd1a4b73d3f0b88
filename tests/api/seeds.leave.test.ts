import { describe, expect, it } from 'vitest'
import { errors } from '../../src/kernel/errors.ts'
import { createCompany, get, patch, post } from '../support/company.ts'
import { expectError, issuesOf } from '../support/expect-error.ts'
import {
  addEvidence,
  createEmptySeed,
  createSeed,
  findEvidence,
  findParticipants,
  findSeed,
  joinSeed,
} from '../support/seeds.ts'
import { startTestApp, type TestPerson } from '../support/test-app.ts'
import { eventBy, findEvents } from '../support/workspaces.ts'
import { createId } from '../../src/kernel/ids.ts'

const service = await startTestApp()
const { as } = service
const company = await createCompany(service)

const leave = (person: TestPerson, id: string) => as(person, post(`/v1/seeds/${id}/leave`))
const leavesOf = async (seed: { id: string }) =>
  (await findEvents(service, company.workspace)).filter(
    ({ type, target_id }) => type === 'seed.left' && target_id === seed.id,
  )

describe('200', () => {
  it('ends the participation of the caller, keeps their evidence, and appends an event', async () => {
    const seed = await createEmptySeed(service, company.member, company)
    await joinSeed(service, company.member, seed)
    await joinSeed(service, company.admin, seed)
    await addEvidence(service, company.member, seed)
    const answer = await leave(company.member, seed.id)
    expect(answer.statusCode).toBe(200)
    expect(answer.json()).toEqual({ ok: true })
    expect(await findParticipants(service, seed)).toEqual([company.admin.id])
    expect(await findEvidence(service, seed)).toMatchObject([{ author_user_id: company.member.id }])
    expect(await leavesOf(seed)).toEqual([
      eventBy(
        company.member,
        { type: 'seed', id: seed.id },
        { type: 'seed.left', summary: 'Mary Member left the seed Fewer meetings' },
      ),
    ])
  })

  it('ends that the lead leads the seed, with an event of its own, which nobody else causes', async () => {
    const seed = await createSeed(service, company.member, company)
    await joinSeed(service, company.admin, seed)
    await leave(company.admin, seed.id)
    await leave(company.member, seed.id)
    const listed = await as(company.viewer, get(`${company.url}/events?targetId=${seed.id}&limit=3`))
    const events = listed.json<{ type: string; summary: string; data: object }[]>().toReversed()
    expect(events.map(({ type, summary, data }) => ({ type, summary, data }))).toEqual([
      {
        type: 'seed.left',
        summary: 'Adam Admin left the seed Fewer meetings',
        data: { seedId: seed.id, title: 'Fewer meetings' },
      },
      {
        type: 'seed.left',
        summary: 'Mary Member left the seed Fewer meetings',
        data: { seedId: seed.id, title: 'Fewer meetings' },
      },
      {
        type: 'seed.updated',
        summary: 'Mary Member stepped down as the lead of the seed Fewer meetings',
        data: {
          ...{
            seedId: seed.id,
            title: 'Fewer meetings',
            titleBefore: null,
            status: null,
            statusReason: null,
          },
          ...{ fields: ['leadUserId'], leadUserId: null, leadName: null },
          ...{ leadUserIdBefore: company.member.id, leadNameBefore: 'Mary Member' },
        },
      },
    ])
    expect(await findSeed(service, seed)).toMatchObject({ lead_user_id: null })
  })

  it('returns 200 to a caller who is not a participant, and appends no event', async () => {
    const seed = await createEmptySeed(service, company.member, company)
    expect((await leave(company.member, seed.id)).json()).toEqual({ ok: true })
    await joinSeed(service, company.member, seed)
    const answers = await Promise.all(Array.from({ length: 10 }, () => leave(company.member, seed.id)))
    expect(new Set(answers.map(({ statusCode }) => statusCode))).toEqual(new Set([200]))
    expect(await leavesOf(seed)).toHaveLength(1)
  })

  it.each(['validated', 'dropped'])('lets a participant leave a seed that is %s', async (status) => {
    const seed = await createEmptySeed(service, company.member, company)
    await joinSeed(service, company.member, seed)
    await as(company.member, patch(`/v1/seeds/${seed.id}`, { status }))
    expect((await leave(company.member, seed.id)).statusCode).toBe(200)
    expect(await findParticipants(service, seed)).toEqual([])
  })
})

describe('400', () => {
  it('returns 400 for a body, and changes nothing', async () => {
    const seed = await createEmptySeed(service, company.member, company)
    await joinSeed(service, company.member, seed)
    const answer = await as(company.member, post(`/v1/seeds/${seed.id}/leave`, { why: 'tired' }))
    expect(issuesOf(answer)).toEqual([{ _tag: 'Unexpected', path: ['why'] }])
    expect(await findParticipants(service, seed)).toEqual([company.member.id])
  })
})

describe('403 and 404', () => {
  it('returns 403 to a viewer, and 404 for a seed of another workspace, an unknown id and a malformed id', async () => {
    const seed = await createEmptySeed(service, company.member, company)
    expectError(await leave(company.viewer, seed.id), errors.roleInsufficient)
    const { owner } = await createCompany(service)
    for (const id of [seed.id, createId(), 'x']) expectError(await leave(owner, id), errors.notFound)
  })
})
