import { describe, expect, it } from 'vitest'
import { eraseDeletedSeeds } from '../../src/areas/seeds/seed-deletion.repository.ts'
import { errors } from '../../src/kernel/errors.ts'
import { createId } from '../../src/kernel/ids.ts'
import { deletedSeedsKeptMs } from '../../src/domain/seeds.ts'
import { addPerson, createCompany, del, get, post } from '../support/company.ts'
import { expectError, issuesOf } from '../support/expect-error.ts'
import { addEvidence, createSeed, findEvidence, findSeed, joinSeed, type TestSeed } from '../support/seeds.ts'
import { createTestClock } from '../support/test-clock.ts'
import { startTestApp, type TestPerson } from '../support/test-app.ts'
import { eventBy, findEvents } from '../support/workspaces.ts'

const clock = createTestClock()
const service = await startTestApp({ clock })
const { as, db } = service
const company = await createCompany(service)

const restore = (person: TestPerson, { id }: { id: string }) => as(person, post(`/v1/seeds/${id}/restore`))
const deletedAtOf = async (seed: { id: string }) => (await findSeed(service, seed))?.deleted_at
const deletedFor = async (person: TestPerson) =>
  (await as(person, get(`${company.url}/seeds?deleted=true&sort=updatedAt`)))
    .json<TestSeed[]>()
    .map(({ id }) => id)

/** A seed that its creator, the member, has deleted. */
async function createDeleted(): Promise<TestSeed> {
  const seed = await createSeed(service, company.member, company)
  await addEvidence(service, company.member, seed)
  await as(company.member, del(`/v1/seeds/${seed.id}`))
  return seed
}

describe('200', () => {
  it.each(['owner', 'admin', 'member'] as const)(
    'restores a seed with its evidence for the %s',
    async (role) => {
      const seed = await createDeleted()
      clock.advance(deletedSeedsKeptMs)
      const answer = await restore(company[role], seed)
      expect(answer.statusCode, answer.body).toBe(200)
      expect(answer.json()).toEqual({ ok: true })
      expect((await as(company.viewer, get(`/v1/seeds/${seed.id}`))).json()).toMatchObject({
        evidenceCounts: { supports: 1, contradicts: 0, neutral: 0 },
        updatedAt: clock.now().toISOString(),
      })
      expect((await findEvents(service, company.workspace)).at(-1)).toEqual(
        eventBy(
          company[role],
          { type: 'seed', id: seed.id },
          { type: 'seed.restored', summary: `${company[role].name} restored the seed Fewer meetings` },
        ),
      )
    },
  )

  it('changes nothing when the seed is not deleted', async () => {
    const seed = await createDeleted()
    await restore(company.member, seed)
    const events = await findEvents(service, company.workspace)
    const before = await findSeed(service, seed)
    expect((await restore(company.member, seed)).json()).toEqual({ ok: true })
    expect(await findSeed(service, seed)).toEqual(before)
    expect(await findEvents(service, company.workspace)).toEqual(events)
  })
})

describe('the list of deleted seeds', () => {
  it('has what the reader can restore, the latest deletion first', async () => {
    const mine = await createDeleted()
    const ofOwner = await createSeed(service, company.owner, company)
    const shared = await createSeed(service, company.member, company)
    await joinSeed(service, company.admin, shared)
    clock.advance(1_000)
    await as(company.owner, del(`/v1/seeds/${ofOwner.id}`))
    clock.advance(1_000)
    await as(company.owner, del(`/v1/seeds/${shared.id}`))
    const kept = await createSeed(service, company.member, company)
    expect((await deletedFor(company.admin)).slice(0, 3)).toEqual([shared.id, ofOwner.id, mine.id])
    const forMember = await deletedFor(company.member)
    expect(forMember).toContain(mine.id)
    for (const { id } of [ofOwner, shared, kept]) expect(forMember).not.toContain(id)
    expect(await deletedFor(company.viewer)).toEqual([])
    clock.advance(deletedSeedsKeptMs + 1)
    expect(await deletedFor(company.admin)).toEqual([])
  })
})

describe('400', () => {
  it('returns 400 for a body', async () => {
    const seed = await createDeleted()
    const answer = await as(company.member, post(`/v1/seeds/${seed.id}/restore`, { why: 'new' }))
    expect(issuesOf(answer)).toEqual([{ _tag: 'Unexpected', path: ['why'] }])
    expect(await deletedAtOf(seed)).not.toBeNull()
  })
})

describe('403', () => {
  it('returns 403 to members who did not create it, and to viewers', async () => {
    const seed = await createDeleted()
    const other = await addPerson(service, company.workspace, 'member')
    for (const person of [other, company.viewer])
      expectError(await restore(person, seed), errors.roleInsufficient)
    expect(await deletedAtOf(seed)).not.toBeNull()
  })
})

describe('404', () => {
  it('returns 404 for a seed of another workspace, and for unknown and malformed ids', async () => {
    const seed = await createDeleted()
    const { owner } = await createCompany(service)
    for (const id of [seed.id, createId(), 'x']) expectError(await restore(owner, { id }), errors.notFound)
    expect(await deletedAtOf(seed)).not.toBeNull()
  })

  it('returns 404 after 14 days, and the hourly job erases the seed with what belongs to it', async () => {
    const seed = await createDeleted()
    const kept = await createSeed(service, company.member, company)
    clock.advance(deletedSeedsKeptMs)
    await eraseDeletedSeeds(db, new Date(clock.now().getTime() - deletedSeedsKeptMs))
    expect(await findSeed(service, seed)).toBeDefined()
    clock.advance(1)
    expectError(await restore(company.owner, seed), errors.notFound)
    await eraseDeletedSeeds(db, new Date(clock.now().getTime() - deletedSeedsKeptMs))
    expect(await findSeed(service, seed)).toBeUndefined()
    expect(await findEvidence(service, seed)).toEqual([])
    expect(await findSeed(service, kept)).toBeDefined()
    expectError(await restore(company.owner, seed), errors.notFound)
  })
})

describe('409', () => {
  it('returns 409 to its creator when others had added to it', async () => {
    const seed = await createSeed(service, company.member, company)
    await joinSeed(service, company.admin, seed)
    await as(company.owner, del(`/v1/seeds/${seed.id}`))
    expectError(await restore(company.member, seed), errors.seedInUse)
    expect(await deletedAtOf(seed)).not.toBeNull()
  })
})
