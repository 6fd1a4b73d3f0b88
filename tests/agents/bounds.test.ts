import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { once } from 'node:events'
import { sql } from 'drizzle-orm'
import type { LightMyRequestResponse } from 'fastify'
import { describe, expect, it } from 'vitest'
import { deleteExcessRecords, recordBounds } from '../../src/agents/oauth/records/record-bounds.repository.ts'
import { errors } from '../../src/kernel/errors.ts'
import { createComparison } from '../support/hold-to-description.ts'
import { createOAuthTester, redirectOf } from '../support/oauth-client.ts'
import { findClosedPort, listen } from '../support/raw-http.ts'
import { clone, selectRows, startTestApp, type TestApp } from '../support/test-app.ts'
import { createTestClock } from '../support/test-clock.ts'

const redirectUris = ['https://agent.example/callback']

const startOwn = async (options: Parameters<typeof startTestApp>[0] = {}) =>
  startTestApp({
    ...options,
    environment: {
      DATABASE_URL: await clone(),
      ...options.environment,
    },
  })

const countRecords = async ({ db }: TestApp, kind: string) => {
  const [row] = await selectRows<{ count: number }>(
    db,
    sql`select count(*)::int as count from oauth_records where kind = ${kind}`,
  )
  return row?.count
}

describe('an authorization request', async () => {
  const service = await startOwn()
  const { authorize, createAgent, allow, createHost } = createOAuthTester(service)

  it('stores only the parameters that have an effect', async () => {
    const answer = await authorize(await createAgent(), {
      login_hint: 'a'.repeat(3000),
      ui_locales: 'b'.repeat(1000),
      nonce: 'c'.repeat(500),
      unknown: 'd'.repeat(500),
    })
    expect(answer.statusCode).toBe(303)
    const [stored] = await selectRows<{ size: number; params: object }>(
      service.db,
      sql`select length(payload::text) as size, payload -> 'params' as params from oauth_records
          where kind = 'Interaction' order by created_at desc limit 1`,
    )
    expect(Object.keys(stored?.params ?? {}).sort()).toEqual([
      'client_id',
      'code_challenge',
      'code_challenge_method',
      'redirect_uri',
      'resource',
      'response_type',
      'scope',
      'state',
    ])
    expect(stored?.size).toBeLessThan(2000)
  })

  it('accepts a state of 2 KiB, and returns 400 invalid_request for a longer one', async () => {
    const [agent, host] = [await createAgent(), await createHost()]
    const state = 's'.repeat(2048)
    expect(redirectOf(await allow(await authorize(agent, { state }), host))).toMatchObject({ state })
    const before = await countRecords(service, 'Interaction')
    const refused = await authorize(agent, { state: `${state}s` })
    expect(refused.statusCode).toBe(400)
    expect(refused.json()).toEqual({ error: 'invalid_request', error_description: 'state is too long' })
    expect(await countRecords(service, 'Interaction')).toBe(before)
  })

  it('returns an HTML error page to browsers when it is invalid', async () => {
    const answer = await service.app.inject({
      url: `/agent/oauth/authorize?state=${'s'.repeat(2049)}`,
      headers: { accept: 'text/html,*/*' },
    })
    expect(answer.statusCode).toBe(400)
    expect(answer.headers['content-type']).toBe('text/html; charset=utf-8')
    expect(answer.body).toContain('state is too long')
  })

  it('returns invalid_request when the values of a repeated parameter are too long in total', async () => {
    const resource = `resource=${'r'.repeat(600)}`
    const answer = await service.app.inject(`/agent/oauth/authorize?${resource}&${resource}`)
    expect(answer.json()).toMatchObject({ error: 'invalid_request' })
  })
})

describe('the limit of authorization requests per minute', async () => {
  const service = await startOwn({ environment: { AUTHORIZE_LIMIT_PER_MINUTE: '3' } })
  const { authorize, createAgent } = createOAuthTester(service)

  it('applies per client address: returns 429 with Retry-After, and stores nothing', async () => {
    const agent = await createAgent()
    const answers: LightMyRequestResponse[] = []
    for (let i = 0; i < 5; i++) answers.push(await authorize(agent))
    expect(answers.map(({ statusCode }) => statusCode)).toEqual([303, 303, 303, 429, 429])
    expect(answers[4]?.json()).toEqual({
      error: 'temporarily_unavailable',
      error_description: 'Too many requests for access. Try again later.',
    })
    expect(answers[4]?.headers['retry-after']).toMatch(/^(60|5\d)$/)
    expect(await countRecords(service, 'Interaction')).toBe(3)
    const elsewhere = await service.app.inject({
      url: '/agent/oauth/authorize',
      remoteAddress: '203.0.113.9',
    })
    expect(elsewhere.statusCode).toBe(400)
  })
})

describe('the number of stored OAuth records', async () => {
  const clock = createTestClock()
  const bounds = { pendingRequestsMax: 5, unusedClientsMax: 8, unusedClientsPerAddressMax: 4 }
  const service = await startOwn({ clock, oauthRecordBounds: bounds })
  const { authorize, createAgent, createHost, getTokens } = createOAuthTester(service)
  const tryToRegisterFrom = (remoteAddress: string) =>
    service.app.inject({
      method: 'POST',
      url: '/agent/oauth/register',
      remoteAddress,
      payload: { redirect_uris: redirectUris },
    })
  const registerFrom = async (remoteAddress: string) => {
    clock.advance(1000)
    return (await tryToRegisterFrom(remoteAddress)).json<{ client_id: string }>().client_id
  }
  const halfAnHour = 30 * 60_000
  const clientIds = async () => {
    const rows = await selectRows<{ key: string }>(
      service.db,
      sql`select key from oauth_records where kind = 'Client' order by created_at`,
    )
    return rows.map(({ key }) => key)
  }

  it('is limited for pending authorization requests: the oldest are deleted', async () => {
    const agent = await createAgent()
    const first = await authorize(agent)
    for (let i = 0; i < 7; i++) {
      clock.advance(1000)
      await authorize(agent)
    }
    expect(await countRecords(service, 'Interaction')).toBe(5)
    const { request, response } = createOAuthTester(service).toExchange(first)
    expect(await service.services.agentOAuth.findConsentRequest(request, response)).toBeUndefined()
  })

  it('is limited for unused clients, per client address and in total, and never deletes clients in use', async () => {
    const [used, host] = [await createAgent(), await createHost()]
    await getTokens(used, host)
    const ofOne: string[] = []
    for (let i = 0; i < 6; i++) ofOne.push(await registerFrom('203.0.113.1'))
    clock.advance(halfAnHour)
    ofOne.push(await registerFrom('203.0.113.1'))
    expect((await clientIds()).filter((id) => ofOne.includes(id))).toEqual(ofOne.slice(3))
    clock.advance(halfAnHour)
    const ofMany: string[] = []
    for (let i = 0; i < 8; i++) ofMany.push(await registerFrom(`203.0.113.${i + 2}`))
    expect(await clientIds()).toEqual([used.clientId, ...ofMany])
  })

  it('never deletes a client younger than 30 minutes: returns 429 with Retry-After to new registrations', async () => {
    clock.advance(halfAnHour)
    const ids: string[] = []
    for (let i = 0; i < 6; i++) ids.push(await registerFrom('203.0.113.1'))
    for (let i = 2; i < 4; i++) ids.push(await registerFrom(`203.0.113.${i}`))
    const refused = await tryToRegisterFrom('203.0.113.9')
    expect(refused.statusCode).toBe(429)
    expect(refused.json()).toEqual({
      error: 'temporarily_unavailable',
      error_description: 'Too many registrations. Try again later.',
    })
    expect(refused.headers['retry-after']).toBe(String(30 * 60 - 7))
    expect((await clientIds()).filter((id) => ids.includes(id))).toEqual(ids)
    clock.advance((30 * 60 - 7) * 1000 - 1)
    expect((await tryToRegisterFrom('203.0.113.9')).statusCode).toBe(429)
    clock.advance(1)
    expect((await tryToRegisterFrom('203.0.113.9')).statusCode).toBe(201)
    expect((await clientIds()).filter((id) => ids.includes(id))).toEqual(ids.slice(1))
  })

  it('counts all addresses of one IPv6 network as one client address', async () => {
    clock.advance(halfAnHour)
    const ids: string[] = []
    for (let i = 0; i < 5; i++) ids.push(await registerFrom(`2001:db8::${i + 1}`))
    clock.advance(halfAnHour)
    ids.push(await registerFrom('203.0.113.8'))
    expect((await clientIds()).filter((id) => ids.includes(id))).toEqual(ids.slice(1))
  })

  it('does not store client addresses in plain text', async () => {
    await registerFrom('203.0.113.77')
    const rows = await selectRows<{ text: string }>(
      service.db,
      sql`select oauth_records::text as text from oauth_records`,
    )
    expect(rows.map(({ text }) => text).join('\n')).not.toContain('203.0.113')
  })

  it('is reduced to its limits by the hourly job', async () => {
    await service.db.execute(
      sql`insert into oauth_records (kind, key, payload, created_at)
          select kind, 'old ' || n, '{}', '2020-01-01' from generate_series(1, 20) n, (values ('Client'), ('Interaction')) k (kind)`,
    )
    await deleteExcessRecords(service.db, bounds, clock.now())
    expect(await countRecords(service, 'Interaction')).toBe(bounds.pendingRequestsMax)
    const inUse = await selectRows(service.db, sql`select distinct client_id from agent_grants`)
    expect(await countRecords(service, 'Client')).toBe(bounds.unusedClientsMax + inUse.length)
  })

  it('is limited by default to 10,000 pending requests, and 10,000 unused clients, 1,000 per address', () => {
    expect(recordBounds).toEqual({
      pendingRequestsMax: 10_000,
      unusedClientsMax: 10_000,
      unusedClientsPerAddressMax: 1_000,
    })
  })
})

describe('client metadata', async () => {
  const service = await startOwn()
  const { register } = createOAuthTester(service)
  const uri = (length: number) => `https://agent.example/${'u'.repeat(length - 22)}`

  it.each([
    [
      'eleven redirect URIs',
      { redirect_uris: Array.from({ length: 11 }, (_, i) => uri(40 + i)) },
      'redirect_uri',
    ],
    ['a redirect URI over 1,024 characters', { redirect_uris: [uri(1025)] }, 'redirect_uri'],
    [
      'a name over 200 characters',
      { redirect_uris: redirectUris, client_name: 'n'.repeat(201) },
      'client_metadata',
    ],
    [
      'a client URI over 1,024 characters',
      { redirect_uris: redirectUris, client_uri: uri(1025) },
      'client_metadata',
    ],
    [
      'too much metadata in total',
      { redirect_uris: Array.from({ length: 5 }, (_, i) => uri(1000 + i)) },
      'client_metadata',
    ],
  ])('returns 400 with %s', async (_name, metadata, code) => {
    const answer = await register(metadata)
    expect(answer.statusCode).toBe(400)
    expect(answer.json()).toMatchObject({ error: `invalid_${code}` })
  })

  it('is stored without unused fields', async () => {
    const answer = await register({
      redirect_uris: redirectUris,
      jwks: { keys: [], more: 'j'.repeat(10_000) },
      contacts: ['c'.repeat(3000)],
    })
    expect(answer.statusCode).toBe(201)
    const [row] = await selectRows<{ size: number }>(
      service.db,
      sql`select length(payload::text) as size from oauth_records where kind = 'Client'
          and key = ${answer.json<{ client_id: string }>().client_id}`,
    )
    expect(row?.size).toBeLessThan(1000)
  })
})

describe('the OAuth endpoints without a database', () => {
  const form = { 'content-type': 'application/x-www-form-urlencoded' }
  const requests = {
    register: { url: '/agent/oauth/register', payload: { redirect_uris: redirectUris } },
    token: { url: '/agent/oauth/token', headers: form, payload: 'grant_type=refresh_token&client_id=x' },
    revoke: { url: '/agent/oauth/revoke', headers: form, payload: 'token=x&client_id=x' },
  }

  /** Holds the answers, which come past the hooks of the app, to the description; over the network. */
  async function expectUnavailable({ app }: TestApp): Promise<void> {
    const compare = createComparison(app)
    const port = await listen(app)
    for (const [name, { url, payload, ...request }] of Object.entries(requests)) {
      const answer = await fetch(`http://127.0.0.1:${port}${url}`, {
        method: 'POST',
        headers: 'headers' in request ? request.headers : { 'content-type': 'application/json' },
        body: typeof payload === 'string' ? payload : JSON.stringify(payload),
        signal: AbortSignal.timeout(10_000),
      })
      const body = await answer.text()
      expect(answer.status, name).toBe(503)
      expect(JSON.parse(body), name).toEqual({
        error: 'temporarily_unavailable',
        error_description: errors.databaseUnavailable.message,
      })
      expect(answer.headers.get('retry-after'), name).toBe('5')
      expect(compare(`agentOAuth.${name}`, { status: 503, headers: [], body }), name).toEqual([])
    }
  }

  it('return 503 temporarily_unavailable when the database was never reachable', async () => {
    const url = `postgres://nobody@127.0.0.1:${await findClosedPort()}/nothing`
    const stranded = await startOwn({ environment: { DATABASE_URL: url } })
    await expectUnavailable(stranded)
    const authorization = await stranded.app.inject('/agent/oauth/authorize?client_id=x')
    expect(authorization.statusCode).toBe(503)
    expect(authorization.json()).toMatchObject({ error: 'temporarily_unavailable' })
  })

  it('return 503 temporarily_unavailable when the connection to the database is lost', async () => {
    const url = new URL(await clone())
    const tunnel = await openTunnel(url.hostname, Number(url.port))
    url.host = `127.0.0.1:${tunnel.port}`
    const service = await startOwn({ environment: { DATABASE_URL: url.href } })
    const { register } = createOAuthTester(service)
    expect((await register({ redirect_uris: redirectUris })).statusCode).toBe(201)
    await tunnel.close()
    await expectUnavailable(service)
  })
})

/** A way to a server that can be closed. */
async function openTunnel(host: string, port: number) {
  const sockets = new Set<Socket>()
  const server = createServer((near) => {
    const far = connect(port, host)
    for (const socket of [near, far]) {
      sockets.add(socket)
      socket.on('error', () => undefined)
    }
    near.pipe(far).pipe(near)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      server.close()
      for (const socket of sockets) socket.destroy()
      await once(server, 'close')
    },
  }
}
