import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { errors } from '../../src/kernel/errors.ts'
import { createCompany, get, patch, post, type TestCompany } from '../support/company.ts'
import { expectError } from '../support/expect-error.ts'
import { beginImport, findImport, makeTable, runSlice } from '../support/seed-imports.ts'
import { someEvidence, type TestSeed } from '../support/seeds.ts'
import { startTestApp, type TestPerson } from '../support/test-app.ts'

const service = await startTestApp()
const { as, db } = service

const undo = ({ url }: TestCompany, person: TestPerson, importId: string) =>
  as(person, post(`${url}/seeds/imports/${importId}/undo`))

/** An import of the member that is done, with its seeds, the first row first. */
async function importSeeds(company: TestCompany, count: number) {
  const importId = await beginImport(service, company.member, company, makeTable(count))
  for (let done = 0; done < count; done += 100) await runSlice(service, importId)
  return { importId, seeds: await listSeeds(company) }
}

async function listSeeds({ url, viewer }: TestCompany): Promise<TestSeed[]> {
  const seeds = (await as(viewer, get(`${url}/seeds?limit=200`))).json<TestSeed[]>()
  const numberOf = ({ title }: TestSeed) => Number(/\d+$/.exec(title)?.[0])
  return seeds.toSorted((a, b) => numberOf(a) - numberOf(b))
}

describe('200', () => {
  it('deletes the seeds that nobody else has added to, which can be restored', async () => {
    const company = await createCompany(service)
    const { admin, member, viewer, url } = company
    const { importId, seeds } = await importSeeds(company, 10)
    const pathOf = (place: number) => `/v1/seeds/${seeds[place - 1]?.id}`
    const send = async (person: TestPerson, request: ReturnType<typeof post>) => {
      const answer = await as(person, request)
      expect(answer.statusCode, answer.body).toBe(200)
    }
    // What others have added to: these stay.
    await send(admin, post(`${pathOf(1)}/evidence`, { ...someEvidence, join: true }))
    await send(admin, post(`${pathOf(2)}/comments`, { body: 'Why?' }))
    await send(admin, patch(pathOf(3), { problem: 'There is one' }))
    await send(admin, post(`${pathOf(4)}/join`))
    await send(admin, post(`${pathOf(5)}/merge`, { into: seeds[5]?.id }))
    // What only the importer has added to, and what others follow: these go.
    await send(member, post(`${pathOf(7)}/evidence`, someEvidence))
    await send(member, patch(pathOf(8), { status: 'validating' }))
    await send(viewer, post(`${pathOf(9)}/follow`))
    const answer = await undo(company, member, importId)
    expect(answer.json()).toEqual({ ok: true, keptCount: 6 })
    expect((await findImport(service, viewer, company, importId)).state).toBe('undoing')
    await runSlice(service, importId)
    expect(await findImport(service, viewer, company, importId)).toMatchObject({
      ...{ state: 'undone', removedCount: 4, keptCount: 6, done: 10 },
    })
    // The fifth is a part of the sixth.
    expect((await listSeeds(company)).map(({ title }) => title)).toEqual(
      [1, 2, 3, 4, 6].map((n) => `Idea ${n}`),
    )
    await send(member, post(`${pathOf(10)}/restore`))
    expect(await listSeeds(company)).toHaveLength(6)
    const events = (await as(viewer, get(`${url}/events?types=seed.deleted,workspace.import_undone`))).json<
      { type: string; summary: string; actorUserId: string }[]
    >()
    expect(events.map(({ type }) => type)).toEqual([
      ...Array.from({ length: 4 }, () => 'seed.deleted'),
      'workspace.import_undone',
    ])
    expect(events.every(({ actorUserId }) => actorUserId === member.id)).toBe(true)
  })

  it('is made in slices, also by admins', async () => {
    const company = await createCompany(service)
    const { importId } = await importSeeds(company, 150)
    expect((await undo(company, company.admin, importId)).statusCode).toBe(200)
    await runSlice(service, importId)
    expect(await listSeeds(company)).toHaveLength(50)
    await Promise.all([runSlice(service, importId), runSlice(service, importId)])
    expect(await findImport(service, company.viewer, company, importId)).toMatchObject({
      ...{ state: 'undone', removedCount: 150, keptCount: 0 },
    })
  })

  it('undoes what was made of an import that stopped', async () => {
    const company = await createCompany(service)
    const importId = await beginImport(service, company.member, company, makeTable(150))
    await runSlice(service, importId)
    await db.execute(sql`update seed_imports set state = 'stopped' where id = ${importId}`)
    expect((await undo(company, company.owner, importId)).statusCode).toBe(200)
    await runSlice(service, importId)
    await runSlice(service, importId)
    expect(await listSeeds(company)).toEqual([])
  })
})

describe('403, 409', () => {
  it('is for who imported, owners and admins', async () => {
    const company = await createCompany(service)
    const importId = await beginImport(service, company.owner, company, makeTable(1))
    await runSlice(service, importId)
    expectError(await undo(company, company.member, importId), errors.roleInsufficient)
    expectError(await undo(company, company.viewer, importId), errors.roleInsufficient)
  })

  it('is refused while it is made or undone, after it was, and after 14 days', async () => {
    const company = await createCompany(service)
    const importId = await beginImport(service, company.member, company, makeTable(1))
    expectError(await undo(company, company.member, importId), errors.importInProgress)
    await runSlice(service, importId)
    const setAge = (age: string) =>
      db.execute(sql`update seed_imports set created_at = now() - ${age}::interval where id = ${importId}`)
    await setAge('14 days 1 minute')
    expectError(await undo(company, company.member, importId), errors.importExpired)
    await setAge('13 days 23 hours')
    expect((await undo(company, company.member, importId)).statusCode).toBe(200)
    expectError(await undo(company, company.member, importId), errors.importInProgress)
    await runSlice(service, importId)
    expectError(await undo(company, company.member, importId), errors.importUndone)
  })
})
