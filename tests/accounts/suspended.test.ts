import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { sql } from 'drizzle-orm'
import { afterAll, describe, expect, it } from 'vitest'
import { streamEventsDefaults } from '../../src/http/answers/stream-events.ts'
import { errors } from '../../src/kernel/errors.ts'
import type { Principal } from '../../src/domain/principal.ts'
import { createComment } from '../support/comments.ts'
import {
  addPerson,
  createCompany,
  createInvite,
  createTeam,
  del,
  findRoles,
  get,
  patch,
  post,
} from '../support/company.ts'
import { openEventStream } from '../support/event-stream-client.ts'
import { expectError } from '../support/expect-error.ts'
import { createOAuthTester } from '../support/oauth-client.ts'
import { listen } from '../support/raw-http.ts'
import { createSeed, joinSeed } from '../support/seeds.ts'
import { untilWaiting } from '../support/until-waiting.ts'
import { clone, selectRows, startTestApp, type TestPerson } from '../support/test-app.ts'

const environment = {
  DATABASE_URL: await clone(),
  APP_SECRET: 'shared by the replicas, of 32 characters or more',
}
const options = { environment, eventStreams: streamEventsDefaults, mcpStreams: { pollEveryMs: 20 } }
const service = await startTestApp(options)
/** The operator's command runs in another process than the requests. */
const { accounts } = (await startTestApp(options)).services
const { as, db, services } = service
const agents = createOAuthTester(service)
// The client's fetch connects again after an aborted stream, and sends nothing: Node.js would wait for that.
afterAll(() => service.app.server.closeAllConnections())

const suspend = ({ id }: { id: string }, isForced = false) => accounts.suspend(id, { isForced })
const unsuspend = ({ id }: { id: string }) => accounts.unsuspend(id)
const eventsOf = (workspace: { id: string }) =>
  selectRows<{ type: string; summary: string; readers: string }>(
    db,
    sql`select type, summary, readers from events
      where workspace_id = ${workspace.id} and type like 'member.%suspended' order by position`,
  )

async function principalOf({ email }: TestPerson): Promise<Principal> {
  const user = await services.accounts.findByEmail(email)
  if (!user) throw new Error('the person is not there')
  return { user, source: 'web', apiKeyId: null, sessionId: null, grantId: null }
}

describe('a suspended person', () => {
  it('has no API key that works, in any look-up, with the response to a revoked one, until the end of it', async () => {
    const { member, url } = await createCompany(service)
    const seed = await createSeed(service, member, { url })
    const ofKey = [
      get('/v1/me'),
      get(`${url}/members`),
      get(`/v1/seeds/${seed.id}`),
      post(`${url}/teams`, { name: 'T' }),
    ]
    expect(await suspend(member)).toEqual({ isSuspended: true, changed: true, withoutOwner: [], known: [] })
    expect(await suspend(member)).toMatchObject({ changed: false })
    for (const request of ofKey) expectError(await as(member, request), errors.apiKeyRequired)
    expect(await unsuspend(member)).toBe(true)
    expect(await unsuspend(member)).toBe(false)
    expect((await as(member, get('/v1/me'))).statusCode).toBe(200)
  })

  it('has agents whose tokens do not work, and are not exchanged, until the end of it', async () => {
    const host = await agents.createHost()
    const agent = await agents.createAgent()
    const tokens = await agents.getTokens(agent, host)
    const code = await agents.getCode(agent, host)
    expect((await agents.readKit(tokens.access_token)).statusCode).not.toBe(401)
    await suspend(host, true)
    expect((await agents.readKit(tokens.access_token)).statusCode).toBe(401)
    for (const answer of [
      await agents.refresh(agent, tokens.refresh_token),
      await agents.exchange(agent, code),
    ]) {
      expect(answer.statusCode).toBe(400)
      expect(answer.json()).toMatchObject({ error: 'invalid_grant' })
    }
    await unsuspend(host)
    expect((await agents.readKit(tokens.access_token)).statusCode).not.toBe(401)
    const refreshed = await agents.refresh(agent, tokens.refresh_token)
    expect(refreshed.statusCode, refreshed.body).toBe(200)
  })

  it('has no open streams: of events, and of changed tools', async () => {
    const { owner, member, viewer, url, workspace } = await createCompany(service)
    const path = `${url}/events/stream`
    const [stream, ofOther] = await Promise.all(
      [member, viewer].map((person) =>
        openEventStream(service, path, { authorization: `Bearer ${person.apiKey}` }),
      ),
    )
    const accessToken = await agents.letIn(workspace, member)
    const client = new Client(
      { name: 'a client', version: '1' },
      { versionNegotiation: { mode: { pin: '2026-07-28' } } },
    )
    const endpoint = new URL(`http://127.0.0.1:${await listen(service.app)}/agent/mcp`)
    const requestInit = { headers: { authorization: `Bearer ${accessToken}` } }
    await client.connect(new StreamableHTTPClientTransport(endpoint, { requestInit }))
    const subscription = await client.listen({ toolsListChanged: true })
    await suspend(member)
    await stream?.ended
    expect(await subscription.closed).toBe('remote')
    // That of another member goes on.
    await createTeam(service, owner, { url }, 'Looms')
    await ofOther?.received(/Looms/)
    await client.close()
  })

  it('has sent invites that nobody can accept or is offered, until the end of it', async () => {
    const company = await createCompany(service)
    const { admin } = company
    const invited = await service.createPerson()
    const invite = await createInvite(service, admin, company, { email: invited.email })
    await suspend(admin)
    expectError(await as(invited, post(`/v1/invites/${invite.token}/accept`)), errors.inviteRevoked)
    expectError(await as(invited, post(`/v1/me/invites/${invite.id}/accept`)), errors.inviteRevoked)
    expect((await as(invited, get('/v1/me/invites'))).json()).toEqual([])
    await unsuspend(admin)
    expect((await as(invited, get('/v1/me/invites'))).json()).toHaveLength(1)
    expect((await as(invited, post(`/v1/invites/${invite.token}/accept`))).statusCode).toBe(200)
    expect((await findRoles(service, company.workspace))[invited.id]).toBe('member')
  })

  it('is shown as suspended to every member, and the events to owners and admins', async () => {
    const [one, other] = [await createCompany(service), await createCompany(service)]
    const person = await addPerson(service, one.workspace, 'member', 'Susi Suspended')
    await db.execute(sql`
      insert into memberships (workspace_id, user_id, role, joined_at, last_used_at)
      values (${other.workspace.id}, ${person.id}, 'viewer', now(), now())`)
    await suspend(person)
    for (const reader of [one.owner, one.viewer]) {
      const members = (await as(reader, get(`${one.url}/members`))).json<
        { userId: string; suspended: boolean }[]
      >()
      expect(members.filter(({ suspended }) => suspended).map(({ userId }) => userId)).toEqual([person.id])
      const people = (await as(reader, get(`${one.url}/people`))).json<typeof members>()
      expect(people.filter(({ suspended }) => suspended).map(({ userId }) => userId)).toEqual([person.id])
      const member = await as(reader, get(`${one.url}/members/${person.id}`))
      expect(member.json()).toMatchObject({ suspended: true })
    }
    await unsuspend(person)
    for (const { workspace, owner, viewer, url } of [one, other]) {
      expect(await eventsOf(workspace)).toEqual([
        { type: 'member.suspended', summary: 'An operator suspended Susi Suspended', readers: 'managers' },
        {
          type: 'member.unsuspended',
          summary: 'An operator ended the suspension of Susi Suspended',
          readers: 'managers',
        },
      ])
      const seen = async (reader: TestPerson) =>
        (await as(reader, get(`${url}/events?types=member.suspended`))).json<unknown[]>().length
      expect([await seen(owner), await seen(viewer)]).toEqual([1, 0])
    }
  })

  it('is not newly mentioned, asked, or made a lead, and stays where they are', async () => {
    const { owner, member, url, workspace } = await createCompany(service)
    const seed = await createSeed(service, owner, { url })
    await joinSeed(service, member, seed)
    const mention = `[@Mary Member](user:${member.id})`
    const before = await createComment(service, owner, seed, { body: `Hello ${mention}` })
    await agents.letIn(workspace, member)
    await suspend(member)
    const after = await createComment(service, owner, seed, { body: `And ${mention}` })
    expect(after).toMatchObject({ body: 'And @Mary Member', mentions: [] })
    const edited = await as(owner, patch(`/v1/comments/${before.id}`, { body: `Goodbye ${mention}` }))
    expect(edited.statusCode, edited.body).toBe(200)
    const comments = (await as(owner, get(`/v1/seeds/${seed.id}/comments`))).json<
      { id: string; mentions: unknown[] }[]
    >()
    expect(comments.find(({ id }) => id === before.id)?.mentions).toHaveLength(1)
    expectError(
      await as(owner, patch(`/v1/seeds/${seed.id}`, { leadUserId: member.id })),
      errors.leadInvalid,
      { field: 'leadUserId' },
    )
    const fresh = await createSeed(service, owner, { url })
    expectError(
      await as(owner, post(`/v1/seeds/${fresh.id}/invite-person`, { userId: member.id, as: 'participant' })),
      errors.personNotAskable,
      { field: 'userId' },
    )
    expect(await services.agentRequests.askable(await principalOf(owner), workspace.slug)).toEqual([])
  })

  it('cannot be the only owner without force, and does not count as an owner', async () => {
    const { owner, admin, member, url, workspace } = await createCompany(service)
    expect(await suspend(owner)).toEqual({
      isSuspended: false,
      lastOwnerOf: [{ slug: workspace.slug, name: 'Acme', memberCount: 4 }],
    })
    expect((await as(owner, get('/v1/me'))).statusCode).toBe(200)
    await as(owner, patch(`${url}/members/${admin.id}`, { role: 'owner' }))
    await suspend(admin)
    // The other owner is the last one, who may do with the suspended one what owners may.
    expectError(await as(owner, patch(`${url}/members/${owner.id}`, { role: 'admin' })), errors.lastOwner)
    expectError(await as(owner, del(`${url}/members/${owner.id}`)), errors.lastOwner)
    expect(await suspend(owner)).toMatchObject({ isSuspended: false })
    expect(await accounts.delete(owner.id, { withWorkspaces: false })).toMatchObject({ isDeleted: false })
    const demoted = await as(owner, patch(`${url}/members/${admin.id}`, { role: 'member' }))
    expect(demoted.statusCode, demoted.body).toBe(200)
    await suspend(member)
    await services.ownership.allow(await principalOf(owner), workspace.slug, 'workspaces.transferOwnership')
    expectError(
      await as(owner, post(`${url}/transfer-ownership`, { userId: member.id })),
      errors.memberSuspended,
    )
    expectError(
      await as(owner, patch(`${url}/members/${member.id}`, { role: 'owner' })),
      errors.memberSuspended,
    )
    expect(await findRoles(service, workspace)).toMatchObject({ [owner.id]: 'owner', [member.id]: 'member' })
    expect(await suspend(owner, true)).toMatchObject({
      changed: true,
      withoutOwner: [{ slug: workspace.slug }],
    })
  })

  it('can be deleted', async () => {
    const { member } = await createCompany(service)
    await suspend(member)
    expect(await accounts.delete(member.id, { withWorkspaces: false })).toMatchObject({ isDeleted: true })
  })

  it('creates nothing with a request that had begun before', async () => {
    const { admin, url, workspace } = await createCompany(service)
    const blocked = await db.transaction(async (tx) => {
      await tx.execute(sql`select from workspaces where id = ${workspace.id} for no key update`)
      const answer = as(admin, post(`${url}/invites`, { email: 'new@example.com', role: 'member' }))
      await untilWaiting(service, 1)
      await tx.execute(sql`update users set suspended_at = now() where id = ${admin.id}`)
      return { answer }
    })
    expectError(await blocked.answer, errors.apiKeyRequired)
  })
})
