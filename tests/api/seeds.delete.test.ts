import { describe, expect, it } from 'vitest'
import { errors } from '../../src/kernel/errors.ts'
import { createId } from '../../src/kernel/ids.ts'
import { addPerson, createCompany, del, get, patch, post } from '../support/company.ts'
import { expectError, issuesOf } from '../support/expect-error.ts'
import { createOAuthTester } from '../support/oauth-client.ts'
import { addEvidence, createSeed, findSeed, joinSeed, someEvidence } from '../support/seeds.ts'
import { createTestClock } from '../support/test-clock.ts'
import { startTestApp, type TestPerson } from '../support/test-app.ts'
import { eventBy, findEvents } from '../support/workspaces.ts'

const clock = createTestClock()
const service = await startTestApp({ clock })
const { app, as } = service
const company = await createCompany(service)

const remove = (person: TestPerson, { id }: { id: string }) => as(person, del(`/v1/seeds/${id}`))
const deletedAtOf = async (seed: { id: string }) => (await findSeed(service, seed))?.deleted_at

describe('200', () => {
  it('deletes a seed of the caller that nobody else added to, and appends an event', async () => {
    const seed = await createSeed(service, company.member, company)
    await addEvidence(service, company.member, seed)
    const answer = await remove(company.member, seed)
    expect(answer.statusCode, answer.body).toBe(200)
    expect(answer.json()).toEqual({ ok: true })
    expect(await deletedAtOf(seed)).not.toBeNull()
    expect((await findEvents(service, company.workspace)).at(-1)).toEqual(
      eventBy(
        company.member,
        { type: 'seed', id: seed.id },
        { type: 'seed.deleted', summary: 'Mary Member deleted the seed Fewer meetings' },
      ),
    )
  })

  it.each(['owner', 'admin'] as const)('lets an %s delete what others take part in', async (role) => {
    const seed = await createSeed(service, company.member, company)
    await joinSeed(service, company.owner, seed)
    expect((await remove(company[role], seed)).statusCode).toBe(200)
    expect(await deletedAtOf(seed)).not.toBeNull()
  })

  it('answers 404 to every operation on a deleted seed, and lists and kits leave it out', async () => {
    const title = `Gone ${createId()}`
    const seed = await createSeed(service, company.owner, company, { title })
    const { id: evidenceId } = await addEvidence(service, company.owner, seed)
    const token = await createOAuthTester(service).letIn(company.workspace, company.owner)
    const readKit = (payload: object) =>
      app.inject({
        ...{ method: 'POST', url: '/agent/v1/validation-kit:read', payload },
        headers: { authorization: `Bearer ${token}` },
      })
    expect((await readKit({ query: title })).body).toContain(title)
    await remove(company.owner, seed)
    const path = `/v1/seeds/${seed.id}`
    for (const request of [
      ...[get(path), get(`${path}/participants`), get(`${path}/evidence`), get(`${path}/comments`)],
      ...[patch(path, { title: 'Other' }), del(path), post(`${path}/join`), post(`${path}/leave`)],
      ...[post(`${path}/follow`), post(`${path}/unfollow`), post(`${path}/evidence`, someEvidence)],
      ...[patch(`/v1/evidence/${evidenceId}`, { kind: 'note' }), post(`/v1/evidence/${evidenceId}/withdraw`)],
    ])
      expectError(await as(company.owner, request), errors.notFound)
    for (const query of [
      '',
      '&status=open',
      `&q=${encodeURIComponent(title)}`,
      '&joined=true',
      '&sort=updatedAt',
    ])
      expect((await as(company.owner, get(`${company.url}/seeds?limit=200${query}`))).body).not.toContain(
        title,
      )
    expect((await readKit({})).body).not.toContain(title)
    expect((await readKit({ query: title })).json()).toMatchObject({
      seeds: [],
      totals: { seeds: 0, evidence: 0 },
    })
    expect((await readKit({ seedId: seed.id })).statusCode).toBe(404)
  })
})

describe('400', () => {
  it('returns 400 for a body', async () => {
    const seed = await createSeed(service, company.member, company)
    const answer = await as(company.member, { ...del(`/v1/seeds/${seed.id}`), payload: { why: 'old' } })
    expect(issuesOf(answer)).toEqual([{ _tag: 'Unexpected', path: ['why'] }])
    expect(await deletedAtOf(seed)).toBeNull()
  })
})

describe('403', () => {
  it('returns 403 to members who did not create it, and to viewers', async () => {
    const seed = await createSeed(service, company.member, company)
    const other = await addPerson(service, company.workspace, 'member')
    for (const person of [other, company.viewer])
      expectError(await remove(person, seed), errors.roleInsufficient)
    expect(await deletedAtOf(seed)).toBeNull()
  })
})

describe('404', () => {
  it('returns 404 for a seed of another workspace, and for unknown and malformed ids', async () => {
    const seed = await createSeed(service, company.member, company)
    const { owner } = await createCompany(service)
    for (const id of [seed.id, createId(), 'x']) expectError(await remove(owner, { id }), errors.notFound)
    expect(await deletedAtOf(seed)).toBeNull()
  })
})

describe('409', () => {
  it('returns 409 to its creator once others have joined it, or added evidence or a comment, and left', async () => {
    const other = await addPerson(service, company.workspace, 'member')
    const uses: ((seed: { id: string }) => Promise<unknown>)[] = [
      (seed) => joinSeed(service, other, seed),
      async (seed) => {
        await joinSeed(service, other, seed)
        const { id } = await addEvidence(service, other, seed)
        await as(other, post(`/v1/evidence/${id}/withdraw`))
        await as(other, post(`/v1/seeds/${seed.id}/leave`))
      },
      (seed) => as(other, post(`/v1/seeds/${seed.id}/comments`, { body: 'Why?' })),
    ]
    for (const use of uses) {
      const seed = await createSeed(service, company.member, company)
      await use(seed)
      expectError(await remove(company.member, seed), errors.seedInUse)
      expect(await deletedAtOf(seed)).toBeNull()
    }
  })
})
