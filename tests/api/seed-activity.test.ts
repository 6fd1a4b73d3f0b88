import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { createCompany, del, get, patch, post } from '../support/company.ts'
import { addEvidence, createSeed, joinSeed, type TestSeed } from '../support/seeds.ts'
import { startTestApp } from '../support/test-app.ts'
import { createTestClock } from '../support/test-clock.ts'

const clock = createTestClock()
const service = await startTestApp({ clock })
const { as } = service
const company = await createCompany(service)

const read = async ({ id }: { id: string }) =>
  (await as(company.viewer, get(`/v1/seeds/${id}`))).json<TestSeed>()

async function change(seed: TestSeed, run: () => Promise<unknown>) {
  clock.advance(1_000)
  const before = await read(seed)
  await run()
  return { before, after: await read(seed), now: clock.now().toISOString() }
}

describe('what happens to a seed', () => {
  it('a comment moves activityAt and lastCommentAt, and not updatedAt', async () => {
    const seed = await createSeed(service, company.member, company)
    const { before, after, now } = await change(seed, () =>
      as(company.admin, post(`/v1/seeds/${seed.id}/comments`, { body: 'Why?' })),
    )
    expect(after).toEqual({ ...before, commentCount: 1, lastCommentAt: now, activityAt: now })
  })

  it('deleting the newest comment brings the time of the one before back', async () => {
    const seed = await createSeed(service, company.member, company)
    const comment = async () => {
      clock.advance(1_000)
      const answer = await as(company.member, post(`/v1/seeds/${seed.id}/comments`, { body: 'Why?' }))
      return answer.json<{ comment: { id: string; createdAt: string } }>().comment
    }
    const [first, second] = [await comment(), await comment()]
    await as(company.member, del(`/v1/comments/${second.id}`))
    expect(await read(seed)).toMatchObject({ commentCount: 1, lastCommentAt: first.createdAt })
    await as(company.member, del(`/v1/comments/${first.id}`))
    expect(await read(seed)).toMatchObject({ commentCount: 0, lastCommentAt: null })
  })

  it('evidence moves all three times, and withdrawing it brings lastEvidenceAt back', async () => {
    const seed = await createSeed(service, company.member, company)
    const { before, after, now } = await change(seed, () => addEvidence(service, company.member, seed))
    const times = { lastEvidenceAt: now, updatedAt: now, activityAt: now }
    expect(after).toEqual({ ...before, ...times, evidenceCounts: after.evidenceCounts })
    clock.advance(1_000)
    const { id } = await addEvidence(service, company.member, seed)
    await as(company.member, post(`/v1/evidence/${id}/withdraw`, {}))
    expect(await read(seed)).toMatchObject({
      lastEvidenceAt: now,
      activityAt: clock.now().toISOString(),
      evidenceCounts: after.evidenceCounts,
    })
  })

  it('joining counts and moves activityAt alone', async () => {
    const seed = await createSeed(service, company.member, company)
    const { before, after, now } = await change(seed, () => joinSeed(service, company.admin, seed))
    expect(after).toEqual({ ...before, participantCount: 2, activityAt: now })
  })

  it('leaving, and leaving the workspace, count and move activityAt, with the lead', async () => {
    const team = await createCompany(service)
    const seed = await createSeed(service, team.member, team)
    await joinSeed(service, team.admin, seed)
    const readNow = async () => (await as(team.owner, get(`/v1/seeds/${seed.id}`))).json<TestSeed>()
    const joined = await readNow()
    await as(team.admin, post(`/v1/seeds/${seed.id}/leave`))
    const left = await readNow()
    expect(left).toMatchObject({ participantCount: 1, leadName: team.member.name })
    expect(left.activityAt >= joined.activityAt).toBe(true)
    await as(team.member, del(`${team.url}/members/${team.member.id}`))
    const gone = await readNow()
    expect(gone).toMatchObject({ participantCount: 0, leadUserId: null, leadName: null })
    expect(gone.activityAt >= left.activityAt).toBe(true)
  })

  it('people who join a seed at the same moment are all counted', async () => {
    const seed = await createSeed(service, company.member, company)
    const others = [company.owner, company.admin]
    await Promise.all(others.flatMap((person) => [1, 2].map(() => joinSeed(service, person, seed))))
    expect(await read(seed)).toMatchObject({ participantCount: 3 })
  })

  it('a restored seed is active again', async () => {
    const seed = await createSeed(service, company.member, company)
    await as(company.owner, del(`/v1/seeds/${seed.id}`))
    const longAgo = '2020-01-01T00:00:00.000Z'
    await service.db.execute(sql`update seeds set activity_at = ${longAgo} where id = ${seed.id}`)
    await as(company.owner, post(`/v1/seeds/${seed.id}/restore`))
    const { activityAt } = await read(seed)
    expect(activityAt > longAgo).toBe(true)
    const listed = await as(company.viewer, get(`${company.url}/seeds?updatedSince=${activityAt}`))
    expect(listed.json<TestSeed[]>().map(({ id }) => id)).toContain(seed.id)
  })

  it('has the name of the lead as it is now', async () => {
    const seed = await createSeed(service, company.member, company)
    await as(company.member, patch('/v1/me', { name: 'Mary Merged' }))
    expect(await read(seed)).toMatchObject({ leadName: 'Mary Merged', createdByName: 'Mary Merged' })
  })
})
