import { describe, expect, it } from 'vitest'
import { errors } from '../../src/kernel/errors.ts'
import { createId } from '../../src/kernel/ids.ts'
import { addPerson, createCompany, get, post } from '../support/company.ts'
import { anyIssues, expectError, issuesOf } from '../support/expect-error.ts'
import { addEvidence, createSeed, findEvidence, joinSeed, type TestEvidence } from '../support/seeds.ts'
import { createTestClock } from '../support/test-clock.ts'
import { startTestApp, type TestPerson } from '../support/test-app.ts'
import { findEvents } from '../support/workspaces.ts'

const clock = createTestClock()
const service = await startTestApp({ clock })
const { as } = service
const company = await createCompany(service)
const dayMs = 24 * 60 * 60 * 1000

/** A seed of the owner, with a piece of evidence of the member. */
async function createPiece(): Promise<TestEvidence> {
  const seed = await createSeed(service, company.owner, company)
  await joinSeed(service, company.member, seed)
  return addEvidence(service, company.member, seed)
}

const withdraw = (person: TestPerson, { id }: { id: string }, body?: object) =>
  as(person, post(`/v1/evidence/${id}/withdraw`, body))
const listed = async ({ seedId }: TestEvidence, query = '') =>
  (await as(company.viewer, get(`/v1/seeds/${seedId}/evidence${query}`))).json<TestEvidence[]>()
const rowOf = async (piece: TestEvidence) => (await findEvidence(service, { id: piece.seedId }))[0]
const eventsOf = async (piece: TestEvidence) =>
  (await findEvents(service, company.workspace)).filter(
    ({ type, target_id }) => type === 'evidence.withdrawn' && target_id === piece.id,
  )
const lastData = async () =>
  (await as(company.viewer, get(`${company.url}/events?limit=1`))).json<{ data: object }[]>()[0]?.data

describe('200', () => {
  it('takes the evidence out of lists and counts, keeps it with who and why, and appends an event', async () => {
    const piece = await createPiece()
    clock.advance(30 * dayMs)
    const answer = await withdraw(company.member, piece, { reason: ' Wrong customers ' })
    expect(answer.statusCode, answer.body).toBe(200)
    expect(answer.json()).toEqual({ ok: true })
    const at = clock.now().toISOString()
    expect(await listed(piece)).toEqual([])
    expect(await listed(piece, '?by=people')).toEqual([])
    const withdrawn = {
      ...piece,
      ...{ withdrawnAt: at, withdrawnByName: 'Mary Member', withdrawnReason: 'Wrong customers' },
    }
    expect(await listed(piece, '?includeWithdrawn=true')).toEqual([withdrawn])
    expect(await listed(piece, '?includeWithdrawn=true&by=people')).toEqual([withdrawn])
    expect((await as(company.viewer, get(`/v1/seeds/${piece.seedId}`))).json()).toMatchObject({
      evidenceCounts: { supports: 0, contradicts: 0, neutral: 0 },
      updatedAt: at,
    })
    expect(await rowOf(piece)).toMatchObject({ withdrawn_by_user_id: company.member.id })
    expect(await eventsOf(piece)).toMatchObject([
      { summary: 'Mary Member withdrew an interview that supports the seed Fewer meetings' },
    ])
    expect(await lastData()).toEqual({
      ...{ evidenceId: piece.id, seedId: piece.seedId, title: 'Fewer meetings' },
      ...{ kind: 'interview', verdict: 'supports', reason: 'Wrong customers' },
      ...{ userId: company.member.id, name: 'Mary Member', isSelf: true },
    })
  })

  it.each(['owner', 'admin'] as const)('lets an %s withdraw what others added', async (role) => {
    const piece = await createPiece()
    expect((await withdraw(company[role], piece)).statusCode).toBe(200)
    const name = company[role].name
    expect(await rowOf(piece)).toMatchObject({ withdrawn_by_name: name, withdrawn_reason: null })
    expect(await eventsOf(piece)).toMatchObject([
      { summary: `${name} withdrew an interview by Mary Member that supports the seed Fewer meetings` },
    ])
    expect(await lastData()).toMatchObject({ reason: null, name: 'Mary Member', isSelf: false })
  })

  it.each([[undefined], [{}], [{ reason: '' }]])('needs no reason: %j', async (body) => {
    const piece = await createPiece()
    expect((await withdraw(company.member, piece, body)).statusCode).toBe(200)
    expect(await rowOf(piece)).toMatchObject({ withdrawn_reason: null })
  })

  it('keeps the first reason when it is repeated', async () => {
    const piece = await createPiece()
    await withdraw(company.member, piece, { reason: 'First' })
    const before = await rowOf(piece)
    expect((await withdraw(company.owner, piece, { reason: 'Second' })).json()).toEqual({ ok: true })
    expect(await rowOf(piece)).toEqual(before)
    expect(await eventsOf(piece)).toHaveLength(1)
  })
})

describe('400', () => {
  it.each([[5], [null], [' '], ['a\u0007b'], ['x'.repeat(301)]])(
    'returns 400 for the reason %j',
    async (reason) => {
      const piece = await createPiece()
      const answer = await withdraw(company.member, piece, { reason })
      expectError(answer, errors.decodeError, { issues: anyIssues })
      expect(issuesOf(answer)[0]?.path).toEqual(['reason'])
      expect(await listed(piece)).toEqual([piece])
    },
  )
})

describe('403', () => {
  it('returns 403 to members who did not add it, and to viewers', async () => {
    const piece = await createPiece()
    const other = await addPerson(service, company.workspace, 'member')
    expectError(await withdraw(other, piece), errors.notTheAuthor)
    expectError(await withdraw(company.viewer, piece), errors.roleInsufficient)
    expect(await listed(piece)).toEqual([piece])
  })
})

describe('404', () => {
  it('returns 404 for evidence of another workspace or of a deleted seed, and for unknown and malformed ids', async () => {
    const piece = await createPiece()
    const { owner } = await createCompany(service)
    for (const id of [piece.id, createId(), 'x']) expectError(await withdraw(owner, { id }), errors.notFound)
    await as(company.owner, { method: 'DELETE', url: `/v1/seeds/${piece.seedId}` })
    expectError(await withdraw(company.member, piece), errors.notFound)
  })
})
