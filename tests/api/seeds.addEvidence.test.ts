import { describe, expect, it } from 'vitest'
import { errors } from '../../src/kernel/errors.ts'
import { addPerson, createCompany, del, get, patch, post } from '../support/company.ts'
import { expectError, issuesOf } from '../support/expect-error.ts'
import {
  addEvidence,
  createEmptySeed,
  findEvidence,
  findSeed,
  joinSeed,
  someEvidence,
  type TestEvidence,
  type TestSeed,
} from '../support/seeds.ts'
import { createTestClock } from '../support/test-clock.ts'
import { startTestApp, type TestPerson } from '../support/test-app.ts'
import { eventBy, findEvents } from '../support/workspaces.ts'
import { createId } from '../../src/kernel/ids.ts'

const clock = createTestClock()
const service = await startTestApp({ clock })
const { as } = service
const company = await createCompany(service)

const add = (person: TestPerson, id: string, body: object) =>
  as(person, post(`/v1/seeds/${id}/evidence`, body))

async function createJoined(): Promise<TestSeed> {
  const seed = await createEmptySeed(service, company.member, company)
  await joinSeed(service, company.member, seed)
  return seed
}

describe('200', () => {
  it('adds the evidence, updates updatedAt of the seed, and appends an event', async () => {
    const seed = await createJoined()
    clock.advance(5_000)
    const answer = await add(company.member, seed.id, {
      kind: 'experiment',
      verdict: 'contradicts',
      summary: ' One\r\ntwo ',
      sourceUrl: 'https://example.com/a?b=c#d',
    })
    expect(answer.statusCode).toBe(200)
    const { ok, evidence } = answer.json<{ ok: boolean; evidence: TestEvidence }>()
    expect(ok).toBe(true)
    expect(evidence).toEqual({
      id: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-7/) as string,
      workspaceId: company.workspace.id,
      seedId: seed.id,
      kind: 'experiment',
      verdict: 'contradicts',
      summary: 'One\ntwo',
      sourceUrl: 'https://example.com/a?b=c#d',
      ...{ criterionIds: [], attachments: [], seenByCount: 0, seenByMe: false },
      authorUserId: company.member.id,
      authorName: 'Mary Member',
      agentName: null,
      createdAt: clock.now().toISOString(),
      ...{ editedAt: null, withdrawnAt: null, withdrawnByName: null, withdrawnReason: null },
    })
    const list = await as(company.viewer, get(`/v1/seeds/${seed.id}/evidence`))
    expect(list.json()).toEqual([evidence])
    expect((await as(company.viewer, get(`/v1/seeds/${seed.id}`))).json()).toEqual({
      ...seed,
      participantCount: 1,
      evidenceCounts: { supports: 0, contradicts: 1, neutral: 0 },
      lastEvidenceAt: clock.now().toISOString(),
      updatedAt: clock.now().toISOString(),
      activityAt: clock.now().toISOString(),
    })
    expect((await findEvents(service, company.workspace)).at(-1)).toEqual(
      eventBy(
        company.member,
        { type: 'evidence', id: evidence.id },
        {
          type: 'evidence.added',
          summary: 'Mary Member added an experiment that contradicts the seed Fewer meetings',
        },
      ),
    )
  })

  it.each(['interview', 'survey', 'experiment', 'metric', 'note'])(
    'accepts the kind %s with each verdict',
    async (kind) => {
      const seed = await createJoined()
      for (const verdict of ['supports', 'contradicts', 'neutral']) {
        const evidence = await addEvidence(service, company.member, seed, { kind, verdict })
        expect(evidence).toMatchObject({ kind, verdict, sourceUrl: null })
      }
      expect(await findEvidence(service, seed)).toHaveLength(3)
    },
  )

  it.each(['validated', 'dropped'])('accepts evidence for a seed that is %s', async (status) => {
    const seed = await createJoined()
    await as(company.member, patch(`/v1/seeds/${seed.id}`, { status }))
    await addEvidence(service, company.member, seed)
    expect(await findEvidence(service, seed)).toHaveLength(1)
  })

  it.each([
    'http://example.com',
    'HTTPS://EXAMPLE.COM/',
    'https://localhost:8080/x',
    'https://münchen.example/straße?q=ü',
    `https://example.com/${'x'.repeat(2028)}`,
  ])('accepts the URL %s, and returns it unchanged', async (sourceUrl) => {
    const seed = await createJoined()
    expect((await addEvidence(service, company.member, seed, { sourceUrl })).sourceUrl).toBe(sourceUrl)
  })

  it("keeps the evidence and the author's name when the author changes their name and leaves", async () => {
    const person = await addPerson(service, company.workspace, 'member', 'Ada Lovelace')
    const seed = await createJoined()
    await joinSeed(service, person, seed)
    const evidence = await addEvidence(service, person, seed)
    await as(person, patch('/v1/me', { name: 'Ada King' }))
    await as(company.owner, del(`${company.url}/members/${person.id}`))
    const list = await as(company.viewer, get(`/v1/seeds/${seed.id}/evidence`))
    expect(list.json()).toEqual([evidence])
    expect(evidence).toMatchObject({ authorUserId: person.id, authorName: 'Ada Lovelace' })
  })
})

describe('with join', () => {
  it('joins the seed in the same change, and follows it', async () => {
    const seed = await createEmptySeed(service, company.owner, company)
    const answer = await add(company.member, seed.id, { ...someEvidence, join: true })
    expect(answer.statusCode).toBe(200)
    expect((await as(company.member, get(`/v1/seeds/${seed.id}`))).json()).toMatchObject({
      joined: true,
      following: true,
      participantCount: 1,
    })
    const told = (await findEvents(service, company.workspace)).slice(-2)
    expect(told.map(({ type }) => type)).toEqual(['seed.joined', 'evidence.added'])
  })

  it('changes nothing else for a participant, who may have stopped to follow, also on a closed seed', async () => {
    const seed = await createJoined()
    await as(company.member, post(`/v1/seeds/${seed.id}/unfollow`))
    await as(company.member, patch(`/v1/seeds/${seed.id}`, { status: 'dropped' }))
    const events = await findEvents(service, company.workspace)
    expect((await add(company.member, seed.id, { ...someEvidence, join: true })).statusCode).toBe(200)
    const found = (await as(company.member, get(`/v1/seeds/${seed.id}`))).json<object>()
    expect(found).toMatchObject({ joined: true, following: false, participantCount: 1 })
    expect(await findEvents(service, company.workspace)).toHaveLength(events.length + 1)
  })

  it('returns 409 for a closed seed that the caller has not joined, and changes nothing', async () => {
    const seed = await createEmptySeed(service, company.owner, company)
    await as(company.owner, patch(`/v1/seeds/${seed.id}`, { status: 'validated' }))
    const events = await findEvents(service, company.workspace)
    expectError(await add(company.member, seed.id, { ...someEvidence, join: true }), errors.seedClosed)
    expect(await findEvidence(service, seed)).toEqual([])
    expect(await findEvents(service, company.workspace)).toEqual(events)
  })

  it('adds all evidence that is sent at once, and joins once', async () => {
    const seed = await createEmptySeed(service, company.owner, company)
    const answers = await Promise.all(
      [1, 2, 3].map((i) => add(company.member, seed.id, { ...someEvidence, summary: `${i}`, join: true })),
    )
    expect(answers.map(({ statusCode }) => statusCode)).toEqual([200, 200, 200])
    const told = (await findEvents(service, company.workspace)).slice(-4).map(({ type }) => type)
    expect(told.toSorted()).toEqual(['evidence.added', 'evidence.added', 'evidence.added', 'seed.joined'])
  })
})

describe('400', () => {
  it('returns 400 for invalid evidence, and adds nothing', async () => {
    const seed = await createJoined()
    const events = await findEvents(service, company.workspace)
    for (const [bad, tag, path] of [
      [{ kind: undefined }, 'Missing', ['kind']],
      [{ kind: 'rumour' }, 'Type', ['kind']],
      [{ verdict: undefined }, 'Missing', ['verdict']],
      [{ verdict: 'maybe' }, 'Type', ['verdict']],
      [{ summary: undefined }, 'Missing', ['summary']],
      [{ summary: '' }, 'Refinement', ['summary']],
      [{ summary: ' \n ' }, 'Refinement', ['summary']],
      [{ summary: 'a\0' }, 'Refinement', ['summary']],
      [{ summary: 'x'.repeat(4001) }, 'Refinement', ['summary']],
      [{ sourceUrl: null }, 'Type', ['sourceUrl']],
      [{ sourceUrl: '' }, 'Refinement', ['sourceUrl']],
      [{ sourceUrl: 'example.com' }, 'Refinement', ['sourceUrl']],
      [{ sourceUrl: 'ftp://example.com' }, 'Refinement', ['sourceUrl']],
      [{ sourceUrl: 'javascript:alert(1)' }, 'Refinement', ['sourceUrl']],
      [{ sourceUrl: ' https://example.com' }, 'Refinement', ['sourceUrl']],
      [{ sourceUrl: 'https://example.com/a b' }, 'Refinement', ['sourceUrl']],
      [{ sourceUrl: 'https://example.com/\0' }, 'Refinement', ['sourceUrl']],
      [{ sourceUrl: `https://example.com/${'x'.repeat(2029)}` }, 'Refinement', ['sourceUrl']],
      [{ authorName: 'Somebody else' }, 'Unexpected', ['authorName']],
      [{ join: 'true' }, 'Type', ['join']],
    ] as const) {
      const answer = await add(company.member, seed.id, { ...someEvidence, ...bad })
      expect(answer.statusCode, JSON.stringify(bad)).toBe(400)
      expect(issuesOf(answer), JSON.stringify(bad)).toEqual([{ _tag: tag, path }])
    }
    expect(await findEvidence(service, seed)).toEqual([])
    expect(await findEvents(service, company.workspace)).toEqual(events)
  })

  it.each([
    'https://',
    'https://?',
    'http://a:b@example.com/',
    'https://me@example.com',
    'https://exa%mple.com',
  ])('returns 400 for the URL %s', async (sourceUrl) => {
    const seed = await createJoined()
    const answer = await add(company.member, seed.id, { ...someEvidence, sourceUrl })
    if (answer.json<{ _tag: string }>()._tag === 'InvalidInput') {
      expectError(answer, errors.sourceUrlInvalid, { field: 'sourceUrl' })
    } else expect(issuesOf(answer)).toEqual([{ _tag: 'Refinement', path: ['sourceUrl'] }])
    expect(await findEvidence(service, seed)).toEqual([])
  })
})

describe('403', () => {
  it('returns 403 to owners and admins who have not joined the seed, and to a member who has left it', async () => {
    const seed = await createEmptySeed(service, company.owner, company)
    await joinSeed(service, company.member, seed)
    for (const person of [company.owner, company.admin]) {
      expectError(await add(person, seed.id, someEvidence), errors.notAParticipant)
    }
    await as(company.member, post(`/v1/seeds/${seed.id}/leave`))
    expectError(await add(company.member, seed.id, someEvidence), errors.notAParticipant)
    expect(await findEvidence(service, seed)).toEqual([])
    expect((await findSeed(service, seed))?.updated_at).toEqual((await findSeed(service, seed))?.created_at)
  })

  it('returns 403 to a viewer, even one who joined with another role', async () => {
    const person = await addPerson(service, company.workspace, 'member')
    const seed = await createEmptySeed(service, company.owner, company)
    await joinSeed(service, person, seed)
    await as(company.owner, patch(`${company.url}/members/${person.id}`, { role: 'viewer' }))
    expectError(await add(person, seed.id, someEvidence), errors.roleInsufficient)
    expect(await findEvidence(service, seed)).toEqual([])
  })
})

describe('404', () => {
  it('returns the same 404 for a seed of another workspace, an unknown id and a malformed id', async () => {
    const seed = await createJoined()
    const { owner } = await createCompany(service)
    for (const id of [seed.id, createId(), 'x']) {
      expectError(await add(owner, id, someEvidence), errors.notFound)
    }
  })
})

describe('concurrent requests', () => {
  it('adds evidence before its author leaves the seed, or returns not_a_participant', async () => {
    for (let round = 0; round < 15; round++) {
      const seed = await createJoined()
      const [added, left] = await Promise.all([
        add(company.member, seed.id, someEvidence),
        as(company.member, post(`/v1/seeds/${seed.id}/leave`)),
      ])
      expect(left.statusCode).toBe(200)
      const told = (await findEvents(service, company.workspace))
        .slice(-3)
        .map(({ type }) => type)
        .filter((type) => type === 'evidence.added' || type === 'seed.left')
      if (added.statusCode === 200) {
        expect(told).toEqual(['evidence.added', 'seed.left'])
        expect(await findEvidence(service, seed)).toHaveLength(1)
      } else {
        expectError(added, errors.notAParticipant)
        expect(told).toEqual(['seed.left'])
        expect(await findEvidence(service, seed)).toEqual([])
      }
    }
  })

  it('adds all of 20 pieces of evidence', async () => {
    const seed = await createJoined()
    await Promise.all(Array.from({ length: 20 }, () => addEvidence(service, company.member, seed)))
    expect(await findEvidence(service, seed)).toHaveLength(20)
  })
})
