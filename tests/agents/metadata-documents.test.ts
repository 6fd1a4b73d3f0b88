import { createServer } from 'node:net'
import { once } from 'node:events'
import { describe, expect, it } from 'vitest'
import { codeOf, createOAuthTester, type TestAgent } from '../support/oauth-client.ts'
import { startTestApp } from '../support/test-app.ts'

const documents = new Map<string, () => Promise<Response> | Response>()
const fetched: string[] = []
const service = await startTestApp({
  fetchMetadata: async (url, init) => {
    const { url: id } = new Request(url)
    fetched.push(id)
    const answer = documents.get(id)
    if (!answer) return new Response('', { status: 404 })
    return Promise.race([
      Promise.resolve(answer()),
      new Promise<never>((_done, fail) =>
        init?.signal?.addEventListener('abort', () => fail(new Error('aborted')), { once: true }),
      ),
    ])
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

describe('a metadata document', () => {
  it('lets its agent come in, vouched for by its host', async () => {
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

  it('allows any port on the own machine', async () => {
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
    ['with a secret', (id: string) => ({ ...good(id), client_secret: 'secret' }), undefined],
    [
      'with a dangerous redirect',
      (id: string) => ({ ...good(id), redirect_uris: ['javascript:alert(1)'] }),
      undefined,
    ],
    ['that is too large', (id: string) => ({ ...good(id), client_name: 'x'.repeat(1_000_000) }), undefined],
    ['that is no JSON', good, () => new Response('<!doctype html>')],
    [
      'that redirects',
      good,
      () => new Response('', { status: 302, headers: { location: 'https://other.example/' } }),
    ],
    ['that is not there', good, () => new Response('', { status: 404 })],
    ['that fails', good, () => Promise.reject(new Error('connection reset'))],
  ])('%s is refused', async (_name, describeAgent, respond) => {
    const answer = await authorize(publish(describeAgent, respond))
    expect(answer.statusCode).toBe(400)
    expect(answer.headers.location).toBeUndefined()
  })

  it('that does not come is not waited for', async () => {
    const startedAt = Date.now()
    const answer = await authorize(publish(good, () => new Promise<Response>(() => undefined)))
    expect(answer.statusCode).toBe(400)
    expect(Date.now() - startedAt).toBeLessThan(10_000)
  })

  it.each([
    'http://agent.example/client.json',
    'https://user@agent.example/client.json',
    'https://agent.example/../client.json',
    'https://agent.example/client.json#fragment',
  ])('is not looked for at %s', async (clientId) => {
    const answer = await authorize({ ...publish(good), clientId })
    expect(answer.statusCode).toBe(400)
    expect(fetched).not.toContain(clientId)
  })
})

describe('over the network', () => {
  it('a document on the own machine is not read', async () => {
    const real = await startTestApp()
    const heard: Buffer[] = []
    const server = createServer((socket) =>
      socket.on('data', (bytes) => heard.push(bytes)).on('error', () => undefined),
    )
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const address = server.address()
    const port = typeof address === 'object' && address ? address.port : 0
    const clientId = `https://127.0.0.1:${port}/client.json`
    const answer = await createOAuthTester(real).authorize({ ...publish(good), clientId })
    expect(answer.statusCode).toBe(400)
    expect(Buffer.concat(heard).toString('latin1')).not.toContain('GET /client.json')
    server.close()
  })
})
