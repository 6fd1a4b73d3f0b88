import { randomUUID } from 'node:crypto'
import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { eraseDeletedWorkspaces } from '../../src/areas/workspaces/ownership/ownership.repository.ts'
import { streamEventsDefaults } from '../../src/http/answers/stream-events.ts'
import { errors } from '../../src/kernel/errors.ts'
import { deletedWorkspaceKeptMs, formerSlugKeptMs } from '../../src/domain/workspaces.ts'
import {
  createCompany,
  createInvite,
  del,
  findInconsistencies,
  findRoles,
  get,
  patch,
  post,
  type TestCompany,
} from '../support/company.ts'
import { openEventStream } from '../support/event-stream-client.ts'
import { expectError } from '../support/expect-error.ts'
import { codeOf, createOAuthTester, type Tokens } from '../support/oauth-client.ts'
import { createSeed } from '../support/seeds.ts'
import { selectRows, startTestApp, type TestPerson } from '../support/test-app.ts'
import { createTestClock } from '../support/test-clock.ts'
import { startReceiver } from '../support/webhook-receiver.ts'
import { createWebhook } from '../support/webhooks.ts'
import {
  allowDomains,
  createWorkspace,
  deleteWorkspace,
  findWorkspace,
  randomSlug,
} from '../support/workspaces.ts'

const clock = createTestClock()
const service = await startTestApp({
  clock,
  eventStreams: streamEventsDefaults,
  deliveries: { pollEveryMs: 20 },
})
const { app, as, createPerson, db, services } = service
const oauth = createOAuthTester(service)

const remove = ({ owner, workspace }: TestCompany) => deleteWorkspace(service, owner, workspace)
const restore = ({ workspace }: TestCompany, ownerEmail?: string) =>
  services.ownership.restore(workspace.slug, ownerEmail === undefined ? {} : { ownerEmail })

async function erase(): Promise<void> {
  const now = clock.now()
  const before = new Date(now.getTime() - deletedWorkspaceKeptMs)
  await eraseDeletedWorkspaces(db, { before, now, slugKeptMs: formerSlugKeptMs })
}

/** An agent of the owner, with its tokens. */
async function connect({ workspace, owner }: TestCompany) {
  const user = await services.accounts.findByEmail(owner.email)
  if (!user) throw new Error('the owner is not there')
  const principal = { user, source: 'web', apiKeyId: null, sessionId: null, grantId: null } as const
  const host = { ...owner, workspaceId: workspace.id, slug: workspace.slug, principal }
  const agent = await oauth.createAgent()
  return { agent, host, tokens: await oauth.getTokens(agent, host) }
}

describe('while a workspace is deleted', () => {
  it('outsiders and members see what they see of a slug that never was, and cannot take it', async () => {
    const company = await createCompany(service)
    const { owner, member, workspace } = company
    const second = randomSlug()
    await as(owner, patch(company.url, { name: 'Acme', slug: second }))
    await as(owner, patch(`/v1/workspaces/${second}`, { name: 'Acme', slug: workspace.slug }))
    await remove(company)
    const other = await createWorkspace(service, member)
    const stranger = await createPerson()
    for (const slug of [workspace.slug, second]) {
      for (const person of [stranger, member, owner]) {
        for (const path of ['', '/members', '/events', '/export', '/seeds', '/search?q=a'])
          expectError(await as(person, get(`/v1/workspaces/${slug}${path}`)), errors.notFound)
        expectError(await as(person, get('/v1/workspaces/never-was')), errors.notFound)
        expectError(await as(person, post('/v1/workspaces', { name: 'Mine', slug })), errors.slugTaken)
      }
      expectError(
        await as(member, patch(`/v1/workspaces/${other.slug}`, { name: 'Mine', slug })),
        errors.slugTaken,
      )
    }
    await restore(company)
    expect((await as(owner, get(company.url))).json()).toMatchObject({ workspaceId: workspace.id })
    // Its former slug leads to it again, and to nobody else.
    expect((await as(owner, get(`/v1/workspaces/${second}`))).json()).toMatchObject({
      workspaceId: workspace.id,
    })
    expectError(await as(stranger, get(`/v1/workspaces/${second}`)), errors.notAMember)
  })

  it('its streams end, and say nothing of it before it is restored', async () => {
    const company = await createCompany(service)
    const { member, url } = company
    const headers = { authorization: `Bearer ${member.apiKey}` }
    const stream = await openEventStream(service, `${url}/events/stream`, headers)
    await remove(company)
    await stream.ended
    const again = await openEventStream(service, `${url}/events/stream`, headers)
    expect(again.status).toBe(404)
    const events = await as(member, get(`${url}/events/changes`))
    expectError(events, errors.notFound)
    await restore(company)
    const restored = await openEventStream(service, `${url}/events/stream`, headers)
    expect(restored.status).toBe(200)
    restored.disconnect()
  })

  it('its agents read nothing, whatever tokens they get, and go on when it is restored', async () => {
    const company = await createCompany(service)
    const [busy, idle] = [await connect(company), await connect(company)]
    await remove(company)
    expect((await oauth.readKit(busy.tokens.access_token)).statusCode).toBe(401)
    // A program whose refresh is refused deletes its tokens, and would not come back with the workspace.
    let tokens = busy.tokens
    for (let i = 0; i < 3; i++) {
      tokens = (await oauth.refresh(busy.agent, tokens.refresh_token)).json<Tokens>()
      expect((await oauth.readKit(tokens.access_token)).statusCode).toBe(401)
    }
    await restore(company)
    expect((await oauth.readKit(tokens.access_token)).statusCode).toBe(200)
    expect((await oauth.readKit(idle.tokens.access_token)).statusCode).toBe(200)
    expect((await oauth.refresh(idle.agent, idle.tokens.refresh_token)).statusCode).toBe(200)
  })

  it('no consent is given that was asked for before, and a code from before leads to nothing', async () => {
    const company = await createCompany(service)
    const { agent, host } = await connect(company)
    const [pending, allowed] = [await oauth.authorize(agent), await oauth.authorize(agent)]
    const code = codeOf(await oauth.allow(allowed, host))
    await remove(company)
    await expect(oauth.allow(pending, host)).rejects.toMatchObject({ code: 'not_a_member' })
    const { access_token: accessToken } = (await oauth.exchange(agent, code)).json<Partial<Tokens>>()
    expect((await oauth.readKit(String(accessToken))).statusCode).toBe(401)
  })

  it('its webhooks get what happened before, and its deletion, and nothing of what others do', async () => {
    const company = await createCompany(service)
    const receiver = await startReceiver()
    await createWebhook(service, company.owner, company, {
      url: receiver.url,
      types: ['seed.created', 'workspace.deleted'],
    })
    await createSeed(service, company.member, company)
    await remove(company)
    await as(company.member, post(`${company.url}/seeds`, { title: 'Late', summary: 'Too late' }))
    await services.startJobs()
    await receiver.waitFor(2)
    const other = await createCompany(service)
    const control = await startReceiver()
    await createWebhook(service, other.owner, other, { url: control.url, types: ['seed.created'] })
    await createSeed(service, other.member, other)
    await control.waitFor(1)
    const types = receiver.received.map(({ body }) => (JSON.parse(body) as { type: string }).type)
    expect(types.toSorted()).toEqual(['seed.created', 'workspace.deleted'])
  })

  it('it admits nobody, by its domain or by its invites, and is in no export of its people', async () => {
    const domain = `${randomSlug('d')}.example`
    const company = await createCompany(service)
    await allowDomains(service, company.workspace, [domain])
    const invite = await createInvite(service, company.owner, company)
    await remove(company)
    const person = await createPerson({ email: `${randomUUID()}@${domain}` })
    expect((await as(person, get('/v1/me/offers'))).json()).toEqual([])
    expectError(await as(person, post(`/v1/me/offers/${company.workspace.id}/accept`)), errors.notFound)
    const invited = await createPerson({ email: invite.email })
    expectError(await as(invited, post(`/v1/invites/${invite.token}/accept`)), errors.notFound)
    expectError(await as(invited, post(`/v1/me/invites/${invite.id}/accept`)), errors.notFound)
    await restore(company)
    const roles = await findRoles(service, company.workspace)
    expect([roles[person.id], roles[invited.id]]).toEqual([undefined, undefined])
    expect((await as(invited, post(`/v1/invites/${invite.token}/accept`))).statusCode).toBe(200)
  })
})

describe('a restored workspace', () => {
  it('brings nothing back that ended meanwhile: keys, grants, invites, people', async () => {
    const company = await createCompany(service)
    const { owner, admin, member, viewer } = company
    const { agent, tokens } = await connect(company)
    const invites = [await createInvite(service, admin, company), await createInvite(service, owner, company)]
    const seed = await createSeed(service, member, company)
    await remove(company)
    await db.execute(sql`update api_keys set revoked_at = now() where id = ${member.apiKeyId}`)
    await services.accounts.delete(viewer.id, { withWorkspaces: false })
    await services.accounts.delete(admin.id, { withWorkspaces: false })
    // The owner shuts out whatever else has access.
    await db.execute(sql`insert into passwords (user_id, hash, changed_at)
      values (${owner.id}, '', now()) on conflict do nothing`)
    const { url } = await services.credentials.createLink('reset_password', owner.id)
    const token = String(new URL(url).pathname.split('/').at(-1))
    const change = { password: 'a quite new password', revokeAccess: true }
    await services.credentials.resetPassword(token, change, { requestId: 'a request' })
    clock.advance(8 * 24 * 60 * 60 * 1000)
    await restore(company)

    expect(Object.keys(await findRoles(service, company.workspace)).toSorted()).toEqual(
      [owner.id, member.id].toSorted(),
    )
    for (const person of [member, owner, admin, viewer])
      expect((await as(person, get(company.url))).statusCode).toBe(401)
    expect((await oauth.readKit(tokens.access_token)).statusCode).toBe(401)
    expect((await oauth.refresh(agent, tokens.refresh_token)).statusCode).toBe(400)
    for (const { email, token: link } of invites) {
      const invited = await createPerson({ email })
      expect((await as(invited, post(`/v1/invites/${link}/accept`))).statusCode).toBeGreaterThanOrEqual(400)
      expect((await findRoles(service, company.workspace))[invited.id]).toBeUndefined()
    }
    const [kept] = await selectRows(db, sql`select lead_user_id from seeds where id = ${seed.id}`)
    expect(kept).toEqual({ lead_user_id: member.id })
    expect(await findInconsistencies(service)).toEqual([])
  })

  it('tells of the deletion and the restoring in its events and exports, in this order, once each', async () => {
    const company = await createCompany(service)
    await remove(company)
    await Promise.allSettled([restore(company), restore(company), restore(company)])
    const types = (await as(company.owner, get(`${company.url}/events?limit=2`))).json<{ type: string }[]>()
    expect(types.map(({ type }) => type)).toEqual(['workspace.restored', 'workspace.deleted'])
    const exported = await as(company.owner, get(`${company.url}/export`))
    expect(exported.statusCode).toBe(200)
    expect(exported.body.match(/workspace\.restored/g)).toHaveLength(1)
    const summaries = (await as(company.viewer, get(`${company.url}/events?limit=2`))).body
    expect(summaries).not.toContain('@')
  })

  it('has no more people than before: not who was removed, nor a person whose role was lowered', async () => {
    const company = await createCompany(service)
    const { owner, admin, member } = company
    await as(owner, del(`${company.url}/members/${member.id}`))
    await as(owner, patch(`${company.url}/members/${admin.id}`, { role: 'viewer' }))
    await remove(company)
    await restore(company)
    expect(await findRoles(service, company.workspace)).toEqual({
      [owner.id]: 'owner',
      [admin.id]: 'viewer',
      [company.viewer.id]: 'viewer',
    })
    expectError(await as(member, get(company.url)), errors.notAMember)
  })

  it('is restored by operators alone: no path of the API does it, and no one’s creation of it either', async () => {
    const company = await createCompany(service)
    await remove(company)
    for (const path of ['restore', 'undelete', 'undo']) {
      const answer = await as(company.owner, post(`${company.url}/${path}`))
      expect(answer.statusCode).toBe(404)
    }
    expect(await findWorkspace(service, company.workspace)).toMatchObject({
      deleted_at: expect.anything() as unknown,
    })
  })
})

describe('erasing and restoring', () => {
  it('at the same moment end in one of both, whole', async () => {
    for (let i = 0; i < 4; i++) {
      const company = await createCompany(service)
      await createSeed(service, company.member, company)
      await remove(company)
      clock.advance(deletedWorkspaceKeptMs + 1000)
      const [restored] = await Promise.allSettled([restore(company), erase(), erase()])
      const isThere = (await findWorkspace(service, company.workspace)) !== undefined
      expect(restored.status === 'fulfilled').toBe(isThere)
      expect((await as(company.owner, get(company.url))).statusCode).toBe(isThere ? 200 : 404)
      const rows = await selectRows(
        db,
        sql`select 1 from events where workspace_id = ${company.workspace.id} and type = 'workspace.restored'`,
      )
      expect(rows).toHaveLength(isThere ? 1 : 0)
    }
    expect(await findInconsistencies(service)).toEqual([])
  })

  it('an erased one cannot be restored, by its owner’s name neither, and its slug is nobody’s for 90 days', async () => {
    const company = await createCompany(service)
    await remove(company)
    clock.advance(deletedWorkspaceKeptMs + 1000)
    await erase()
    for (const email of [undefined, company.owner.email])
      await expect(restore(company, email)).rejects.toMatchObject({ code: 'not_found' })
    const thief: TestPerson = await createPerson()
    const payload = { name: 'Mine', slug: company.workspace.slug }
    expectError(await as(thief, post('/v1/workspaces', payload)), errors.slugTaken)
    // Links to the former one lead nowhere, rather than to a thief's.
    expectError(await as(company.owner, get(company.url)), errors.notFound)
    expect((await app.inject({ url: company.url })).statusCode).toBe(401)
  })
})
