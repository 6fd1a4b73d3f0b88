import { sql } from 'drizzle-orm'
import { expect, it } from 'vitest'
import { addPerson, createCompany, get, patch, post } from '../support/company.ts'
import { untilTrue } from '../support/eventually.ts'
import { startMailServer } from '../support/mail-server.ts'
import { listNotifications } from '../support/notifications.ts'
import { runJobsNow } from '../support/run-jobs-now.ts'
import { createSeed, type TestSeed } from '../support/seeds.ts'
import { createServiceAccount } from '../support/service-accounts.ts'
import { selectRows, startTestApp, type TestPerson } from '../support/test-app.ts'
import { createTestClock } from '../support/test-clock.ts'

const dayMs = 24 * 60 * 60 * 1000
const webUrl = 'https://app.example.com'

const clock = createTestClock()
const server = await startMailServer()
const service = await startTestApp({ clock, environment: { SMTP_URL: server.url, WEB_URL: webUrl } })
const { as, db } = service
await service.services.startJobs()

const dayAfter = (days: number) => new Date(clock.now().getTime() + days * dayMs).toISOString().slice(0, 10)
const isDone = async () =>
  (await selectRows(db, sql`select 1 from graphile_worker.jobs limit 1`)).length === 0

/** Does what is done once an hour. */
async function runHourly(): Promise<void> {
  await db.execute(sql`select graphile_worker.add_job('remind_of_decisions', '{}'::json)`)
  await untilTrue(
    async () =>
      (
        await selectRows(
          db,
          sql`select 1 from graphile_worker.jobs where task_identifier = 'remind_of_decisions'`,
        )
      ).length === 0,
  )
  await runJobsNow(service, 'send_reminders')
  await untilTrue(isDone)
}

const remindersOf = async (person: TestPerson) =>
  (await listNotifications(service, person)).filter(({ kind }) => kind === 'decision_due')
const mailsTo = (person: TestPerson) =>
  server.received.filter(({ recipients }) => recipients.includes(person.email))
const follow = (person: TestPerson, seed: TestSeed) => as(person, post(`/v1/seeds/${seed.id}/follow`))
const decide = (seed: TestSeed, body: object, by: TestPerson) => as(by, patch(`/v1/seeds/${seed.id}`, body))

it('the lead and the followers are reminded once, three days before, in the inbox and by one mail', async () => {
  const company = await createCompany(service)
  const { member, owner, viewer, workspace } = company
  const first = await createSeed(service, member, company, { title: 'First', decideBy: dayAfter(4) })
  const second = await createSeed(service, member, company, { title: 'Second', decideBy: dayAfter(4) })
  await follow(viewer, first)
  await runHourly()
  expect(await remindersOf(member)).toEqual([])
  clock.advance(dayMs)
  await runHourly()
  const day = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone: 'UTC' }).format(
    new Date(String(first.decideBy)),
  )
  expect(
    (await remindersOf(member)).map(({ text, path, actorName }) => [text, path, actorName]).toSorted(),
  ).toEqual([
    [`First is to be decided by ${day}`, `/w/${workspace.slug}/seeds/${first.id}`, 'The service'],
    [`Second is to be decided by ${day}`, `/w/${workspace.slug}/seeds/${second.id}`, 'The service'],
  ])
  expect(await remindersOf(viewer)).toHaveLength(1)
  expect(await remindersOf(owner)).toEqual([])
  expect(mailsTo(member).map(({ parsed }) => parsed.subject)).toEqual(['2 seeds are to be decided soon'])
  const [mail] = mailsTo(viewer)
  expect(mail?.parsed.subject).toBe(`First is to be decided by ${day}`)
  expect(mail?.parsed.text).toContain(`${webUrl}/w/${workspace.slug}/seeds/${first.id}`)
  expect(mail?.header('list-unsubscribe')).toMatch(/\/unsubscribe\//)
  // Neither again, nor in a digest.
  await runHourly()
  clock.advance(dayMs)
  await runHourly()
  await db.execute(sql`select graphile_worker.add_job('enqueue_digests', '{}'::json)`)
  await untilTrue(isDone)
  expect(await remindersOf(member)).toHaveLength(2)
  expect([member, viewer].map((person) => mailsTo(person).length)).toEqual([1, 1])
})

it('a changed date reminds anew, and one that was there before does not', async () => {
  const company = await createCompany(service)
  const { member } = company
  const [near, far] = [dayAfter(2), dayAfter(3)]
  const seed = await createSeed(service, member, company, { decideBy: near })
  await runHourly()
  for (const decideBy of [far, near, null, far]) {
    await decide(seed, { decideBy }, member)
    await runHourly()
  }
  expect((await remindersOf(member)).map(({ text }) => text)).toHaveLength(2)
  expect(mailsTo(member)).toHaveLength(2)
})

it('nobody is reminded of what is decided, deleted, undated, past or too far', async () => {
  const company = await createCompany(service)
  const { member } = company
  const decideBy = dayAfter(1)
  for (const status of ['validated', 'dropped'])
    await decide(await createSeed(service, member, company, { decideBy }), { status }, member)
  const deleted = await createSeed(service, member, company, { decideBy })
  await as(member, { method: 'DELETE', url: `/v1/seeds/${deleted.id}` })
  for (const other of [null, dayAfter(-1), dayAfter(4)])
    await createSeed(service, member, company, { decideBy: other })
  await runHourly()
  expect(await remindersOf(member)).toEqual([])
  expect(mailsTo(member)).toEqual([])
  // Reopened, one is still to be decided.
  const [validated] = (await as(member, get(`${company.url}/seeds?status=validated`))).json<TestSeed[]>()
  if (!validated) throw new Error('the seed is not there')
  await decide(validated, { status: 'open' }, member)
  await runHourly()
  expect(await remindersOf(member)).toHaveLength(1)
})

it('suspended people, service accounts, and who has turned it off are not reminded, and each gets what they chose', async () => {
  const company = await createCompany(service)
  const { member, owner, workspace } = company
  const people = {
    suspended: await addPerson(service, workspace, 'member'),
    off: await addPerson(service, workspace, 'member'),
    inbox: await addPerson(service, workspace, 'member'),
    unmailed: await addPerson(service, workspace, 'member'),
  }
  const seed = await createSeed(service, member, company, { decideBy: dayAfter(3) })
  for (const person of Object.values(people)) await follow(person, seed)
  const account = await createServiceAccount(service, owner, company)
  await db.execute(sql`insert into seed_followers (seed_id, user_id, workspace_id)
    values (${seed.id}, ${account.userId}, ${workspace.id})`)
  await as(people.off, patch('/v1/me/notifications/preferences', { decisions: 'off' }))
  await as(people.inbox, patch('/v1/me/notifications/preferences', { decisions: 'inbox' }))
  await as(people.unmailed, patch('/v1/me/preferences', { productUpdates: false, workspaceActivity: false }))
  await db.execute(sql`update users set suspended_at = now() where id = ${people.suspended.id}`)
  await as(owner, post(`/v1/seeds/${seed.id}/unfollow`))
  await runHourly()
  const rows = await selectRows<{ user_id: string }>(
    db,
    sql`select user_id from notifications where seed_id = ${seed.id} and kind = 'decision_due'`,
  )
  expect(rows.map(({ user_id }) => user_id).toSorted()).toEqual(
    [member, people.inbox, people.unmailed].map(({ id }) => id).toSorted(),
  )
  expect([people.suspended, people.off, people.inbox, people.unmailed].flatMap(mailsTo)).toEqual([])
  expect(mailsTo(member)).toHaveLength(1)
})

it('who has read it, or whose seed was decided meanwhile, is not mailed', async () => {
  const company = await createCompany(service)
  const { member, viewer } = company
  const seed = await createSeed(service, member, company, { decideBy: dayAfter(3) })
  await follow(viewer, seed)
  await db.execute(sql`select graphile_worker.add_job('remind_of_decisions', '{}'::json)`)
  await untilTrue(async () => (await remindersOf(viewer)).length === 1)
  await as(member, post('/v1/me/notifications/read', { until: clock.now().toISOString() }))
  await decide(seed, { status: 'validated' }, member)
  await runJobsNow(service, 'send_reminders')
  await untilTrue(isDone)
  expect([member, viewer].flatMap(mailsTo)).toEqual([])
})

it('slices that are interrupted go on without doubles, and two processes at once remind once', async () => {
  const company = await createCompany(service)
  const { member, workspace } = company
  const decideBy = dayAfter(2)
  await db.execute(sql`
    with added as (
      insert into seeds (id, workspace_id, title, summary, status, decide_by, lead_user_id, created_at, updated_at)
      select gen_random_uuid(), ${workspace.id}, 'Seed ' || n, 'S', 'open', ${decideBy}, ${member.id}, now(), now()
      from generate_series(1, 250) as n returning id, workspace_id
    ) insert into seed_followers (seed_id, user_id, workspace_id) select id, ${member.id}, workspace_id from added`)
  // The last of the second slice cannot be told: the first slice stays, and the second is undone as a whole.
  await db.execute(sql`create function refuse() returns trigger language plpgsql as $$
    begin if (select count(*) from notifications where workspace_id = NEW.workspace_id) >= 150 then raise 'refused'; end if;
    return NEW; end $$`)
  await db.execute(
    sql`create trigger refuse before insert on notifications for each row execute function refuse()`,
  )
  const countOf = async () =>
    (
      await selectRows<{ n: number; seeds: number }>(
        db,
        sql`select count(*)::int as n, count(distinct seed_id)::int as seeds from notifications
          where user_id = ${member.id} and kind = 'decision_due'`,
      )
    )[0]
  await db.execute(sql`select graphile_worker.add_job('remind_of_decisions', '{}'::json)`)
  await untilTrue(async () => (await countOf())?.n === 100)
  await untilTrue(
    async () =>
      (await selectRows(db, sql`select 1 from graphile_worker.jobs where attempts > 0 and locked_at is null`))
        .length === 1,
  )
  expect(await countOf()).toEqual({ n: 100, seeds: 100 })
  await db.execute(sql`drop trigger refuse on notifications`)
  await db.execute(sql`drop function refuse()`)
  await db.execute(sql`select graphile_worker.add_job('remind_of_decisions', '{}'::json)`)
  await runJobsNow(service, 'remind_of_decisions')
  await untilTrue(
    async () =>
      (
        await selectRows(
          db,
          sql`select 1 from graphile_worker.jobs where task_identifier = 'remind_of_decisions'`,
        )
      ).length === 0,
  )
  expect(await countOf()).toEqual({ n: 250, seeds: 250 })
  await runJobsNow(service, 'send_reminders')
  await untilTrue(isDone)
  expect(mailsTo(member).map(({ parsed }) => parsed.subject)).toEqual(['250 seeds are to be decided soon'])
  expect(mailsTo(member)[0]?.parsed.text).toContain('And 220 more.')
})
