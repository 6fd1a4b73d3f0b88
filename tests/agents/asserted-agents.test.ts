import {
  Client,
  CrossAppAccessProvider,
  discoverAndRequestJwtAuthGrant,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client'
import { sql } from 'drizzle-orm'
import { exportJWK, generateKeyPair, SignJWT, type JWTPayload } from 'jose'
import { describe, expect, it } from 'vitest'
import { deleteEndedGrants } from '../../src/agents/grants/grants.repository.ts'
import { deleteStaleRecords } from '../../src/agents/oauth/records/record-bounds.repository.ts'
import type { AgentGrant } from '../../src/agents/grants/grants.service.ts'
import type { Event } from '../../src/areas/events/events.schemas.ts'
import type { Principal } from '../../src/domain/principal.ts'
import { createAssertionReader } from '../../src/platform/identity/agent-assertions.ts'
import { AssertionRefused, ProviderUnreachable } from '../../src/platform/identity/identity.port.ts'
import { createOidcProvider } from '../../src/platform/identity/oidc-identity.ts'
import { startAssertingProvider } from '../support/asserting-provider.ts'
import { createCompany, get, patch, post, type TestCompany } from '../support/company.ts'
import { createOAuthTester, type Tokens } from '../support/oauth-client.ts'
import { endOnFailure } from '../support/fetch-deadlines.ts'
import { findClosedPort } from '../support/raw-http.ts'
import { createServiceAccount, createServiceClient } from '../support/service-accounts.ts'
import { createTestClock } from '../support/test-clock.ts'
import { selectRows, startTestApp, type TestPerson } from '../support/test-app.ts'
import { untilWaiting } from '../support/until-waiting.ts'
import { addMember, createWorkspace } from '../support/workspaces.ts'

const mappedClients = new Map<string, string>()
const clock = createTestClock()
const acme = await startAssertingProvider(clock, (id) => mappedClients.get(id) ?? id)
const other = await startAssertingProvider(clock)
const port = await findClosedPort()
const origin = `http://127.0.0.1:${port}`
const providerOf = (id: string, issuer: string) => ({
  ...{ id, name: `${id} ID`, issuer, clientId: 'workspace', clientSecret: 'a secret' },
})
const environment = {
  BASE_URL: origin,
  OIDC_PROVIDERS: JSON.stringify([
    { ...providerOf('acme', acme.issuer), agentAssertions: true },
    providerOf('other', other.issuer),
  ]),
}
const documents = new Map<string, object>()
const service = await startTestApp({
  environment,
  clock,
  untrustedFetch: endOnFailure(async ({ href }) => {
    const document = documents.get(href)
    return document ? Response.json(document) : new Response('', { status: 404 })
  }),
})
const { app, as, db, services } = service
await app.listen({ host: '127.0.0.1', port })
const { register, createAgent } = createOAuthTester(service)
const resource = `${origin}/agent/mcp`
const grantType = 'urn:ietf:params:oauth:grant-type:jwt-bearer'

interface TestAgent {
  id: string
  secret: string
}

async function createClient(name = 'Claude'): Promise<TestAgent> {
  const answer = await register({
    redirect_uris: ['https://agent.example/callback'],
    client_name: name,
    token_endpoint_auth_method: 'client_secret_basic',
  })
  const { client_id: id, client_secret: secret } = answer.json<{ client_id: string; client_secret: string }>()
  return { id, secret }
}

async function setPolicy(
  { owner, url }: Pick<TestCompany, 'owner' | 'url'>,
  clients: readonly string[],
  change: object = {},
): Promise<void> {
  const scopes = ['workspace:read', 'seeds:write']
  const answer = await as(
    owner,
    patch(`${url}/agent-policy`, { assertedAgents: 'on', scopes, clients, ...change }),
  )
  expect(answer.statusCode, answer.body).toBe(200)
}

/** Links an account at a provider, as signing in with it does. */
async function link({ id }: TestPerson, issuer = acme.issuer): Promise<string> {
  const subject = crypto.randomUUID()
  await db.execute(sql`insert into identities (issuer, subject, user_id, created_at)
    values (${issuer}, ${subject}, ${id}, now())`)
  return subject
}

async function createPlace(change?: object) {
  const company = await createCompany(service)
  const agent = await createClient()
  await setPolicy(company, [agent.id], change)
  return { company, agent, subject: await link(company.member) }
}

type Place = Awaited<ReturnType<typeof createPlace>>

const claimsOf = ({ agent, subject }: Pick<Place, 'agent' | 'subject'>): JWTPayload => {
  const now = Math.floor(clock.now().getTime() / 1000)
  const times = { iat: now, exp: now + 300 }
  return { sub: subject, aud: origin, client_id: agent.id, resource, ...times }
}

const basic = ({ id, secret }: TestAgent) => ({
  authorization: `Basic ${Buffer.from(`${encodeURIComponent(id)}:${encodeURIComponent(secret)}`).toString('base64')}`,
})

const send = (headers: Record<string, string>, parameters: Record<string, string>, to = app) =>
  to.inject({
    method: 'POST',
    url: '/agent/oauth/token',
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
    payload: new URLSearchParams({ grant_type: grantType, ...parameters }).toString(),
  })

/** Sends an assertion, with what is wrong about it. */
const ask = async (
  place: Pick<Place, 'agent' | 'subject'>,
  claims: JWTPayload = {},
  parameters: Record<string, string> = {},
) =>
  send(basic(place.agent), { assertion: await acme.sign({ ...claimsOf(place), ...claims }), ...parameters })

async function tokenOf(
  place: Pick<Place, 'agent' | 'subject'>,
  claims?: JWTPayload,
  parameters?: Record<string, string>,
): Promise<Tokens> {
  const answer = await ask(place, claims, parameters)
  expect(answer.statusCode, answer.body).toBe(200)
  return answer.json<Tokens>()
}

const refusalOf = ({ statusCode, json }: Awaited<ReturnType<typeof send>>) => [
  statusCode,
  json<{ error: string }>().error,
]

const call = (token: string, path: string, payload: object = {}, to = app) =>
  to.inject({
    method: 'POST',
    url: `/agent/v1/${path}`,
    headers: { authorization: `Bearer ${token}` },
    payload,
  })

const read = async (token: string, to = app) => (await call(token, 'validation-kit:read', {}, to)).statusCode

const grantsOf = async ({ member, url }: TestCompany) =>
  (await as(member, get(`${url}/integrations`))).json<AgentGrant[]>()

const principalOf = async (person: TestPerson): Promise<Principal> => {
  const user = await services.accounts.findByEmail(person.email)
  if (!user) throw new Error('the person is not there')
  return { user, source: 'web', apiKeyId: null, sessionId: null, grantId: null }
}

describe('an assertion of a trusted identity provider', () => {
  it('is advertised, only with such a provider', async () => {
    const metadata = (await app.inject('/.well-known/oauth-authorization-server')).json<object>()
    expect(metadata).toMatchObject({
      grant_types_supported: expect.arrayContaining([grantType]) as string[],
      authorization_grant_profiles_supported: ['urn:ietf:params:oauth:grant-profile:id-jag'],
    })
    const untrusting = await startTestApp({
      environment: { ...environment, OIDC_PROVIDERS: JSON.stringify([providerOf('acme', acme.issuer)]) },
    })
    const plain = (await untrusting.app.inject('/.well-known/oauth-authorization-server')).json<{
      grant_types_supported: string[]
    }>()
    expect(plain.grant_types_supported).not.toContain(grantType)
    expect(plain).not.toHaveProperty('authorization_grant_profiles_supported')
    const place = await createPlace()
    const assertion = await acme.sign(claimsOf(place))
    expect(refusalOf(await send(basic(place.agent), { assertion }, untrusting.app))).toEqual([
      400,
      'unsupported_grant_type',
    ])
  })

  it('lets an agent act for the person for an hour, and gives no refresh token', async () => {
    const place = await createPlace()
    const { company, agent } = place
    const answer = await ask(place)
    expect(answer.json()).toEqual({
      access_token: expect.any(String) as string,
      token_type: 'Bearer',
      expires_in: 3600,
      scope: 'validation-kit:read workspace:read seeds:write',
      resource,
    })
    const { access_token: token } = answer.json<Tokens>()
    const kit = (await call(token, 'validation-kit:read')).json<{ grant: object }>()
    expect(kit.grant).toMatchObject({ userId: company.member.id, clientName: 'Claude', role: 'member' })
    const made = await call(token, 'seeds:create', { title: 'An idea', summary: 'Of an agent' })
    expect(made.statusCode, made.body).toBe(200)
    const [created] = (await as(company.owner, get(`${company.url}/events?type=seed.created`))).json<
      Event[]
    >()
    expect(created).toMatchObject({ actorUserId: company.member.id, actorType: 'agent' })
    const [claims = ''] = token.split('.').slice(1)
    expect(JSON.parse(Buffer.from(claims, 'base64url').toString())).toMatchObject({
      aud: resource,
      client_id: agent.id,
      sub: company.member.id,
    })
  })

  it('makes one grant, which further assertions renew, also at the same moment', async () => {
    const place = await createPlace()
    const answers = await Promise.all([1, 2, 3].map(() => ask(place)))
    expect(answers.map(({ statusCode }) => statusCode)).toEqual([200, 200, 200])
    const [first, ...more] = await grantsOf(place.company)
    expect(more).toEqual([])
    expect(first).toMatchObject({ clientName: 'Claude', assertedIssuer: acme.issuer, membersMayAsk: false })
    const day = 24 * 60 * 60 * 1000
    expect(Date.parse(String(first?.expiresAt)) - Date.parse(String(first?.createdAt))).toBe(30 * day)
    clock.advance(2 * day)
    await tokenOf(place)
    const [renewed] = await grantsOf(place.company)
    expect(renewed?.id).toBe(first?.id)
    expect(Date.parse(String(renewed?.expiresAt)) - Date.parse(String(first?.expiresAt))).toBe(2 * day)
  })

  it('is told to the person and to managers', async () => {
    const place = await createPlace()
    const { company } = place
    await tokenOf(place)
    const told = (await as(company.member, get('/v1/me/notifications'))).json<object[]>()
    expect(told).toMatchObject([
      { kind: 'agent', text: 'Your organization gave Claude access to Acme, where it acts for you' },
    ])
    const eventsOf = async (person: TestPerson) =>
      (await as(person, get(`${company.url}/events?type=integration.granted`))).json<Event[]>()
    const [event] = await eventsOf(company.owner)
    expect(event).toMatchObject({
      actorType: 'system',
      actorName: 'acme ID',
      summary: 'acme ID gave Claude access to Acme for a member',
      data: { userId: company.member.id, assertedBy: 'acme ID' },
    })
    expect(await eventsOf(company.member)).toHaveLength(1)
    expect(await eventsOf(company.viewer)).toEqual([])
    await tokenOf(place)
    expect(await eventsOf(company.owner)).toHaveLength(1)
  })

  it('is not told later that the access ends, since it does not', async () => {
    const place = await createPlace()
    await tokenOf(place)
    const { listEndingGrants } = await import('../../src/areas/notifications/recipients.repository.ts')
    const [grant] = await grantsOf(place.company)
    const now = new Date(Date.parse(String(grant?.expiresAt)) - 60_000)
    const ending = await listEndingGrants(db, { now, noticedMs: 14 * 86_400_000, limit: 1000 })
    expect(ending.map(({ id }) => id)).not.toContain(grant?.id)
  })

  it('names the workspace by its slug, in the assertion or in the request', async () => {
    const place = await createPlace()
    const { company, agent } = place
    const second = await createWorkspace(service, company.owner, { name: 'Second' })
    await addMember(service, second, company.member, 'viewer')
    await setPolicy({ owner: company.owner, url: `/v1/workspaces/${second.slug}` }, [agent.id])
    const of = async (token: Tokens) =>
      (await call(token.access_token, 'validation-kit:read')).json<{ workspace: { id: string } }>().workspace
        .id
    const named = `${resource}?workspace=${second.slug}`
    expect(await of(await tokenOf(place, {}, { resource: named }))).toBe(second.id)
    expect(await of(await tokenOf(place, { resource: named }))).toBe(second.id)
    expect(await of(await tokenOf(place, { resource: named }, { resource }))).toBe(second.id)
    const first = `${resource}?workspace=${company.workspace.slug}`
    expect(await of(await tokenOf(place, { resource: [first, named] }, { resource: first }))).toBe(
      company.workspace.id,
    )
    expect(refusalOf(await ask(place))).toEqual([400, 'invalid_target'])
    expect(refusalOf(await ask(place, { resource: named }, { resource: first }))).toEqual([
      400,
      'invalid_target',
    ])
    expect(refusalOf(await ask(place, { resource: [first, named] }))).toEqual([400, 'invalid_target'])
  })

  it('narrows the scopes of its own tokens, as the request does, and the policy those of all', async () => {
    const place = await createPlace()
    const all = await tokenOf(place)
    const narrow = await tokenOf(place, { scope: 'validation-kit:read workspace:read workspace:write' })
    expect(narrow.scope).toBe('validation-kit:read workspace:read')
    const asked = await tokenOf(
      place,
      { scope: 'workspace:read seeds:write' },
      { scope: 'seeds:write openid' },
    )
    expect(asked.scope).toBe('validation-kit:read seeds:write')
    const seed = { title: 'An idea', summary: 'Of an agent' }
    expect((await call(narrow.access_token, 'seeds:create', seed)).statusCode).toBe(403)
    expect((await call(asked.access_token, 'people:list')).statusCode).toBe(403)
    expect((await call(all.access_token, 'seeds:create', seed)).statusCode).toBe(200)
    await setPolicy(place.company, [place.agent.id], { scopes: ['workspace:read'] })
    expect((await call(all.access_token, 'seeds:create', seed)).statusCode).toBe(403)
    expect((await tokenOf(place)).scope).toBe('validation-kit:read workspace:read')
  })

  it('gives tokens that the role of the person can use', async () => {
    const place = await createPlace()
    const { viewer } = place.company
    const token = await tokenOf({ ...place, subject: await link(viewer) })
    expect(token.scope).toBe('validation-kit:read workspace:read')
    expect(await read(token.access_token)).toBe(200)
    const seed = { title: 'An idea', summary: 'Of an agent' }
    expect((await call(token.access_token, 'seeds:create', seed)).statusCode).toBe(403)
  })

  it('keeps the client of a policy, also one that nobody has used yet', async () => {
    const company = await createCompany(service)
    const [kept, unused] = [await createClient(), await createClient()]
    await setPolicy(company, [kept.id])
    await deleteStaleRecords(db, new Date(clock.now().getTime() + 8 * 86_400_000))
    const found = await selectRows<{ key: string }>(
      db,
      sql`select key from oauth_records where kind = 'Client' and key in (${kept.id}, ${unused.id})`,
    )
    expect(found).toEqual([{ key: kept.id }])
  })

  it('connects the official SDK, which exchanges an ID token for it', async () => {
    const place = await createPlace()
    mappedClients.set('client-at-acme', place.agent.id)
    const authProvider = new CrossAppAccessProvider({
      assertion: async ({ authorizationServerUrl, resourceUrl, scope, fetchFn }) => {
        const { jwtAuthGrant } = await discoverAndRequestJwtAuthGrant({
          idpUrl: acme.issuer,
          audience: authorizationServerUrl,
          resource: resourceUrl,
          idToken: place.subject,
          clientId: 'client-at-acme',
          clientSecret: 'a secret there',
          ...(scope !== undefined && { scope }),
          fetchFn,
        })
        return jwtAuthGrant
      },
      clientId: place.agent.id,
      clientSecret: place.agent.secret,
      expectedIssuer: origin,
    })
    const mcp = new Client({ name: 'test', version: '1' })
    await mcp.connect(new StreamableHTTPClientTransport(new URL(resource), { authProvider }))
    const { structuredContent } = await mcp.callTool({ name: 'read_validation_kit', arguments: {} })
    expect(structuredContent).toMatchObject({ grant: { userId: place.company.member.id } })
    await mcp.close()
  })

  it('works for a client with a metadata document, which authenticates by its key', async () => {
    const id = `https://${crypto.randomUUID()}.example/client.json`
    const pair = await generateKeyPair('ES256')
    const jwk = { ...(await exportJWK(pair.publicKey)), kid: 'one', alg: 'ES256' }
    documents.set(id, {
      client_id: id,
      client_name: 'Documented',
      redirect_uris: ['https://agent.example/callback'],
      token_endpoint_auth_method: 'private_key_jwt',
      jwks: { keys: [jwk] },
    })
    const company = await createCompany(service)
    const place = { agent: { id, secret: '' }, subject: await link(company.member) }
    const authenticated = async () => {
      const now = Math.floor(Date.now() / 1000)
      const client = await new SignJWT({ jti: crypto.randomUUID(), iat: now, exp: now + 60 })
        .setProtectedHeader({ alg: 'ES256', kid: 'one' })
        .setIssuer(id)
        .setSubject(id)
        .setAudience(origin)
        .sign(pair.privateKey)
      return send(
        {},
        {
          client_id: id,
          client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
          client_assertion: client,
          assertion: await acme.sign(claimsOf(place)),
        },
      )
    }
    // Nothing is fetched for a client that no policy names.
    expect(refusalOf(await authenticated())).toEqual([400, 'invalid_client'])
    await setPolicy(company, [id])
    const answer = await authenticated()
    expect(answer.statusCode, answer.body).toBe(200)
    expect((await grantsOf(company))[0]).toMatchObject({ clientName: 'Documented', clientId: id })
  })
})

describe('an assertion is refused', () => {
  const at = () => Math.floor(clock.now().getTime() / 1000)
  const wrong: [what: string, claims: () => Record<string, unknown>, error?: string][] = [
    ['with another audience', () => ({ aud: 'https://elsewhere.example' })],
    ['with several audiences', () => ({ aud: [origin, 'https://elsewhere.example'] })],
    ['of an issuer that is not known', () => ({ iss: 'https://unknown.example' })],
    ['of a provider that is not trusted for it', () => ({ iss: other.issuer })],
    ['that has expired', () => ({ iat: at() - 400, exp: at() - 1 })],
    ['that is of the future', () => ({ iat: at() + 300, exp: at() + 600 })],
    ['that lasts too long', () => ({ exp: at() + 3 * 60 * 60 })],
    ['that began long ago', () => ({ iat: at() - 3 * 60 * 60 })],
    ['without an expiry', () => ({ exp: undefined })],
    ['without the time of its issue', () => ({ iat: undefined })],
    ['without an id', () => ({ jti: undefined })],
    ['without a resource', () => ({ resource: undefined })],
    ['for another client', () => ({ client_id: 'somebody-else' })],
    ['for another resource', () => ({ resource: 'https://elsewhere.example/mcp' }), 'invalid_target'],
    ['for a resource with other parameters', () => ({ resource: `${resource}?a=b` }), 'invalid_target'],
    ['for an unknown subject', () => ({ sub: crypto.randomUUID() })],
    ['of a tenant', () => ({ tenant: 'acme' })],
    ['bound to a key', () => ({ cnf: { jkt: 'abc' } })],
    ['with scopes that are not ours', () => ({ scope: 'openid profile' }), 'invalid_scope'],
  ]
  it.each(wrong)('%s', async (_what, claims, error = 'invalid_grant') => {
    const place = await createPlace()
    expect(refusalOf(await ask(place, claims()))).toEqual([400, error])
    expect(await grantsOf(place.company)).toEqual([])
  })

  it('of another type, with a forged signature, and that is no JWT', async () => {
    const place = await createPlace()
    const sent = [
      await acme.sign(claimsOf(place), { type: 'JWT' }),
      await acme.sign(claimsOf(place), { type: 'at+jwt' }),
      await acme.sign(claimsOf(place), { isForged: true }),
      // Signed by a provider that is not trusted, in the name of one that is.
      await other.sign({ ...claimsOf(place), iss: acme.issuer }),
      'not a JWT',
    ]
    for (const assertion of sent)
      expect(refusalOf(await send(basic(place.agent), { assertion }))).toEqual([400, 'invalid_grant'])
    expect(refusalOf(await send(basic(place.agent), {}))).toEqual([400, 'invalid_request'])
  })

  it('a second time, also by another process and at the same moment', async () => {
    const place = await createPlace()
    const replica = await startTestApp({ environment, clock })
    const assertion = await acme.sign(claimsOf(place))
    const answers = await Promise.all(
      [app, replica.app, app].map((to) => send(basic(place.agent), { assertion }, to)),
    )
    expect(answers.map(({ statusCode }) => statusCode).toSorted()).toEqual([200, 400, 400])
    expect(refusalOf(await send(basic(place.agent), { assertion }, replica.app))).toEqual([
      400,
      'invalid_grant',
    ])
  })

  it('for a person with the same address who has not linked the account', async () => {
    const place = await createPlace()
    const claims = { sub: crypto.randomUUID(), email: place.company.owner.email, email_verified: true }
    expect(refusalOf(await ask(place, claims))).toEqual([400, 'invalid_grant'])
  })

  it('for a suspended person', async () => {
    const place = await createPlace()
    const { access_token: token } = await tokenOf(place)
    await services.accounts.suspend(place.company.member.id, { isForced: false })
    expect(refusalOf(await ask(place))).toEqual([400, 'invalid_grant'])
    expect(await read(token)).toBe(401)
  })

  it('while the policy is off, or does not name the client', async () => {
    const place = await createPlace({ assertedAgents: 'off' })
    const named = { resource: `${resource}?workspace=${place.company.workspace.slug}` }
    expect(refusalOf(await ask(place))).toEqual([400, 'invalid_grant'])
    expect(refusalOf(await ask(place, {}, named))).toEqual([400, 'invalid_grant'])
    await setPolicy(place.company, [(await createClient()).id])
    expect(refusalOf(await ask(place))).toEqual([400, 'unauthorized_client'])
    expect(refusalOf(await ask(place, {}, named))).toEqual([400, 'unauthorized_client'])
  })

  it('for a workspace of others, as for one that does not exist', async () => {
    const [place, foreign] = [await createPlace(), await createCompany(service)]
    await setPolicy(foreign, [place.agent.id])
    const slugs = [foreign.workspace.slug, 'no-such-workspace-at-all']
    const answers = await Promise.all(
      slugs.map((slug) => ask(place, {}, { resource: `${resource}?workspace=${slug}` })),
    )
    expect(answers.map(refusalOf)).toEqual([
      [400, 'invalid_target'],
      [400, 'invalid_target'],
    ])
    expect(answers[0]?.body).toBe(answers[1]?.body)
  })

  it('for the scope workspace:write, which no policy gives', async () => {
    const place = await createPlace()
    expect(refusalOf(await ask(place, {}, { scope: 'workspace:write' }))).toEqual([400, 'invalid_scope'])
    const { owner, url } = place.company
    const set = await as(owner, patch(`${url}/agent-policy`, { scopes: ['workspace:write'] }))
    expect(set.statusCode).toBe(400)
  })

  it('from a public client, without the secret, and from a client of a service account', async () => {
    const place = await createPlace()
    const { clientId } = await createAgent()
    const assertion = await acme.sign({ ...claimsOf(place), client_id: clientId })
    expect(refusalOf(await send({}, { client_id: clientId, assertion }))).toEqual([
      400,
      'unauthorized_client',
    ])
    const stolen = await acme.sign(claimsOf(place))
    expect((await send({}, { client_id: place.agent.id, assertion: stolen })).statusCode).toBe(401)
    const { company } = place
    const account = await createServiceAccount(service, company.owner, company)
    const client = await createServiceClient(service, company.owner, account)
    const machine = { id: client.clientId, secret: String(client.secret) }
    expect(refusalOf(await ask({ ...place, agent: machine }))).toEqual([400, 'unauthorized_client'])
  })

  it('while the provider cannot be reached, and may be sent again', async () => {
    const place = await createPlace()
    const fresh = await startTestApp({ environment, clock })
    const assertion = await acme.sign(claimsOf(place))
    acme.break('failing')
    const refused = await send(basic(place.agent), { assertion }, fresh.app)
    acme.break(undefined)
    expect(refusalOf(refused)).toEqual([503, 'temporarily_unavailable'])
    expect(refused.headers['retry-after']).toBe('60')
    expect((await send(basic(place.agent), { assertion }, fresh.app)).statusCode).toBe(200)
  })

  const expected = () => ({ audience: origin, now: clock.now() })
  const signAny = () => acme.sign({ sub: 'somebody', aud: origin, client_id: 'a client', resource })
  const breakages = ['failing', 'another issuer', 'no JSON', 'no keys', 'useless keys'] as const

  it.each(breakages)('while the provider cannot be asked: %s', async (breakage) => {
    const provider = createOidcProvider(providerOf('acme', acme.issuer), origin)
    acme.break(breakage)
    await expect(provider.readAssertion(await signAny(), expected())).rejects.toBeInstanceOf(
      ProviderUnreachable,
    )
    acme.break(undefined)
    // Keys that could be fetched are kept for a time.
    if (breakage === 'useless keys') return
    expect(await provider.readAssertion(await signAny(), expected())).toMatchObject({ subject: 'somebody' })
  })

  it('while the provider has no keys', async () => {
    const provider = createOidcProvider(providerOf('acme', acme.issuer), origin)
    acme.break('empty keys')
    await expect(provider.readAssertion(await signAny(), expected())).rejects.toBeInstanceOf(AssertionRefused)
    acme.break(undefined)
  })

  it('when the provider does not answer in time, or has its keys elsewhere than at https', async () => {
    const discover = async () => ({ issuer: acme.issuer, jwks_uri: `${acme.issuer}/jwks` })
    const readerFor = (isLoopback: boolean) =>
      createAssertionReader(discover, { isLoopback, requestLimitMs: 200 })
    const readAssertion = readerFor(true)
    acme.break('silent')
    await expect(readAssertion(await signAny(), expected())).rejects.toBeInstanceOf(ProviderUnreachable)
    acme.break(undefined)
    expect(await readAssertion(await signAny(), expected())).toMatchObject({ subject: 'somebody' })
    const { length } = acme.fetched
    const refused = readerFor(false)(await signAny(), expected())
    await expect(refused).rejects.toBeInstanceOf(ProviderUnreachable)
    expect(acme.fetched).toHaveLength(length)
  })

  it('for a person who is about to be deleted, until they cancel that', async () => {
    const place = await createPlace()
    const { member } = place.company
    await db.execute(sql`insert into leavings (user_id, requested_at) values (${member.id}, now())`)
    expect(refusalOf(await ask(place))).toEqual([400, 'invalid_grant'])
    await db.execute(sql`delete from leavings where user_id = ${member.id}`)
    await tokenOf(place)
  })

  it('when the person unlinks the account at the same moment', async () => {
    const place = await createPlace()
    const { member } = place.company
    const { answer } = await db.transaction(async (tx) => {
      await tx.execute(sql`select from users where id = ${member.id} for no key update`)
      await tx.execute(sql`update identities set unlinked_at = now() where user_id = ${member.id}`)
      const asking = ask(place)
      await untilWaiting(service, 1)
      return { answer: asking }
    })
    expect(refusalOf(await answer)).toEqual([400, 'invalid_grant'])
    expect(await grantsOf(place.company)).toEqual([])
  })

  it('with what is wrong, for whoever sets the client up', async () => {
    const place = await createPlace()
    const descriptionOf = async (claims: JWTPayload) =>
      (await ask(place, claims)).json<{ error_description: string }>().error_description
    expect(await descriptionOf({ aud: 'https://elsewhere.example' })).toBe(
      'The aud of the assertion is missing or wrong.',
    )
    expect(await descriptionOf({ exp: 1 })).toBe('The assertion has expired.')
    expect(await descriptionOf({ sub: 'nobody' })).toMatch(/^Nobody here has linked this account/)
  })
})

describe('access ends with the next request', () => {
  it('when the person revokes it, and does not return until they allow that', async () => {
    const place = await createPlace()
    const { member, workspace, url } = place.company
    const { access_token: token } = await tokenOf(place)
    const [grant] = await grantsOf(place.company)
    const id = String(grant?.id)
    expect((await as(member, post(`${url}/integrations/${id}/revoke`))).statusCode).toBe(200)
    expect(await read(token)).toBe(401)
    expect(refusalOf(await ask(place))).toEqual([400, 'invalid_grant'])
    const principal = await principalOf(member)
    const listed = await services.grants.listRevoked(principal, workspace.slug)
    expect(listed).toMatchObject([{ id, clientName: 'Claude' }])
    // However long ago that was.
    const later = new Date(clock.now().getTime() + 3000 * 86_400_000)
    await deleteEndedGrants(db, later)
    expect(refusalOf(await ask(place))).toEqual([400, 'invalid_grant'])
    const stranger = await principalOf(place.company.owner)
    await expect(services.grants.allowAgain(stranger, workspace.slug, id)).rejects.toMatchObject({
      code: 'not_found',
    })
    await services.grants.allowAgain(principal, workspace.slug, id)
    expect(await services.grants.listRevoked(principal, workspace.slug)).toEqual([])
    expect(await read((await tokenOf(place)).access_token)).toBe(200)
    expect(await read(token)).toBe(401)
  })

  it('when a manager revokes it, which the person can undo', async () => {
    const place = await createPlace()
    await tokenOf(place)
    const [grant] = await grantsOf(place.company)
    const { admin, member, url, workspace } = place.company
    await as(admin, post(`${url}/integrations/${grant?.id}/revoke`))
    expect(refusalOf(await ask(place))).toEqual([400, 'invalid_grant'])
    await services.grants.allowAgain(await principalOf(member), workspace.slug, String(grant?.id))
    await tokenOf(place)
  })

  it('when the policy is turned off or leaves the client out, until it allows that again', async () => {
    const place = await createPlace()
    const changes = [
      [[place.agent.id], { assertedAgents: 'off' }],
      [[], {}],
    ] as const
    for (const [clients, change] of changes) {
      const { access_token: token } = await tokenOf(place)
      expect(await read(token)).toBe(200)
      await setPolicy(place.company, clients, change)
      expect(await read(token)).toBe(401)
      expect(await grantsOf(place.company)).toEqual([])
      await setPolicy(place.company, [place.agent.id])
    }
    await tokenOf(place)
  })

  it('when the membership ends, and it follows the role', async () => {
    const place = await createPlace()
    const { owner, member, url } = place.company
    const { access_token: token } = await tokenOf(place)
    await as(owner, patch(`${url}/members/${member.id}`, { role: 'viewer' }))
    const seed = { title: 'An idea', summary: 'Of an agent' }
    expect((await call(token, 'seeds:create', seed)).statusCode).toBe(403)
    await as(owner, { method: 'DELETE', url: `${url}/members/${member.id}` })
    expect(await read(token)).toBe(401)
    expect(refusalOf(await ask(place))).toEqual([400, 'invalid_grant'])
  })

  it('when the person unlinks the account, until they link it again', async () => {
    const place = await createPlace()
    const { member } = place.company
    // Another way to sign in.
    await link(member, other.issuer)
    const { access_token: token } = await tokenOf(place)
    const principal = await principalOf(member)
    await services.identities.unlink(principal, { issuer: acme.issuer, name: 'acme ID' })
    expect(await read(token)).toBe(401)
    expect(refusalOf(await ask(place))).toEqual([400, 'invalid_grant'])
    await db.execute(sql`update identities set unlinked_at = null where user_id = ${member.id}`)
    await tokenOf(place)
  })

  it('when the operator no longer trusts the provider', async () => {
    const place = await createPlace()
    const { access_token: token } = await tokenOf(place)
    const untrusting = await startTestApp({
      environment: { ...environment, OIDC_PROVIDERS: JSON.stringify([providerOf('acme', acme.issuer)]) },
      clock,
    })
    expect(await read(token, untrusting.app)).toBe(401)
    expect(await read(token)).toBe(200)
  })

  it('but not when the person gave access too, which is another grant', async () => {
    const place = await createPlace()
    const { member, workspace, url } = place.company
    const { letIn } = createOAuthTester(service)
    const own = await letIn(workspace, member)
    await tokenOf(place)
    const grants = await grantsOf(place.company)
    expect(grants.map(({ assertedIssuer }) => assertedIssuer)).toEqual([acme.issuer, null])
    await setPolicy(place.company, [])
    expect(await read(own)).toBe(200)
    const [given] = grants
    const principal = await principalOf(member)
    // What the organization gave, only it changes.
    const changes = [
      services.grants.updateScopes(principal, workspace.slug, String(given?.id), ['seeds:write']),
      services.grants.prolong(principal, workspace.slug, String(given?.id), 180),
      services.grants.updateAsking(principal, workspace.slug, String(given?.id), true),
    ]
    for (const result of await Promise.allSettled(changes)) expect(result.status).toBe('rejected')
    expect((await as(member, get(`${url}/integrations`))).json<AgentGrant[]>()).toHaveLength(1)
  })
})

describe('workspaces.updateAgentPolicy', () => {
  it('is off at first, and changes what it names, with an event for managers', async () => {
    const company = await createCompany(service)
    const { owner, admin, member, url } = company
    const read = async () => (await as(owner, get(`${url}/agent-policy`))).json<object>()
    expect(await read()).toEqual({
      assertedAgents: 'off',
      scopes: ['validation-kit:read'],
      clients: [],
      updatedAt: null,
    })
    const { id } = await createClient()
    await as(owner, patch(`${url}/agent-policy`, { clients: [id, id] }))
    await as(owner, patch(`${url}/agent-policy`, { scopes: ['seeds:write'] }))
    const set = { scopes: ['validation-kit:read', 'seeds:write'], clients: [id] }
    expect(await read()).toMatchObject({ assertedAgents: 'off', ...set })
    await as(owner, patch(`${url}/agent-policy`, { assertedAgents: 'on' }))
    await as(owner, patch(`${url}/agent-policy`, { assertedAgents: 'on' }))
    const eventsOf = async (person: TestPerson) =>
      (await as(person, get(`${url}/events?type=workspace.agent_policy_changed`))).json<Event[]>()
    const events = await eventsOf(admin)
    expect(events).toHaveLength(3)
    expect(events[0]).toMatchObject({
      summary: 'Olga Owner let identity providers give agents access',
      data: { from: { assertedAgents: 'off', ...set }, to: { assertedAgents: 'on', ...set } },
    })
    expect(await eventsOf(member)).toEqual([])
    expect((await as(admin, get(`${url}/agent-policy`))).statusCode).toBe(403)
  })

  it('refuses clients that do not exist, are public or of service accounts', async () => {
    const company = await createCompany(service)
    const { owner, url } = company
    const { clientId } = await createAgent()
    const account = await createServiceAccount(service, owner, company)
    const machine = await createServiceClient(service, owner, account)
    const refused = async (id: string) =>
      (await as(owner, patch(`${url}/agent-policy`, { clients: [id] }))).json<{ code: string }>().code
    expect(await refused('nobody')).toBe('not_found')
    expect(await refused('http://agent.example/client.json')).toBe('not_found')
    expect(await refused(machine.clientId)).toBe('not_found')
    expect(await refused(clientId)).toBe('client_unusable')
  })

  it('changes the version that was read only', async () => {
    const { owner, url } = await createCompany(service)
    const { headers } = await as(owner, get(`${url}/agent-policy`))
    const change = () =>
      as(owner, {
        ...patch(`${url}/agent-policy`, { assertedAgents: 'on' }),
        headers: { 'if-match': String(headers.etag) },
      })
    expect((await change()).statusCode).toBe(200)
    expect((await change()).statusCode).toBe(412)
  })
})
