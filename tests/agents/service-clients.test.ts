import {
  Client,
  ClientCredentialsProvider,
  PrivateKeyJwtProvider,
  StreamableHTTPClientTransport,
  type OAuthClientProvider,
} from '@modelcontextprotocol/client'
import { webcrypto } from 'node:crypto'
import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { deleteStaleRecords } from '../../src/agents/oauth/records/record-bounds.repository.ts'
import type { Event } from '../../src/areas/events/events.schemas.ts'
import { errors } from '../../src/kernel/errors.ts'
import { createCompany, del, get, patch, post, randomEmail, type TestCompany } from '../support/company.ts'
import { expectError } from '../support/expect-error.ts'
import { createOAuthTester, type Tokens } from '../support/oauth-client.ts'
import { endOnFailure } from '../support/fetch-deadlines.ts'
import { findClosedPort } from '../support/raw-http.ts'
import {
  createServiceAccount,
  createServiceClient,
  createServiceKey,
  type TestClient,
} from '../support/service-accounts.ts'
import { selectRows, startTestApp } from '../support/test-app.ts'

const keySets = new Map<string, object>()
const fetched: string[] = []
const port = await findClosedPort()
const origin = `http://127.0.0.1:${port}`
const service = await startTestApp({
  environment: { BASE_URL: origin },
  untrustedFetch: endOnFailure(async ({ href }) => {
    fetched.push(href)
    const document = keySets.get(href)
    return document ? Response.json(document) : new Response('', { status: 404 })
  }),
})
const { app, as, config, db } = service
await app.listen({ host: '127.0.0.1', port })
const tester = createOAuthTester(service)
const resource = `${origin}/agent/mcp`

async function createKeys(kid = 'first') {
  const algorithm = { name: 'ECDSA', namedCurve: 'P-256' }
  const pair = await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify'])
  const { kty, crv, x, y, d } = await webcrypto.subtle.exportKey('jwk', pair.privateKey)
  return {
    privateKey: pair.privateKey,
    publicJwk: { kty, crv, x, y, kid, alg: 'ES256' },
    privateJwk: { kty, crv, x, y, d, kid, alg: 'ES256' },
  }
}

const keys = await createKeys()
const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')

/** A JWT of a client as RFC 7523 asks, with what is wrong about it. */
async function sign({ clientId }: TestClient, claims: object = {}, key = keys.privateKey) {
  const now = Math.floor(Date.now() / 1000)
  const head = encode({ alg: 'ES256', kid: 'first' })
  const standard = { iss: clientId, sub: clientId, aud: config.baseUrl, jti: crypto.randomUUID() }
  const body = encode({ ...standard, iat: now, exp: now + 60, ...claims })
  const signed = Buffer.from(`${head}.${body}`)
  const signature = await webcrypto.subtle.sign({ name: 'ECDSA', hash: 'SHA-256' }, key, signed)
  return `${head}.${body}.${Buffer.from(signature).toString('base64url')}`
}

const requestToken = (headers: Record<string, string>, parameters: Record<string, string>) =>
  app.inject({
    method: 'POST',
    url: '/agent/oauth/token',
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
    payload: new URLSearchParams({ grant_type: 'client_credentials', ...parameters }).toString(),
  })

const basic = (id: string, secret: string) => ({
  authorization: `Basic ${Buffer.from(`${encodeURIComponent(id)}:${encodeURIComponent(secret)}`).toString('base64')}`,
})

/** Asks for a token with a secret. */
const ask = (client: TestClient, parameters: Record<string, string> = {}, secret = String(client.secret)) =>
  requestToken(basic(client.clientId, secret), parameters)

/** Asks for a token with a JWT. */
const askSigned = (client: TestClient, assertion: string) =>
  requestToken(
    {},
    {
      client_id: client.clientId,
      client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
      client_assertion: assertion,
    },
  )

async function tokenOf(client: TestClient, parameters?: Record<string, string>): Promise<string> {
  const answer = await ask(client, parameters)
  expect(answer.statusCode, answer.body).toBe(200)
  return answer.json<Tokens>().access_token
}

const send = (token: string, path: string, payload: object = {}) =>
  app.inject({
    method: 'POST',
    url: `/agent/v1/${path}`,
    headers: { authorization: `Bearer ${token}` },
    payload,
  })

async function createMachine(
  { role = 'member', ...input }: { role?: 'admin' | 'member' | 'viewer' } & Record<string, unknown> = {},
  company?: TestCompany,
) {
  const place = company ?? (await createCompany(service))
  const account = await createServiceAccount(service, place.owner, place, { role })
  const client = await createServiceClient(service, place.owner, account, input)
  return { company: place, account, client }
}

const withKeys = { method: 'private_key_jwt', jwks: { keys: [keys.publicJwk] } }

const eventsOf = async ({ owner, url }: TestCompany, type: string) =>
  (await as(owner, get(`${url}/events?type=${type}`))).json<Event[]>()

const refusalOf = (answer: { statusCode: number; json: () => unknown }) =>
  [answer.statusCode, (answer.json() as { error: string }).error] as const

describe('the client of a service account', () => {
  it('is advertised', async () => {
    const metadata = (await app.inject('/.well-known/oauth-authorization-server')).json<
      Record<string, string[]>
    >()
    expect(metadata.grant_types_supported).toContain('client_credentials')
    expect(metadata.token_endpoint_auth_methods_supported).toEqual(
      expect.arrayContaining(['client_secret_basic', 'private_key_jwt']),
    )
  })

  it('acts as the account with its scopes, for an hour, and gets no refresh token', async () => {
    const { company, account, client } = await createMachine({ scopes: ['workspace:read', 'seeds:write'] })
    const answer = await ask(client, { resource })
    expect(answer.json()).toEqual({
      access_token: expect.any(String) as string,
      token_type: 'Bearer',
      expires_in: 3600,
      scope: 'validation-kit:read workspace:read seeds:write',
    })
    const { access_token: token } = answer.json<Tokens>()
    const kit = (await send(token, 'validation-kit:read')).json<{ grant: object }>()
    expect(kit.grant).toMatchObject({
      id: client.id,
      clientName: 'Nightly import',
      userId: account.userId,
      userName: 'CRM sync',
      role: 'member',
      expiresAt: client.expiresAt,
    })
    expect(
      (await send(token, 'seeds:create', { title: 'An idea', summary: 'Of a machine' })).statusCode,
    ).toBe(200)
    const [created] = await eventsOf(company, 'seed.created')
    expect(created).toMatchObject({ actorUserId: account.userId, grantId: client.id })
    // As with a key of its own, a service account leads no seed.
    const [seed] = (await as(company.owner, get(`${company.url}/seeds`))).json<object[]>()
    expect(seed).toMatchObject({ leadUserId: null, createdByUserId: account.userId })
    const days = (Date.parse(client.expiresAt) - Date.parse(client.createdAt)) / 86_400_000
    expect(days).toBe(365)
    const stored = await selectRows(
      db,
      sql`select payload::text from oauth_records where key = ${client.clientId}`,
    )
    expect(JSON.stringify(stored)).not.toContain(String(client.secret))
  })

  it('is listed on the account and among the agents, and notes when it was used', async () => {
    const { company, account, client } = await createMachine()
    const list = async () => (await as(company.admin, get(`${account.url}/clients`))).json<TestClient[]>()
    const { secret, ...shown } = client
    expect(secret).toHaveLength(43)
    expect(await list()).toEqual([shown])
    const token = await tokenOf(client)
    await send(token, 'validation-kit:read')
    const agents = (await as(company.owner, get(`${company.url}/integrations`))).json<object[]>()
    expect(agents).toMatchObject([{ id: client.id, userId: account.userId, clientName: 'Nightly import' }])
    const [created] = await eventsOf(company, 'service_account.client_created')
    expect(created?.data).toMatchObject({ grantId: client.id, scopes: ['validation-kit:read'] })
    expect((await as(company.member, get(`${account.url}/clients`))).statusCode).toBe(403)
  })

  it('defaults to the resource, and accepts other spellings of it', async () => {
    const { client } = await createMachine()
    for (const spelling of [undefined, resource, `${resource}/`]) {
      const token = await tokenOf(client, spelling === undefined ? {} : { resource: spelling })
      const {
        aud,
        client_id: id,
        sub,
      } = JSON.parse(Buffer.from(String(token.split('.')[1]), 'base64url').toString()) as Record<
        string,
        unknown
      >
      expect({ aud, id, sub }).toEqual({ aud: resource, id: client.clientId, sub: client.clientId })
    }
  })

  it('connects with the official SDK, by a secret and by a key', async () => {
    const { client, account, company } = await createMachine({ scopes: ['workspace:read'] })
    const signing = await createServiceClient(service, company.owner, account, {
      ...withKeys,
      name: 'Signing import',
    })
    const providers: OAuthClientProvider[] = [
      new ClientCredentialsProvider({
        clientId: client.clientId,
        clientSecret: String(client.secret),
        expectedIssuer: origin,
      }),
      new PrivateKeyJwtProvider({
        clientId: signing.clientId,
        privateKey: keys.privateJwk,
        algorithm: 'ES256',
        expectedIssuer: origin,
      }),
    ]
    for (const authProvider of providers) {
      const mcp = new Client({ name: 'test', version: '1' })
      await mcp.connect(new StreamableHTTPClientTransport(new URL(resource), { authProvider }))
      const { structuredContent } = await mcp.callTool({ name: 'read_validation_kit', arguments: {} })
      expect(structuredContent).toMatchObject({ grant: { userId: account.userId } })
      await mcp.close()
    }
  })

  it('has its keys fetched by the guarded fetch, from its URL', async () => {
    const url = `https://keys.example/${crypto.randomUUID()}`
    const { client } = await createMachine({ method: 'private_key_jwt', jwksUri: url })
    expect(client).toMatchObject({ secret: null, jwksUri: url })
    expect(fetched).not.toContain(url)
    keySets.set(url, { keys: [keys.publicJwk] })
    const answer = await askSigned(client, await sign(client))
    expect(answer.statusCode, answer.body).toBe(200)
    expect(fetched).toContain(url)
  })
})

describe('no token is issued', () => {
  it('for a wrong secret, an unknown client, and without a secret', async () => {
    const { client } = await createMachine()
    const unknown = { ...client, clientId: 'service-unknown' }
    for (const answer of [
      await ask(client, {}, 'wrong'),
      await ask(unknown),
      await requestToken({}, { client_id: client.clientId }),
    ])
      expect(refusalOf(answer)).toEqual([expect.any(Number), 'invalid_client'])
    const described = (await ask(unknown)).json<{ error_description: string }>()
    expect(described.error_description).toContain('An owner or admin of the workspace can create one')
  })

  it('for the secret of the client of another workspace', async () => {
    const [one, other] = [await createMachine(), await createMachine()]
    expect(refusalOf(await ask(one.client, {}, String(other.client.secret)))).toEqual([401, 'invalid_client'])
  })

  it('for another resource', async () => {
    const { client } = await createMachine()
    for (const foreign of ['https://other.example/agent/mcp', `${origin}/v1`, 'nonsense'])
      expect(refusalOf(await ask(client, { resource: foreign }))).toEqual([400, 'invalid_target'])
  })

  it('for a scope that it does not have, and others are narrowed to what it asks for', async () => {
    const { client } = await createMachine({ scopes: ['workspace:read'] })
    for (const scope of ['seeds:write', 'validation-kit:read workspace:write', 'nonsense'])
      expect(refusalOf(await ask(client, { scope }))).toEqual([400, 'invalid_scope'])
    const answer = await ask(client, { scope: 'validation-kit:read offline_access' })
    expect(answer.json<Tokens>().scope).toBe('validation-kit:read')
  })

  it('by another grant: a refresh token, a code, or without a grant for who registers', async () => {
    const { client } = await createMachine()
    const notAllowed = {
      error: 'invalid_request',
      error_description: 'requested grant type is not allowed for this client',
    }
    const parameters = { refresh_token: 'a', code: 'b', redirect_uri: 'https://agent.example/callback' }
    for (const grant of ['refresh_token', 'authorization_code'])
      expect((await ask(client, { grant_type: grant, ...parameters })).json()).toEqual(notAllowed)
    const registered = await tester.register({
      redirect_uris: ['https://agent.example/callback'],
      token_endpoint_auth_method: 'client_secret_basic',
      grant_types: ['client_credentials'],
    })
    const {
      client_id: id,
      client_secret: secret,
      grant_types: types,
    } = registered.json<{
      client_id: string
      client_secret: string
      grant_types: string[]
    }>()
    expect(types).toEqual(['authorization_code', 'refresh_token'])
    expect((await requestToken(basic(id, secret), {})).json()).toEqual(notAllowed)
  })

  it('for a JWT that was used before, is for another audience, lasts too long, or has another key', async () => {
    const { client } = await createMachine(withKeys)
    const assertion = await sign(client)
    expect((await askSigned(client, assertion)).statusCode).toBe(200)
    const now = Math.floor(Date.now() / 1000)
    const others = await createKeys()
    for (const wrong of [
      assertion,
      await sign(client, { aud: 'https://other.example' }),
      await sign(client, { exp: now + 3600 }),
      await sign(client, { exp: now - 60 }),
      await sign(client, {}, others.privateKey),
    ])
      expect(refusalOf(await askSigned(client, wrong))).toEqual([401, 'invalid_client'])
    const { client: other } = await createMachine(withKeys)
    expect(refusalOf(await askSigned(client, await sign(other)))).toEqual([400, 'invalid_request'])
  })
})

describe('access ends at once, also that of tokens which were issued', () => {
  it('when the client is revoked, which is idempotent', async () => {
    const { company, account, client } = await createMachine()
    const token = await tokenOf(client)
    const revoke = () => as(company.admin, post(`${account.url}/clients/${client.id}/revoke`))
    for (let i = 0; i < 2; i++) expect((await revoke()).json()).toEqual({ ok: true })
    expect((await send(token, 'validation-kit:read')).statusCode).toBe(401)
    expect(refusalOf(await ask(client))).toEqual([401, 'invalid_client'])
    expect(await eventsOf(company, 'service_account.client_revoked')).toHaveLength(1)
    expect((await as(company.admin, get(`${account.url}/clients`))).json()).toEqual([])
  })

  it('when the access is revoked among the agents', async () => {
    const { company, client } = await createMachine()
    const token = await tokenOf(client)
    const revoked = await as(company.owner, post(`${company.url}/integrations/${client.id}/revoke`))
    expect(revoked.statusCode).toBe(200)
    expect((await send(token, 'validation-kit:read')).statusCode).toBe(401)
    expect(refusalOf(await ask(client))).toEqual([400, 'unauthorized_client'])
  })

  it('when a year is over, unless it was prolonged', async () => {
    const { company, account, client } = await createMachine()
    const token = await tokenOf(client)
    const end = sql`update agent_grants set expires_at = now() + interval '1 minute' where id = ${client.id}`
    await db.execute(end)
    const user = await service.services.accounts.findByEmail(company.admin.email)
    if (!user) throw new Error('the admin is not there')
    const principal = { user, source: 'web', apiKeyId: null, sessionId: null, grantId: null } as const
    const { slug } = company.workspace
    const path = { slug, serviceAccountId: account.id, serviceClientId: client.id }
    expect(await service.services.serviceClients.prolong(principal, path)).toBe('Nightly import')
    const [shown] = (await as(company.owner, get(`${account.url}/clients`))).json<TestClient[]>()
    expect(Date.parse(String(shown?.expiresAt))).toBeGreaterThan(Date.now() + 364 * 86_400_000)
    expect(await eventsOf(company, 'service_account.client_prolonged')).toHaveLength(1)
    expect((await send(token, 'validation-kit:read')).statusCode).toBe(200)

    await db.execute(sql`update agent_grants set expires_at = now() where id = ${client.id}`)
    expect((await send(token, 'validation-kit:read')).statusCode).toBe(401)
    expect(refusalOf(await ask(client))).toEqual([400, 'unauthorized_client'])
    await expect(service.services.serviceClients.prolong(principal, path)).rejects.toMatchObject({
      code: 'not_found',
    })
  })

  it('when the account is deleted', async () => {
    const { company, account, client } = await createMachine()
    const token = await tokenOf(client)
    expect((await as(company.owner, del(account.url))).statusCode).toBe(200)
    expect((await send(token, 'validation-kit:read')).statusCode).toBe(401)
    expect(refusalOf(await ask(client))).toEqual([401, 'invalid_client'])
  })

  it('when the workspace is gone, and nothing is left of the client', async () => {
    const { company, client } = await createMachine()
    await db.execute(sql`delete from memberships where workspace_id = ${company.workspace.id}`)
    await deleteStaleRecords(db, new Date())
    expect(await selectRows(db, sql`select 1 from oauth_records where key = ${client.clientId}`)).toEqual([])
  })

  it('as far as the role of the account is lowered', async () => {
    const { company, account, client } = await createMachine({ scopes: ['seeds:write'] })
    const token = await tokenOf(client)
    expect((await as(company.owner, patch(account.url, { role: 'viewer' }))).statusCode).toBe(200)
    const written = await send(token, 'seeds:create', { title: 'An idea', summary: 'Of a machine' })
    expectError(written, errors.insufficientScope)
    expect((await send(token, 'validation-kit:read')).statusCode).toBe(200)
    expect((await ask(client)).json<Tokens>().scope).toBe('validation-kit:read')
    expect(refusalOf(await ask(client, { scope: 'seeds:write' }))).toEqual([400, 'invalid_scope'])
  })
})

describe('serviceAccounts.createClient', () => {
  const create = async (role: 'admin' | 'member' | 'viewer', body: object) => {
    const company = await createCompany(service)
    const account = await createServiceAccount(service, company.owner, company, { role })
    const whole = { name: 'Import', method: 'client_secret_basic', scopes: [], ...body }
    return as(company.owner, post(`${account.url}/clients`, whole))
  }

  it('refuses scopes above the role, and those that only people give on the website', async () => {
    expectError(await create('viewer', { scopes: ['seeds:write'] }), errors.scopeTooHigh, { field: 'scopes' })
    expectError(await create('admin', { scopes: ['workspace:write'] }), errors.scopeOnWebsiteOnly)
    expect((await create('viewer', { scopes: ['workspace:read'] })).statusCode).toBe(200)
    expect((await create('viewer', { scopes: ['nonsense'] })).statusCode).toBe(400)
  })

  it('refuses keys that are missing, given twice, not public or too weak', async () => {
    const { privateKey } = await webcrypto.subtle.generateKey(
      {
        name: 'RSASSA-PKCS1-v1_5',
        modulusLength: 1024,
        publicExponent: new Uint8Array([1, 0, 1]),
        hash: 'SHA-256',
      },
      true,
      ['sign', 'verify'],
    )
    const { n, e } = await webcrypto.subtle.exportKey('jwk', privateKey)
    const method = 'private_key_jwt'
    const jwks = { keys: [keys.publicJwk] }
    const refused: [field: string, body: object][] = [
      ['jwks', { method }],
      ['jwks', { method, jwks, jwksUri: 'https://keys.example/' }],
      ['jwksUri', { method, jwksUri: 'http://keys.example/' }],
      ['jwksUri', { method, jwksUri: 'https://a:b@keys.example/' }],
      ['jwks', { method, jwks: { keys: [keys.privateJwk] } }],
      ['jwks', { method, jwks: { keys: [{ kty: 'oct', k: 'c2VjcmV0' }] } }],
      ['jwks', { method, jwks: { keys: [{ kty: 'RSA', n, e }] } }],
      ['jwks', { method, jwks: { keys: [{ ...keys.publicJwk, x: 'nonsense' }] } }],
      ['jwks', { jwks }],
      ['jwksUri', { jwksUri: 'https://keys.example/' }],
    ]
    for (const [field, body] of refused)
      expectError(await create('member', body), errors.clientKeysInvalid, { field })
  })

  it('makes at most ten, also at the same moment', async () => {
    const { company, account } = await createMachine()
    for (let i = 0; i < 8; i++) await createServiceClient(service, company.owner, account)
    const body = { name: 'Import', method: 'client_secret_basic', scopes: [] }
    const answers = await Promise.all(
      [company.owner, company.admin].map((person) => as(person, post(`${account.url}/clients`, body))),
    )
    expect(answers.map(({ statusCode }) => statusCode).sort()).toEqual([200, 409])
    const refused = answers.find(({ statusCode }) => statusCode === 409)
    if (refused) expectError(refused, errors.serviceClientLimit)
  })

  it('gives no key a client that may more than itself, and no account one of another workspace', async () => {
    const company = await createCompany(service)
    const account = await createServiceAccount(service, company.owner, company, { role: 'admin' })
    const expiresAt = new Date(Date.now() + 86_400_000).toISOString()
    const key = await createServiceKey(service, company.owner, company, account, { expiresAt })
    const body = { name: 'Import', method: 'client_secret_basic', scopes: [] }
    expectError(await as(key, post(`${account.url}/clients`, body)), errors.keyRestricted)

    const other = await createMachine()
    const path = `${company.url}/service-accounts/${account.id}/clients/${other.client.id}/revoke`
    expectError(await as(company.owner, post(path)), errors.notFound)
    const foreign = `${company.url}/service-accounts/${other.account.id}/clients`
    expectError(await as(company.owner, get(foreign)), errors.notFound)
    expectError(await as(company.owner, post(foreign, body)), errors.notFound)
    expect((await ask(other.client)).statusCode).toBe(200)
  })
})

describe('serviceAccounts.rotateClient', () => {
  interface Rotation {
    clientId: string
    secret: string
  }

  it('replaces the secret, and the old one works until the overlap ends', async () => {
    const { company, account, client } = await createMachine()
    const path = `${account.url}/clients/${client.id}/rotate`
    const token = await tokenOf(client)
    const answer = await as(company.admin, post(path, { overlapSeconds: 60 }))
    const { secret, ...rest } = answer.json<Rotation>()
    expect(rest).toEqual({ ok: true, clientId: client.clientId })
    expect(secret).not.toBe(client.secret)
    for (const known of [client.secret, secret])
      expect((await ask(client, {}, String(known))).statusCode).toBe(200)
    expect(refusalOf(await ask(client, {}, `${secret}x`))).toEqual([401, 'invalid_client'])
    const [shown] = (await as(company.owner, get(`${account.url}/clients`))).json<TestClient[]>()
    expect(Date.parse(String(shown?.formerSecretUntil))).toBeGreaterThan(Date.now())
    expect(await eventsOf(company, 'service_account.client_rotated')).toMatchObject([
      { data: { grantId: client.id, clientName: 'Nightly import' } },
    ])
    const stored = await selectRows(
      db,
      sql`select oauth_records.payload::text, former_secret_hash from oauth_records join agent_grants on agent_grants.client_id = key
        where key = ${client.clientId}`,
    )
    for (const known of [client.secret, secret]) expect(JSON.stringify(stored)).not.toContain(String(known))

    expectError(await as(company.owner, post(path)), errors.clientRotated)
    await db.execute(sql`update agent_grants set former_secret_until = now() where id = ${client.id}`)
    expect(refusalOf(await ask(client))).toEqual([401, 'invalid_client'])
    expect((await ask(client, {}, secret)).statusCode).toBe(200)
    expect((await send(token, 'validation-kit:read')).statusCode).toBe(200)
    expect((await as(company.owner, post(path))).statusCode).toBe(200)
  })

  it('ends all former secrets at once with an overlap of 0', async () => {
    const { company, account, client } = await createMachine()
    const rotate = async (body?: object) =>
      (await as(company.owner, post(`${account.url}/clients/${client.id}/rotate`, body))).json<Rotation>()
        .secret
    const second = await rotate()
    const third = await rotate({ overlapSeconds: 0 })
    for (const former of [client.secret, second])
      expect(refusalOf(await ask(client, {}, String(former)))).toEqual([401, 'invalid_client'])
    expect((await ask(client, {}, third)).statusCode).toBe(200)
  })

  it('refuses clients without a secret, with a scope for people alone, revoked ones, and keys that may do less', async () => {
    const { company, account, client } = await createMachine({ role: 'admin' })
    const rotate = (id: string, by: { apiKey: string } = company.owner) =>
      as(by, post(`${account.url}/clients/${id}/rotate`))
    const own = await createServiceClient(service, company.owner, account, withKeys)
    expectError(await rotate(own.id), errors.clientWithoutSecret)
    const expiresAt = new Date(Date.now() + 86_400_000).toISOString()
    const key = await createServiceKey(service, company.owner, company, account, { expiresAt })
    expectError(await rotate(client.id, key), errors.keyRestricted)
    await db.execute(
      sql`update agent_grants set scopes = array_append(scopes, 'workspace:write') where id = ${client.id}`,
    )
    expectError(await rotate(client.id), errors.scopeOnWebsiteOnly)
    await as(company.owner, post(`${account.url}/clients/${client.id}/revoke`))
    expectError(await rotate(client.id), errors.notFound)
  })
})

describe('an invite by a client whose secret a former admin was shown', () => {
  /** What a client may do that an admin made and an owner has rotated, and what owner and admins are told of its invites. */
  async function createInviter(rotation?: { overlapSeconds: number }) {
    const { company, account } = await createMachine({ role: 'admin' })
    const { admin, owner, url } = company
    const client = await createServiceClient(service, admin, account)
    let { secret } = client
    if (rotation) {
      const answer = await as(owner, post(`${account.url}/clients/${client.id}/rotate`, rotation))
      secret = answer.json<{ secret: string }>().secret
    }
    await db.execute(
      sql`update agent_grants set scopes = array_append(scopes, 'workspace:write') where id = ${client.id}`,
    )
    const invite = async () => {
      const body = { email: randomEmail(), role: 'member' }
      expect((await send(await tokenOf({ ...client, secret }), 'invites:create', body)).statusCode).toBe(200)
    }
    const removeAdmin = () => as(owner, del(`${url}/members/${admin.id}`))
    const told = async () =>
      (await as(owner, get('/v1/me/notifications')))
        .json<{ kind: string; text: string }[]>()
        .filter(({ kind, text }) => kind === 'keys_known' && text.startsWith('Somebody was invited'))
        .map(({ text }) => text)
    return { client, invite, removeAdmin, told }
  }
  const notice =
    'Somebody was invited to Acme with the OAuth client Nightly import of CRM sync, which a former owner or admin knows. ' +
    'Rotate it, and look at the invite'

  it('is told to owners and admins once the admin is removed', async () => {
    const { invite, removeAdmin, told } = await createInviter()
    await invite()
    expect(await told()).toEqual([])
    await removeAdmin()
    await invite()
    expect(await told()).toEqual([notice])
  })

  it('is told after a rotation as long as the former secret works', async () => {
    const { client, invite, removeAdmin, told } = await createInviter({ overlapSeconds: 3_600 })
    await removeAdmin()
    await invite()
    expect(await told()).toEqual([notice])
    await db.execute(sql`update agent_grants set former_secret_until = now() where id = ${client.id}`)
    await invite()
    expect(await told()).toEqual([notice])
  })
})
