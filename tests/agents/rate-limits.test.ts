import { describe, expect, it, vi } from 'vitest'
import { errors } from '../../src/kernel/errors.ts'
import { createCompany } from '../support/company.ts'
import { countQueries } from '../support/count-queries.ts'
import { expectError } from '../support/expect-error.ts'
import { createOAuthTester } from '../support/oauth-client.ts'
import { createServiceAccount, createServiceClient } from '../support/service-accounts.ts'
import { startTestApp, type TestApp } from '../support/test-app.ts'

const start = (environment: Record<string, string>) => startTestApp({ environment })

async function createAgents(service: TestApp) {
  const { createAgent, createHost, getTokens } = createOAuthTester(service)
  const letIn = async (agent: Awaited<ReturnType<typeof createAgent>>) =>
    (await getTokens(agent, await createHost())).access_token
  return { createAgent, letIn }
}

const paths = { http: '/agent/v1/validation-kit:read', mcp: '/agent/mcp' }
let addresses = 0

/** Each from another address, unless it is given. */
const send = (
  { app }: TestApp,
  token: string,
  { path = paths.http, remoteAddress = `203.0.113.${(addresses += 1)}` } = {},
) =>
  app.inject({
    method: 'POST',
    url: path,
    remoteAddress,
    headers: {
      authorization: `Bearer ${token}`,
      ...(path === paths.mcp && {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
      }),
    },
    ...(path === paths.mcp && { payload: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' }) }),
  })

describe('the rate limit of a grant', async () => {
  const service = await start({ AGENT_LIMIT_PER_MINUTE: '3' })
  const { createAgent, letIn } = await createAgents(service)

  it('is reported in every response, and is shared by HTTP and MCP: returns 429 with Retry-After', async () => {
    const token = await letIn(await createAgent())
    for (const [i, path] of [paths.http, paths.mcp, paths.http].entries()) {
      const answer = await send(service, token, { path })
      expect(answer.statusCode, answer.body).toBe(200)
      expect(answer.headers['ratelimit-policy']).toBe('"agent-grant";q=3;w=60')
      expect(answer.headers.ratelimit).toMatch(new RegExp(`^"agent-grant";r=${2 - i};t=(60|5\\d)$`))
    }
    for (const path of [paths.http, paths.mcp]) {
      const refused = await send(service, token, { path })
      expectError(refused, errors.agentRateLimited)
      expect(refused.headers['retry-after']).toMatch(/^(60|5\d)$/)
      expect(refused.headers.ratelimit).toMatch(/^"agent-grant";r=0;/)
    }
  })

  it('does not affect other grants of the same agent', async () => {
    const agent = await createAgent()
    const [busy, idle] = [await letIn(agent), await letIn(agent)]
    for (let i = 0; i < 4; i++) await send(service, busy)
    expect((await send(service, busy)).statusCode).toBe(429)
    expect((await send(service, idle)).statusCode).toBe(200)
  })
})

describe('the wider rate limits of agents', async () => {
  const service = await start({ AGENT_LIMIT_PER_MINUTE: '1' })
  const { createAgent, letIn } = await createAgents(service)

  it('apply to all grants of a client, at ten times the limit of a grant', async () => {
    const agent = await createAgent()
    const tokens: string[] = []
    for (let i = 0; i < 11; i++) tokens.push(await letIn(agent))
    const answers = []
    for (const token of tokens) answers.push(await send(service, token))
    expectLastRefused(answers, 'agent-client')
    expect((await send(service, await letIn(await createAgent()))).statusCode).toBe(200)
  })

  it('apply to all agents of a client address, at ten times the limit of a grant', async () => {
    const remoteAddress = '198.51.100.7'
    const answers = []
    for (let i = 0; i < 11; i++) {
      const token = await letIn(await createAgent())
      answers.push(await send(service, token, { remoteAddress }))
    }
    expectLastRefused(answers, 'agent-address')
  })

  /** The limit of the grant is named until another one refuses. */
  function expectLastRefused(answers: Awaited<ReturnType<typeof send>>[], name: string): void {
    expect(answers.map(({ statusCode }) => statusCode)).toEqual([
      ...Array.from({ length: 10 }, () => 200),
      429,
    ])
    expect(answers.map(({ headers }) => headers['ratelimit-policy'])).toEqual([
      ...Array.from({ length: 10 }, () => '"agent-grant";q=1;w=60'),
      `"${name}";q=10;w=60`,
    ])
  }
})

describe('the rate limit of invalid access tokens', async () => {
  const service = await start({ BAD_KEY_LIMIT_PER_MINUTE: '3' })
  const { createAgent, letIn } = await createAgents(service)

  it('rejects a client address before a token is verified, without a query', async () => {
    const remoteAddress = '198.51.100.8'
    const good = await letIn(await createAgent())
    for (let i = 0; i < 3; i++)
      expect((await send(service, 'nonsense', { remoteAddress })).statusCode).toBe(401)
    const queries = await countQueries(async () => {
      expectError(await send(service, good, { remoteAddress }), errors.tooManyBadKeys)
    })
    expect(queries).toBe(0)
    expect((await send(service, good)).statusCode).toBe(200)
  })

  it('does not block a client address that has used a valid token', async () => {
    const remoteAddress = '198.51.100.9'
    const good = await letIn(await createAgent())
    expect((await send(service, good, { remoteAddress })).statusCode).toBe(200)
    for (let i = 0; i < 5; i++) await send(service, 'nonsense', { remoteAddress })
    expect((await send(service, good, { remoteAddress })).statusCode).toBe(200)
  })
})

describe('the rate limit of rejected token requests', async () => {
  const service = await start({ REFUSED_TOKEN_LIMIT_PER_MINUTE: '3' })
  const { createAgent, createHost, getTokens } = createOAuthTester(service)
  const post = (url: string, fields: Record<string, string>, remoteAddress: string) =>
    service.app.inject({
      method: 'POST',
      url,
      remoteAddress,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      payload: new URLSearchParams(fields).toString(),
    })
  const ask = (fields: Record<string, string>, remoteAddress: string) =>
    post('/agent/oauth/token', { grant_type: 'refresh_token', ...fields }, remoteAddress)

  it('applies per client address to token and revocation requests together, and returns 429 without a query', async () => {
    const remoteAddress = '198.51.100.20'
    const { clientId: client_id } = await createAgent()
    const unknown = { client_id: 'unknown', refresh_token: 'unknown' }
    expect((await ask(unknown, remoteAddress)).statusCode).toBe(401)
    expect((await ask({ client_id, refresh_token: 'unknown' }, remoteAddress)).statusCode).toBe(400)
    // RFC 7009 section 2.2: an unknown token is revoked with success.
    const revoked = await post('/agent/oauth/revoke', { client_id, token: 'unknown' }, remoteAddress)
    expect(revoked.statusCode).toBe(200)
    const queries = await countQueries(async () => {
      for (const url of ['/agent/oauth/token', '/agent/oauth/revoke']) {
        const refused = await post(url, { ...unknown, grant_type: 'refresh_token' }, remoteAddress)
        expect(refused.statusCode).toBe(429)
        expect(refused.json()).toEqual({
          error: 'temporarily_unavailable',
          error_description: errors.tooManyRefusedTokens.message,
        })
        expect(refused.headers['retry-after']).toMatch(/^(60|5\d)$/)
      }
    })
    expect(queries).toBe(0)
    expect((await ask(unknown, '198.51.100.21')).statusCode).toBe(401)
  })

  it('does not block a client address that has used a valid refresh token', async () => {
    const remoteAddress = '198.51.100.22'
    const agent = await createAgent()
    const { refresh_token } = await getTokens(agent, await createHost())
    const good = { client_id: agent.clientId, refresh_token }
    expect((await ask(good, remoteAddress)).statusCode).toBe(200)
    for (let i = 0; i < 5; i++) await ask({ client_id: 'unknown', refresh_token: 'x' }, remoteAddress)
    expect((await ask(good, remoteAddress)).statusCode).toBe(200)
  })

  it('does not block a client of a service account that got its last token from there a day ago', async () => {
    const remoteAddress = '198.51.100.23'
    const company = await createCompany(service)
    const account = await createServiceAccount(service, company.owner, company)
    const { clientId, secret } = await createServiceClient(service, company.owner, account)
    const getToken = (given: unknown, from = remoteAddress) =>
      service.app.inject({
        method: 'POST',
        url: '/agent/oauth/token',
        remoteAddress: from,
        headers: {
          'content-type': 'application/x-www-form-urlencoded',
          authorization: `Basic ${Buffer.from(`${clientId}:${String(given)}`).toString('base64')}`,
        },
        payload: 'grant_type=client_credentials',
      })
    expect((await getToken(secret)).statusCode).toBe(200)
    vi.useFakeTimers({ toFake: ['performance'] })
    try {
      vi.advanceTimersByTime(24 * 60 * 60 * 1000)
      for (let i = 0; i < 5; i++) await getToken('wrong')
      expect((await getToken(secret)).statusCode).toBe(200)
      for (let i = 0; i < 3; i++) await getToken('wrong', '198.51.100.24')
      expect((await getToken(secret, '198.51.100.24')).statusCode).toBe(429)
    } finally {
      vi.useRealTimers()
    }
  })
})
