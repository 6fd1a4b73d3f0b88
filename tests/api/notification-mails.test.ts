import { randomUUID } from 'node:crypto'
import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { notifyMentioned, notifyOfComment } from '../../src/areas/notifications/notify-of-comment.ts'
import type { Write } from '../../src/db/transactions.ts'
import { createGraphileQueue } from '../../src/platform/jobs/graphile-queue.repository.ts'
import { addPerson, createCompany, createInvite, patch, post } from '../support/company.ts'
import { untilTrue } from '../support/eventually.ts'
import { startMailServer } from '../support/mail-server.ts'
import { findNotifications, insertComment, insertNotification } from '../support/notifications.ts'
import { runJobsNow } from '../support/run-jobs-now.ts'
import { addEvidence, createSeed } from '../support/seeds.ts'
import { selectRows, startTestApp, type TestPerson } from '../support/test-app.ts'
import { createTestClock } from '../support/test-clock.ts'

const webUrl = 'https://app.example.com'
const hourMs = 60 * 60 * 1000

const clock = createTestClock()
const server = await startMailServer()
const service = await startTestApp({ clock, environment: { SMTP_URL: server.url, WEB_URL: webUrl } })
const { as, db } = service
await service.services.startJobs()
const company = await createCompany(service)
const { member, workspace } = company
const seed = await createSeed(service, member, company, { title: 'Self-service onboarding' })

const addReader = () => addPerson(service, workspace, 'member', 'Rita Reader')
const setActivity = (person: TestPerson, workspaceActivity: boolean) =>
  as(person, patch('/v1/me/preferences', { productUpdates: false, workspaceActivity }))
const mailsTo = ({ email }: TestPerson) =>
  server.received.filter(({ recipients }) => recipients.includes(email))
const plain = (text: string | undefined) => text?.replaceAll(/\s+/g, ' ')

/** Writes a comment of Mary Member that mentions people, with what follows from it. */
async function mention(people: readonly TestPerson[], notify = notifyOfComment): Promise<string> {
  const commentId = await insertComment(service, { seedId: seed.id, author: member })
  await mentionIn(commentId, people, notify)
  return commentId
}

async function mentionIn(commentId: string, people: readonly TestPerson[], notify = notifyMentioned) {
  for (const person of people)
    await db.execute(
      sql`insert into comment_mentions (comment_id, user_id) values (${commentId}, ${person.id})`,
    )
  const { id, name } = member
  const actor = { user: { id, name, email: '', emailVerifiedAt: null, imageKey: null } }
  const mentionedUserIds = people.map((person) => person.id)
  const about = { workspaceId: workspace.id, actor, seedId: seed.id, commentId, evidenceId: null }
  await db.transaction(async (_tx, write: Write) =>
    notify({ now: clock.now(), write }, createGraphileQueue(), { ...about, mentionedUserIds }),
  )
}

const jobsOf = (task: string) =>
  selectRows<{ id: string; seconds: number }>(
    db,
    sql`select id, round(extract(epoch from run_at - created_at))::int as seconds
      from graphile_worker.jobs where task_identifier = ${task} order by id`,
  )

async function untilDone(task: string): Promise<void> {
  await untilTrue(async () => (await jobsOf(task)).length === 0)
}

/** Lets five minutes pass: the jobs of mentions run now. */
async function passFiveMinutes(): Promise<void> {
  clock.advance(5 * 60 * 1000)
  await runJobsNow(service, 'send_mentions')
  await untilDone('send_mentions')
}

/** Does what is done once an hour. */
async function runHourly(): Promise<void> {
  for (const task of ['enqueue_accepted_invites', 'enqueue_digests'])
    await db.execute(sql`select graphile_worker.add_job(${task}, '{}'::json)`)
  for (const task of ['enqueue_accepted_invites', 'enqueue_digests', 'send_accepted_invites', 'send_digest'])
    await untilDone(task)
}

const prefer = (person: TestPerson, preferences: object) =>
  as(person, patch('/v1/me/notifications/preferences', preferences))

describe('a mention', () => {
  it('is mailed five minutes later, once, with a link to the comment and one that turns such mails off', async () => {
    const reader = await addReader()
    const commentId = await mention([reader])
    expect(await jobsOf('send_mentions')).toMatchObject([{ seconds: 300 }])
    expect(mailsTo(reader)).toEqual([])
    await passFiveMinutes()
    const [mail, ...others] = mailsTo(reader)
    expect(others).toEqual([])
    expect(mail?.parsed.subject).toBe('Mary Member mentioned you in Self-service onboarding')
    expect(mail?.parsed.text).toContain(`${webUrl}/w/${workspace.slug}/seeds/${seed.id}#comment-${commentId}`)
    expect(mail?.header('list-unsubscribe')).toMatch(
      /^<https:\/\/app\.example\.com\/unsubscribe\/[\w-]{43}>$/,
    )
    expect(mail?.header('list-unsubscribe-post')).toBe('List-Unsubscribe=One-Click')
    expect(await findNotifications(service, reader)).toMatchObject([{ isMailed: true, isRead: false }])
    clock.advance(25 * hourMs)
    await runHourly()
    expect(mailsTo(reader)).toHaveLength(1)
  })

  it('is not mailed to who has read it by then, has turned mails off, has left or is leaving', async () => {
    const [reader, silent, former, leaving, told] = [
      await addReader(),
      await addReader(),
      await addReader(),
      await addReader(),
      await addReader(),
    ]
    await setActivity(silent, false)
    await mention([reader, silent, former, leaving, told])
    await db.execute(sql`insert into leavings (user_id, requested_at) values (${leaving.id}, now())`)
    const { id } = (await findNotifications(service, reader))[0] ?? { id: '' }
    await as(reader, post('/v1/me/notifications/read', { ids: [id] }))
    await db.execute(sql`delete from memberships where user_id = ${former.id}`)
    await passFiveMinutes()
    expect([reader, silent, former, leaving].flatMap(mailsTo)).toEqual([])
    expect(mailsTo(told)).toHaveLength(1)
  })

  it('quotes the comment as it is then, without Markdown, escaped and cut', async () => {
    const [reader, other] = [await addReader(), await addReader()]
    const commentId = await mention([reader, other])
    const body =
      `**Look**, [@](user:${other.id}): <b>[our bank](https://evil.example)</b>\n\n` +
      `請求書を音声で\n\nقال سبعة منهم نعم \u202e\n\n${'A thought. '.repeat(60)}`
    await db.execute(sql`update comments set body = ${body} where id = ${commentId}`)
    await passFiveMinutes()
    const [mail] = mailsTo(reader)
    const { text = '', html = '' } = mail?.parsed ?? {}
    expect(text).toContain(
      '> Look, @Rita Reader: <b>our bank</b>\n> 請求書を音声で\n> قال سبعة منهم نعم\n> A thought.',
    )
    expect(html).toContain('<div dir="auto">Look, @Rita Reader: &lt;b&gt;our bank&lt;/b&gt;</div>')
    expect(html).toContain('<div dir="auto">قال سبعة منهم نعم')
    for (const part of [text, html]) expect(part).not.toMatch(/evil\.example|\u202e|\*\*/)
    expect(text.match(/A thought\./g)?.length).toBeLessThan(45)
    expect(text).toContain('…')
    expect(text).toContain(`${webUrl}/settings/notifications`)
    expect(html).toContain(`<a href="${webUrl}/settings/notifications">`)
    for (const line of (mail?.raw ?? '').split('\r\n')) expect(line.length).toBeLessThanOrEqual(998)
  })

  it('is not mailed when an edit has taken it away before, nor to who wants it in the inbox alone', async () => {
    const [reader, quiet, told] = [await addReader(), await addReader(), await addReader()]
    await prefer(quiet, { mentions: 'inbox' })
    const commentId = await mention([reader, quiet, told])
    await db.execute(
      sql`delete from comment_mentions where comment_id = ${commentId} and user_id = ${reader.id}`,
    )
    await passFiveMinutes()
    expect([reader, quiet, told].map((person) => mailsTo(person).length)).toEqual([0, 0, 1])
    expect(await findNotifications(service, quiet)).toMatchObject([{ kind: 'mention', isRead: false }])
    // What was not mailed then is not mailed later.
    clock.advance(hourMs)
    await runHourly()
    await prefer(quiet, { mentions: 'mail' })
    clock.advance(25 * hourMs)
    await runHourly()
    expect(mailsTo(quiet)).toEqual([])
  })

  it('is not mailed when the comment is deleted before, and after an edit only to the newly mentioned', async () => {
    const [reader, second] = [await addReader(), await addReader()]
    const gone = await mention([reader])
    await db.execute(sql`delete from comments where id = ${gone}`)
    await passFiveMinutes()
    expect(mailsTo(reader)).toEqual([])
    const commentId = await mention([reader])
    await passFiveMinutes()
    await mentionIn(commentId, [second])
    expect(await jobsOf('send_mentions')).toMatchObject([{ seconds: 300 }])
    await passFiveMinutes()
    expect([mailsTo(reader).length, mailsTo(second).length]).toEqual([1, 1])
  })

  it('is told once to who follows the seed too, and not to the author', async () => {
    const reader = await addReader()
    for (const person of [reader, member])
      await db.execute(sql`
        insert into seed_followers (seed_id, user_id, workspace_id) values (${seed.id}, ${person.id}, ${workspace.id})
        on conflict do nothing`)
    await mention([reader, member])
    expect(await findNotifications(service, reader)).toMatchObject([{ kind: 'mention' }])
    expect(
      (await findNotifications(service, member)).filter(({ kind }) => kind !== 'invite_accepted'),
    ).toEqual([])
    await mention([])
    expect(await findNotifications(service, reader)).toMatchObject([{ kind: 'mention' }, { kind: 'comment' }])
    await passFiveMinutes()
    expect(mailsTo(reader)).toHaveLength(1)
    await db.execute(sql`delete from seed_followers`)
  })

  it('is mailed again to none but those whom the mail server refused', async () => {
    const [first, second] = [await addReader(), await addReader()]
    await mention([first, second])
    server.mood.failsWith = 451
    clock.advance(5 * 60 * 1000)
    await runJobsNow(service, 'send_mentions')
    // Both were tried, though the first one failed.
    await untilTrue(() => mailsTo(first).length === 1 && mailsTo(second).length === 1)
    delete server.mood.failsWith
    await untilTrue(
      async () =>
        (
          await selectRows(
            db,
            sql`select 1 from graphile_worker.jobs where attempts > 0 and locked_at is null and task_identifier = 'send_mentions'`,
          )
        ).length === 1,
    )
    await passFiveMinutes()
    const ids = [...mailsTo(first), ...mailsTo(second)].map(({ header }) => header('message-id'))
    expect(ids).toHaveLength(4)
    expect(new Set(ids).size).toBe(2)
  })
})

describe('the digest', () => {
  const tell = (person: TestPerson, fields: Parameters<typeof insertNotification>[2] = {}) =>
    insertNotification(
      service,
      { workspaceId: workspace.id, userId: person.id },
      {
        kind: 'status',
        seedId: seed.id,
        data: { from: 'open', to: 'validating' },
        createdAt: clock.now(),
        ...fields,
      },
    )

  it('counts what is due in each workspace, with a link', async () => {
    const [own, other] = [await createCompany(service), await createCompany(service)]
    const reader = own.member
    await db.execute(sql`insert into memberships (workspace_id, user_id, role, joined_at, last_used_at)
      values (${other.workspace.id}, ${reader.id}, 'member', now(), now())`)
    const day = (after: number) =>
      new Date(clock.now().getTime() + after * 24 * hourMs).toISOString().slice(0, 10)
    for (const decideBy of [day(-1), day(-9), day(3), day(30)])
      await createSeed(service, own.member, own, { decideBy })
    await db.execute(sql`
      insert into seeds (id, workspace_id, title, summary, status, created_at, updated_at)
      select gen_random_uuid(), ${other.workspace.id}, 'Seed', 'S', 'open', '2020-01-01', '2020-01-01' from generate_series(1, 120)`)
    const digest = async () => {
      await insertNotification(
        service,
        { workspaceId: own.workspace.id, userId: reader.id },
        { kind: 'role_changed', data: { role: 'admin' }, seedId: null, createdAt: clock.now() },
      )
      clock.advance(25 * hourMs)
      await runHourly()
      return plain(mailsTo(reader).at(-1)?.parsed.text)
    }
    const text = await digest()
    expect(text).toContain(
      `Seeds in ${own.workspace.name}: 2 overdue and 1 due within 7 days: ${webUrl}/w/${own.workspace.slug}/seeds?due=overdue`,
    )
    expect(text).toContain(
      `Seeds in ${other.workspace.name}: 100 or more without evidence for 30 days: ${webUrl}/w/${other.workspace.slug}/seeds?due=silent`,
    )
    await db.execute(
      sql`update seeds set status = 'dropped' where workspace_id in (${own.workspace.id}, ${other.workspace.id})`,
    )
    expect(await digest()).not.toContain('Seeds in')
  })

  it('is sent once a day, with what is unread and was not mailed, and not without anything', async () => {
    const reader = await addReader()
    await runHourly()
    await tell(reader)
    await tell(reader, { kind: 'role_changed', data: { role: 'admin' }, seedId: null })
    await tell(reader, { readAt: clock.now() })
    await runHourly()
    // Not within the first hour: who is at work reads it there.
    expect(mailsTo(reader)).toEqual([])
    clock.advance(hourMs)
    await runHourly()
    const [mail] = mailsTo(reader)
    expect(mail?.parsed.subject).toMatch(/^Grace Hopper changed your role in Acme .*, and 1 more$/)
    expect(plain(mail?.parsed.text)).toContain('1 change of status, in Acme. The status is validating now.')
    expect(mail?.parsed.text).toContain(`${webUrl}/w/${workspace.slug}/seeds/${seed.id}`)
    expect(mail?.parsed.text).toContain(`${webUrl}/notifications`)
    expect(mail?.header('list-unsubscribe-post')).toBe('List-Unsubscribe=One-Click')

    await tell(reader)
    for (let i = 0; i < 22; i++) {
      clock.advance(hourMs)
      if (i % 7 === 0) await runHourly()
    }
    expect(mailsTo(reader)).toHaveLength(1)
    clock.advance(2 * hourMs)
    await runHourly()
    expect(mailsTo(reader).map(({ parsed }) => parsed.subject)).toEqual([
      mail?.parsed.subject,
      'Grace Hopper changed the status of Self-service onboarding from open to validating',
    ])
    clock.advance(24 * hourMs)
    await runHourly()
    expect(mailsTo(reader)).toHaveLength(2)
  })

  it('groups what happened by seed, as the home does, with what was written', async () => {
    const reader = await addReader()
    const other = await createSeed(service, member, company, { title: 'Invoices by voice' })
    const write = async (body: string, at: number) => {
      const commentId = await insertComment(service, { seedId: seed.id, author: member, body })
      const createdAt = new Date(clock.now().getTime() + at)
      const data = { evidenceId: null }
      await tell(reader, { kind: 'comment', commentId, actorName: 'Mary Member', data, createdAt })
      return commentId
    }
    for (let i = 1; i <= 4; i++) await write(`Thought *${i}*`, i)
    const gone = await write('Never mind', 5)
    const evidence = await addEvidence(service, member, other, { summary: 'Seven of **ten** would' })
    const withdrawn = await addEvidence(service, member, other, { summary: 'A customer by name' })
    await as(member, post(`/v1/evidence/${withdrawn.id}/withdraw`))
    for (const { id } of [evidence, withdrawn])
      await tell(reader, {
        kind: 'evidence',
        seedId: other.id,
        data: { evidenceId: id, verdict: 'supports' },
      })
    for (const [from, to] of [
      ['open', 'validating'],
      ['validating', 'open'],
    ])
      await tell(reader, { data: { from, to } })
    await db.execute(sql`delete from comments where id = ${gone}`)
    clock.advance(2 * hourMs)
    await runHourly()
    const [mail] = mailsTo(reader)
    const text = String(mail?.parsed.text)
    expect(mail?.parsed.subject).toBe('Mary Member commented on Self-service onboarding, and 7 more')
    expect(text.match(/^Self-service onboarding:$/gm)).toHaveLength(1)
    expect(text).toContain('4 new comments and 2 changes of status, in Acme. The status is open now.')
    // The last three, in the order in which they were written.
    expect(text).toMatch(/> Thought 2[^]*> Thought 3[^]*> Thought 4/)
    expect(text).not.toMatch(/Thought 1|Never mind|customer/)
    expect(text).toContain('2 new pieces of evidence, in Acme.')
    expect(text).toContain('Grace Hopper added evidence that supports this seed:\n> Seven of ten would')
    expect(mail?.parsed.html).toContain('<div dir="auto">Seven of ten would</div>')
  })

  it('names 30 of many, and counts the rest', async () => {
    const reader = await addReader()
    for (let i = 0; i < 35; i++)
      await tell(reader, { kind: 'role_changed', data: { role: 'admin' }, seedId: null })
    clock.advance(hourMs)
    await runHourly()
    const text = plain(mailsTo(reader)[0]?.parsed.text)
    expect(text?.match(/changed your role/g)).toHaveLength(30)
    expect(text).toContain('And 5 more.')
    expect((await findNotifications(service, reader)).every(({ isMailed }) => isMailed)).toBe(true)
  })

  it('is not sent to who has turned mails off, and does not bring what happened then', async () => {
    const reader = await addReader()
    await setActivity(reader, false)
    await tell(reader)
    clock.advance(hourMs)
    await runHourly()
    expect(await findNotifications(service, reader)).toMatchObject([{ isMailed: true, isRead: false }])
    await setActivity(reader, true)
    clock.advance(24 * hourMs)
    await runHourly()
    expect(mailsTo(reader)).toEqual([])
  })

  it('is not sent to who wants none, but for what they chose to be mailed', async () => {
    const [without, onlyOthers] = [await addReader(), await addReader()]
    await prefer(without, { digest: false })
    await prefer(onlyOthers, { agents: 'inbox', roleChanges: 'inbox' })
    const revoked = { grantId: randomUUID(), clientName: 'Claude', reason: 'revoked' }
    for (const reader of [without, onlyOthers]) {
      await tell(reader, { kind: 'agent', data: revoked, seedId: null })
      await tell(reader, { kind: 'role_changed', data: { role: 'admin' }, seedId: null })
    }
    await tell(onlyOthers)
    clock.advance(hourMs)
    await runHourly()
    expect(mailsTo(without)).toEqual([])
    expect(mailsTo(onlyOthers).map(({ parsed }) => parsed.subject)).toEqual([
      'Grace Hopper changed the status of Self-service onboarding from open to validating',
    ])
    // They count as settled: turning it on brings nothing that is long past.
    expect((await findNotifications(service, without)).every(({ isMailed }) => isMailed)).toBe(true)
  })

  it('leaves out deleted seeds, and what had a mail of its own', async () => {
    const reader = await addReader()
    await as(company.owner, patch(`${company.url}/members/${reader.id}`, { role: 'viewer' }))
    const other = await createSeed(service, member, company, { title: `Gone ${randomUUID()}` })
    await tell(reader, { seedId: other.id })
    await db.execute(sql`update seeds set deleted_at = now() where id = ${other.id}`)
    clock.advance(hourMs)
    await runHourly()
    await untilDone('send_role_changed')
    expect(mailsTo(reader).map(({ parsed }) => parsed.subject)).toEqual(['Your role in Acme is now viewer'])
  })
})

describe('accepted invites', () => {
  const accept = async (inviter: TestPerson, person: TestPerson, of = company) => {
    const { token } = await createInvite(service, inviter, of, { email: person.email })
    await as(person, post(`/v1/invites/${token}/accept`))
  }
  const joinedMailsTo = (person: TestPerson) =>
    mailsTo(person).filter(({ parsed }) => parsed.subject?.includes('joined'))

  it('of one hour are one mail that names all who came, and those who came later are in the next', async () => {
    const inviter = await addPerson(service, workspace, 'admin', 'Inge Inviter')
    const people = await Promise.all(
      ['Ida', 'Ben', 'عبد الرحمن'].map((name) => service.createPerson({ name })),
    )
    await Promise.all(people.map((person) => accept(inviter, person)))
    // As with two processes, of which each enqueues them.
    await db.execute(sql`select graphile_worker.add_job('enqueue_accepted_invites', '{}'::json)`)
    await runHourly()
    const [mail, ...others] = joinedMailsTo(inviter)
    expect(others).toEqual([])
    expect(mail?.parsed.subject).toBe('3 people joined Acme')
    for (const { name, id } of people) {
      expect(mail?.parsed.text).toContain(`${name}:\n${webUrl}/w/${workspace.slug}/people/${id}`)
      expect(mail?.parsed.html).toContain(`>${name}</a>`)
    }
    expect(mail?.header('list-unsubscribe-post')).toBe('List-Unsubscribe=One-Click')
    expect(mail?.parsed.text).toContain(`${webUrl}/settings/notifications`)

    await accept(inviter, await service.createPerson({ name: 'Late' }))
    await runHourly()
    clock.advance(25 * hourMs)
    await runHourly()
    expect(joinedMailsTo(inviter).map(({ parsed }) => parsed.subject)).toEqual([
      '3 people joined Acme',
      'Late joined Acme',
    ])
  })

  it('are mailed later when the mail server refuses, and not if they were read', async () => {
    const inviter = await addPerson(service, workspace, 'admin', 'Inge Inviter')
    const quick = await addPerson(service, workspace, 'admin', 'Quick Reader')
    await accept(inviter, await service.createPerson({ name: 'Ida' }))
    await accept(quick, await service.createPerson({ name: 'Ben' }))
    await as(quick, post('/v1/me/notifications/read', { until: '9999-01-01T00:00:00.000Z' }))
    server.mood.failsWith = 451
    await db.execute(sql`select graphile_worker.add_job('enqueue_accepted_invites', '{}'::json)`)
    await untilTrue(() => joinedMailsTo(inviter).length === 1)
    delete server.mood.failsWith
    await untilTrue(
      async () =>
        (
          await selectRows(
            db,
            sql`select 1 from graphile_worker.jobs where attempts > 0 and locked_at is null and task_identifier = 'send_accepted_invites'`,
          )
        ).length === 1,
    )
    // The next hour replaces the job that waits.
    await db.execute(sql`select graphile_worker.add_job('enqueue_accepted_invites', '{}'::json)`)
    await untilDone('enqueue_accepted_invites')
    await runJobsNow(service, 'send_accepted_invites')
    await untilDone('send_accepted_invites')
    expect(joinedMailsTo(inviter)).toHaveLength(2)
    await runHourly()
    expect(joinedMailsTo(inviter)).toHaveLength(2)
    expect(joinedMailsTo(quick)).toEqual([])
  })

  it('are in the inbox alone, or nowhere, for who has chosen that', async () => {
    const [quiet, off] = [
      await addPerson(service, workspace, 'admin', 'Quiet Inviter'),
      await addPerson(service, workspace, 'admin', 'Offline Inviter'),
    ]
    await prefer(quiet, { acceptedInvites: 'inbox' })
    await prefer(off, { acceptedInvites: 'off' })
    for (const inviter of [quiet, off]) await accept(inviter, await service.createPerson({ name: 'Ida' }))
    await runHourly()
    clock.advance(25 * hourMs)
    await runHourly()
    expect([quiet, off].flatMap(joinedMailsTo)).toEqual([])
    expect(await findNotifications(service, quiet)).toMatchObject([{ kind: 'invite_accepted' }])
    expect(await findNotifications(service, off)).toEqual([])
  })

  it('of the version before are mailed from its jobs', async () => {
    const inviter = await addPerson(service, workspace, 'admin', 'Inge Inviter')
    const { id: inviteId } = await createInvite(service, inviter, company)
    const payload = JSON.stringify({ inviteId, memberName: 'Ida' })
    await db.execute(sql`select graphile_worker.add_job('send_invite_accepted', ${payload}::json)`)
    await untilDone('send_invite_accepted')
    expect(joinedMailsTo(inviter).map(({ parsed }) => parsed.subject)).toEqual(['Ida joined Acme'])
  })
})
