import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { errors } from '../../src/kernel/errors.ts'
import { createId } from '../../src/kernel/ids.ts'
import { addPerson, createCompany, del, get, patch, post } from '../support/company.ts'
import { expectError } from '../support/expect-error.ts'
import { allowLeaving } from '../support/prepare-request.ts'
import { addEvidence, createSeed, joinSeed, type TestEvidence, type TestSeed } from '../support/seeds.ts'
import { createService } from '../support/service-accounts.ts'
import { selectRows, startTestApp, type TestPerson } from '../support/test-app.ts'
import { findEvents } from '../support/workspaces.ts'

const service = await startTestApp()
const { as, db } = service
const company = await createCompany(service)
const { owner, admin, member, viewer } = company

/** A seed of the owner, with a piece of evidence of the member. */
async function createPiece(): Promise<TestEvidence> {
  const seed = await createSeed(service, owner, company)
  await joinSeed(service, member, seed)
  return addEvidence(service, member, seed)
}

const see = (person: Pick<TestPerson, 'apiKey'>, { id }: { id: string }) =>
  as(person, post(`/v1/evidence/${id}/see`))
const unsee = (person: Pick<TestPerson, 'apiKey'>, { id }: { id: string }) =>
  as(person, post(`/v1/evidence/${id}/unsee`))
const read = async (person: TestPerson, { id }: { id: string }) => {
  const { seenByCount, seenByMe } = (await as(person, get(`/v1/evidence/${id}`))).json<TestEvidence>()
  return { seenByCount, seenByMe }
}
const eventsOf = async ({ id }: { id: string }) =>
  (await findEvents(service, company.workspace)).filter(
    ({ type, target_id }) => /^evidence\.(un)?seen$/.test(String(type)) && target_id === id,
  )

describe('200', () => {
  it('counts the caller, once, in every answer with the evidence, and appends an event', async () => {
    const piece = await createPiece()
    expect(piece).toMatchObject({ seenByCount: 0, seenByMe: false })
    for (let i = 0; i < 2; i++) {
      const answer = await see(owner, piece)
      expect(answer.statusCode, answer.body).toBe(200)
      expect(answer.json()).toEqual({ ok: true })
    }
    await see(admin, piece)
    expect(await read(owner, piece)).toEqual({ seenByCount: 2, seenByMe: true })
    expect(await read(viewer, piece)).toEqual({ seenByCount: 2, seenByMe: false })
    for (const query of ['', '?by=people', '?sort=createdAt', '?includeWithdrawn=true']) {
      const list = await as(owner, get(`/v1/seeds/${piece.seedId}/evidence${query}`))
      expect(list.json(), query).toMatchObject([{ id: piece.id, seenByCount: 2, seenByMe: true }])
    }
    expect(await eventsOf(piece)).toMatchObject([
      {
        type: 'evidence.seen',
        summary: 'Olga Owner has seen this too: an interview that supports the seed Fewer meetings',
      },
      { type: 'evidence.seen' },
    ])
    const { data } =
      (await as(viewer, get(`${company.url}/events?limit=1`))).json<{ data: object }[]>()[0] ?? {}
    expect(data).toEqual({
      ...{ evidenceId: piece.id, seedId: piece.seedId, title: 'Fewer meetings' },
      ...{ kind: 'interview', verdict: 'supports' },
    })
  })

  it('no longer counts who takes it back, once', async () => {
    const piece = await createPiece()
    await see(owner, piece)
    await see(admin, piece)
    for (let i = 0; i < 2; i++) expect((await unsee(owner, piece)).json()).toEqual({ ok: true })
    expect(await read(owner, piece)).toEqual({ seenByCount: 1, seenByMe: false })
    expect(await read(admin, piece)).toEqual({ seenByCount: 1, seenByMe: true })
    expect((await eventsOf(piece)).map(({ type }) => type)).toEqual(
      expect.arrayContaining(['evidence.unseen', 'evidence.seen', 'evidence.seen']),
    )
    expect(await eventsOf(piece)).toHaveLength(3)
    // Nothing to take back for its author.
    expect((await unsee(member, piece)).statusCode).toBe(200)
  })

  it('notifies and mails nobody, and leaves the version, the times and the activity as they are', async () => {
    const piece = await createPiece()
    const stateOf = async () => ({
      seed: (await as(viewer, get(`/v1/seeds/${piece.seedId}`))).body,
      // What is before the point is the version, which corrections are compared with.
      version: String((await as(viewer, get(`/v1/evidence/${piece.id}`))).headers.etag).split('.')[0],
      notices: await selectRows(db, sql`select id from notifications where seed_id = ${piece.seedId}`),
      jobs: await selectRows(db, sql`select id from mails`),
    })
    const before = await stateOf()
    await see(owner, piece)
    expect(await stateOf()).toEqual(before)
  })

  it('counts many at the same moment, each once', async () => {
    const piece = await createPiece()
    const people = await Promise.all(
      Array.from({ length: 6 }, () => addPerson(service, company.workspace, 'member')),
    )
    const answers = await Promise.all([...people, ...people].map((person) => see(person, piece)))
    expect(answers.map(({ statusCode }) => statusCode)).toEqual(Array.from({ length: 12 }, () => 200))
    expect(await read(owner, piece)).toEqual({ seenByCount: 6, seenByMe: false })
    expect(await eventsOf(piece)).toHaveLength(6)
    const undone = await Promise.all([...people, ...people].map((person) => unsee(person, piece)))
    expect(new Set(undone.map(({ statusCode }) => statusCode))).toEqual(new Set([200]))
    expect(await read(owner, piece)).toEqual({ seenByCount: 0, seenByMe: false })
    expect(await eventsOf(piece)).toHaveLength(12)
  })

  it('counts right while its seed is merged, it is withdrawn, and people are removed', async () => {
    for (let i = 0; i < 4; i++) {
      const piece = await createPiece()
      const target = await createSeed(service, owner, company)
      const people = await Promise.all(
        Array.from({ length: 3 }, () => addPerson(service, company.workspace, 'member')),
      )
      for (const person of people) await joinSeed(service, person, { id: piece.seedId })
      await as(owner, patch(`/v1/seeds/${piece.seedId}`, { leadUserId: people[0]?.id }))
      const [first] = people
      if (!first) throw new Error('nobody')
      const others = [
        as(owner, del(`${company.url}/members/${first.id}`)),
        as(owner, post(`/v1/seeds/${piece.seedId}/merge`, { into: target.id })),
        ...(i % 2 === 0 ? [as(member, post(`/v1/evidence/${piece.id}/withdraw`))] : []),
      ]
      const answers = await Promise.all([...people.map((person) => see(person, piece)), ...others])
      for (const { statusCode, body } of answers) expect(statusCode, body).toBeLessThan(500)
      const rows = await selectRows<{ counted: number; stored: number }>(
        db,
        sql`select seen_by_count as stored, (select count(*)::int from evidence_seen where evidence_id = evidence.id) as counted
          from evidence where id = ${piece.id}`,
      )
      expect(rows[0]?.stored).toBe(rows[0]?.counted)
      expect(await selectRows(db, sql`select from evidence_seen where user_id = ${first.id}`)).toEqual([])
    }
  })

  it('does not count who leaves, who is removed, and who deletes their account', async () => {
    const piece = await createPiece()
    const other = await createPiece()
    const [leaving, removed, deleted] = [
      await addPerson(service, company.workspace, 'member'),
      await addPerson(service, company.workspace, 'member'),
      await addPerson(service, company.workspace, 'member'),
    ]
    for (const person of [leaving, removed, deleted, admin]) await see(person, piece)
    await see(removed, other)
    expect((await as(leaving, del(`${company.url}/members/${leaving.id}`))).statusCode).toBe(200)
    expect(await read(owner, piece)).toMatchObject({ seenByCount: 3 })
    expect((await as(owner, del(`${company.url}/members/${removed.id}`))).statusCode).toBe(200)
    expect(await read(owner, piece)).toMatchObject({ seenByCount: 2 })
    expect(await read(owner, other)).toMatchObject({ seenByCount: 0 })
    await service.services.accounts.delete(deleted.id, { withWorkspaces: true })
    expect(await read(owner, piece)).toMatchObject({ seenByCount: 1 })
    expect(await selectRows(db, sql`select from evidence_seen where user_id = ${deleted.id}`)).toEqual([])
  })

  it('moves with its evidence to another seed, and back', async () => {
    const piece = await createPiece()
    await see(owner, piece)
    const target = await createSeed(service, owner, company)
    expect((await as(owner, post(`/v1/seeds/${piece.seedId}/merge`, { into: target.id }))).statusCode).toBe(
      200,
    )
    const listed = async ({ id }: Pick<TestSeed, 'id'>) =>
      (await as(owner, get(`/v1/seeds/${id}/evidence`))).json<object>()
    expect(await listed(target)).toMatchObject([{ id: piece.id, seenByCount: 1, seenByMe: true }])
    await see(admin, piece)
    expect((await as(owner, post(`/v1/seeds/${piece.seedId}/unmerge`))).statusCode).toBe(200)
    expect(await listed({ id: piece.seedId })).toMatchObject([
      { id: piece.id, seenByCount: 2, seenByMe: true },
    ])
    expect(await listed(target)).toEqual([])
  })

  it('is exported: with the workspace, with the person, and in the table of the evidence', async () => {
    const own = await createCompany(service)
    const seed = await createSeed(service, own.owner, own)
    await joinSeed(service, own.member, seed)
    const piece = await addEvidence(service, own.member, seed)
    await see(own.admin, piece)
    const { body } = await as(own.owner, get(`${own.url}/export`))
    const lines = body
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { kind: string; data: object })
    const seen = { evidenceId: piece.id, seenAt: expect.any(String) as string }
    expect(lines.flatMap(({ kind, data }) => (kind === 'evidenceSeen' ? [data] : []))).toEqual([
      { ...seen, userId: own.admin.id },
    ])
    await allowLeaving(service, { actorId: own.admin.id, workspaceId: own.workspace.id })
    const exported = (await as(own.admin, get('/v1/me/export'))).json<{ seenEvidence: object[] }>()
    expect(exported.seenEvidence).toEqual([seen])
    const table = (await as(own.owner, get(`/v1/seeds/${seed.id}/evidence/export`))).body
    expect(table.split('\r\n', 1)[0]).toContain(',Seen too by,Files,')
    expect(table).toContain(`,1,,${piece.id}\r\n`)
  })

  it('comes back with a deleted seed', async () => {
    const piece = await createPiece()
    await see(owner, piece)
    await as(owner, del(`/v1/seeds/${piece.seedId}`))
    expectError(await see(admin, piece), errors.notFound)
    await as(owner, post(`/v1/seeds/${piece.seedId}/restore`))
    expect(await read(owner, piece)).toEqual({ seenByCount: 1, seenByMe: true })
  })
})

describe('401', () => {
  it('for an access token of an agent', async () => {
    const piece = await createPiece()
    for (const act of [see, unsee])
      expectError(await act({ apiKey: 'eyJhbGciOiJFUzI1NiJ9.e30.c2ln' }, piece), errors.apiKeyRequired)
  })
})

describe('403', () => {
  it('for viewers, and for service accounts of any role', async () => {
    const piece = await createPiece()
    const account = await createService(service, owner, company, { role: 'admin' })
    for (const act of [see, unsee]) {
      expectError(await act(viewer, piece), errors.roleInsufficient)
      expectError(await act(account, piece), errors.serviceAccountNotAllowed)
    }
  })
})

describe('404', () => {
  it('for evidence that does not exist, of another workspace, and of a deleted seed', async () => {
    const piece = await createPiece()
    const { owner: stranger } = await createCompany(service)
    for (const act of [see, unsee]) {
      expectError(await act(owner, { id: createId() }), errors.notFound)
      expectError(await act(stranger, piece), errors.notFound)
    }
    await as(owner, del(`/v1/seeds/${piece.seedId}`))
    for (const act of [see, unsee]) expectError(await act(owner, piece), errors.notFound)
  })
})

describe('409', () => {
  it('own_evidence for its author, also when an agent added it for them', async () => {
    const piece = await createPiece()
    expectError(await see(member, piece), errors.ownEvidence)
    await db.execute(sql`update evidence set agent_name = 'Claude' where id = ${piece.id}`)
    expectError(await see(member, piece), errors.ownEvidence)
    expect(await read(member, piece)).toEqual({ seenByCount: 0, seenByMe: false })
    expect(await eventsOf(piece)).toEqual([])
  })

  it('evidence_settled once it was withdrawn, as corrections are', async () => {
    const piece = await createPiece()
    await see(admin, piece)
    await as(member, post(`/v1/evidence/${piece.id}/withdraw`))
    expectError(
      await as(member, patch(`/v1/evidence/${piece.id}`, { verdict: 'neutral' })),
      errors.evidenceSettled,
    )
    for (const act of [see, unsee])
      expect((await act(admin, piece)).json()).toMatchObject({
        code: 'evidence_settled',
        message: 'This evidence was withdrawn.',
      })
    expect(await read(admin, piece)).toEqual({ seenByCount: 1, seenByMe: true })
  })
})
