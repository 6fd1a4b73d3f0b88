import { sql } from 'drizzle-orm'
import { afterEach, expect, it } from 'vitest'
import { formatTime } from '../../src/mail/times.ts'
import {
  createKey,
  noRestrictions,
  pathOfKey,
  type TestKey,
  type TestRestrictions,
} from '../support/api-keys.ts'
import { post, put } from '../support/company.ts'
import { untilTrue } from '../support/eventually.ts'
import { startMailServer } from '../support/mail-server.ts'
import { selectRows, startTestApp, type TestPerson } from '../support/test-app.ts'
import { createTestClock } from '../support/test-clock.ts'

const daySeconds = 24 * 60 * 60
const webUrl = 'https://app.example.com'

const clock = createTestClock()
const server = await startMailServer()
const service = await startTestApp({ clock, environment: { SMTP_URL: server.url, WEB_URL: webUrl } })
const { as, createPerson, db } = service
await service.services.startJobs()

const inDays = (days: number) => new Date(clock.now().getTime() + days * daySeconds * 1000).toISOString()
const pass = (days: number) => clock.advance(days * daySeconds * 1000)

const isDone = async () =>
  (await selectRows(db, sql`select 1 from graphile_worker.jobs limit 1`)).length === 0

/** Does what is done once an hour. Returns the mails about keys that were sent since. */
async function runHourly(): Promise<(string | undefined)[]> {
  const before = server.received.length
  // The notices of new keys wait; they are of no interest here.
  await db.execute(sql`select graphile_worker.complete_jobs(array(select id from graphile_worker.jobs))`)
  await db.execute(sql`select graphile_worker.add_job('enqueue_expiry_notices', '{}'::json)`)
  await untilTrue(isDone)
  return server.received.slice(before).map(({ parsed }) => parsed.subject)
}

afterEach(async () => {
  // No key of a test expires in a later one.
  await db.execute(sql`update api_keys set revoked_at = now()`)
})

const restrict = (person: TestPerson, { id }: TestKey, restrictions: Partial<TestRestrictions>) =>
  as(person, put(`${pathOfKey(id)}/restrictions`, { ...noRestrictions, ...restrictions }))

it('the owner of a key is told once, a week before it expires, which key it is', async () => {
  const person = await createPerson({ name: 'Grace Hopper' })
  const expiresAt = inDays(30)
  const key = await createKey(service, person, { expiresAt })
  pass(22)
  expect(await runHourly()).toEqual([])
  pass(1)
  expect(await runHourly()).toEqual(['Your API key Restricted expires soon'])
  const mail = server.received.at(-1)
  expect(mail?.recipients).toEqual([person.email])
  const text = mail?.parsed.text?.replaceAll(/\s+/g, ' ')
  expect(text).toContain(
    `Hello Grace Hopper, your API key Restricted, which ends in ${key.lastFour}, expires in 7 days, ` +
      `on ${formatTime(new Date(expiresAt))}.`,
  )
  expect(text).toContain(`${webUrl}/settings/security/api-keys/${key.id}`)
  expect(text).not.toContain(key.secret)
  expect(await runHourly()).toEqual([])
  // A change of other restrictions is no reason to tell it again; another expiry is.
  await restrict(person, key, { expiresAt, access: 'read' })
  expect(await runHourly()).toEqual([])
  await restrict(person, key, { expiresAt: inDays(20) })
  expect(await runHourly()).toEqual([])
  pass(13)
  expect(await runHourly()).toHaveLength(1)
})

it('nobody is told of a key that was revoked, rotated or prolonged meanwhile, or that expires within a week anyway', async () => {
  const person = await createPerson()
  const create = (days: number) => createKey(service, person, { expiresAt: inDays(days) })
  const [revoked, rotated, prolonged, endless] = [
    await create(10),
    await create(10),
    await create(10),
    await create(10),
  ]
  await create(6)
  pass(1)
  await as(person, post(`${pathOfKey(revoked.id)}/revoke`))
  await as(person, post(`${pathOfKey(rotated.id)}/rotate`, { overlapSeconds: 7 * daySeconds }))
  await restrict(person, prolonged, { expiresAt: inDays(100) })
  await restrict(person, endless, {})
  pass(3)
  // Of the key that took the place of the rotated one.
  expect(await runHourly()).toHaveLength(1)
  pass(3)
  expect(await runHourly()).toEqual([])
})

it('a key that is revoked after its mail was enqueued gets none', async () => {
  const person = await createPerson()
  const key = await createKey(service, person, { expiresAt: inDays(10) })
  pass(4)
  await as(person, post(`${pathOfKey(key.id)}/revoke`))
  const before = server.received.length
  await db.execute(
    sql`select graphile_worker.add_job('send_api_key_expires', ${JSON.stringify({ apiKeyId: key.id })}::json)`,
  )
  await untilTrue(
    async () =>
      (
        await selectRows(
          db,
          sql`select 1 from graphile_worker.jobs where task_identifier = 'send_api_key_expires'`,
        )
      ).length === 0,
  )
  expect(server.received).toHaveLength(before)
})
