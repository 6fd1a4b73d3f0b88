import { sql } from 'drizzle-orm'
import { afterEach, expect, it } from 'vitest'
import { formatTime } from '../../src/mail/times.ts'
import { createCompany, patch } from '../support/company.ts'
import { untilTrue } from '../support/eventually.ts'
import { startMailServer } from '../support/mail-server.ts'
import { listNotifications } from '../support/notifications.ts'
import { insertGrant } from '../support/seeds.ts'
import { selectRows, startTestApp, type TestPerson } from '../support/test-app.ts'
import { createTestClock } from '../support/test-clock.ts'
import { deleteWorkspace } from '../support/workspaces.ts'

const dayMs = 24 * 60 * 60 * 1000
const webUrl = 'https://app.example.com'

const clock = createTestClock()
const server = await startMailServer()
const service = await startTestApp({ clock, environment: { SMTP_URL: server.url, WEB_URL: webUrl } })
const { as, db } = service
await service.services.startJobs()

const pass = (days: number) => clock.advance(days * dayMs)

const isDone = async () =>
  (await selectRows(db, sql`select 1 from graphile_worker.jobs limit 1`)).length === 0

/** Does what is done once an hour. Returns the subjects of the mails that were sent. */
async function runHourly(): Promise<(string | undefined)[]> {
  const before = server.received.length
  for (const name of ['notify_of_ending_grants', 'enqueue_digests'])
    await db.execute(sql`select graphile_worker.add_job(${name}, '{}'::json)`)
  await untilTrue(isDone)
  return server.received.slice(before).map(({ parsed }) => parsed.subject)
}

/** Access that was given now, for a number of days. */
async function grantFor(days: number) {
  const company = await createCompany(service)
  const options = { clientName: 'Claude', createdAt: clock.now(), lifetimeMs: days * dayMs }
  return { company, grant: await insertGrant(service, company.workspace, company.member, options) }
}

const inboxOf = async (person: TestPerson) =>
  (await listNotifications(service, person)).map(({ text, path }) => [text, path])

afterEach(async () => {
  // No grant of a test ends in a later one.
  await db.execute(sql`update agent_grants set revoked_at = now()`)
})

it('the person of a grant is told once, two weeks before its end, by mail and in the inbox', async () => {
  const { company, grant } = await grantFor(180)
  const { member, workspace } = company
  pass(165)
  expect(await runHourly()).toEqual([])
  pass(1)
  expect(await runHourly()).toEqual([`The access of Claude to ${workspace.name} ends soon`])
  const mail = server.received.at(-1)
  expect(mail?.recipients).toEqual([member.email])
  const text = mail?.parsed.text?.replaceAll(/\s+/g, ' ')
  expect(text).toContain(`This ends in 14 days, on ${formatTime(new Date(grant.expiresAt))}.`)
  const path = `/w/${workspace.slug}/agents/${grant.id}`
  expect(text).toContain(webUrl + path)
  expect(mail?.parsed.headers.some(({ key }) => key === 'list-unsubscribe')).toBe(true)
  expect(await inboxOf(member)).toEqual([
    [expect.stringMatching(new RegExp(`^The access of Claude to ${workspace.name} ends on `)), path],
  ])
  // Neither again, nor in a digest.
  pass(2)
  expect(await runHourly()).toEqual([])
  expect(await inboxOf(member)).toHaveLength(1)
})

it('is told again before the next end, once the access was prolonged', async () => {
  const { company, grant } = await grantFor(30)
  pass(20)
  expect(await runHourly()).toHaveLength(1)
  const user = await service.services.accounts.findByEmail(company.member.email)
  if (!user) throw new Error('the person is not there')
  const principal = { user, source: 'web', apiKeyId: null, sessionId: null, grantId: null } as const
  await service.services.grants.prolong(principal, company.workspace.slug, grant.id, 90)
  expect(await runHourly()).toEqual([])
  pass(76)
  expect(await runHourly()).not.toEqual([])
  expect(await runHourly()).toEqual([])
})

it('is told in the inbox alone while mails about workspaces are off', async () => {
  const { company } = await grantFor(90)
  await as(company.member, patch('/v1/me/preferences', { productUpdates: false, workspaceActivity: false }))
  pass(80)
  expect(await runHourly()).toEqual([])
  expect(await inboxOf(company.member)).toHaveLength(1)
})

it('nobody is told of access that was revoked, or that was given for less than two weeks', async () => {
  const { grant } = await grantFor(30)
  await db.execute(sql`update agent_grants set revoked_at = now() where id = ${grant.id}`)
  const short = await grantFor(13)
  pass(10)
  expect(await runHourly()).toEqual([])
  expect(await inboxOf(short.company.member)).toEqual([])
})

it('nobody is told of access to a workspace that was deleted', async () => {
  const { company } = await grantFor(30)
  await deleteWorkspace(service, company.owner, company.workspace)
  // The mail to the owners.
  await untilTrue(isDone)
  pass(20)
  expect(await runHourly()).toEqual([])
  const rows = await selectRows(db, sql`select 1 from notifications where user_id = ${company.member.id}`)
  expect(rows).toEqual([])
})
