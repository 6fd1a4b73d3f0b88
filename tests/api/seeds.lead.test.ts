import { describe, expect, it } from 'vitest'
import { errors } from '../../src/kernel/errors.ts'
import { createId } from '../../src/kernel/ids.ts'
import { addPerson, createCompany, del, get, patch, post } from '../support/company.ts'
import { anyIssues, expectError, issuesOf } from '../support/expect-error.ts'
import { createSeed, findSeed, joinSeed, type TestSeed } from '../support/seeds.ts'
import { startTestApp, type TestPerson } from '../support/test-app.ts'
import { findEvents } from '../support/workspaces.ts'

// The fields of seeds.update that concern the lead and the reason for a status.

const service = await startTestApp()
const { as } = service
const company = await createCompany(service)

const change = (person: TestPerson, { id }: { id: string }, body: object) =>
  as(person, patch(`/v1/seeds/${id}`, body))
const read = async ({ id }: { id: string }) =>
  (await as(company.viewer, get(`/v1/seeds/${id}`))).json<TestSeed>()
const lastEvent = async () =>
  (await as(company.viewer, get(`${company.url}/events?limit=1`))).json<
    { summary: string; data: object }[]
  >()[0]

/** A seed of the owner, which the member has joined. */
async function createShared(): Promise<TestSeed> {
  const seed = await createSeed(service, company.owner, company)
  await joinSeed(service, company.member, seed)
  return seed
}

describe('the lead', () => {
  it('is the creator at first, and can be another participant, or nobody, with an event', async () => {
    const seed = await createShared()
    expect(await read(seed)).toMatchObject({ leadUserId: company.owner.id, createdByName: 'Olga Owner' })
    expect((await change(company.admin, seed, { leadUserId: company.member.id })).json()).toEqual({
      ok: true,
    })
    expect(await read(seed)).toMatchObject({ leadUserId: company.member.id })
    expect(await lastEvent()).toMatchObject({
      summary: 'Adam Admin changed the lead of the seed Fewer meetings from Olga Owner to Mary Member',
      data: {
        ...{ seedId: seed.id, title: 'Fewer meetings', titleBefore: null, fields: ['leadUserId'] },
        ...{ status: null, statusReason: null, leadUserId: company.member.id, leadName: 'Mary Member' },
        ...{ leadUserIdBefore: company.owner.id, leadNameBefore: 'Olga Owner' },
      },
    })
    expect((await change(company.member, seed, { leadUserId: null })).json()).toEqual({ ok: true })
    expect(await read(seed)).toMatchObject({ leadUserId: null })
    expect(await lastEvent()).toMatchObject({
      summary: 'Mary Member stepped down as the lead of the seed Fewer meetings',
      data: { fields: ['leadUserId'], leadUserId: null, leadName: null, leadNameBefore: 'Mary Member' },
    })
    await change(company.member, seed, { leadUserId: company.owner.id })
    expect(await lastEvent()).toMatchObject({
      summary: 'Mary Member made Olga Owner the lead of the seed Fewer meetings',
      data: { leadName: 'Olga Owner', leadUserIdBefore: null, leadNameBefore: null },
    })
  })

  it('changes nothing when it is the same', async () => {
    const seed = await createShared()
    const events = await findEvents(service, company.workspace)
    expect((await change(company.member, seed, { leadUserId: company.owner.id })).statusCode).toBe(200)
    expect(await findEvents(service, company.workspace)).toEqual(events)
  })

  it('is part of the version of the seed', async () => {
    const seed = await createShared()
    const { headers } = await as(company.owner, get(`/v1/seeds/${seed.id}`))
    await change(company.owner, seed, { leadUserId: company.member.id })
    const stale = {
      ...patch(`/v1/seeds/${seed.id}`, { leadUserId: null }),
      headers: { 'if-match': String(headers.etag) },
    }
    expectError(await as(company.owner, stale), errors.preconditionFailed)
    expect(await read(seed)).toMatchObject({ leadUserId: company.member.id })
  })

  it('returns 400 for somebody who has not joined, a viewer, and unknown and malformed ids', async () => {
    const seed = await createShared()
    const former = await addPerson(service, company.workspace, 'member')
    await joinSeed(service, former, seed)
    await as(company.owner, patch(`${company.url}/members/${former.id}`, { role: 'viewer' }))
    const { owner: stranger } = await createCompany(service)
    for (const leadUserId of [company.admin.id, former.id, stranger.id, createId(), 'x', ''])
      expectError(await change(company.owner, seed, { leadUserId }), errors.leadInvalid, {
        field: 'leadUserId',
      })
    for (const leadUserId of [5, true, 'x'.repeat(65)])
      expectError(await change(company.owner, seed, { leadUserId }), errors.decodeError, {
        issues: anyIssues,
      })
    expect(await read(seed)).toMatchObject({ leadUserId: company.owner.id })
  })

  it('ends with leaving the seed', async () => {
    const seed = await createShared()
    await as(company.owner, post(`/v1/seeds/${seed.id}/leave`))
    expect(await read(seed)).toMatchObject({ leadUserId: null, participantCount: 1 })
  })

  it('ends with the membership, and with the role of a member', async () => {
    const other = await addPerson(service, company.workspace, 'member')
    const [first, second] = [
      await createSeed(service, other, company),
      await createSeed(service, other, company),
    ]
    await joinSeed(service, company.member, second)
    await change(company.owner, second, { leadUserId: company.member.id })
    await as(company.owner, patch(`${company.url}/members/${other.id}`, { role: 'viewer' }))
    expect(await read(first)).toMatchObject({ leadUserId: null, participantCount: 1 })
    expect(await read(second)).toMatchObject({ leadUserId: company.member.id })
    await as(company.owner, patch(`${company.url}/members/${other.id}`, { role: 'member' }))
    await change(company.owner, first, { leadUserId: other.id })
    await as(company.owner, del(`${company.url}/members/${other.id}`))
    expect(await read(first)).toMatchObject({ leadUserId: null, participantCount: 0 })
    expect(await findSeed(service, first)).toMatchObject({ created_by_user_id: other.id })
  })
})

describe('the reason for a status', () => {
  it('is in the data of the event', async () => {
    const seed = await createShared()
    const body = { status: 'dropped', statusReason: ' Nobody wants it ', title: 'Other' }
    expect((await change(company.member, seed, body)).json()).toEqual({ ok: true })
    expect(await lastEvent()).toMatchObject({
      summary:
        'Mary Member changed the seed Other: the title from Fewer meetings to Other and the status from open to dropped',
      data: { status: { from: 'open', to: 'dropped' }, statusReason: 'Nobody wants it' },
    })
  })

  it('is null when there is none, or when the status stays', async () => {
    const seed = await createShared()
    await change(company.member, seed, { status: 'validating', statusReason: '' })
    expect(await lastEvent()).toMatchObject({ data: { statusReason: null } })
    await change(company.member, seed, { status: 'validating', statusReason: 'Still', title: 'Other' })
    expect(await lastEvent()).toMatchObject({ data: { fields: ['title'], status: null, statusReason: null } })
  })

  it('returns 400 without a status', async () => {
    const seed = await createShared()
    const answer = await change(company.member, seed, { title: 'Other', statusReason: 'Because' })
    expectError(answer, errors.reasonWithoutStatus, { field: 'statusReason' })
    expect(await read(seed)).toMatchObject({ title: 'Fewer meetings' })
  })

  it.each([[5], [null], [' '], ['a\u0007b'], ['x'.repeat(301)]])(
    'returns 400 for %j',
    async (statusReason) => {
      const seed = await createShared()
      const answer = await change(company.member, seed, { status: 'dropped', statusReason })
      expect(issuesOf(answer)[0]?.path).toEqual(['statusReason'])
      expect(await read(seed)).toMatchObject({ status: 'open' })
    },
  )
})
