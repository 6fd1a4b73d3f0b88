import { createHash, generateKeyPairSync, sign as signBytes, randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { codeOf, createOAuthTester, type TestAgent, type Tokens } from '../support/oauth-client.ts'
import { createPublished } from '../support/published.ts'
import { startTestApp } from '../support/test-app.ts'

// The requests of programs that people use, as these programs send them. Their documents come from the memory of the test.

const { answerWith, fetched, publish, untrustedFetch } = createPublished()
const secret = 'a secret of the processes of this file'
const service = await startTestApp({ environment: { APP_SECRET: secret }, untrustedFetch })
const documentsOff = await startTestApp({
  environment: { APP_SECRET: secret, CLIENT_METADATA_DOCUMENTS: 'off' },
  untrustedFetch,
})
type Service = typeof service

/** Another process of the service, which has read no document. */
const startReplica = () =>
  startTestApp({
    environment: { DATABASE_URL: String(service.config.databaseUrl), APP_SECRET: secret },
    untrustedFetch,
  })

interface KnownClient {
  name: string
  /** The URL of its document, which it has as its id where documents are advertised; null if it always registers. */
  documentUrl: string | null
  redirectUri: string
  /** What it publishes, or registers. */
  metadata: Record<string, unknown>
  /** What it adds to authorization requests. */
  parameters: Record<string, string>
}

const resource = `${service.config.baseUrl}/agent/mcp`
const clients: KnownClient[] = [
  {
    name: 'Codex CLI',
    documentUrl: 'https://chatgpt.com/oauth/codex/client.json',
    redirectUri: 'http://127.0.0.1:5151/callback',
    metadata: {
      client_name: 'Codex',
      redirect_uris: ['http://127.0.0.1/callback', 'http://localhost/callback'],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
    },
    parameters: { scope: 'validation-kit:read offline_access', resource },
  },
  {
    name: 'Claude Code',
    documentUrl: 'https://claude.ai/oauth/claude-code-client-metadata',
    redirectUri: 'http://localhost:61735/callback',
    metadata: {
      client_name: 'Claude Code',
      client_uri: 'https://claude.ai',
      redirect_uris: ['http://localhost/callback', 'http://127.0.0.1/callback'],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
    },
    parameters: { scope: 'validation-kit:read', resource },
  },
  {
    name: 'OpenCode',
    documentUrl: null,
    redirectUri: 'http://127.0.0.1:19876/mcp/oauth/callback',
    metadata: {
      client_name: 'OpenCode',
      client_uri: 'https://opencode.ai',
      redirect_uris: ['http://127.0.0.1:19876/mcp/oauth/callback'],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
    },
    parameters: { scope: 'validation-kit:read', resource },
  },
]

/** Connects a client as its program does: it discovers, is or becomes a client, asks, and calls the tool. */
async function connect({ app, ...rest }: Service, client: KnownClient) {
  const tester = createOAuthTester({ app, ...rest })
  const challenge = await app.inject({ method: 'POST', url: '/agent/mcp', payload: {} })
  expect(challenge.statusCode).toBe(401)
  expect(challenge.headers['www-authenticate']).toContain('resource_metadata=')
  const metadata = (await app.inject('/.well-known/oauth-authorization-server')).json<{
    client_id_metadata_document_supported?: boolean
  }>()
  const verifier = 'a-verifier-that-is-long-enough-for-the-standard-1234'
  const { documentUrl, redirectUri } = client
  const isDocumented = documentUrl !== null && metadata.client_id_metadata_document_supported === true
  let clientId: string
  if (isDocumented) clientId = publish(client.metadata, documentUrl).clientId
  else {
    const registered = await tester.register({ ...client.metadata, redirect_uris: [redirectUri] })
    expect(registered.statusCode, registered.body).toBe(201)
    clientId = registered.json<{ client_id: string }>().client_id
  }
  const agent: TestAgent = { clientId, redirectUri, verifier }
  const host = await tester.createHost()
  const authorization = await tester.authorize(agent, client.parameters)
  expect(authorization.statusCode, authorization.body).toBe(303)
  const back = await tester.allow(authorization, host)
  expect(back.headers.location).toContain(redirectUri)
  const answer = await tester.exchange(agent, codeOf(back), { resource })
  expect(answer.statusCode, answer.body).toBe(200)
  const tokens = answer.json<Tokens>()
  const called = await app.inject({
    method: 'POST',
    url: '/agent/mcp',
    headers: {
      authorization: `Bearer ${tokens.access_token}`,
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2025-11-25',
    },
    payload: {
      ...{ jsonrpc: '2.0', id: 1, method: 'tools/call' },
      params: { name: 'read_validation_kit', arguments: {} },
    },
  })
  expect(called.statusCode, called.body).toBe(200)
  expect(called.body).toContain('Acme')
  return { agent, tokens, isDocumented }
}

describe.each(clients)('$name', (client) => {
  it('connects to a service with metadata documents, and stays while its host answers 403', async () => {
    const { agent, tokens, isDocumented } = await connect(service, client)
    expect(isDocumented).toBe(client.documentUrl !== null)
    if (client.documentUrl === null) return
    answerWith(client.documentUrl, 403)
    const replica = createOAuthTester(await startReplica())
    const refreshed = await replica.refresh(agent, tokens.refresh_token, { resource })
    expect(refreshed.statusCode, refreshed.body).toBe(200)
    expect((await replica.readKit(refreshed.json<Tokens>().access_token)).statusCode).toBe(200)
  })

  it('connects to a service without metadata documents, by registration', async () => {
    fetched.length = 0
    const { agent, tokens, isDocumented } = await connect(documentsOff, client)
    expect(isDocumented).toBe(false)
    expect(fetched).toEqual([])
    const refreshed = await createOAuthTester(documentsOff).refresh(agent, tokens.refresh_token, { resource })
    expect(refreshed.statusCode, refreshed.body).toBe(200)
  })
})

describe('the document of ChatGPT', () => {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const jwksUri = 'https://chatgpt.com/oauth/jwks.json'
  const keys = { keys: [{ ...publicKey.export({ format: 'jwk' }), kid: 'key', alg: 'RS256', use: 'sig' }] }
  answerWith(jwksUri, keys)
  const common = {
    client_name: 'ChatGPT',
    client_uri: 'https://chatgpt.com/',
    redirect_uris: ['https://chatgpt.com/connector_platform_oauth_redirect'],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_signing_alg: 'RS256',
    jwks_uri: jwksUri,
  }
  const both = { token_endpoint_auth_methods_supported: ['none', 'private_key_jwt'] }
  const forms: [string, object, 'none' | 'private_key_jwt' | 'either'][] = [
    ['private_key_jwt', { token_endpoint_auth_method: 'private_key_jwt' }, 'private_key_jwt'],
    [
      'private_key_jwt, of both',
      { token_endpoint_auth_method: 'private_key_jwt', ...both },
      'private_key_jwt',
    ],
    ['none beside keys', { token_endpoint_auth_method: 'none' }, 'none'],
    ['none beside keys, of both', { token_endpoint_auth_method: 'none', ...both }, 'either'],
    [
      'none without keys, of both',
      { token_endpoint_auth_method: 'none', ...both, jwks_uri: undefined },
      'none',
    ],
    ['no method beside keys', {}, 'none'],
    ['no method, of both', both, 'private_key_jwt'],
    ['no method, of none', { token_endpoint_auth_methods_supported: ['none'] }, 'none'],
    [
      'a method that is not known here, of both',
      { token_endpoint_auth_method: 'tls_client_auth', ...both },
      'private_key_jwt',
    ],
    ['a secret, of both', { token_endpoint_auth_method: 'client_secret_basic', ...both }, 'private_key_jwt'],
    [
      'private_key_jwt without keys, of both',
      { token_endpoint_auth_method: 'private_key_jwt', ...both, jwks_uri: undefined },
      'none',
    ],
    [
      'null fields',
      { token_endpoint_auth_method: 'none', logo_uri: null, tos_uri: null, jwks: null },
      'none',
    ],
    [
      'a grant type that is not known here',
      {
        token_endpoint_auth_method: 'none',
        grant_types: ['authorization_code', 'refresh_token', 'urn:ietf:params:oauth:grant-type:device_code'],
      },
      'none',
    ],
  ]
  const tester = createOAuthTester(service)

  function assertionOf(clientId: string): Record<string, string> {
    const now = Math.floor(Date.now() / 1000)
    const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
    const claims = {
      iss: clientId,
      sub: clientId,
      aud: service.config.baseUrl,
      jti: randomUUID(),
      iat: now,
      exp: now + 60,
    }
    const text = `${encode({ alg: 'RS256', kid: 'key' })}.${encode(claims)}`
    const signature = signBytes('sha256', Buffer.from(text), privateKey).toString('base64url')
    return {
      client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
      client_assertion: `${text}.${signature}`,
    }
  }

  it.each(forms)('is accepted with %s', async (name, form, method) => {
    const id = createHash('sha256').update(name).digest('hex').slice(0, 12)
    const agent = publish({ ...common, ...form }, `https://chatgpt.com/oauth/${id}/client.json`)
    const host = await tester.createHost()
    const authenticate = () => (method === 'none' ? {} : assertionOf(agent.clientId))
    const tokens = await tester.exchange(agent, await tester.getCode(agent, host), authenticate())
    expect(tokens.statusCode, tokens.body).toBe(200)
    const { refresh_token: token } = tokens.json<Tokens>()
    if (method === 'either') {
      const forged = { ...assertionOf(agent.clientId) }
      forged.client_assertion = `${forged.client_assertion?.slice(0, -8)}AAAAAAAA`
      expect((await tester.refresh(agent, token, forged)).statusCode).toBe(401)
      const unsigned = await tester.refresh(agent, token, {})
      expect(unsigned.statusCode, unsigned.body).toBe(200)
      const next = unsigned.json<Tokens>().refresh_token
      expect((await tester.refresh(agent, next, authenticate())).statusCode).toBe(200)
      return
    }
    const wrong = method === 'none' ? assertionOf(agent.clientId) : {}
    expect((await tester.refresh(agent, token, wrong)).statusCode).toBe(401)
    expect((await tester.refresh(agent, token, authenticate())).statusCode).toBe(200)
  })

  it('is refused with a secret alone', async () => {
    const agent = publish({ ...common, token_endpoint_auth_method: 'client_secret_basic' })
    expect((await tester.authorize(agent)).statusCode).toBe(400)
  })

  it('has its keys kept for a day while their host fails, and read again once it answers', async () => {
    const agent = publish({ ...common, ...both })
    const code = await tester.getCode(agent, await tester.createHost())
    const exchanged = await tester.exchange(agent, code, assertionOf(agent.clientId))
    let token = exchanged.json<Tokens>().refresh_token
    const { length } = fetched.filter((url) => url === jwksUri)
    token = (await tester.refresh(agent, token, assertionOf(agent.clientId))).json<Tokens>().refresh_token
    expect(fetched.filter((url) => url === jwksUri)).toHaveLength(length)
    answerWith(jwksUri, 503)
    const replica = createOAuthTester(await startReplica())
    const refreshed = await replica.refresh(agent, token, assertionOf(agent.clientId))
    expect(refreshed.statusCode, refreshed.body).toBe(200)
    token = refreshed.json<Tokens>().refresh_token
    await service.db.$client.query(
      `update oauth_documents set fetched_at = fetched_at - interval '25 hours' where kind = 'keys' and client_id = $1`,
      [agent.clientId],
    )
    const late = createOAuthTester(await startReplica())
    const refused = await late.refresh(agent, token, assertionOf(agent.clientId))
    expect(refused.statusCode).toBe(503)
    expect(refused.headers['retry-after']).toBe('60')
    answerWith(jwksUri, keys)
    const again = createOAuthTester(await startReplica())
    expect((await again.refresh(agent, token, assertionOf(agent.clientId))).statusCode).toBe(200)
  })
})

describe('a registration with null fields, as Dify sends it', () => {
  it('is as one without them', async () => {
    const tester = createOAuthTester(service)
    const given = {
      client_name: 'Dify',
      redirect_uris: ['https://cloud.dify.example/console/api/mcp/oauth/callback'],
      grant_types: ['authorization_code', 'refresh_token'],
      token_endpoint_auth_method: 'none',
      response_types: ['code'],
    }
    const absent = {
      ...{ scope: null, client_uri: null, logo_uri: null, contacts: null, tos_uri: null, policy_uri: null },
      ...{ jwks_uri: null, jwks: null, software_id: null, software_version: null, software_statement: null },
      ...{ token_endpoint_auth_signing_alg: null },
    }
    const [withNull, without] = [await tester.register({ ...given, ...absent }), await tester.register(given)]
    expect(withNull.statusCode, withNull.body).toBe(201)
    const own = { client_id: '', client_id_issued_at: 0 }
    expect({ ...withNull.json<object>(), ...own }).toEqual({ ...without.json<object>(), ...own })
    const nothing = Object.fromEntries(Object.keys(given).map((name) => [name, null]))
    const refused = await tester.register(nothing)
    expect([refused.statusCode, refused.body]).toEqual([400, (await tester.register({})).body])
    const bare = await tester.register({ ...nothing, redirect_uris: given.redirect_uris })
    expect(bare.statusCode, bare.body).toBe(201)
  })
})
