import { eq } from 'drizzle-orm'
import { expect, it } from 'vitest'
import { events } from '../../src/db/schema/events.ts'
import { createCompany, get, patch, post } from '../support/company.ts'
import { eventually } from '../support/eventually.ts'
import { createSeed } from '../support/seeds.ts'
import { startTestApp, type TestPerson } from '../support/test-app.ts'

const service = await startTestApp()
const { as, db } = service

/** When a member was last active, as each of the two lists and the member itself have it. */
async function activityOf(url: string, owner: TestPerson, { id }: { id: string }) {
  const [members, people, member] = await Promise.all([
    as(owner, get(`${url}/members`)),
    as(owner, get(`${url}/people`)),
    as(owner, get(`${url}/members/${id}`)),
  ])
  interface Item {
    userId: string
    lastActivityAt: string | null
  }
  const ofList = (answer: typeof members) => answer.json<Item[]>().find(({ userId }) => userId === id)
  return [ofList(members), ofList(people), member.json<Item>()].map((item) => item?.lastActivityAt)
}

it('is the time of the newest event of a member that everybody may see', async () => {
  const company = await createCompany(service)
  const { owner, member, admin, url } = company
  const seed = await createSeed(service, member, company, { title: 'Seen by all' })
  const [created] = await db.select().from(events).where(eq(events.targetId, seed.id))
  const at = created?.createdAt.toISOString()
  await eventually(async () => expect(await activityOf(url, owner, member)).toEqual([at, at, at]))
  // What only managers see tells nobody, and neither does reading.
  expect(
    (await as(admin, post(`${url}/invites`, { email: 'somebody@example.com', role: 'member' }))).statusCode,
  ).toBe(200)
  expect((await as(admin, get(`/v1/seeds/${seed.id}`))).statusCode).toBe(200)
  // This comes later, so the others would have been recorded before.
  await as(company.owner, patch(url, { name: 'Renamed' }))
  await eventually(async () => {
    const [ofOwner] = await activityOf(url, owner, owner)
    expect(ofOwner).toMatch(/Z$/)
  })
  expect(await activityOf(url, owner, admin)).toEqual([null, null, null])
})

it('is of each workspace in which a person changes something, by a change of their profile in all', async () => {
  const [here, there] = [await createCompany(service), await createCompany(service)]
  const { owner } = here
  await as(owner, patch('/v1/me', { name: 'Somebody Else' }))
  await eventually(async () => {
    const [ofOwner] = await activityOf(here.url, owner, owner)
    expect(ofOwner).toMatch(/Z$/)
  })
  expect(await activityOf(there.url, there.owner, there.member)).toEqual([null, null, null])
})

it('is recorded when the service is closed', async () => {
  const other = await startTestApp()
  const company = await createCompany(other)
  const seed = await createSeed(other, company.member, company, { title: 'Just before the end' })
  await other.close()
  const [created] = await db.select().from(events).where(eq(events.targetId, seed.id))
  expect(await activityOf(company.url, company.owner, company.member)).toContain(
    created?.createdAt.toISOString(),
  )
})
