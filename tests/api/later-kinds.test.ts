import { sql } from 'drizzle-orm'
import { expect, it } from 'vitest'
import { createId } from '../../src/kernel/ids.ts'
import { letAgentIn } from '../support/agent-caller.ts'
import { checkEach } from '../support/check-each.ts'
import { addPerson, createCompany, get } from '../support/company.ts'
import { insertNotification } from '../support/notifications.ts'
import { createSeed } from '../support/seeds.ts'
import { createTestClock } from '../support/test-clock.ts'
import { signInAs, startWebsite } from '../website/visitor.ts'

const clock = createTestClock()
const website = await startWebsite({ clock })
const { as, db } = website

/** A reader with a notification of a kind and an event of a type that only a later version knows, behind others. */
async function createReader() {
  const company = await createCompany(website)
  const seed = await createSeed(website, company.owner, company)
  const reader = await addPerson(website, company.workspace, 'owner', 'Rita Reader')
  const of = { workspaceId: company.workspace.id, userId: reader.id }
  await insertNotification(website, of, { createdAt: clock.now() })
  const kind = 'from_later'
  await insertNotification(website, of, { kind, seedId: seed.id, data: { what: 1 }, createdAt: clock.now() })
  const eventId = createId()
  await db.execute(sql`
    insert into events (id, workspace_id, type, readers, actor_type, actor_name, source, target_type, target_id, summary, data, seed_id, created_at)
    values (${eventId}, ${of.workspaceId}, 'seed.from_later', 'everybody', 'user', 'Lea Later', 'api', 'later', ${seed.id},
      'Lea Later did something new', '{"seedId": "later"}', ${seed.id}, ${clock.now().toISOString()})`)
  return { company, seed, reader, eventId }
}

it('the API reads what a later version has stored: it leaves out notifications, and returns events', async () => {
  const { company, reader, eventId } = await createReader()
  const read = async (path: string) => {
    const answer = await as(reader, get(path))
    expect(answer.statusCode, path + answer.body).toBe(200)
    return answer.body
  }
  const { url } = company
  await checkEach(['', '?unread=true'], String, async (query) => {
    const body = await read(`/v1/me/notifications${query}`)
    expect(body).toContain('role_changed')
    expect(body).not.toContain('from_later')
  })
  expect(JSON.parse(await read('/v1/me/notifications/count'))).toMatchObject({ unread: 1 })
  const ofEvents = [`${url}/events`, `${url}/events/${eventId}`, `${url}/events/changes`, `${url}/export`]
  await checkEach(ofEvents, String, async (path) => {
    expect(await read(path)).toContain('seed.from_later')
  })
})

it('so do the website and agents', async () => {
  const { company, seed, reader } = await createReader()
  const visitor = await signInAs(website, reader)
  const base = `/w/${company.workspace.slug}`
  const pages = [base, '/notifications', `${base}/activity`, `${base}/seeds/${seed.id}`]
  await checkEach(pages, String, async (path) => {
    const page = await visitor.get(path)
    expect(page.statusCode, path).toBe(200)
    expect(page.body).not.toContain('from_later')
  })
  expect((await visitor.get(`${base}/activity`)).body).toContain('did something new')
  const agent = await letAgentIn(website, company.workspace, reader)
  expect(JSON.stringify(await agent.use('inbox'))).not.toContain('from_later')
  expect(JSON.stringify(await agent.use('list_events', {}))).toContain('did something new')
})

it('so does a digest', async () => {
  const { reader } = await createReader()
  clock.advance(25 * 60 * 60 * 1000)
  await db.execute(sql`select graphile_worker.add_job('enqueue_digests', '{}'::json)`)
  const mail = await website.waitForMail(reader.email, /./)
  expect(mail.text).not.toContain('from_later')
})
