import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { createCompany, del, get, patch, post } from '../support/company.ts'
import { eventually } from '../support/eventually.ts'
import { buildUpload } from '../support/forms.ts'
import { makePng } from '../support/images.ts'
import { createSeed } from '../support/seeds.ts'
import { selectRows, startTestApp, type TestPerson } from '../support/test-app.ts'
import { startReceiver } from '../support/webhook-receiver.ts'
import { createWebhook } from '../support/webhooks.ts'
import { addMember } from '../support/workspaces.ts'

const service = await startTestApp({
  deliveries: { pollEveryMs: 20 },
})
const { as, createPerson, db } = service
await service.services.startJobs()

interface ShownEvent {
  type: string
  actorUserId: string | null
  actorName: string
  summary: string
  data: Record<string, unknown>
}

const eventsOf = async ({ url, viewer }: { url: string; viewer: TestPerson }) =>
  (await as(viewer, get(`${url}/events?types=member.updated,person.erased&limit=200`))).json<ShownEvent[]>()

const rename = (person: TestPerson, name: string) => as(person, patch('/v1/me', { name }))

describe('member.updated', () => {
  it('is appended in each workspace of a person who is renamed, and nowhere else', async () => {
    const [one, two, other] = [
      await createCompany(service),
      await createCompany(service),
      await createCompany(service),
    ]
    await addMember(service, two.workspace, one.member, 'viewer')
    expect((await rename(one.member, 'Ada Lovelace')).statusCode).toBe(200)
    for (const company of [one, two])
      expect(await eventsOf(company)).toEqual([
        expect.objectContaining({
          type: 'member.updated',
          actorUserId: one.member.id,
          targetType: 'user',
          targetId: one.member.id,
          source: 'api',
          apiKeyId: one.member.apiKeyId,
          summary: 'Mary Member changed their name',
          data: { userId: one.member.id, fields: ['name'] },
        }),
      ])
    expect(await eventsOf(other)).toEqual([])
  })

  it('is not appended by the name that the person has', async () => {
    const company = await createCompany(service)
    await rename(company.member, company.member.name)
    expect(await eventsOf(company)).toEqual([])
  })

  it('is appended by a new photo and by its removal, once', async () => {
    const company = await createCompany(service)
    const form = buildUpload(await makePng(), { name: 'me.png', type: 'image/png' })
    const uploaded = await as(company.member, { method: 'POST', url: '/v1/me/photo', ...form })
    expect(uploaded.statusCode, uploaded.body).toBe(200)
    for (let i = 0; i < 2; i++) await as(company.member, del('/v1/me/photo'))
    const summaries = (await eventsOf(company)).map(({ summary }) => summary)
    expect(summaries).toEqual(['Mary Member changed their photo', 'Mary Member changed their photo'])
  })

  it('is delivered to the webhooks of each workspace that want it', async () => {
    const [one, two] = [await createCompany(service), await createCompany(service)]
    await addMember(service, two.workspace, one.member, 'member')
    const receiver = await startReceiver()
    const wants = { url: receiver.url, types: ['member.updated'] }
    for (const company of [one, two]) await createWebhook(service, company.owner, company, wants)
    await createWebhook(service, one.owner, one, { url: receiver.url, types: ['team.created'] })
    await rename(one.member, 'Ada Lovelace')
    const received = await receiver.waitFor(2)
    const told = received.map(({ body }) => (JSON.parse(body) as { data: { workspaceId: string } }).data)
    expect(told.map(({ workspaceId }) => workspaceId).toSorted()).toEqual(
      [one.workspace.id, two.workspace.id].toSorted(),
    )
  })

  it('is appended in all of 45 workspaces, in 20 with the change and by a job in the others', async () => {
    const person = await createPerson({ name: 'Grace' })
    const ids = Array.from({ length: 45 }, () => crypto.randomUUID())
    await db.execute(sql`
      insert into workspaces (id, name, slug, created_at)
        select id, 'Many', id::text, now() from unnest(${sql.param(ids)}::uuid[]) as id`)
    await db.execute(sql`
      insert into memberships (workspace_id, user_id, role, joined_at, last_used_at)
        select id, ${person.id}, 'member', now(), now() from unnest(${sql.param(ids)}::uuid[]) as id`)
    const count = async () => {
      const rows = await selectRows<{ workspace_id: string }>(
        db,
        sql`select workspace_id from events where type = 'member.updated' and target_id = ${person.id}`,
      )
      return rows.map((row) => row.workspace_id)
    }
    await rename(person, 'Grace Hopper')
    expect((await count()).length).toBeGreaterThanOrEqual(20)
    await eventually(async () => expect((await count()).toSorted()).toEqual(ids.toSorted()))
  })

  it('is not waited for by those who remove or demote the person at the same moment', async () => {
    const company = await createCompany(service)
    for (let i = 0; i < 10; i++) {
      const person = await createPerson()
      await addMember(service, company.workspace, person, 'member')
      const member = `${company.url}/members/${person.id}`
      const answers = await Promise.all([
        rename(person, `Grace ${i}`),
        as(company.owner, i % 2 === 0 ? del(member) : patch(member, { role: 'viewer' })),
        rename(person, `Hopper ${i}`),
      ])
      expect(answers.map(({ statusCode }) => statusCode)).toEqual([200, 200, 200])
    }
  })
})

describe('person.erased', () => {
  it('is appended where the person had a name, also after they had left', async () => {
    const [left, here, other] = [
      await createCompany(service),
      await createCompany(service),
      await createCompany(service),
    ]
    const person = left.member
    await addMember(service, here.workspace, person, 'member')
    await createSeed(service, person, left)
    await as(person, del(`${left.url}/members/${person.id}`))
    const after = (await as(left.viewer, get(`${left.url}/events/changes?after=now`))).json<{
      cursor: string
    }>()
    expect(await service.services.accounts.delete(person.id, { withWorkspaces: false })).toMatchObject({
      isDeleted: true,
    })
    const changes = await as(left.viewer, get(`${left.url}/events/changes?after=${after.cursor}`))
    expect(changes.json()).toMatchObject({
      events: [
        {
          type: 'person.erased',
          actorType: 'system',
          targetId: person.id,
          data: { userId: person.id },
          summary: 'The service erased the name of a person whose account was deleted',
        },
      ],
    })
    expect((await eventsOf(here)).map(({ type }) => type)).toEqual(['person.erased'])
    expect(await eventsOf(other)).toEqual([])
    expect((await as(here.owner, post(`${here.url}/teams`, { name: 'After' }))).statusCode).toBe(200)
  })
})
