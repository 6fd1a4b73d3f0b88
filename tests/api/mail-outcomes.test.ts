import { sql } from 'drizzle-orm'
import { afterEach, describe, expect, it } from 'vitest'
import {
  createCompany,
  createInvite,
  get,
  patch,
  post,
  randomEmail,
  type TestCompany,
} from '../support/company.ts'
import { eventually, untilTrue } from '../support/eventually.ts'
import { startMailServer } from '../support/mail-server.ts'
import { runJobsNow } from '../support/run-jobs-now.ts'
import { clone, selectRows, startTestApp, type TestPerson } from '../support/test-app.ts'
import { createTestClock } from '../support/test-clock.ts'

const clock = createTestClock()
const server = await startMailServer()
const service = await startTestApp({
  clock,
  environment: { DATABASE_URL: await clone(), SMTP_URL: server.url, MAIL_FROM: 'post@mail.example.com' },
})
const { as, db, services } = service
await services.startJobs()

const unknown = { refusesWith: 550, refuses: { text: '5.1.1 no such user 不存在' } }

afterEach(async () => {
  for (const key of Object.keys(server.mood)) Reflect.deleteProperty(server.mood, key)
  await db.execute(sql`delete from graphile_worker._private_jobs where locked_at is null`)
  await db.execute(sql`delete from mails`)
})

const mailsOf = (id: string) =>
  selectRows<{ state: string; smtp_code: number | null; attempts: number; message_id: string }>(
    db,
    sql`select job_id, kind, message_id, user_id, invite_id, state, smtp_code, attempts from mails
      where invite_id = ${id} or user_id = ${id} order by created_at`,
  )

const jobsOf = (id: string) =>
  selectRows<{ id: string; attempts: number; max_attempts: number }>(
    db,
    sql`select id::text, attempts, max_attempts from graphile_worker._private_jobs
      where payload ->> 'inviteId' = ${id} and locked_at is null and last_error is not null`,
  )

/** Waits until the mail of an invite has a state. */
const untilMail = (inviteId: string, state: string, attempts = 1) =>
  eventually(async () => expect(await mailsOf(inviteId)).toMatchObject([{ state, attempts }]))

/** Waits until an attempt of a job of an invite has failed, and the job waits for the next. */
const untilJobFailed = (inviteId: string) =>
  eventually(async () => expect(await jobsOf(inviteId)).not.toEqual([]))

/** Waits until the job of an invite has ended as failed. */
const untilEnded = (inviteId: string) =>
  eventually(async () => {
    const [job] = await jobsOf(inviteId)
    expect(job).toBeDefined()
    expect(job?.attempts).toBe(job?.max_attempts)
  })

/** Sends a mail that the server accepts. */
async function sendOther(company: TestCompany): Promise<void> {
  const { id, email } = await createInvite(service, company.owner, company)
  await server.nextFor(email)
  await untilMail(id, 'sent')
}

/** The lines of the log about a mail. */
const linesOf = (messageId: string, message: string) =>
  service.log
    .map((line) => JSON.parse(line) as Record<string, unknown>)
    .filter((line) => line.msg === message && line.messageId === messageId)

describe('a mail that the server refuses', () => {
  it('ends its job when there is no such address (550 5.1.1), and is sent by retry-jobs --failed', async () => {
    Object.assign(server.mood, unknown)
    const company = await createCompany(service)
    const { id, email } = await createInvite(service, company.owner, company)
    await untilEnded(id)
    await untilMail(id, 'failed')
    const { items } = await services.jobOperations.list({ isFailed: true })
    expect(items).toMatchObject([{ task: 'send_invite', state: 'failed' }])
    delete server.mood.refusesWith
    expect(await services.jobOperations.retry()).toHaveLength(1)
    await runJobsNow(service)
    await server.nextFor(email)
    await untilMail(id, 'sent')
  })

  it('ends its job without an enhanced code (553) when another was accepted in the last hour', async () => {
    const company = await createCompany(service)
    await sendOther(company)
    Object.assign(server.mood, { refusesWith: 553, refuses: { text: 'sorry' } })
    clock.advance(59 * 60_000)
    const { id } = await createInvite(service, company.owner, company)
    await untilEnded(id)
    await untilMail(id, 'failed')
  })

  it('is tried again without an enhanced code when the server accepted nothing in the last hour', async () => {
    const company = await createCompany(service)
    await sendOther(company)
    Object.assign(server.mood, { refusesWith: 550 })
    clock.advance(61 * 60_000)
    const { id } = await createInvite(service, company.owner, company)
    await untilMail(id, 'retrying')
    await runJobsNow(service)
    await untilMail(id, 'retrying', 2)
  })

  it.each([
    ['a policy (550 5.7.1)', { refusesWith: 550, refuses: { text: '5.7.1 blocked' } }],
    ['a full mailbox (552)', { refusesWith: 552 }],
    ['another refusal (554 5.1.1)', { refusesWith: 554, refuses: { text: '5.1.1 no' } }],
    ['a temporary refusal (450 4.1.1)', { refusesWith: 450, refuses: { text: '4.1.1 later' } }],
    ['a refusal of the text (550 to DATA)', { failsWith: 550 }],
  ])('is tried again after %s, although another was accepted', async (_name, mood) => {
    const company = await createCompany(service)
    await sendOther(company)
    Object.assign(server.mood, mood)
    const { id } = await createInvite(service, company.owner, company)
    await untilMail(id, 'retrying')
    await runJobsNow(service)
    await untilMail(id, 'retrying', 2)
  })

  it('is tried again when nothing answers, with no code', async () => {
    const company = await createCompany(service)
    await server.stop()
    const { id } = await createInvite(service, company.owner, company)
    await untilMail(id, 'retrying')
    expect(await mailsOf(id)).toMatchObject([{ smtp_code: null }])
    await server.start()
    await runJobsNow(service)
    await untilMail(id, 'sent', 2)
    expect(await mailsOf(id)).toMatchObject([{ smtp_code: 250 }])
  })
})

describe('the record of a mail', () => {
  it('has one row and one line for each attempt, with ids and without the address', async () => {
    Object.assign(server.mood, { refusesWith: 451 })
    const company = await createCompany(service)
    const response = await as(company.owner, {
      method: 'POST',
      url: `${company.url}/invites`,
      payload: { email: `linus+${company.workspace.slug}@example.com`, role: 'member' },
    })
    const { invite } = response.json<{ invite: { id: string; email: string } }>()
    const requestId = response.headers['x-request-id']
    await untilMail(invite.id, 'retrying')
    delete server.mood.refusesWith
    await runJobsNow(service)
    await untilMail(invite.id, 'sent', 2)
    const [row] = await mailsOf(invite.id)
    const messageId = String(row?.message_id)
    const ids = {
      kind: 'send_invite',
      messageId,
      inviteId: invite.id,
      workspaceId: company.workspace.id,
      requestId,
    }
    expect(requestId).toEqual(expect.any(String))
    expect(linesOf(messageId, 'mail failed')).toMatchObject([{ ...ids, attempt: 1, smtpCode: 451 }])
    const sent = linesOf(messageId, 'mail sent')
    expect(sent).toMatchObject([{ ...ids, attempt: 2, smtpCode: 250 }])
    expect(JSON.stringify([row, sent])).not.toContain(invite.email)
    expect(row).toMatchObject({ job_id: sent[0]?.jobId, kind: 'send_invite', user_id: null, smtp_code: 250 })
  })

  it('logs a failed job as fields', async () => {
    Object.assign(server.mood, { refusesWith: 451 })
    const company = await createCompany(service)
    const request = post(`${company.url}/invites`, { email: randomEmail(), role: 'member' })
    const answer = await as(company.owner, request)
    const { id } = answer.json<{ invite: { id: string } }>().invite
    const requestId = answer.headers['x-request-id']
    await untilMail(id, 'retrying')
    await eventually(() => {
      const line = service.log.map((text) => JSON.parse(text) as Record<string, unknown>)
      expect(line.filter((fields) => fields.inviteId === id && fields.job === 'send_invite')).toMatchObject([
        { msg: 'job failed; will retry', attempt: 1, attemptsMax: 25, level: 40, requestId },
      ])
    })
  })

  it('is of the person to whom it goes, is erased with them, and is kept for 30 days', async () => {
    const company = await createCompany(service)
    const { owner, member, viewer, url } = company
    for (const person of [member, viewer]) {
      await as(owner, patch(`${url}/members/${person.id}`, { role: 'admin' }))
      await server.nextFor(person.email)
      await untilMail(person.id, 'sent')
    }
    await services.accounts.delete(member.id, { withWorkspaces: false })
    expect(await mailsOf(member.id)).toEqual([])
    expect(await mailsOf(viewer.id)).toHaveLength(1)
    const cleanUp = async () => {
      await db.execute(sql`select graphile_worker.add_job('clean_up_mails')`)
      await untilTrue(
        async () =>
          (
            await selectRows(
              db,
              sql`select 1 as one from graphile_worker.jobs where task_identifier = 'clean_up_mails'`,
            )
          ).length === 0,
      )
    }
    clock.advance(29 * 24 * 3_600_000)
    await cleanUp()
    expect(await mailsOf(viewer.id)).toHaveLength(1)
    clock.advance(2 * 24 * 3_600_000)
    await cleanUp()
    expect(await mailsOf(viewer.id)).toEqual([])
  })
})

describe('what operators see of mails', () => {
  it('is what became of those to an account and of invites to the address, and a mail to try it', async () => {
    const company = await createCompany(service)
    const { owner, member, url } = company
    await as(owner, patch(`${url}/members/${member.id}`, { role: 'viewer' }))
    await server.nextFor(member.email)
    await untilMail(member.id, 'sent')
    const other = await createCompany(service)
    const { id: inviteId } = await createInvite(service, other.owner, other, { email: member.email })
    await untilMail(inviteId, 'sent')
    const { mailOperations } = services
    const ofAddress = await mailOperations.list({ email: member.email.toUpperCase() })
    expect(ofAddress.total).toBe(2)
    expect(ofAddress.items).toMatchObject([
      { kind: 'send_invite', inviteId, userId: null, state: 'sent', smtpCode: 250 },
      { kind: 'send_role_changed', inviteId: null, userId: member.id },
    ])
    expect(await mailOperations.list({ userId: member.id, limit: 1 })).toMatchObject({ total: 1 })
    expect(await mailOperations.list({ email: 'nobody@example.com' })).toEqual({ items: [], total: 0 })

    const { smtpCode, messageId } = await mailOperations.sendTest('try@example.com')
    expect(smtpCode).toBe(250)
    expect((await server.nextFor('try@example.com')).header('message-id')).toBe(
      `<${messageId}@mail.example.com>`,
    )
    Object.assign(server.mood, unknown)
    await expect(mailOperations.sendTest('try@example.com')).rejects.toMatchObject({ smtpCode: 550 })
  })
})

describe('an invite to an address that does not exist', () => {
  const deliveryOf = async (company: TestCompany, id: string) =>
    (await as(company.owner, get(`${company.url}/invites/${id}`))).json<{ delivery: string }>().delivery
  const untilDelivery = (company: TestCompany, id: string, delivery: string) =>
    eventually(async () => expect(await deliveryOf(company, id)).toBe(delivery))
  const eventsOf = async (company: TestCompany, person: TestPerson) =>
    (await as(person, get(`${company.url}/events?type=invite.undeliverable`))).json<unknown[]>()
  const toldTo = async (person: TestPerson) =>
    (await as(person, get('/v1/me/notifications')))
      .json<{ kind: string; text: string; path: string }[]>()
      .filter(({ kind }) => kind === 'invite_undeliverable')

  it('is refused: its inviter is told, and managers alone see the event', async () => {
    Object.assign(server.mood, unknown)
    const company = await createCompany(service)
    const { owner, admin, member, viewer } = company
    const { id, email } = await createInvite(service, admin, company)
    await untilDelivery(company, id, 'refused')
    await untilEnded(id)
    expect(await eventsOf(company, owner)).toMatchObject([
      {
        actorType: 'system',
        targetId: id,
        data: { inviteId: id, email },
        summary: `The service could not deliver the invite to ${email}`,
      },
    ])
    const told = await toldTo(admin)
    expect(told).toMatchObject([{ path: `/w/${company.workspace.slug}/invites` }])
    // Neither the address nor that there is an invite is told to anybody else.
    expect(JSON.stringify(told)).not.toContain(email)
    for (const person of [owner, member, viewer]) expect(await toldTo(person)).toEqual([])
    for (const person of [member, viewer]) {
      expect(await eventsOf(company, person)).toEqual([])
      expect((await as(person, get(`${company.url}/events`))).body).not.toContain(email)
    }
    // Another attempt at the same mail is no second event.
    const linesOfInvite = () =>
      service.log.filter((line) => line.includes('"mail failed"') && line.includes(id))
    await services.jobOperations.retry()
    await runJobsNow(service)
    await untilTrue(() => linesOfInvite().length === 2)
    await untilEnded(id)
    expect(await eventsOf(company, owner)).toHaveLength(1)

    // It waits when it is sent again, and is sent when the address exists.
    await db.execute(sql`delete from graphile_worker._private_jobs where locked_at is null`)
    server.mood.refusesWith = 450
    await as(admin, post(`${company.url}/invites/${id}/resend`))
    expect(await deliveryOf(company, id)).toBe('waiting')
    await untilJobFailed(id)
    delete server.mood.refusesWith
    await runJobsNow(service)
    await untilDelivery(company, id, 'sent')
    // So does one that was sent before.
    clock.advance(1_000)
    server.mood.refusesWith = 450
    await as(admin, post(`${company.url}/invites/${id}/resend`))
    expect(await deliveryOf(company, id)).toBe('waiting')
  })

  it('tells nobody who has lost the right to see invites meanwhile', async () => {
    Object.assign(server.mood, { refusesWith: 450 })
    const company = await createCompany(service)
    const { owner, admin, url } = company
    const { id } = await createInvite(service, admin, company)
    await untilMail(id, 'retrying')
    await as(owner, patch(`${url}/members/${admin.id}`, { role: 'member' }))
    Object.assign(server.mood, unknown)
    await runJobsNow(service)
    await untilDelivery(company, id, 'refused')
    await as(owner, patch(`${url}/members/${admin.id}`, { role: 'admin' }))
    expect(await toldTo(admin)).toEqual([])
    expect(await eventsOf(company, owner)).toHaveLength(1)
  })
})
