import { sql } from 'drizzle-orm'
import type { LightMyRequestResponse } from 'fastify'
import { describe, expect, it } from 'vitest'
import type { JobName } from '../../src/platform/jobs/jobs.port.ts'
import { createCompany, del, findJobs, patch, post, randomEmail } from '../support/company.ts'
import { createKey, pathOfKey } from '../support/api-keys.ts'
import { createAuthenticator } from '../support/authenticator.ts'
import { buildUpload } from '../support/forms.ts'
import { createOAuthTester } from '../support/oauth-client.ts'
import { createSeed } from '../support/seeds.ts'
import { startTestApp, type TestPerson } from '../support/test-app.ts'
import { createWebhook } from '../support/webhooks.ts'
import { allowActions } from '../support/workspaces.ts'
import { createVisitor, signInAs } from './visitor.ts'

// Jobs do not run here: they wait in the queue, with the request that caused them.
const service = await startTestApp()
const { as, createPerson, db, services } = service
const oauth = createOAuthTester(service)
const security = '/settings/security'

/** Opens a page in the browser of somebody who has just signed in, and sends a form of it. */
async function submit(person: TestPerson, page: string, form: string, fields: Record<string, string>) {
  const visitor = await signInAs(service, person)
  await visitor.get(page)
  return visitor.post(form, fields)
}

/** Sends a form of somebody who is not signed in. */
async function submitAsVisitor(page: string, fields: Record<string, string>) {
  const visitor = createVisitor(service)
  await visitor.get(page)
  return visitor.post(page, fields)
}

const changeEmail = async () =>
  submit(await createPerson(), `${security}/email`, `${security}/email`, { email: randomEmail() })

type Cause = () => Promise<LightMyRequestResponse>

/** The jobs that only the service itself enqueues, or a command. */
type OfService =
  | 'send_invite_accepted'
  | 'send_api_key_expires'
  | 'send_access_ends'
  | 'send_digest'
  | 'send_accepted_invites'
  | 'send_reminders'
  | 'send_webhook_disabled'
  | 'tell_cancelled_requests'
  | 'collect_pictures'

/** A request for each kind of job that requests cause. */
const causes: Record<Exclude<JobName, OfService>, Cause> = {
  send_invite: async () => {
    const { url, owner } = await createCompany(service)
    return as(owner, post(`${url}/invites`, { email: randomEmail(), role: 'member' }))
  },
  send_role_changed: async () => {
    const { url, owner, member } = await createCompany(service)
    return as(owner, patch(`${url}/members/${member.id}`, { role: 'admin' }))
  },
  send_workspace_deleted: async () => {
    const { url, owner, workspace } = await createCompany(service)
    await allowActions(service, workspace, owner)
    return as(owner, post(`${url}/delete`, { confirmSlug: workspace.slug }))
  },
  send_account_mail: () => submitAsVisitor('/sign-in/link', { email: randomEmail() }),
  send_password_changed: async () => {
    const { id } = await createPerson()
    const { url } = await services.credentials.createLink('reset_password', id)
    return submitAsVisitor(new URL(url).pathname, { password: 'a new long password' })
  },
  send_api_keys_created: async () => as(await createPerson(), post('/v1/api-keys', { name: 'Laptop' })),
  send_rotated_key_works: async () => {
    const person = await createPerson()
    const { id } = await createKey(service, person)
    const rotated = await as(person, post(`${pathOfKey(id)}/rotate`))
    return as(person, post(`${pathOfKey(rotated.json<{ id: string }>().id)}/revoke`))
  },
  send_signed_in: async () => {
    const { id } = await createPerson()
    await signInAs(service, { id })
    const visitor = createVisitor(service)
    const { url } = await services.credentials.createLink('sign_in', id)
    await visitor.get(new URL(url).pathname)
    return visitor.post(new URL(url).pathname)
  },
  send_security_notice: async () => {
    const visitor = await signInAs(service, await createPerson())
    const authenticator = createAuthenticator({ origin: service.config.webUrl })
    await visitor.get(`${security}/passkeys`)
    const options = (await visitor.post(`${security}/passkeys/options`)).json<{ challenge: string }>()
    return visitor.post(`${security}/passkeys`, { name: 'Key', credential: authenticator.create(options) })
  },
  send_account_deletion: async () => {
    const person = await createPerson()
    const user = await services.accounts.findByEmail(person.email)
    if (!user) throw new Error('there is no such person')
    const principal = { user, source: 'web', apiKeyId: null, sessionId: null, grantId: null } as const
    await services.accountDeletion.allow(principal)
    return as(person, post('/v1/me/delete', { confirmEmail: person.email }))
  },
  send_email_change: changeEmail,
  send_email_change_notice: changeEmail,
  send_access_ended: async () => {
    const [agent, host] = [await oauth.createAgent(), await oauth.createHost()]
    const code = await oauth.getCode(agent, host)
    await oauth.exchange(agent, code)
    return oauth.exchange(agent, code)
  },
  send_mentions: async () => {
    const company = await createCompany(service)
    const { id } = await createSeed(service, company.owner, company)
    const body = `[@X](user:${company.member.id})`
    const token = await oauth.letIn(company.workspace, company.owner, { scopes: ['seeds:write'] })
    return service.app.inject({
      method: 'POST',
      url: '/agent/v1/comments:add',
      headers: { authorization: `Bearer ${token}` },
      payload: { seedId: id, body },
    })
  },
  remove_webhook: async () => {
    const company = await createCompany(service)
    const webhook = await createWebhook(service, company.owner, company, { url: 'https://hooks.example/' })
    return as(company.owner, del(webhook.path))
  },
  run_seed_import: async () => {
    const { url, owner } = await createCompany(service)
    return as(owner, {
      method: 'POST',
      url: `${url}/seeds/import`,
      ...buildUpload('Title,Summary\nTools,Borrow them\n', { filename: 'seeds.csv', type: 'text/csv' }),
    })
  },
  append_member_updates: async () => {
    const person = await createPerson()
    const ids = Array.from({ length: 21 }, () => crypto.randomUUID())
    await db.execute(sql`
      insert into workspaces (id, name, slug, created_at)
        select id, 'Many', id::text, now() from unnest(${sql.param(ids)}::uuid[]) as id`)
    await db.execute(sql`
      insert into memberships (workspace_id, user_id, role, joined_at, last_used_at)
        select id, ${person.id}, 'member', now(), now() from unnest(${sql.param(ids)}::uuid[]) as id`)
    return as(person, patch('/v1/me', { name: 'Another name' }))
  },
}

/** Further requests, which enqueue the same kinds elsewhere. */
const others: [JobName, Cause][] = [
  [
    'send_account_mail',
    () =>
      submitAsVisitor('/sign-up', { name: 'Grace', email: randomEmail(), password: 'a new long password' }),
  ],
  ['send_account_mail', () => submitAsVisitor('/forgot', { email: randomEmail() })],
  [
    'send_role_changed',
    async () => {
      const { url, owner, admin, workspace } = await createCompany(service)
      await allowActions(service, workspace, owner)
      return as(owner, post(`${url}/transfer-ownership`, { userId: admin.id }))
    },
  ],
]

describe('a job that a request causes', () => {
  it.each([...Object.entries(causes), ...others])('has its id: %s', async (name, cause) => {
    const answer = await cause()
    const requestId = String(answer.headers['x-request-id'])
    expect(await findJobs(service, requestId), answer.body).toContainEqual({
      task: name,
      payload: expect.objectContaining({ requestId }) as unknown,
    })
  })
})
