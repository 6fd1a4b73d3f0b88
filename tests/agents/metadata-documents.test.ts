import { once } from 'node:events'
import { connect, createServer, isIP, type AddressInfo } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { createSender } from '../../src/platform/untrusted-fetch.ts'
import { untilTrue } from '../support/eventually.ts'
import { codeOf, createOAuthTester, type TestAgent } from '../support/oauth-client.ts'
import { startTestApp } from '../support/test-app.ts'

const documents = new Map<string, () => Promise<Response> | Response>()
const fetched: string[] = []
/** The time that each fetch has, which ends when a test says so. */
const deadlines: AbortController[] = []
const secret = 'a secret of the processes of this file'
const service = await startTestApp({
  environment: { APP_SECRET: secret },
  untrustedFetch: {
    async send({ href }, { signal }) {
      fetched.push(href)
      const answer = documents.get(href)
      if (!answer) return new Response('', { status: 404 })
      return Promise.race([
        Promise.resolve(answer()),
        once(signal, 'abort').then(() => Promise.reject(new Error('aborted'))),
      ])
    },
    startDeadline() {
      const deadline = new AbortController()
      deadlines.push(deadline)
      return deadline.signal
    },
  },
})
const { authorize, allow, createHost, exchange, toExchange } = createOAuthTester(service)

let count = 0

/** Publishes a document, and makes the agent that it describes. */
function publish(
  describeAgent: (id: string) => object,
  respond?: (body: string) => Promise<Response> | Response,
): TestAgent {
  const clientId = `https://agent${++count}.example/oauth/client.json`
  const body = JSON.stringify(describeAgent(clientId))
  documents.set(clientId, () => (respond ? respond(body) : Response.json(JSON.parse(body))))
  return {
    clientId,
    redirectUri: 'http://127.0.0.1:33418/callback',
    verifier: 'a-verifier-that-is-long-enough-for-the-standard-1234',
  }
}

const good = (clientId: string) => ({
  client_id: clientId,
  client_name: 'Documented agent',
  client_uri: new URL(clientId).origin,
  redirect_uris: ['http://127.0.0.1:33418/callback', 'vscode://callback'],
  grant_types: ['authorization_code', 'refresh_token'],
  token_endpoint_auth_method: 'none',
})

/** Asks for an agent, and ends the time that its document has. */
async function authorizeUntilDeadline(agent: TestAgent) {
  const { length } = deadlines
  const answered = authorize(agent)
  await untilTrue(() => deadlines.length > length)
  deadlines.at(-1)?.abort()
  return answered
}

describe('a client metadata document', () => {
  it('registers its agent, whose host is shown for consent', async () => {
    const [agent, host] = [publish(good), await createHost()]
    const authorization = await authorize(agent)
    expect(authorization.statusCode).toBe(303)
    const { request, response } = toExchange(authorization)
    expect(await service.services.agentOAuth.findConsentRequest(request, response)).toMatchObject({
      clientName: 'Documented agent',
      metadataHost: new URL(agent.clientId).host,
    })
    const tokens = (await exchange(agent, codeOf(await allow(authorization, host)))).json<{
      access_token: string
    }>()
    expect(await service.services.authenticateAgent(tokens.access_token)).toMatchObject({
      grant: { clientId: agent.clientId, clientName: 'Documented agent' },
    })
  })

  it('is fetched by the token endpoints only if the agent has a grant', async () => {
    const [known, unknown, host] = [publish(good), publish(good), await createHost()]
    const authorization = await authorize(known)
    const { refresh_token: refreshToken } = (
      await exchange(known, codeOf(await allow(authorization, host)))
    ).json<{ refresh_token: string }>()
    // A process that has not read the documents yet.
    const other = await startTestApp({
      untrustedFetch: {
        send: async ({ href }) => {
          fetched.push(href)
          return (await documents.get(href)?.()) ?? new Response('', { status: 404 })
        },
      },
      environment: { DATABASE_URL: String(service.config.databaseUrl), APP_SECRET: secret },
    })
    fetched.length = 0
    for (const path of ['token', 'revoke']) {
      const refused = await other.app.inject({
        method: 'POST',
        url: `/agent/oauth/${path}`,
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        payload: `grant_type=refresh_token&client_id=${unknown.clientId}&token=x&refresh_token=x`,
      })
      expect(refused.statusCode).toBe(400)
      expect(refused.json()).toMatchObject({ error: 'invalid_client' })
    }
    expect(fetched).toEqual([])
    expect((await createOAuthTester(other).refresh(known, refreshToken)).statusCode).toBe(200)
    expect(fetched).toEqual([known.clientId])
  })

  it('may contain scopes of other servers, which have no effect', async () => {
    const agent = publish((id) => ({ ...good(id), scope: 'openid profile validation-kit:read' }))
    const back = await allow(await authorize(agent), await createHost())
    const answer = await exchange(agent, codeOf(back))
    expect(answer.json()).toMatchObject({ scope: 'validation-kit:read' })
  })

  it('allows any port in loopback redirect URIs', async () => {
    const agent = publish(good)
    const answer = await authorize(agent, { redirect_uri: 'http://127.0.0.1:54321/callback' })
    expect(answer.statusCode).toBe(303)
  })

  it.each([
    [
      'of another client',
      (id: string) => ({ ...good(id), client_id: 'https://elsewhere.example/client.json' }),
      undefined,
    ],
    ['with a client secret', (id: string) => ({ ...good(id), client_secret: 'secret' }), undefined],
    [
      'with a javascript: redirect URI',
      (id: string) => ({ ...good(id), redirect_uris: ['javascript:alert(1)'] }),
      undefined,
    ],
    [
      'with a mailto: redirect URI',
      (id: string) => ({
        ...good(id),
        redirect_uris: ['http://127.0.0.1:33418/callback', 'mailto:a@b.example'],
      }),
      undefined,
    ],
    [
      'with a wildcard in the host of a redirect URI',
      (id: string) => ({ ...good(id), redirect_uris: ['https://*.agent.example/callback'] }),
      undefined,
    ],
    [
      'with text that cannot be stored',
      (id: string) => ({ ...good(id), client_uri: `${new URL(id).origin}/\0` }),
      undefined,
    ],
    ['with a lone surrogate', (id: string) => ({ ...good(id), client_name: '\ud800' }), undefined],
    ['that is too large', (id: string) => ({ ...good(id), client_name: 'x'.repeat(1_000_000) }), undefined],
    ['that is not JSON', good, () => new Response('<!doctype html>')],
    [
      'that redirects',
      good,
      () => new Response('', { status: 302, headers: { location: 'https://other.example/' } }),
    ],
    ['that returns 404', good, () => new Response('', { status: 404 })],
    ['whose request fails', good, () => Promise.reject(new Error('connection reset'))],
  ])('returns 400 for a document %s', async (_name, describeAgent, respond) => {
    const agent = publish(describeAgent, respond)
    const answer = await authorizeUntilDeadline(agent)
    expect(answer.statusCode).toBe(400)
    expect(answer.headers.location).toBeUndefined()
    expect(fetched).toContain(agent.clientId)
  })

  it.each<[string, (() => Promise<Response> | Response) | undefined, string?]>([
    ['never responds', () => new Promise<Response>(() => undefined)],
    ['fails to load', () => Promise.reject(new Error('connection reset'))],
    ['returns 404', () => new Response('', { status: 404 })],
    ['redirects', () => new Response('', { status: 302, headers: { location: 'https://other.example/' } })],
    ['is too long', () => new Response('x'.repeat(100_000))],
    ['has a loopback address', undefined, 'https://127.0.0.1/client.json'],
    ['has an IPv6 address', undefined, 'https://[::1]/client.json'],
    ['has a public IP address', undefined, 'https://93.184.215.14/client.json'],
    ['has a hexadecimal IP address', undefined, 'https://0x0a.1/client.json'],
    ['has another port', undefined, 'https://agent.example:8443/client.json'],
  ])(
    'returns 400 only after the deadline, with the same page as for any failure, for a document that %s',
    async (_name, respond, clientId) => {
      const agent = publish(good, respond)
      if (clientId !== undefined) agent.clientId = clientId
      const { length } = deadlines
      let isAnswered = false
      const answered = authorize(agent).finally(() => (isAnswered = true))
      await untilTrue(() => deadlines.length > length)
      // Whatever can be known without waiting is known by now.
      for (let i = 0; i < 20; i++) await nextTurn()
      expect(isAnswered).toBe(false)
      deadlines.at(-1)?.abort()
      const answer = await answered
      expect(answer.statusCode).toBe(400)
      // The page names the host of the URL, which the stranger has given.
      const { host } = new URL(agent.clientId)
      const other = publish(good, () => new Response('', { status: 500 }))
      const otherBody = (await authorizeUntilDeadline(other)).body
      expect(answer.body).toContain(`${host} could not be reached from this server`)
      expect(answer.body).toBe(otherBody.replaceAll(new URL(other.clientId).host, host))
      if (clientId !== undefined) expect(fetched).not.toContain(new URL(clientId).href)
    },
  )

  it.each([
    'http://agent.example/client.json',
    'https://user@agent.example/client.json',
    'https://agent.example/../client.json',
    'https://agent.example/client.json#fragment',
  ])('is not fetched from %s', async (clientId) => {
    const answer = await authorize({ ...publish(good), clientId })
    expect(answer.statusCode).toBe(400)
    expect(fetched).not.toContain(new URL(clientId).href)
  })
})

describe('fetching metadata documents over the network', () => {
  it('never connects to private addresses, given as an address or resolved from a name', async () => {
    let connections = 0
    const server = createServer((socket) => {
      connections++
      socket.destroy()
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo

    const real = await startTestApp({ untrustedFetch: { startDeadline: () => AbortSignal.timeout(50) } })
    const clientId = `https://127.0.0.1:${port}/client.json`
    const answer = await createOAuthTester(real).authorize({ ...publish(good), clientId })
    expect(answer.statusCode).toBe(400)

    const addresses = [
      ['127.0.0.1'],
      ['::1'],
      ['::ffff:127.0.0.1'],
      ['0.0.0.0'],
      ['10.0.0.1'],
      ['169.254.169.254'],
      ['93.184.215.14', '127.0.0.1'],
    ]
    for (const list of addresses) {
      let lookups = 0
      const send = createSender({
        lookup: (_name, _options, answerWith) => {
          lookups++
          answerWith(
            null,
            list.map((address) => ({ address, family: isIP(address) })),
          )
        },
      })
      const options = { headers: new Headers(), signal: AbortSignal.timeout(10_000) }
      await expect(send(new URL(`https://localhost:${port}/client.json`), options)).rejects.toThrow(
        'not allowed',
      )
      expect(lookups).toBe(1)
    }

    // The first that the server hears of is this.
    const heard = once(server, 'connection')
    connect(port, '127.0.0.1').on('error', () => undefined)
    await heard
    expect(connections).toBe(1)
    server.close()
  })
})
