import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { agentScopes, type AgentScope } from '../../src/domain/agent.ts'
import {
  codeOf,
  createOAuthTester,
  type TestAgent,
  type TestHost,
  type Tokens,
} from '../support/oauth-client.ts'
import { selectRows, startTestApp } from '../support/test-app.ts'
import { createTestClock } from '../support/test-clock.ts'
import { addMember, findEvents } from '../support/workspaces.ts'

const clock = createTestClock()
const service = await startTestApp({ clock })
const { app, db, services } = service
const { allow, authorize, createAgent, createHost, exchange, refresh } = createOAuthTester(service)
const agent = await createAgent()
const host = await createHost()
const all = agentScopes.join(' ')
const dayMs = 24 * 60 * 60 * 1000

type Choice = Parameters<typeof allow>[2]

/** Asks for a scope, and lets the person choose. */
async function connect(scope: string | undefined, choice: Choice, who: TestHost = host): Promise<Tokens> {
  const back = await allow(await authorize(agent, { scope }), who, choice)
  const answer = await exchange(agent, codeOf(back))
  expect(answer.statusCode, answer.body).toBe(200)
  return answer.json<Tokens>()
}

const grantOf = async ({ access_token: token }: Tokens) => {
  const found = await services.authenticateAgent(token)
  if (!found) throw new Error('the agent is not let in')
  return found.grant
}

async function refreshed(who: TestAgent, { refresh_token: token }: Tokens, scope?: string): Promise<Tokens> {
  const answer = await refresh(who, token, scope === undefined ? {} : { scope })
  expect(answer.statusCode, answer.body).toBe(200)
  return answer.json<Tokens>()
}

const change = (grantId: string, scopes: readonly AgentScope[], who: TestHost = host) =>
  services.grants.updateScopes(who.principal, who.slug, grantId, scopes)

describe('the scopes of a grant', () => {
  it.each<[asked: string | undefined, chosen: AgentScope[], given: string]>([
    [undefined, [], 'validation-kit:read'],
    ['validation-kit:read', [], 'validation-kit:read'],
    [all, [], 'validation-kit:read'],
    [all, ['seeds:write'], 'validation-kit:read seeds:write'],
    ['seeds:write', ['seeds:write'], 'validation-kit:read seeds:write'],
    ['validation-kit:read', ['workspace:read', 'seeds:write', 'workspace:write'], all],
    ['workspace:write', [], 'validation-kit:read'],
    ['validation-kit:read', ['workspace:write'], 'validation-kit:read workspace:write'],
    ['openid profile everything', ['workspace:read'], 'validation-kit:read workspace:read'],
  ])(
    'are those that the person selects: %j requested, %j selected, %j granted',
    async (asked, chosen, given) => {
      const tokens = await connect(asked, { scopes: chosen })
      expect(tokens.scope).toBe(given)
      expect((await grantOf(tokens)).scopes).toEqual(given.split(' '))
    },
  )

  it('are advertised as validation-kit:read alone, in metadata and challenges', async () => {
    const { scopes_supported: scopes } = (await app.inject('/.well-known/oauth-protected-resource')).json<{
      scopes_supported: string[]
    }>()
    expect(scopes).toEqual(['validation-kit:read'])
    const { headers } = await app.inject({ method: 'POST', url: '/agent/mcp' })
    expect(headers['www-authenticate']).toContain('scope="validation-kit:read"')
  })

  it('apply at once, and in the next tokens, after the person changes them', async () => {
    const agent = await createAgent()
    const code = codeOf(
      await allow(await authorize(agent, { scope: all }), host, { scopes: ['workspace:read'] }),
    )
    const tokens = (await exchange(agent, code)).json<Tokens>()
    const { id } = await grantOf(tokens)
    await change(id, ['seeds:write'])
    expect((await grantOf(tokens)).scopes).toEqual(['validation-kit:read', 'seeds:write'])
    const next = await refreshed(agent, tokens)
    expect(next.scope).toBe('validation-kit:read seeds:write')
    await change(id, [])
    // The client still names what it was given before.
    const last = await refreshed(agent, next, next.scope)
    expect(last.scope).toBe('validation-kit:read')
    await change(id, ['workspace:read', 'seeds:write', 'workspace:write'])
    expect((await refreshed(agent, last)).scope).toBe(all)
    const events = (await findEvents(service, { id: host.workspaceId })).filter(
      ({ target_id: target, type }) => target === id && type === 'integration.changed',
    )
    expect(events.map(({ summary }) => summary)).toEqual([
      `${host.name} changed the access of Robbie to validation-kit:read, seeds:write`,
      `${host.name} changed the access of Robbie to validation-kit:read`,
      `${host.name} changed the access of Robbie to validation-kit:read, workspace:read, seeds:write, workspace:write`,
    ])
  })

  it('return not_found when other people change them, or after the grant was revoked', async () => {
    const tokens = await connect(undefined, {})
    const { id } = await grantOf(tokens)
    const owner = await createHost()
    await expect(change(id, agentScopes, owner)).rejects.toMatchObject({ code: 'not_found' })
    await addMember(service, { id: host.workspaceId }, owner, 'owner')
    const inside = { ...owner, slug: host.slug }
    await expect(change(id, agentScopes, inside)).rejects.toMatchObject({ code: 'not_found' })
    await services.grants.revoke(host.principal, host.slug, id)
    await expect(change(id, agentScopes)).rejects.toMatchObject({ code: 'not_found' })
  })
})

describe('the lifetime of a grant', () => {
  it.each([30, 90, 180] as const)('is the number of days that the person selected: %i', async (days) => {
    const { expiresAt } = await grantOf(await connect(undefined, { days }))
    expect(expiresAt.getTime()).toBe(clock.now().getTime() + days * dayMs)
  })
})

describe('the tool calls of an agent', () => {
  const send = (tokens: Tokens, path: string, payload: object = {}) =>
    app.inject({
      method: 'POST',
      url: `/agent/v1/${path}`,
      headers: { authorization: `Bearer ${tokens.access_token}` },
      payload,
    })

  it('are counted per tool and day, with the last error, and record one event per tool', async () => {
    const own = await createHost()
    const first = await startTestApp({
      clock,
      environment: { DATABASE_URL: service.config.databaseUrl ?? '' },
    })
    const tokens = await connect(all, { scopes: [...agentScopes] }, own)
    const { id } = await grantOf(tokens)
    for (let i = 0; i < 3; i++) {
      const answer = await first.app.inject({
        method: 'POST',
        url: '/agent/v1/people:list',
        headers: { authorization: `Bearer ${tokens.access_token}` },
        payload: {},
      })
      expect(answer.statusCode).toBe(200)
    }
    const seedId = '01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e10'
    expect(
      (
        await first.app.inject({
          method: 'POST',
          url: '/agent/v1/seeds:join',
          headers: { authorization: `Bearer ${tokens.access_token}` },
          payload: { seedId },
        })
      ).statusCode,
    ).toBe(404)
    // Closing writes what was counted.
    await first.close()
    const uses = await services.grants.listToolUses(own.principal, own.slug, [id])
    const at = clock.now()
    expect(uses).toEqual([
      {
        grantId: id,
        tool: 'list_people',
        calls: 3,
        failures: 0,
        lastCalledAt: at,
        lastFailure: null,
        lastFailureAt: null,
      },
      {
        grantId: id,
        tool: 'join_seed',
        calls: 1,
        failures: 1,
        lastCalledAt: at,
        lastFailure: 'not_found',
        lastFailureAt: at,
      },
    ])
    const events = (await findEvents(service, { id: own.workspaceId })).filter(
      ({ type }) => type === 'integration.used',
    )
    expect(events).toMatchObject([
      {
        actor_type: 'agent',
        grant_id: id,
        source: 'mcp',
        summary: `${own.name}, through Robbie, read the list of people`,
      },
      {
        actor_type: 'agent',
        grant_id: id,
        source: 'mcp',
        summary: `${own.name}, through Robbie, joined a seed`,
      },
    ])
    expect((await send(tokens, 'people:list')).statusCode).toBe(200)
    await services.agentCalls.close()
    expect(
      await selectRows(
        db,
        sql`select calls from agent_calls where grant_id = ${id} and tool = 'list_people'`,
      ),
    ).toEqual([{ calls: 4 }])
    const after = await findEvents(service, { id: own.workspaceId })
    expect(after.filter(({ type }) => type === 'integration.used')).toHaveLength(2)
  })
})
