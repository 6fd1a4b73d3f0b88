import { describe, expect, it, vi } from 'vitest'
import { agentScopes, type AgentScope } from '../../src/domain/agent.ts'
import { createOAuthTester } from '../support/oauth-client.ts'
import { recordStatements } from '../support/record-statements.ts'
import { startTestApp } from '../support/test-app.ts'
import { addMember } from '../support/workspaces.ts'

// Many requests at once, on a machine that may be slow.
const service = await startTestApp({
  environment: { REQUESTS_AT_ONCE_MAX: '1000' },
})
const { app, services } = service
const tester = createOAuthTester(service)
const { createHost, createAgent, getTokens } = tester

/** An agent of a new person in a new workspace, which has seeds of its own. */
async function letIn(scopes: readonly AgentScope[] = agentScopes, seedCount = 1) {
  const host = await createHost()
  const { access_token: token, expires_in: seconds } = await getTokens(await createAgent(), host, { scopes })
  const grantId = (await services.authenticateAgent(token))?.grant.id ?? ''
  const seedIds: string[] = []
  for (let i = 0; i < seedCount; i++) {
    const payload = { title: `Seed ${i} of ${host.slug}`, summary: 'S' }
    const url = `/v1/workspaces/${host.slug}/seeds`
    const created = await service.as(host, { method: 'POST', url, payload })
    seedIds.push(created.json<{ seed: { id: string } }>().seed.id)
  }
  return { host, token, seconds, grantId, seedIds }
}

const post = (token: string, message: unknown) =>
  app.inject({
    method: 'POST',
    url: '/agent/mcp',
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    },
    payload: JSON.stringify(message),
  })

const toCall = (name: string, args: object = {}) => ({
  ...{ jsonrpc: '2.0', id: 1, method: 'tools/call' },
  params: { name, arguments: args },
})

/** The response to a message, without the time of a kit. */
const contentOf = (body: string): unknown =>
  JSON.parse(
    (/^data: (.*)$/m.exec(body)?.[1] ?? body)
      .replaceAll(/(generatedAt\\*":\\*")[^"\\]*/g, '$1')
      // Recorded a moment after what the person did.
      .replaceAll(/(lastActivityAt\\*":)(null|\\*"[^"\\]*\\*")/g, '$1null'),
  )

const kitCall = toCall('read_validation_kit')
const statusOf = async (token: string, message: object = kitCall) => (await post(token, message)).statusCode

describe('direct calls', () => {
  it('of several grants at the same time each get what they get alone through the SDK', async () => {
    const grants = [
      await letIn(['validation-kit:read'], 3),
      await letIn(agentScopes, 1),
      await letIn(['validation-kit:read', 'workspace:read'], 2),
      await letIn(agentScopes, 2),
    ]
    const calls = grants.flatMap(({ token, seedIds }, i) => [
      { token, message: kitCall },
      { token, message: toCall('read_validation_kit', { seedId: seedIds[0] }) },
      { token, message: toCall('read_validation_kit', { seedId: 'x' }) },
      ...(i === 0
        ? []
        : [
            toCall('search', { query: 'Seed' }),
            toCall('list_people'),
            toCall('list_events', { type: 'seed.created' }),
          ]
      ).map((message) => ({ token, message })),
    ])
    // A batch of one is answered by a server of its own.
    const alone: unknown[] = []
    for (const { token, message } of calls) {
      const answer = await post(token, [message])
      expect(answer.headers['content-type'], answer.body).toMatch('text/event-stream')
      alone.push(contentOf(answer.body))
    }
    expect(new Set(alone.map((content) => JSON.stringify(content))).size).toBeGreaterThan(calls.length * 0.7)
    // One round after the other: more calls at once would wait too long on a busy machine, and be refused.
    for (let round = 0; round < 6; round++) {
      const answers = await Promise.all(calls.map(({ token, message }) => post(token, message)))
      expect(answers.map(({ headers }) => headers['content-type'])).toEqual(
        calls.map(() => 'application/json; charset=utf-8'),
      )
      expect(answers.map(({ body }) => contentOf(body))).toEqual(alone)
    }
  })

  it('that arrive at the same time look up their grants by one statement', async () => {
    const [one, other] = [await letIn(), await letIn()]
    const { roundTrips } = await recordStatements(() =>
      Promise.all([one, other, one].map(({ token }) => post(token, kitCall))),
    )
    expect(roundTrips.flat().filter((name) => name === 'agent_grants_select_live')).toHaveLength(1)
  })
})

describe('an agent whose token has been verified before', () => {
  it('is refused with the first call after its grant was revoked, also among calls of others', async () => {
    const [{ host, token, grantId }, other] = [await letIn(), await letIn()]
    expect(await statusOf(token)).toBe(200)
    await services.grants.revoke(host.principal, host.slug, grantId)
    const statuses = await Promise.all([other.token, token, other.token, token].map((each) => statusOf(each)))
    expect(statuses).toEqual([200, 401, 200, 401])
  })

  it('is refused when the token has expired', async () => {
    const { token, seconds } = await letIn()
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + (seconds - 5) * 1000 })
    try {
      // The keys are loaded again by the first one, and kept for the second.
      expect(await statusOf(token)).toBe(200)
      expect(await statusOf(token)).toBe(200)
      vi.setSystemTime(Date.now() + 5_000)
      expect(await statusOf(token)).toBe(401)
    } finally {
      vi.useRealTimers()
    }
  })

  it('has fewer tools with the first call after its scopes were narrowed', async () => {
    const { host, token, grantId } = await letIn()
    const people = toCall('list_people')
    expect(await statusOf(token, people)).toBe(200)
    await services.grants.updateScopes(host.principal, host.slug, grantId, ['validation-kit:read'])
    const refused = await post(token, people)
    expect(refused.statusCode).toBe(403)
    expect(refused.headers['www-authenticate']).toMatch('error="insufficient_scope"')
    expect(await statusOf(token)).toBe(200)
  })

  it('is refused with the first call after its person has left the workspace', async () => {
    const { host } = await letIn()
    const member = await service.createPerson()
    const workspace = { id: host.workspaceId, slug: host.slug }
    await addMember(service, workspace, member, 'member')
    const token = await tester.letIn(workspace, member)
    expect(await statusOf(token)).toBe(200)
    const url = `/v1/workspaces/${host.slug}/members/${member.id}`
    expect((await service.as(host, { method: 'DELETE', url })).statusCode).toBe(200)
    expect(await statusOf(token)).toBe(401)
  })
})
