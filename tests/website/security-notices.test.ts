import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { createAuthenticator } from '../support/authenticator.ts'
import { randomEmail } from '../support/company.ts'
import { eventually } from '../support/eventually.ts'
import { createOAuthTester } from '../support/oauth-client.ts'
import { runJobsNow } from '../support/run-jobs-now.ts'
import { createTestClock } from '../support/test-clock.ts'
import { selectRows } from '../support/test-app.ts'
import { createVisitor, noticeOn, password, signUp, startWebsite, type Visitor } from './visitor.ts'

const clock = createTestClock()
const website = await startWebsite({ clock })
const { as, db, services } = website
const oauth = createOAuthTester(website)

const firefox = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0'

const countJobs = async (task: string, email: string) => {
  const rows = await selectRows(
    db,
    sql`select 1 from graphile_worker._private_jobs j
      join graphile_worker._private_tasks t on t.id = j.task_id and t.identifier = ${task}
      join users u on u.id::text = j.payload ->> 'userId' and u.email = ${email}`,
  )
  return rows.length
}

async function signIn(email: string, visitor = createVisitor(website), chosen = password): Promise<Visitor> {
  await visitor.get('/sign-in')
  const answer = await visitor.submit('/sign-in', { email, password: chosen }, { 'user-agent': firefox })
  expect(answer.statusCode).toBe(303)
  return visitor
}

/** A person with an account on the website, an API key and an agent. */
async function createConnectedPerson() {
  const email = randomEmail()
  const visitor = await signUp(website, { email, name: 'Grace' })
  const user = await services.accounts.findByEmail(email)
  if (!user) throw new Error(`there is no ${email}`)
  const principal = { user, source: 'system' as const, apiKeyId: null, sessionId: null, grantId: null }
  const slug = `w-${crypto.randomUUID().slice(0, 8)}`
  const { id: workspaceId } = await services.workspaces.create(principal, { name: 'Acme', slug })
  const { secret: apiKey, id: apiKeyId } = await services.apiKeys.create(principal, { name: 'Laptop' })
  const host = { id: user.id, name: user.name, email, apiKey, apiKeyId, workspaceId, slug, principal }
  const { access_token: accessToken } = await oauth.getTokens(await oauth.createAgent(), host)
  const hasAccess = async () => [
    (await as(host, { url: '/v1/me' })).statusCode,
    (await oauth.readKit(accessToken)).statusCode,
  ]
  expect(await hasAccess()).toEqual([200, 200])
  return { email, visitor, host, hasAccess }
}

/** Requests a link to a new password and follows it. */
async function resetPassword(email: string, fields: Record<string, string>) {
  const visitor = createVisitor(website)
  await visitor.get('/forgot')
  await visitor.submit('/forgot', { email })
  const { path } = await website.waitForMail(email, /Choose a new password/)
  await visitor.get(path)
  expect(visitor.page()).toContain('name="revokeAccess"')
  expect((await visitor.submit(path, fields)).statusCode).toBe(303)
}

const revocations = (slug: string) =>
  selectRows(
    db,
    sql`select e.summary from events e join workspaces w on w.id = e.workspace_id
      where w.slug = ${slug} and e.type = 'integration.revoked'`,
  )

describe('a sign-in', () => {
  it('sends an email when the browser is new to the account, once per browser', async () => {
    const email = randomEmail()
    const first = await signUp(website, { email })
    await first.submit('/sign-out')
    await signIn(email, first)
    expect(await countJobs('send_signed_in', email)).toBe(0)

    const other = await signIn(email)
    expect(await countJobs('send_signed_in', email)).toBe(1)
    await runJobsNow(website)
    const { text, path } = await website.waitForMail(email, /New sign-in/)
    expect(text.replaceAll(/\s+/g, ' ')).toContain('Firefox on Linux')
    expect(path).toBe('/settings/security')
    await other.get('/onboarding')
    await other.submit('/sign-out')
    await signIn(email, other)
    expect(await countJobs('send_signed_in', email)).toBe(0)
  })

  it('sends one email when several follow within a short time', async () => {
    const email = randomEmail()
    await signUp(website, { email })
    for (let i = 0; i < 4; i++) await signIn(email)
    expect(await countJobs('send_signed_in', email)).toBe(1)
  })

  it('expires after 90 days at most, even when it is used', async () => {
    const visitor = await signUp(website, { email: randomEmail() })
    const day = 24 * 60 * 60 * 1000
    for (let i = 0; i < 4; i++) {
      clock.advance(20 * day)
      expect((await visitor.get('/onboarding')).statusCode).toBe(200)
    }
    clock.advance(10 * day - 60_000)
    expect((await visitor.get('/onboarding')).statusCode).toBe(200)
    clock.advance(60_000)
    expect((await visitor.get('/onboarding')).statusCode).toBe(303)
  })
})

describe('created API keys', () => {
  it('are reported in one email, whether created on the website or with the API', async () => {
    const { email, visitor, host } = await createConnectedPerson()
    expect(await countJobs('send_api_keys_created', email)).toBe(0)
    await visitor.get('/settings/security')
    await visitor.submit('/settings/security/api-keys', { name: 'From the website' })
    await as(host, { method: 'POST', url: '/v1/api-keys', payload: { name: 'From a program' } })
    expect(await countJobs('send_api_keys_created', email)).toBe(1)
    await runJobsNow(website)
    const { text, path } = await website.waitForMail(email, /new API key/)
    expect(text.replaceAll(/\s+/g, ' ')).toContain('From a program, From the website, Laptop')
    expect(path).toBe('/settings/security')
  })
})

/** What an intruder in a person's session leaves, to return by it. */
async function leaveWaysBack(visitor: Visitor, email: string) {
  const security = '/settings/security'
  const authenticator = createAuthenticator({ origin: website.config.webUrl })
  await visitor.get(`${security}/passkeys`)
  const options = (await visitor.post(`${security}/passkeys/options`)).json<{ challenge: string }>()
  const credential = authenticator.create(options)
  expect((await visitor.submit(`${security}/passkeys`, { name: 'Theirs', credential })).statusCode).toBe(200)
  await visitor.get(`${security}/two-step`)
  await visitor.submit(`${security}/two-step/begin`)
  await visitor.get(`${security}/email`)
  const intruder = randomEmail()
  await visitor.submit(`${security}/email`, { email: intruder })
  const { path: changePath } = await website.waitForMail(intruder, /Confirm/)
  const identity = {
    ...{ issuer: 'https://id.example', subject: intruder, name: 'Eve' },
    ...{ email: intruder, emailFault: undefined },
  }
  const user = await services.accounts.findByEmail(email)
  if (!user) throw new Error(`there is no ${email}`)
  const principal = { user, source: 'web' as const, apiKeyId: null, sessionId: null, grantId: null }
  await services.identities.link(principal, { issuer: identity.issuer, name: 'Example ID' }, identity)

  const canUsePasskey = async () => {
    const stranger = createVisitor(website)
    await stranger.get('/sign-in')
    const challenge = (await stranger.post('/sign-in/passkey/options')).json<{ challenge: string }>()
    const answer = await stranger.submit('/sign-in/passkey', { credential: authenticator.get(challenge) })
    return answer.statusCode === 303
  }
  const canUseIdentity = async () => {
    const browser = {
      userAgent: '',
      sessionToken: undefined,
      browserToken: crypto.randomUUID(),
      requestId: 'a request',
    }
    return services.credentials.signInByIdentity(identity, browser).then(
      () => true,
      (error: unknown) => (error as Error).message,
    )
  }
  const canSetUp = async () => (await services.secondFactor.findSetup(principal)) !== undefined
  const canChangeEmail = async () => (await services.emailChanges.findPending(principal)) !== undefined
  const list = async () => [
    await canUsePasskey(),
    await canUseIdentity(),
    await canSetUp(),
    await canChangeEmail(),
  ]
  return { list, changePath }
}

describe('a new password', () => {
  it('keeps API keys, agents and other credentials by default, and the email counts them', async () => {
    const { email, visitor, host, hasAccess } = await createConnectedPerson()
    const ways = await leaveWaysBack(visitor, email)
    await resetPassword(email, { password: 'a new long password' })
    expect(await hasAccess()).toEqual([200, 200])
    expect(await ways.list()).toEqual([true, true, true, true])
    const { text } = await website.waitForMail(email, /password was changed/)
    expect(text.replaceAll(/\s+/g, ' ')).toContain(
      'Not revoked: 1 API key, 1 agent, 1 passkey, 1 linked account, 1 pending change of your email address ' +
        'and 1 unfinished setup of an authenticator app.',
    )
    expect(text).not.toContain('Also revoked')
    expect(await revocations(host.slug)).toEqual([])
  })

  it('revokes other credentials on request when set by an emailed link, with an event, and the email counts them', async () => {
    const { email, visitor, host, hasAccess } = await createConnectedPerson()
    const ways = await leaveWaysBack(visitor, email)
    await resetPassword(email, { password: 'a new long password', revokeAccess: 'on' })
    expect(await hasAccess()).toEqual([401, 401])
    expect(await ways.list()).toEqual([false, expect.stringContaining('unlinked') as string, false, false])
    const { text } = await website.waitForMail(email, /password was changed/)
    expect(text.replaceAll(/\s+/g, ' ')).toContain(
      'Also revoked: 1 API key, 1 agent, 1 passkey, 1 linked account, 1 pending change of your email address ' +
        'and 1 unfinished setup of an authenticator app.',
    )
    expect(text).not.toContain('Not revoked')
    expect(await revocations(host.slug)).toEqual([{ summary: 'Grace revoked the access of Robbie' }])
    const owner = await signIn(email, createVisitor(website), 'a new long password')
    expect((await owner.get(ways.changePath)).statusCode).toBe(404)
  })

  it('revokes other credentials on request when set in the settings, but none of other people', async () => {
    const { visitor, hasAccess } = await createConnectedPerson()
    const other = await createConnectedPerson()
    await visitor.get('/settings/security')
    const fields = { currentPassword: password, password: 'a new long password', revokeAccess: 'on' }
    const changed = await visitor.submit('/settings/security/password', fields)
    expect(noticeOn(changed.body)).toBe('Password changed. You are signed out on all other devices.')
    expect(await hasAccess()).toEqual([401, 401])
    expect(await other.hasAccess()).toEqual([200, 200])
    expect((await visitor.get('/settings/security')).statusCode).toBe(200)
  })
})

describe('a refresh token that is reused 31 minutes after its exchange', () => {
  it('revokes the access of the agent, and notifies the person once', async () => {
    const host = await oauth.createHost()
    const agent = await oauth.createAgent({ client_name: 'Robbie' })
    const { refresh_token: token } = await oauth.getTokens(agent, host)
    await oauth.refresh(agent, token)
    clock.advance(31 * 60_000)
    expect((await oauth.refresh(agent, token)).statusCode).toBe(400)
    expect((await oauth.refresh(agent, token)).statusCode).toBe(400)
    const mail = await website.waitForMail(host.email, /Robbie no longer has access to Acme/)
    expect(mail.text).toContain('used again')
    expect(mail.path).toBe(`/w/${host.slug}/agents`)
    // The mail arrives before its job is gone. Another job would have sent another mail by then.
    const jobs = sql`select 1 from graphile_worker._private_jobs j
      join agent_grants g on g.id::text = j.payload ->> 'grantId' and g.user_id = ${host.id}`
    await eventually(async () => expect(await selectRows(db, jobs)).toEqual([]))
    const mails = sql`select kind from mails where user_id = ${host.id}`
    expect(await selectRows(db, mails)).toEqual([{ kind: 'send_access_ended' }])
  })
})
