import { sql } from 'drizzle-orm'
import type { LightMyRequestResponse } from 'fastify'
import { afterEach, describe, expect, it } from 'vitest'
import { errors, type ErrorFactory } from '../../src/kernel/errors.ts'
import { addPerson, createCompany, del, findInconsistencies, get, patch, post } from '../support/company.ts'
import { createComment } from '../support/comments.ts'
import { expectError } from '../support/expect-error.ts'
import {
  addEvidence,
  createSeed,
  findEvidence,
  findParticipants,
  findSeed,
  joinSeed,
  someEvidence,
} from '../support/seeds.ts'
import { selectRows, startTestApp } from '../support/test-app.ts'
import { untilWaiting } from '../support/until-waiting.ts'

// What happens to a seed at the same time. Each race runs several times: who comes first is another one each time.

const service = await startTestApp({ environment: { DATABASE_POOL_MAX: '20' } })
const { as, db } = service
const company = await createCompany(service)
const rounds = 8

/** Runs two requests at once, in turns in this and in the other order. */
async function race(
  round: number,
  one: () => Promise<LightMyRequestResponse>,
  other: () => Promise<LightMyRequestResponse>,
): Promise<[LightMyRequestResponse, LightMyRequestResponse]> {
  if (round % 2 === 0) return Promise.all([one(), other()])
  const [second, first] = await Promise.all([other(), one()])
  return [first, second]
}

const typesOf = async (seed: { id: string }) => {
  const rows = await selectRows<{ type: string }>(
    db,
    sql`select type from events where seed_id = ${seed.id} order by position`,
  )
  return rows.map(({ type }) => type)
}

afterEach(async () => {
  expect(await findInconsistencies(service)).toEqual([])
  const leadless = await selectRows(
    db,
    sql`select id from seeds where lead_user_id is not null and not exists (
      select from seed_participants where seed_id = seeds.id and user_id = seeds.lead_user_id)`,
  )
  expect(leadless).toEqual([])
})

describe('withdrawing evidence while it is corrected', () => {
  it('corrects it first, or refuses the correction', async () => {
    for (let round = 0; round < rounds; round++) {
      const seed = await createSeed(service, company.member, company)
      const { id } = await addEvidence(service, company.member, seed)
      const [corrected, withdrawn] = await race(
        round,
        () => as(company.member, patch(`/v1/evidence/${id}`, { verdict: 'neutral' })),
        () => as(company.owner, post(`/v1/evidence/${id}/withdraw`)),
      )
      expect(withdrawn.statusCode).toBe(200)
      const [row] = await findEvidence(service, seed)
      expect(row?.withdrawn_at).not.toBeNull()
      const types = (await typesOf(seed)).slice(2)
      if (corrected.statusCode === 200) {
        expect(row).toMatchObject({ verdict: 'neutral' })
        expect(types).toEqual(['evidence.updated', 'evidence.withdrawn'])
      } else {
        expectError(corrected, errors.evidenceSettled)
        expect(row).toMatchObject({ verdict: 'supports', edited_at: null })
        expect(types).toEqual(['evidence.withdrawn'])
      }
    }
  })
})

describe('evidence and comments of one seed at the same time', () => {
  it('are all counted', async () => {
    const seed = await createSeed(service, company.member, company)
    await joinSeed(service, company.admin, seed)
    const pieces = await Promise.all([1, 2, 3].map(() => addEvidence(service, company.member, seed)))
    const comments = await Promise.all([1, 2, 3].map(() => createComment(service, company.member, seed)))
    const answers = await Promise.all([
      ...pieces.map(({ id }) => as(company.member, patch(`/v1/evidence/${id}`, { verdict: 'contradicts' }))),
      ...pieces.map(() => as(company.admin, post(`/v1/seeds/${seed.id}/evidence`, someEvidence))),
      ...pieces.slice(1).map(({ id }) => as(company.owner, post(`/v1/evidence/${id}/withdraw`))),
      ...comments.map(() => as(company.admin, post(`/v1/seeds/${seed.id}/comments`, { body: 'Why?' }))),
      ...comments.slice(1).map(({ id }) => as(company.owner, del(`/v1/comments/${id}`))),
    ])
    // A correction may come after the withdrawal.
    const refused = answers.filter(({ statusCode }) => statusCode !== 200)
    for (const answer of refused) expectError(answer, errors.evidenceSettled)
    expect((await as(company.viewer, get(`/v1/seeds/${seed.id}`))).json()).toMatchObject({
      evidenceCounts: { supports: 3, contradicts: 1, neutral: 0 },
      commentCount: 4,
    })
  })
})

describe('deleting a seed', () => {
  it.each([
    ['join', undefined],
    ['comments', { body: 'Why?' }],
  ])('is refused to its creator once somebody adds by %s, or comes first', async (verb, body) => {
    const other = await addPerson(service, company.workspace, 'member')
    for (let round = 0; round < rounds; round++) {
      const seed = await createSeed(service, company.member, company)
      const [added, deleted] = await race(
        round,
        () => as(other, post(`/v1/seeds/${seed.id}/${verb}`, body)),
        () => as(company.member, del(`/v1/seeds/${seed.id}`)),
      )
      const isDeleted = (await findSeed(service, seed))?.deleted_at !== null
      expectError(isDeleted ? added : deleted, isDeleted ? errors.notFound : errors.seedInUse)
      expect((isDeleted ? deleted : added).statusCode).toBe(200)
    }
  })

  it('comes after the evidence of a participant, or the evidence is refused', async () => {
    for (let round = 0; round < rounds; round++) {
      const seed = await createSeed(service, company.member, company)
      const [added, deleted] = await race(
        round,
        () => as(company.member, post(`/v1/seeds/${seed.id}/evidence`, someEvidence)),
        () => as(company.owner, del(`/v1/seeds/${seed.id}`)),
      )
      expect(deleted.statusCode, deleted.body).toBe(200)
      if (added.statusCode !== 200) expectError(added, errors.notFound)
      expect((await typesOf(seed)).at(-1)).toBe('seed.deleted')
      expect(await findEvidence(service, seed)).toHaveLength(added.statusCode === 200 ? 1 : 0)
    }
  })

  it('waits for a participant who is being added, and is then refused', async () => {
    const seed = await createSeed(service, company.member, company)
    const { id: userId } = await addPerson(service, company.workspace, 'member')
    const deletion = await db.transaction(async (tx) => {
      await tx.execute(sql`select from seeds where id = ${seed.id} for share`)
      const started = as(company.member, del(`/v1/seeds/${seed.id}`))
      await untilWaiting(service, 1)
      await tx.execute(sql`
        insert into seed_participants (seed_id, user_id, workspace_id, joined_at)
        values (${seed.id}, ${userId}, ${company.workspace.id}, now())`)
      return { started }
    })
    expectError(await deletion.started, errors.seedInUse)
    expect(await findSeed(service, seed)).toMatchObject({ deleted_at: null })
  })

  it('is done once', async () => {
    for (let round = 0; round < rounds; round++) {
      const seed = await createSeed(service, company.owner, company)
      const answers = await race(
        round,
        () => as(company.owner, del(`/v1/seeds/${seed.id}`)),
        () => as(company.admin, del(`/v1/seeds/${seed.id}`)),
      )
      expect(answers.map(({ statusCode }) => statusCode).sort()).toEqual([200, 404])
      expect((await typesOf(seed)).slice(1)).toEqual(['seed.deleted'])
    }
  })
})

describe('removing a member who leads seeds', () => {
  it('leaves no lead behind, whoever changes their seeds meanwhile', async () => {
    for (let round = 0; round < rounds; round++) {
      const lead = await addPerson(service, company.workspace, 'member')
      const seeds = [
        await createSeed(service, lead, company),
        await createSeed(service, lead, company),
        await createSeed(service, lead, company),
      ] as const
      for (const seed of seeds) await joinSeed(service, company.member, seed)
      const remove = () => as(company.owner, del(`${company.url}/members/${lead.id}`))
      const requests = [
        // Tells its followers, whose memberships it locks.
        () => as(company.member, post(`/v1/seeds/${seeds[0].id}/evidence`, someEvidence)),
        () => as(company.admin, patch(`/v1/seeds/${seeds[1].id}`, { status: 'validating' })),
        () => as(lead, post(`/v1/seeds/${seeds[2].id}/leave`)),
        () => as(lead, post(`${company.url}/seeds`, { title: 'One more', summary: 'Of a former member' })),
      ]
      const started = round % 2 === 0 ? [remove, ...requests] : [...requests, remove]
      const answers = await Promise.all(started.map((send) => send()))
      const removed = answers.at(round % 2 === 0 ? 0 : -1)
      expect(removed?.statusCode, removed?.body).toBe(200)
      for (const answer of answers) expect(answer.statusCode, answer.body).toBeLessThan(500)
      const rows = await selectRows(db, sql`select id from seeds where lead_user_id = ${lead.id}`)
      expect(rows).toEqual([])
      for (const seed of seeds) expect(await findParticipants(service, seed)).toEqual([company.member.id])
    }
  })

  it('leaves no lead when they are made one at the same time', async () => {
    for (let round = 0; round < rounds; round++) {
      const person = await addPerson(service, company.workspace, 'member')
      const seed = await createSeed(service, company.member, company)
      await joinSeed(service, person, seed)
      const [made, removed] = await race(
        round,
        () => as(company.member, patch(`/v1/seeds/${seed.id}`, { leadUserId: person.id })),
        () => as(company.owner, del(`${company.url}/members/${person.id}`)),
      )
      expect(removed.statusCode, removed.body).toBe(200)
      if (made.statusCode !== 200) expectError(made, errors.leadInvalid, { field: 'leadUserId' })
      const expected = made.statusCode === 200 ? null : company.member.id
      expect(await findSeed(service, seed)).toMatchObject({ lead_user_id: expected })
    }
  })

  it('leaves no lead when they become a viewer, or leave the seed, at the same time', async () => {
    for (let round = 0; round < rounds; round++) {
      const person = await addPerson(service, company.workspace, 'member')
      const seed = await createSeed(service, company.member, company)
      await joinSeed(service, person, seed)
      const demote = () => as(company.owner, patch(`${company.url}/members/${person.id}`, { role: 'viewer' }))
      const leave = () => as(person, post(`/v1/seeds/${seed.id}/leave`))
      const [made, ended] = await race(
        Math.floor(round / 2),
        () => as(company.member, patch(`/v1/seeds/${seed.id}`, { leadUserId: person.id })),
        round % 2 === 0 ? demote : leave,
      )
      expect(ended.statusCode, ended.body).toBe(200)
      if (made.statusCode !== 200) expectError(made, errors.leadInvalid, { field: 'leadUserId' })
      const expected = made.statusCode === 200 ? null : company.member.id
      expect(await findSeed(service, seed)).toMatchObject({ lead_user_id: expected })
    }
  })
})

describe('merging a seed', () => {
  const merge = (seed: { id: string }, into: { id: string }) => () =>
    as(company.owner, post(`/v1/seeds/${seed.id}/merge`, { into: into.id }))
  const expectRefused = (answer: LightMyRequestResponse, error: ErrorFactory, now: { id: string }) =>
    expectError(answer, error, { message: `${error.message} It is now the seed ${now.id}.` })
  const createPair = async () =>
    [
      await createSeed(service, company.member, company),
      await createSeed(service, company.member, company),
    ] as const

  it('is done once of two that cross, or that have the same seed', async () => {
    for (let round = 0; round < rounds; round++) {
      const [one, other] = await createPair()
      const third = await createSeed(service, company.member, company)
      await addEvidence(service, company.member, one)
      const [there, back] = await race(round, merge(one, other), merge(other, one))
      if (there.statusCode === 200) expectRefused(back, errors.mergeTargetMerged, other)
      else expectRefused(there, errors.mergeTargetMerged, one)
      expect([there.statusCode, back.statusCode].toSorted()).toEqual([200, 409])
      const [left, gone] = there.statusCode === 200 ? [other, one] : [one, other]
      expect(await findEvidence(service, left)).toHaveLength(1)
      expect(await findEvidence(service, gone)).toEqual([])
      const fourth = await createSeed(service, company.member, company)
      const [first, second] = await race(round, merge(left, third), merge(left, fourth))
      if (first.statusCode === 200) expectRefused(second, errors.seedMerged, third)
      else expectRefused(first, errors.seedMerged, fourth)
      expect([first.statusCode, second.statusCode].toSorted()).toEqual([200, 409])
    }
  })

  it.each([
    ['evidence', someEvidence],
    ['comments', { body: 'Why?' }],
    ['join', undefined],
  ] as const)('comes after %s, which move too, or they are refused', async (verb, body) => {
    const other = await addPerson(service, company.workspace, 'member')
    for (let round = 0; round < rounds; round++) {
      const [one, into] = await createPair()
      const person = verb === 'join' ? other : company.member
      const [added, merged] = await race(
        round,
        () => as(person, post(`/v1/seeds/${one.id}/${verb}`, body)),
        merge(one, into),
      )
      expect(merged.statusCode, merged.body).toBe(200)
      const isAdded = added.statusCode === 200
      if (!isAdded) expectRefused(added, errors.seedMerged, into)
      const count = isAdded ? 1 : 0
      expect(await findEvidence(service, into)).toHaveLength(verb === 'evidence' ? count : 0)
      expect(await findEvidence(service, one)).toEqual([])
      expect((await findParticipants(service, into)).includes(other.id)).toBe(verb === 'join' && isAdded)
      expect(await findSeed(service, into)).toMatchObject({ comment_count: verb === 'comments' ? count : 0 })
    }
  })

  it('comes before a deletion of either seed, or is refused', async () => {
    for (let round = 0; round < rounds; round++) {
      const [one, into] = await createPair()
      const deleted = round % 4 < 2 ? into : one
      const [merged, deletion] = await race(round, merge(one, into), () =>
        as(company.owner, del(`/v1/seeds/${deleted.id}`)),
      )
      if (merged.statusCode === 200) {
        if (deleted === into) expect(deletion.statusCode, deletion.body).toBe(200)
        else expectRefused(deletion, errors.seedMerged, into)
      } else {
        expect(deletion.statusCode, deletion.body).toBe(200)
        expectError(merged, deleted === into ? errors.mergeTargetDeleted : errors.notFound)
      }
    }
  })

  it('corrects and edits what moves, before or after', async () => {
    for (let round = 0; round < rounds; round++) {
      const [one, into] = await createPair()
      const piece = await addEvidence(service, company.member, one)
      const written = await createComment(service, company.member, one)
      const [[corrected, edited], merged] = await Promise.all([
        Promise.all([
          as(company.member, patch(`/v1/evidence/${piece.id}`, { verdict: 'contradicts' })),
          as(company.member, patch(`/v1/comments/${written.id}`, { body: `Of ${round}` })),
        ]),
        merge(one, into)(),
      ])
      expect(merged.statusCode, merged.body).toBe(200)
      expect(edited.statusCode, edited.body).toBe(200)
      if (corrected.statusCode !== 200) expectRefused(corrected, errors.seedMerged, into)
      const isCorrected = corrected.statusCode === 200
      expect(await findSeed(service, into)).toMatchObject({
        ...{ supports_count: isCorrected ? 0 : 1, contradicts_count: isCorrected ? 1 : 0, comment_count: 1 },
      })
    }
  })

  it('does not wait for ever for a participant who is removed, or leaves', async () => {
    for (let round = 0; round < rounds; round++) {
      const [one, into] = await createPair()
      const person = await addPerson(service, company.workspace, 'member')
      await joinSeed(service, person, one)
      if (round % 4 < 2) await joinSeed(service, person, into)
      const isRemoved = round % 3 !== 0
      const [merged, ended] = await race(round, merge(one, into), () =>
        isRemoved
          ? as(company.owner, del(`${company.url}/members/${person.id}`))
          : as(person, post(`/v1/seeds/${one.id}/leave`)),
      )
      expect(merged.statusCode, merged.body).toBe(200)
      if (isRemoved) expect(ended.statusCode, ended.body).toBe(200)
      else if (ended.statusCode !== 200) expectRefused(ended, errors.seedMerged, into)
      if (isRemoved) expect(await findParticipants(service, into)).not.toContain(person.id)
    }
  })

  it('is undone once, and beside changes of the other seed', async () => {
    for (let round = 0; round < rounds; round++) {
      const [one, into] = await createPair()
      const piece = await addEvidence(service, company.member, one)
      await merge(one, into)()
      const undo = () => as(company.owner, post(`/v1/seeds/${one.id}/unmerge`))
      const [[first, second], [added, withdrawn]] = await Promise.all([
        race(round, undo, undo),
        race(
          round,
          () => as(company.member, post(`/v1/seeds/${into.id}/evidence`, someEvidence)),
          () => as(company.member, post(`/v1/evidence/${piece.id}/withdraw`)),
        ),
      ])
      expect([first.statusCode, second.statusCode, added.statusCode]).toEqual([200, 200, 200])
      expect(await typesOf(one)).toEqual(expect.arrayContaining(['seed.merged', 'seed.unmerged']))
      expect((await typesOf(one)).filter((type) => type === 'seed.unmerged')).toHaveLength(1)
      // It waited for the lock of the other seed, and found the piece moved.
      if (withdrawn.statusCode !== 200) expectError(withdrawn, errors.notFound)
      expect(await findEvidence(service, one)).toHaveLength(1)
      expect(await findEvidence(service, into)).toHaveLength(1)
    }
  })
})
