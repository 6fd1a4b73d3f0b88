import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { eraseDeletedSeeds } from '../../src/areas/seeds/seed-deletion.repository.ts'
import { errors } from '../../src/kernel/errors.ts'
import { createId } from '../../src/kernel/ids.ts'
import { addPerson, createCompany, del, get, patch, post, type TestCompany } from '../support/company.ts'
import { createComment } from '../support/comments.ts'
import { expectError } from '../support/expect-error.ts'
import { allowLeaving } from '../support/prepare-request.ts'
import {
  addEvidence,
  createEmptySeed,
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

const merge = (person: TestPerson, seed: { id: string }, into: string) =>
  as(person, post(`/v1/seeds/${seed.id}/merge`, { into }))
const read = async (seed: { id: string }) =>
  (await as(company.viewer, get(`/v1/seeds/${seed.id}`))).json<TestSeed>()
const listed = async <Row>(path: string, of: Pick<TestCompany, 'url'> = company) =>
  (await as(company.owner, get(path.startsWith('/') ? path : `${of.url}/${path}`))).json<Row[]>()

describe('200', () => {
  it('moves what belongs to the seed, each with its author and time, and tells who follows either', async () => {
    const own = await createCompany(service)
    const { owner, admin, member, viewer, workspace } = own
    const source = await createSeed(service, member, own, { title: 'Old' })
    const target = await createSeed(service, owner, own, { title: 'New' })
    await joinSeed(service, admin, source)
    await joinSeed(service, admin, target)
    await as(viewer, post(`/v1/seeds/${source.id}/follow`))
    clock.advance(1_000)
    const kept = await addEvidence(service, member, source)
    const withdrawn = await addEvidence(service, member, source, { verdict: 'contradicts' })
    await as(member, post(`/v1/evidence/${withdrawn.id}/withdraw`))
    await addEvidence(service, owner, target, { verdict: 'neutral' })
    clock.advance(1_000)
    const onSeed = await createComment(service, admin, source, {
      body: `[@Olga](user:${owner.id}) and zebras`,
    })
    const onEvidence = await createComment(service, admin, source, { body: 'Who?', evidenceId: kept.id })
    const before = await as(member, get(`/v1/evidence/${kept.id}`))
    clock.advance(1_000)

    const answer = await merge(owner, source, target.id)
    expect(answer.statusCode, answer.body).toBe(200)
    expect(answer.json()).toEqual({ ok: true })

    expect((await as(member, get(`/v1/evidence/${kept.id}`))).json()).toEqual({
      ...before.json<object>(),
      seedId: target.id,
    })
    for (const { id } of [onSeed, onEvidence])
      expect((await as(member, get(`/v1/comments/${id}`))).json()).toMatchObject({
        seedId: target.id,
        authorUserId: admin.id,
      })
    expect((await as(viewer, get(`/v1/seeds/${target.id}`))).json()).toMatchObject({
      evidenceCounts: { supports: 1, contradicts: 0, neutral: 1 },
      commentCount: 2,
      participantCount: 3,
      lastEvidenceAt: kept.createdAt,
      updatedAt: clock.now().toISOString(),
    })
    expect((await findParticipants(service, target)).toSorted()).toEqual(
      [owner.id, admin.id, member.id].toSorted(),
    )
    expect(await findFollowers(service, target)).toEqual(
      [owner.id, admin.id, member.id, viewer.id].toSorted(),
    )
    expect(await findSeed(service, source)).toMatchObject({
      merged_into_seed_id: target.id,
      merged_by_user_id: owner.id,
      ...{ supports_count: 0, contradicts_count: 0, comment_count: 0, last_evidence_at: null },
    })
    const data = { seedId: source.id, title: 'Old', intoSeedId: target.id, intoTitle: 'New' }
    const [event] = await selectRows<{ data: object }>(
      db,
      sql`select data from events where type = 'seed.merged' and seed_id = ${source.id}`,
    )
    expect(event?.data).toEqual({ ...data, evidenceCount: 2, commentCount: 2 })
    expect((await findEvents(service, workspace)).at(-1)).toEqual(
      eventBy(
        owner,
        { type: 'seed', id: target.id },
        {
          type: 'seed.merged',
          summary: `${owner.name} merged the seed Old into New`,
        },
      ),
    )
    for (const person of [admin, member, viewer]) {
      const [first] = (await as(person, get('/v1/me/notifications'))).json<object[]>()
      expect(first).toMatchObject({
        kind: 'merged',
        seedId: target.id,
        text: `${owner.name} merged Old into New`,
      })
    }
    // What they were told before leads to the other seed too.
    const told = (await as(owner, get('/v1/me/notifications'))).json<
      { kind: string; seedId: string; url: string }[]
    >()
    expect(told.map(({ kind, seedId }) => `${kind} ${seedId}`)).toEqual([
      `comment ${target.id}`,
      `mention ${target.id}`,
    ])
  })

  it('leaves the seed in no list, kit, search and count', async () => {
    const own = await createCompany(service)
    const source = await createSeed(service, own.member, own, { title: 'Quokka crossing' })
    const target = await createSeed(service, own.member, own, { title: 'Wombat crossing' })
    await addEvidence(service, own.member, source, { summary: 'Numbats agree' })
    await merge(own.owner, source, target.id)
    const ids = async (path: string) =>
      (await as(own.owner, get(path))).json<{ id: string }[]>().map(({ id }) => id)
    for (const query of [
      '',
      '?q=quokka',
      '?deleted=true&sort=updatedAt',
      `?ids=${source.id}`,
      '?sort=activityAt',
    ])
      expect(await ids(`${own.url}/seeds${query}`), query).not.toContain(source.id)
    expect(await ids(`${own.url}/search?q=quokka`)).toEqual([])
    expect(await ids(`${own.url}/search?q=numbats`)).toHaveLength(1)
    expect((await as(own.owner, get(`${own.url}/seeds/similar?title=quokka`))).json()).toEqual([])
    expect((await as(own.owner, get(`${own.url}/search/counts?q=crossing`))).json()).toMatchObject({
      seeds: 1,
    })
  })

  it('returns the other seed by the former id, with its path, through several merges', async () => {
    const [first, second, third] = [
      await createSeed(service, company.member, company),
      await createSeed(service, company.member, company),
      await createSeed(service, company.member, company),
    ]
    const piece = await addEvidence(service, company.member, first)
    await merge(company.member, first, second.id)
    await merge(company.member, second, third.id)
    const answer = await as(company.viewer, get(`/v1/seeds/${first.id}`))
    expect(answer.statusCode).toBe(200)
    expect(answer.json()).toEqual(await read(third))
    expect(answer.headers['content-location']).toBe(`/v1/seeds/${third.id}`)
    const parts = await as(company.viewer, get(`/v1/seeds/${first.id}/evidence?limit=5`))
    expect(parts.json<{ id: string }[]>().map(({ id }) => id)).toEqual([piece.id])
    expect(parts.headers['content-location']).toBe(`/v1/seeds/${third.id}/evidence?limit=5`)
    for (const part of ['participants', 'comments'])
      expect((await as(company.viewer, get(`/v1/seeds/${first.id}/${part}`))).statusCode).toBe(200)
    expect(
      (await as(company.viewer, get(`/v1/seeds/${third.id}`))).headers['content-location'],
    ).toBeUndefined()
  })

  it('ends that people are asked to join the seed', async () => {
    const [source, target] = [
      await createSeed(service, company.owner, company),
      await createSeed(service, company.owner, company),
    ]
    const ask = { userId: company.member.id, as: 'participant' }
    expect((await as(company.owner, post(`/v1/seeds/${source.id}/invite-person`, ask))).statusCode).toBe(200)
    await merge(company.owner, source, target.id)
    expect(
      await selectRows(
        db,
        sql`select from notifications where kind = 'asked_to_join' and user_id = ${company.member.id}`,
      ),
    ).toEqual([])
  })

  it('is in the exports of the workspace and of the person', async () => {
    const own = await createCompany(service)
    const source = await createSeed(service, own.owner, own)
    const target = await createSeed(service, own.owner, own)
    await merge(own.owner, source, target.id)
    const lines = (await as(own.owner, get(`${own.url}/export`))).body
      .trim()
      .split('\n')
      .map(
        (line) =>
          JSON.parse(line) as { kind: string; data: { id?: string; mergedIntoSeedId?: string | null } },
      )
    const seeds = lines.filter(({ kind }) => kind === 'seed').map(({ data }) => data)
    expect(seeds.find(({ id }) => id === source.id)).toMatchObject({
      ...{ mergedIntoSeedId: target.id, mergedAt: clock.now().toISOString(), mergedByUserId: own.owner.id },
    })
    expect(seeds.find(({ id }) => id === target.id)).toMatchObject({ mergedIntoSeedId: null, mergedAt: null })
    await allowLeaving(service, { actorId: own.owner.id, workspaceId: own.workspace.id })
    const answer = await as(own.owner, get('/v1/me/export'))
    expect(answer.statusCode, answer.body).toBe(200)
    const person = answer.json<Record<'merges' | 'seeds', object[]>>()
    expect(person.merges).toEqual([
      {
        seedId: source.id,
        workspaceId: own.workspace.id,
        mergedIntoSeedId: target.id,
        mergedAt: clock.now().toISOString(),
      },
    ])
    expect(person.seeds).toContainEqual(
      expect.objectContaining({ id: source.id, mergedIntoSeedId: target.id }),
    )
  })
})

describe('erasure', () => {
  it('erases the seed with the one that it was merged into, and not before', async () => {
    const source = await createSeed(service, company.owner, company)
    const target = await createSeed(service, company.owner, company)
    await merge(company.owner, source, target.id)
    clock.advance(20 * 24 * 60 * 60 * 1000)
    await eraseDeletedSeeds(db, clock.now())
    expect(await findSeed(service, source)).toMatchObject({ merged_into_seed_id: target.id })
    await as(company.owner, del(`/v1/seeds/${target.id}`))
    expectError(await as(company.owner, get(`/v1/seeds/${source.id}`)), errors.notFound)
    await as(company.owner, post(`/v1/seeds/${target.id}/restore`))
    expect((await read(source)).id).toBe(target.id)
    await as(company.owner, del(`/v1/seeds/${target.id}`))
    clock.advance(1)
    await eraseDeletedSeeds(db, clock.now())
    expect(await findSeed(service, source)).toBeUndefined()
  })
})

describe('403', () => {
  it('returns role_insufficient to who leads only one of them', async () => {
    const { member } = company
    const own = await createSeed(service, member, company)
    const other = await createSeed(service, company.owner, company)
    await joinSeed(service, member, other)
    expectError(await merge(member, own, other.id), errors.roleInsufficient)
    expectError(await merge(member, other, own.id), errors.roleInsufficient)
    await as(company.owner, patch(`/v1/seeds/${other.id}`, { leadUserId: member.id }))
    expect((await merge(member, own, other.id)).statusCode).toBe(200)
  })
})

describe('404', () => {
  it('returns not_found for an id that no seed of the workspace has', async () => {
    const seed = await createSeed(service, company.owner, company)
    const elsewhere = await createCompany(service)
    await service.db.execute(sql`
      insert into memberships (workspace_id, user_id, role, joined_at, last_used_at)
      values (${elsewhere.workspace.id}, ${company.owner.id}, 'owner', now(), now())`)
    const other = await createSeed(service, company.owner, elsewhere)
    for (const into of [createId(), 'x', other.id])
      expectError(await merge(company.owner, seed, into), errors.notFound)
    expectError(await merge(company.owner, { id: createId() }, seed.id), errors.notFound)
    const stranger = await service.createPerson()
    expectError(await merge(stranger, seed, seed.id), errors.notFound)
  })

  it('returns not_found to a stranger for a merged seed', async () => {
    const [seed, other] = [
      await createSeed(service, company.owner, company),
      await createSeed(service, company.owner, company),
    ]
    await merge(company.owner, seed, other.id)
    const stranger = await service.createPerson()
    expectError(await as(stranger, get(`/v1/seeds/${seed.id}`)), errors.notFound)
    expectError(await as(stranger, post(`/v1/seeds/${seed.id}/join`)), errors.notFound)
  })
})

describe('409', () => {
  it('refuses itself, a deleted and a merged seed', async () => {
    const { owner } = company
    const [seed, deleted, merged, last] = (await Promise.all(
      [1, 2, 3, 4].map(() => createSeed(service, owner, company)),
    )) as [TestSeed, TestSeed, TestSeed, TestSeed]
    await as(owner, del(`/v1/seeds/${deleted.id}`))
    await merge(owner, merged, last.id)
    expectError(await merge(owner, seed, seed.id), errors.mergeSameSeed)
    expectError(await merge(owner, seed, deleted.id), errors.mergeTargetDeleted)
    expectError(await merge(owner, seed, merged.id), errors.mergeTargetMerged, {
      message: `${errors.mergeTargetMerged.message} It is now the seed ${last.id}.`,
    })
    expectError(await merge(owner, deleted, seed.id), errors.notFound)
  })

  it('returns seed_merged, with the id of the other seed, for each change of a merged one', async () => {
    const { owner, member } = company
    const seed = await createSeed(service, owner, company)
    const target = await createSeed(service, owner, company)
    await merge(owner, seed, target.id)
    const path = `/v1/seeds/${seed.id}`
    const message = `${errors.seedMerged.message} It is now the seed ${target.id}.`
    for (const request of [
      patch(path, { title: 'x' }),
      del(path),
      ...['restore', 'follow', 'unfollow', 'join', 'leave'].map((change) => post(`${path}/${change}`)),
      post(`${path}/merge`, { into: target.id }),
      post(`${path}/invite-person`, { userId: member.id, as: 'participant' }),
      post(`${path}/evidence`, { kind: 'note', verdict: 'neutral', summary: 'x' }),
      post(`${path}/comments`, { body: 'x' }),
    ])
      expectError(await as(owner, request), errors.seedMerged, { message })
  })
})

it('a seed without anything is merged, too', async () => {
  const seed = await createEmptySeed(service, company.owner, company)
  const target = await createEmptySeed(service, company.owner, company)
  expect((await merge(company.admin, seed, target.id)).statusCode).toBe(200)
  expect(await read(target)).toMatchObject({ participantCount: 0, commentCount: 0 })
})

it('erasing the person who merged leaves the merge', async () => {
  const leaver = await addPerson(service, company.workspace, 'admin')
  const [seed, target] = [
    await createSeed(service, company.owner, company),
    await createSeed(service, company.owner, company),
  ]
  await joinSeed(service, leaver, seed)
  await merge(leaver, seed, target.id)
  await service.services.accounts.delete(leaver.id, { withWorkspaces: false })
  expect(await findSeed(service, seed)).toMatchObject({
    merged_into_seed_id: target.id,
    merged_by_user_id: null,
  })
  expect(await selectRows(db, sql`select from seed_moves where part_id = ${leaver.id}`)).toEqual([])
  expect(await listed('events?types=seed.merged&limit=1')).toHaveLength(1)
})
