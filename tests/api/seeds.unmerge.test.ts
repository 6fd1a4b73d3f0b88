import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { deleteOldMoves } from '../../src/areas/seeds/seed-merging.repository.ts'
import { errors } from '../../src/kernel/errors.ts'
import { createId } from '../../src/kernel/ids.ts'
import { mergesUndoneMs } from '../../src/domain/seeds.ts'
import { createCompany, del, get, patch, post } from '../support/company.ts'
import { createComment } from '../support/comments.ts'
import { expectError } from '../support/expect-error.ts'
import {
  addEvidence,
  createSeed,
  findFollowers,
  findParticipants,
  findSeed,
  joinSeed,
  type TestSeed,
} from '../support/seeds.ts'
import { createTestClock } from '../support/test-clock.ts'
import { selectRows, startTestApp, type TestPerson } from '../support/test-app.ts'
import { eventBy, findEvents } from '../support/workspaces.ts'

const clock = createTestClock()
const service = await startTestApp({ clock })
const { as, db } = service
const company = await createCompany(service)
const { owner, member } = company

const merge = async (seed: { id: string }, into: { id: string }) => {
  const answer = await as(owner, post(`/v1/seeds/${seed.id}/merge`, { into: into.id }))
  expect(answer.statusCode, answer.body).toBe(200)
}
const unmerge = (person: TestPerson, { id }: { id: string }) => as(person, post(`/v1/seeds/${id}/unmerge`))
const read = async (seed: { id: string }) => (await as(member, get(`/v1/seeds/${seed.id}`))).json<TestSeed>()
const idsOf = async (seed: { id: string }, part: string) =>
  (await as(owner, get(`/v1/seeds/${seed.id}/${part}`))).json<{ id: string }[]>().map(({ id }) => id)
const pair = async (person = owner): Promise<[TestSeed, TestSeed]> => [
  await createSeed(service, person, company, { title: 'Old' }),
  await createSeed(service, person, company, { title: 'New' }),
]

describe('200', () => {
  it('takes back what was moved, and leaves what was added since', async () => {
    const { admin, viewer, workspace } = company
    const source = await createSeed(service, member, company, { title: 'Old' })
    const target = await createSeed(service, owner, company, { title: 'New' })
    await joinSeed(service, admin, source)
    await joinSeed(service, admin, target)
    await as(viewer, post(`/v1/seeds/${source.id}/follow`))
    const [moved, withdrawn, ofTarget] = [
      await addEvidence(service, member, source, { summary: 'Numbats agree' }),
      await addEvidence(service, member, source),
      await addEvidence(service, owner, target),
    ]
    const first = await createComment(service, admin, source, { body: 'One' })
    const deleted = await createComment(service, admin, source, { body: 'Two' })
    const before = await read(source)
    await merge(source, target)
    // Meanwhile.
    clock.advance(1_000)
    await as(member, post(`/v1/evidence/${withdrawn.id}/withdraw`))
    await as(member, patch(`/v1/evidence/${moved.id}`, { verdict: 'contradicts' }))
    await as(admin, del(`/v1/comments/${deleted.id}`))
    const onMoved = await createComment(service, owner, target, { body: 'Why?', evidenceId: moved.id })
    const onTarget = await createComment(service, owner, target, { body: 'Stays' })
    const added = await addEvidence(service, member, target)
    clock.advance(mergesUndoneMs - 1_000)

    const answer = await unmerge(owner, source)
    expect(answer.statusCode, answer.body).toBe(200)
    expect(answer.json()).toEqual({ ok: true })

    expect(await read(source)).toMatchObject({
      ...{ id: source.id, title: 'Old', leadUserId: member.id, participantCount: before.participantCount },
      evidenceCounts: { supports: 0, contradicts: 1, neutral: 0 },
      ...{ commentCount: 2, lastEvidenceAt: moved.createdAt, updatedAt: clock.now().toISOString() },
    })
    expect(await read(target)).toMatchObject({
      ...{ participantCount: 2, commentCount: 1, lastEvidenceAt: added.createdAt },
      evidenceCounts: { supports: 2, contradicts: 0, neutral: 0 },
    })
    expect((await idsOf(source, 'evidence')).toSorted()).toEqual([moved.id])
    expect((await idsOf(target, 'evidence')).toSorted()).toEqual([added.id, ofTarget.id].toSorted())
    expect((await idsOf(source, 'comments')).toSorted()).toEqual([first.id, onMoved.id].toSorted())
    expect(await idsOf(target, 'comments')).toEqual([onTarget.id])
    expect((await findParticipants(service, source)).toSorted()).toEqual([admin.id, member.id].toSorted())
    expect((await findParticipants(service, target)).toSorted()).toEqual([admin.id, owner.id].toSorted())
    expect(await findFollowers(service, source)).toEqual([admin.id, member.id, viewer.id].toSorted())
    expect(await findFollowers(service, target)).toEqual([admin.id, owner.id].toSorted())
    expect(await selectRows(db, sql`select from seed_moves where seed_id = ${source.id}`)).toEqual([])
    // It is found again.
    const found = (await as(owner, get(`${company.url}/search?q=numbats`))).json<{ seedId: string }[]>()
    expect(found.map(({ seedId }) => seedId)).toEqual([source.id])
    expect((await as(owner, get(`${company.url}/seeds?ids=${source.id}&q=old`))).json()).toHaveLength(1)
    const data = { seedId: source.id, title: 'Old', fromSeedId: target.id, fromTitle: 'New' }
    const [event] = await selectRows<{ data: object }>(
      db,
      sql`select data from events where type = 'seed.unmerged' and seed_id = ${source.id}`,
    )
    expect(event?.data).toEqual({ ...data, evidenceCount: 2, commentCount: 2 })
    expect((await findEvents(service, workspace)).at(-1)).toEqual(
      eventBy(
        owner,
        { type: 'seed', id: target.id },
        {
          type: 'seed.unmerged',
          summary: `${owner.name} took the seed Old out of New again`,
        },
      ),
    )
    const [told] = (await as(viewer, get('/v1/me/notifications'))).json<object[]>()
    expect(told).toMatchObject({ kind: 'merged', text: `${owner.name} took Old out of New again` })
  })

  it('changes nothing when the seed is not merged', async () => {
    const [source, target] = await pair()
    await merge(source, target)
    await unmerge(owner, source)
    const events = await findEvents(service, company.workspace)
    const before = await findSeed(service, source)
    expect((await unmerge(owner, source)).json()).toEqual({ ok: true })
    expect(await findSeed(service, source)).toEqual(before)
    expect(await findEvents(service, company.workspace)).toEqual(events)
    // It can be merged again.
    await merge(source, target)
  })

  it('keeps who leads the other seed now in both, and nobody leads what they have left', async () => {
    const source = await createSeed(service, member, company)
    const target = await createSeed(service, owner, company)
    await joinSeed(service, company.admin, source)
    await merge(source, target)
    await as(owner, patch(`/v1/seeds/${target.id}`, { leadUserId: company.admin.id }))
    await as(member, post(`/v1/seeds/${target.id}/leave`))
    expect((await unmerge(owner, source)).statusCode).toBe(200)
    expect(await findParticipants(service, source)).toEqual([company.admin.id])
    expect((await findParticipants(service, target)).toSorted()).toEqual(
      [company.admin.id, owner.id].toSorted(),
    )
    expect(await read(source)).toMatchObject({ leadUserId: null, participantCount: 1 })
    expect(await read(target)).toMatchObject({ leadUserId: company.admin.id, participantCount: 2 })
  })

  it('undoes merges one after the other, the last first', async () => {
    const [first, second] = await pair()
    const third = await createSeed(service, owner, company)
    const piece = await addEvidence(service, owner, first)
    await merge(first, second)
    await merge(second, third)
    expectError(await unmerge(owner, first), errors.seedMergedAgain)
    await unmerge(owner, second)
    expect(await idsOf(second, 'evidence')).toEqual([piece.id])
    await unmerge(owner, first)
    expect(await idsOf(first, 'evidence')).toEqual([piece.id])
    expect(await idsOf(second, 'evidence')).toEqual([])
  })
})

describe('403', () => {
  it('returns role_insufficient to who leads only one of them', async () => {
    const source = await createSeed(service, member, company)
    const target = await createSeed(service, owner, company)
    await merge(source, target)
    expectError(await unmerge(member, source), errors.roleInsufficient)
    await as(owner, patch(`/v1/seeds/${target.id}`, { leadUserId: member.id }))
    expect((await unmerge(member, source)).statusCode).toBe(200)
  })
})

describe('404', () => {
  it('returns not_found for an unknown seed, a deleted one, and while the other one is deleted', async () => {
    const [source, target] = await pair()
    expectError(await unmerge(owner, { id: createId() }), errors.notFound)
    await merge(source, target)
    await as(owner, del(`/v1/seeds/${target.id}`))
    expectError(await unmerge(owner, source), errors.notFound)
    expectError(await unmerge(owner, target), errors.notFound)
    await as(owner, post(`/v1/seeds/${target.id}/restore`))
    expect((await unmerge(owner, source)).statusCode).toBe(200)
  })
})

describe('409', () => {
  it('returns merge_expired after 14 days, when what was moved is forgotten', async () => {
    const [source, target] = await pair()
    await addEvidence(service, owner, source)
    await merge(source, target)
    const movesOf = () => selectRows(db, sql`select from seed_moves where seed_id = ${source.id}`)
    clock.advance(mergesUndoneMs)
    await deleteOldMoves(db, new Date(clock.now().getTime() - mergesUndoneMs))
    expect(await movesOf()).toHaveLength(1)
    clock.advance(1)
    expectError(await unmerge(owner, source), errors.mergeExpired)
    await deleteOldMoves(db, new Date(clock.now().getTime() - mergesUndoneMs))
    expect(await movesOf()).toEqual([])
  })
})
