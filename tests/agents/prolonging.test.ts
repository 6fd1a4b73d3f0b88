import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { sql } from 'drizzle-orm'
import { deleteOldGrantAddresses } from '../../src/agents/oauth/records/grant-addresses.repository.ts'
import { deleteStaleRecords } from '../../src/agents/oauth/records/record-bounds.repository.ts'
import { errors } from '../../src/kernel/errors.ts'
import { addPerson } from '../support/company.ts'
import { findEvents } from '../support/workspaces.ts'
import { createOAuthTester, type TestAgent, type TestHost, type Tokens } from '../support/oauth-client.ts'
import { selectRows, startTestApp } from '../support/test-app.ts'

const service = await startTestApp()
const { db, services } = service
const oauth = createOAuthTester(service)

const dayMs = 24 * 60 * 60 * 1000
const pass = (days: number) => vi.setSystemTime(Date.now() + days * dayMs)

// Ours, that of the OAuth server, and that of whoever verifies a token.
beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'], now: Date.now() }))
afterEach(() => void vi.useRealTimers())

async function connect(days: 30 | 180 = 180) {
  const host = await oauth.createHost()
  const agent = await oauth.createAgent()
  const tokens = await oauth.getTokens(agent, host, { days })
  const [grant] = await selectRows<{ id: string }>(
    db,
    sql`select id from agent_grants where user_id = ${host.id}`,
  )
  return { host, agent, tokens, grantId: String(grant?.id) }
}

/** Uses the access for so many days, with a refresh each week. Returns the last tokens. */
async function live(agent: TestAgent, tokens: Tokens, days: number): Promise<Tokens> {
  let last = tokens
  for (let passed = 7; passed <= days; passed += 7) {
    pass(7)
    const answer = await oauth.refresh(agent, last.refresh_token)
    expect(answer.statusCode, answer.body).toBe(200)
    last = answer.json<Tokens>()
  }
  return last
}

const prolong = ({ principal, slug }: TestHost, grantId: string, days: 30 | 90 | 180) =>
  services.grants.prolong(principal, slug, grantId, days)

describe('a grant that its person prolongs', () => {
  it('goes on with the same chain of tokens after its first end, and ends at the new one', async () => {
    const { host, agent, tokens, grantId } = await connect()
    const late = await live(agent, tokens, 175)
    expect(await prolong(host, grantId, 180)).toBe('Robbie')
    const later = await live(agent, late, 175)
    expect((await oauth.readKit(later.access_token)).statusCode).toBe(200)
    pass(6)
    expect((await oauth.refresh(agent, later.refresh_token)).json()).toMatchObject({ error: 'invalid_grant' })
    expect((await oauth.readKit(later.access_token)).statusCode).toBe(401)
  })

  it('keeps its client registered for as long as after a new consent', async () => {
    const { host, agent, grantId } = await connect()
    pass(170)
    await prolong(host, grantId, 180)
    pass(540)
    await deleteStaleRecords(db, new Date())
    const find = () =>
      selectRows(db, sql`select key from oauth_records where kind = 'Client' and key = ${agent.clientId}`)
    expect(await find()).toHaveLength(1)
    pass(10)
    await deleteStaleRecords(db, new Date())
    expect(await find()).toEqual([])
  })

  it('is an event with the scopes and both ends', async () => {
    const { host, grantId } = await connect(30)
    const before = new Date(Date.now() + 30 * dayMs).toISOString()
    pass(20)
    await prolong(host, grantId, 90)
    const after = new Date(Date.now() + 90 * dayMs).toISOString()
    const event = (await findEvents(service, { id: host.workspaceId })).at(-1)
    expect(event).toMatchObject({
      type: 'integration.changed',
      target_id: grantId,
      summary: `${host.name} prolonged the access of Robbie until ${after.slice(0, 10)}`,
    })
    const [{ data } = {}] = await selectRows<{ data: object }>(
      db,
      sql`select data from events where workspace_id = ${host.workspaceId} order by position desc limit 1`,
    )
    const scopes = ['validation-kit:read']
    expect(data).toEqual({
      ...{ grantId, clientName: 'Robbie', userId: host.id, from: scopes, to: scopes },
      ...{ expiredAt: before, expiresAt: after },
    })
  })

  it('is left as it is when it ends later anyway', async () => {
    const { host, grantId } = await connect(180)
    const count = (await findEvents(service, { id: host.workspaceId })).length
    await prolong(host, grantId, 90)
    const { expiresAt } = await services.grants.get(host.principal, host.slug, grantId)
    expect(Date.parse(expiresAt)).toBe(Date.now() + 180 * dayMs)
    expect(await findEvents(service, { id: host.workspaceId })).toHaveLength(count)
  })

  it('is not found by others, nor once it has ended', async () => {
    const { host, grantId } = await connect(30)
    const admin = await addPerson(service, { id: host.workspaceId }, 'admin')
    const user = await services.accounts.findByEmail(admin.email)
    const principal = { ...host.principal, user: user ?? host.principal.user }
    await expect(prolong({ ...host, principal }, grantId, 180)).rejects.toThrow(errors.notFound.message)
    pass(30)
    await expect(prolong(host, grantId, 180)).rejects.toThrow(errors.notFound.message)
    const revoked = await connect(30)
    await services.grants.revoke(revoked.host.principal, revoked.host.slug, revoked.grantId)
    await expect(prolong(revoked.host, revoked.grantId, 180)).rejects.toThrow(errors.notFound.message)
  })
})

describe('the addresses of a grant', () => {
  /** Refreshes from an address. */
  async function refreshFrom(remoteAddress: string, agent: TestAgent, { refresh_token }: Tokens) {
    const answer = await service.app.inject({
      method: 'POST',
      url: '/agent/oauth/token',
      remoteAddress,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      payload: new URLSearchParams({
        ...{ grant_type: 'refresh_token', client_id: agent.clientId, refresh_token },
      }).toString(),
    })
    expect(answer.statusCode).toBe(200)
    return answer.json<Tokens>()
  }

  it('are the addresses from which its tokens were fetched, the latest first, for its person alone', async () => {
    const { host, agent, tokens, grantId } = await connect()
    const start = new Date()
    pass(1)
    const next = await refreshFrom('203.0.113.7', agent, tokens)
    pass(1)
    await refreshFrom('2001:db8:1:2:3:4:5:6', agent, next)
    await services.agentOAuth.close()
    const { addresses } = await services.grants.get(host.principal, host.slug, grantId)
    const day = (days: number) => new Date(start.getTime() + days * dayMs)
    expect(addresses).toEqual([
      { address: '2001:db8:1:2::', firstSeenAt: day(2), lastSeenAt: day(2) },
      { address: '203.0.113.7', firstSeenAt: day(1), lastSeenAt: day(1) },
      { address: '127.0.0.1', firstSeenAt: start, lastSeenAt: start },
    ])
    const admin = await addPerson(service, { id: host.workspaceId }, 'admin')
    const user = await services.accounts.findByEmail(admin.email)
    const principal = { ...host.principal, user: user ?? host.principal.user }
    expect((await services.grants.get(principal, host.slug, grantId)).addresses).toBeUndefined()
  })

  it('are deleted when nothing was fetched there any longer, and beyond the latest twenty', async () => {
    const { grantId } = await connect()
    await db.execute(sql`
      insert into agent_grant_places (grant_id, address, first_seen_at, last_seen_at)
      select ${grantId}, '198.51.100.' || i, now(), now() - i * interval '1 day' from generate_series(1, 30) i`)
    await deleteOldGrantAddresses(db, new Date(Date.now() - 14.5 * dayMs))
    const left = () =>
      selectRows(db, sql`select from agent_grant_places where grant_id = ${grantId} and address like '198.%'`)
    expect(await left()).toHaveLength(14)
    await db.execute(sql`
      insert into agent_grant_places (grant_id, address, first_seen_at, last_seen_at)
      select ${grantId}, '192.0.2.' || i, now(), now() from generate_series(1, 18) i`)
    await deleteOldGrantAddresses(db, new Date(Date.now() - 14.5 * dayMs))
    expect(await left()).toHaveLength(2)
  })
})
