import { describe, expect, it } from 'vitest'
import { errors } from '../../src/kernel/errors.ts'
import { createId } from '../../src/kernel/ids.ts'
import { createCompany, get, patch, post } from '../support/company.ts'
import { anyIssues, expectError, issuesOf } from '../support/expect-error.ts'
import { addEvidence, createSeed, findEvidence, joinSeed, type TestEvidence } from '../support/seeds.ts'
import { createTestClock } from '../support/test-clock.ts'
import { startTestApp, type TestPerson } from '../support/test-app.ts'
import { eventBy, findEvents } from '../support/workspaces.ts'

const clock = createTestClock()
const service = await startTestApp({ clock })
const { as } = service
const company = await createCompany(service)
const minuteMs = 60_000

/** A seed of the owner, with a piece of evidence of the member. */
async function createPiece(fields: object = {}): Promise<TestEvidence> {
  const seed = await createSeed(service, company.owner, company)
  await joinSeed(service, company.member, seed)
  return addEvidence(service, company.member, seed, { sourceUrl: 'https://example.com/1', ...fields })
}

const correct = (person: TestPerson, { id }: { id: string }, body: object) =>
  as(person, patch(`/v1/evidence/${id}`, body))
const listed = async ({ seedId }: TestEvidence) =>
  (await as(company.viewer, get(`/v1/seeds/${seedId}/evidence`))).json<TestEvidence[]>()
const rowOf = async (piece: TestEvidence) => (await findEvidence(service, { id: piece.seedId }))[0]
const eventsOf = async (piece: TestEvidence) =>
  (await findEvents(service, company.workspace)).filter(
    ({ type, target_id }) => type === 'evidence.updated' && target_id === piece.id,
  )

describe('200', () => {
  it('changes the given fields, marks the evidence as edited, counts it anew, and appends an event', async () => {
    const piece = await createPiece()
    clock.advance(minuteMs)
    const answer = await correct(company.member, piece, {
      kind: 'survey',
      verdict: 'contradicts',
      summary: ' One\r\ntwo ',
      sourceUrl: 'https://example.com/2',
    })
    expect(answer.statusCode, answer.body).toBe(200)
    expect(answer.json()).toEqual({ ok: true })
    const at = clock.now().toISOString()
    const corrected = {
      ...piece,
      ...{ kind: 'survey', verdict: 'contradicts', summary: 'One\ntwo', sourceUrl: 'https://example.com/2' },
      editedAt: at,
    }
    expect(await listed(piece)).toEqual([corrected])
    expect((await as(company.viewer, get(`/v1/seeds/${piece.seedId}`))).json()).toMatchObject({
      evidenceCounts: { supports: 0, contradicts: 1, neutral: 0 },
      updatedAt: at,
    })
    expect(await eventsOf(piece)).toEqual([
      eventBy(
        company.member,
        { type: 'evidence', id: piece.id },
        {
          type: 'evidence.updated',
          summary:
            'Mary Member corrected the kind, the verdict, the summary and the source of evidence of the seed Fewer meetings',
        },
      ),
    ])
    const [event] = (await as(company.viewer, get(`${company.url}/events?limit=1`))).json<
      { data: object }[]
    >()
    expect(event?.data).toEqual({
      ...{ evidenceId: piece.id, seedId: piece.seedId, title: 'Fewer meetings' },
      fields: ['kind', 'verdict', 'summary', 'sourceUrl'],
    })
  })

  it('clears an empty source, and leaves absent fields as they are', async () => {
    const piece = await createPiece()
    expect((await correct(company.member, piece, { sourceUrl: '' })).statusCode).toBe(200)
    expect(await listed(piece)).toMatchObject([
      { ...piece, sourceUrl: null, editedAt: expect.any(String) as string },
    ])
  })

  it('changes nothing when nothing differs', async () => {
    const piece = await createPiece()
    for (const body of [{}, { kind: piece.kind, summary: ` ${piece.summary} ` }])
      expect((await correct(company.member, piece, body)).json()).toEqual({ ok: true })
    expect(await listed(piece)).toEqual([piece])
    expect(await eventsOf(piece)).toEqual([])
  })

  it('is for the author for 15 minutes, even after they left the seed', async () => {
    const piece = await createPiece()
    await as(company.member, post(`/v1/seeds/${piece.seedId}/leave`))
    clock.advance(15 * minuteMs)
    expect((await correct(company.member, piece, { verdict: 'neutral' })).statusCode).toBe(200)
  })
})

describe('400', () => {
  it.each([
    ['kind', 'rumour'],
    ['verdict', null],
    ['summary', ''],
    ['summary', 'x'.repeat(4001)],
    ['sourceUrl', null],
    ['sourceUrl', 'javascript:alert(1)'],
    ['seedId', 'x'],
  ])('returns 400 for an invalid %s', async (field, value) => {
    const piece = await createPiece()
    const answer = await correct(company.member, piece, { [field]: value })
    expectError(answer, errors.decodeError, { issues: anyIssues })
    expect(issuesOf(answer)[0]?.path).toEqual([field])
    expect(await listed(piece)).toEqual([piece])
  })

  it('returns 400 for a source with a password', async () => {
    const piece = await createPiece()
    const answer = await correct(company.member, piece, { sourceUrl: 'https://a:b@example.com' })
    expectError(answer, errors.sourceUrlInvalid, { field: 'sourceUrl' })
    expect(await listed(piece)).toEqual([piece])
  })
})

describe('403', () => {
  it('returns 403 to everybody but the author, and to an author who is a viewer now', async () => {
    const piece = await createPiece()
    const before = await rowOf(piece)
    for (const person of [company.owner, company.admin])
      expectError(await correct(person, piece, { verdict: 'neutral' }), errors.notTheAuthor)
    expectError(await correct(company.viewer, piece, { verdict: 'neutral' }), errors.roleInsufficient)
    const role = (name: string) =>
      as(company.owner, patch(`${company.url}/members/${company.member.id}`, { role: name }))
    await role('viewer')
    expectError(await correct(company.member, piece, { verdict: 'neutral' }), errors.roleInsufficient)
    await role('member')
    expect(await rowOf(piece)).toEqual(before)
  })
})

describe('404', () => {
  it('returns 404 for evidence of another workspace or of a deleted seed, and for unknown and malformed ids', async () => {
    const piece = await createPiece()
    const { owner } = await createCompany(service)
    for (const id of [piece.id, createId(), 'x'])
      expectError(await correct(owner, { id }, { verdict: 'neutral' }), errors.notFound)
    await as(company.owner, { method: 'DELETE', url: `/v1/seeds/${piece.seedId}` })
    expectError(await correct(company.member, piece, { verdict: 'neutral' }), errors.notFound)
  })
})

describe('409', () => {
  it('returns 409 after 15 minutes', async () => {
    const piece = await createPiece()
    clock.advance(15 * minuteMs + 1)
    expectError(await correct(company.member, piece, { verdict: 'neutral' }), errors.evidenceSettled)
    expect(await listed(piece)).toEqual([piece])
  })

  it('returns 409 for withdrawn evidence', async () => {
    const piece = await createPiece()
    await as(company.member, post(`/v1/evidence/${piece.id}/withdraw`))
    const before = await rowOf(piece)
    expectError(await correct(company.member, piece, { verdict: 'neutral' }), errors.evidenceSettled)
    expect(await rowOf(piece)).toEqual(before)
  })
})
