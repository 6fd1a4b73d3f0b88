import type { webcrypto } from 'node:crypto'
import { sql } from 'drizzle-orm'
import * as oauth from 'oauth4webapi'
import { describe, expect, it } from 'vitest'
import { deleteStaleRecords } from '../../src/agents/oauth/records/record-bounds.repository.ts'
import { createOAuthTester, type TestAgent, type TestHost, type Tokens } from '../support/oauth-client.ts'
import { endOnFailure } from '../support/fetch-deadlines.ts'
import { selectRows, startTestApp } from '../support/test-app.ts'

const keySets = new Map<string, object>()
const fetched: string[] = []
const service = await startTestApp({
  untrustedFetch: endOnFailure(async ({ href }) => {
    fetched.push(href)
    const document = keySets.get(href)
    return document ? Response.json(document) : new Response('', { status: 404 })
  }),
})
const { app, config, db } = service
const tester = createOAuthTester(service)

interface Keys {
  privateKey: webcrypto.CryptoKey
  publicJwk: webcrypto.JsonWebKey & { kid: string }
}

async function createKeys(kid = 'first'): Promise<Keys> {
  const pair = await crypto.subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, true, [
    'sign',
    'verify',
  ])
  const { kty, crv, x, y } = await crypto.subtle.exportKey('jwk', pair.publicKey)
  return {
    privateKey: pair.privateKey,
    publicJwk: { kty, crv, x, y, kid, alg: 'ES256', use: 'sig' } as Keys['publicJwk'],
  }
}

const keys = await createKeys()
const others = await createKeys()

const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')

interface Assertion {
  header?: object
  claims?: Record<string, unknown>
  key?: webcrypto.CryptoKey
}

/** A JWT of a client as RFC 7523 asks, with what is wrong about it. */
async function sign({ clientId }: TestAgent, { header, claims, key = keys.privateKey }: Assertion = {}) {
  const now = Math.floor(Date.now() / 1000)
  const head = encode({ alg: 'ES256', kid: 'first', ...header })
  const body = encode({
    ...{
      iss: clientId,
      sub: clientId,
      aud: config.baseUrl,
      jti: crypto.randomUUID(),
      iat: now,
      exp: now + 60,
    },
    ...claims,
  })
  const signature = await crypto.subtle.sign(
    { name: 'ECDSA', hash: 'SHA-256' },
    key,
    Buffer.from(`${head}.${body}`),
  )
  return `${head}.${body}.${Buffer.from(signature).toString('base64url')}`
}

const asParameters = (assertion: string) => ({
  client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
  client_assertion: assertion,
})

const withKeys = (metadata: object) =>
  tester.createAgent({ token_endpoint_auth_method: 'private_key_jwt', ...metadata })

const createAgent = () => withKeys({ jwks: { keys: [keys.publicJwk] } })

/** Exchanges a code with a JWT. */
const exchange = (agent: TestAgent, code: string, assertion: string) =>
  tester.exchange(agent, code, asParameters(assertion))

const getCode = (agent: TestAgent, host: TestHost) => tester.getCode(agent, host)

const host = await tester.createHost()

/** A client that was let in, with its tokens. */
async function letIn(agent: TestAgent): Promise<Tokens> {
  const answer = await exchange(agent, await getCode(agent, host), await sign(agent))
  expect(answer.statusCode, answer.body).toBe(200)
  return answer.json<Tokens>()
}

const refresh = (agent: TestAgent, { refresh_token }: Tokens, assertion: string) =>
  tester.refresh(agent, refresh_token, asParameters(assertion))

describe('a client that authenticates with a key', () => {
  it('is advertised with its algorithms', async () => {
    const metadata = (await app.inject('/.well-known/oauth-authorization-server')).json<
      Record<string, string[]>
    >()
    for (const endpoint of ['token', 'revocation']) {
      expect(metadata[`${endpoint}_endpoint_auth_methods_supported`]).toContain('private_key_jwt')
      expect(metadata[`${endpoint}_endpoint_auth_signing_alg_values_supported`]).toContain('ES256')
    }
  })

  it('gets no secret, and gets and refreshes tokens with oauth4webapi', async () => {
    const registered = await tester.register({
      redirect_uris: ['https://agent.example/callback'],
      token_endpoint_auth_method: 'private_key_jwt',
      jwks: { keys: [keys.publicJwk] },
    })
    expect(registered.statusCode, registered.body).toBe(201)
    expect(registered.json()).not.toHaveProperty('client_secret')
    const { client_id: clientId } = registered.json<{ client_id: string }>()
    const agent = {
      clientId,
      redirectUri: 'https://agent.example/callback',
      verifier: oauth.generateRandomCodeVerifier(),
    }
    const issuer = new URL(config.baseUrl)
    const options = {
      // eslint-disable-next-line @typescript-eslint/no-deprecated -- deprecated only to stand out; nothing leaves the process
      [oauth.allowInsecureRequests]: true,
      async [oauth.customFetch](
        url: string,
        {
          body,
          headers,
          method,
        }: { body?: URLSearchParams | null | undefined; headers: Record<string, string>; method: string },
      ) {
        const { pathname } = new URL(url)
        const payload = body?.toString()
        const answer = await app.inject({
          method: method as 'GET',
          url: pathname,
          headers,
          ...(payload && { payload }),
        })
        return new Response(answer.body, {
          status: answer.statusCode,
          headers: { 'content-type': String(answer.headers['content-type']) },
        })
      },
    }
    const discovered = await oauth.discoveryRequest(issuer, { ...options, algorithm: 'oauth2' })
    const server = await oauth.processDiscoveryResponse(issuer, discovered)
    const client = { client_id: clientId }
    const auth = oauth.PrivateKeyJwt({ key: keys.privateKey, kid: 'first' })
    const redirect = await tester.allow(await tester.authorize(agent), host)
    const parameters = oauth.validateAuthResponse(
      server,
      client,
      new URL(String(redirect.headers.location)),
      'some state',
    )
    const { redirectUri, verifier } = agent
    const response = await oauth.authorizationCodeGrantRequest(
      server,
      client,
      auth,
      parameters,
      redirectUri,
      verifier,
      options,
    )
    const tokens = await oauth.processAuthorizationCodeResponse(server, client, response)
    expect((await tester.readKit(tokens.access_token)).statusCode).toBe(200)
    const again = await oauth.refreshTokenGrantRequest(
      server,
      client,
      auth,
      String(tokens.refresh_token),
      options,
    )
    const next = await oauth.processRefreshTokenResponse(server, client, again)
    expect((await tester.readKit(next.access_token)).statusCode).toBe(200)
    const revoked = await oauth.revocationRequest(server, client, auth, String(next.refresh_token), options)
    await oauth.processRevocationResponse(revoked)
    expect((await tester.readKit(next.access_token)).statusCode).toBe(401)
  })

  const inSeconds = (seconds: number) => Math.floor(Date.now() / 1000) + seconds

  it('may have a clock that is 25 seconds ahead or behind', async () => {
    const agent = await createAgent()
    const { refresh_token: token } = await letIn(agent)
    const early = await sign(agent, { claims: { nbf: inSeconds(25), exp: inSeconds(85) } })
    const next = await tester.refresh(agent, token, asParameters(early))
    expect(next.statusCode, next.body).toBe(200)
    const late = await sign(agent, { claims: { exp: inSeconds(-25) } })
    expect((await refresh(agent, next.json<Tokens>(), late)).statusCode).toBe(200)
  })

  it.each<[string, Assertion | (() => Promise<Assertion>), string]>([
    ['for another audience', { claims: { aud: 'https://other.example' } }, ': aud is neither'],
    ['for other audiences', { claims: { aud: ['https://other.example'] } }, ': aud is neither'],
    ['that is not valid yet', { claims: { nbf: inSeconds(3600) } }, ': nbf is more than 30 seconds'],
    ['that has expired', { claims: { exp: inSeconds(-120) } }, ': exp is in the past'],
    ['without an expiry', { claims: { exp: undefined } }, ': exp is missing'],
    ['that is valid for an hour', { claims: { exp: inSeconds(3600) } }, ': exp is more than 10 minutes'],
    ['without an id', { claims: { jti: undefined } }, ': jti is missing'],
    ['of another issuer', { claims: { iss: 'somebody' } }, ': iss is not the id of the client'],
    ['with the key of another client', { key: others.privateKey }, ''],
    ['with the algorithm none', { header: { alg: 'none' } }, ': alg is not accepted'],
    ['with a symmetric algorithm', { header: { alg: 'HS256' } }, ': alg is not accepted'],
    ['with another algorithm than that of its key', { header: { alg: 'RS256' } }, ''],
  ])('is refused with a JWT %s, and told which claim', async (_what, wrong, fault) => {
    const agent = await createAgent()
    const tokens = await letIn(agent)
    const refused = await refresh(agent, tokens, await sign(agent, wrong as Assertion))
    expect(refused.statusCode).toBe(401)
    expect(refused.json()).toMatchObject({
      error: 'invalid_client',
      error_description: expect.stringMatching(
        `^client authentication failed${fault === '' ? '$' : fault}`,
      ) as string,
    })
    // Nothing was used up.
    expect((await refresh(agent, tokens, await sign(agent))).statusCode).toBe(200)
  })

  it('is refused without a signature, without a JWT, and with a secret', async () => {
    const agent = await createAgent()
    const { refresh_token: token } = await letIn(agent)
    const unsigned = (await sign(agent)).replace(/\.[^.]*$/, '.')
    for (const parameters of [asParameters(unsigned), {}, { client_secret: 'guess' }])
      expect((await tester.refresh(agent, token, parameters)).statusCode).toBe(401)
  })

  it('can use a JWT once, also of parallel requests', async () => {
    const agent = await createAgent()
    const tokens = await letIn(agent)
    const assertion = await sign(agent)
    const answers = await Promise.all(Array.from({ length: 5 }, () => refresh(agent, tokens, assertion)))
    expect(answers.map(({ statusCode }) => statusCode).toSorted()).toEqual([200, 401, 401, 401, 401])
    expect((await refresh(agent, tokens, assertion)).json()).toMatchObject({ error: 'invalid_client' })
  })

  it('cannot use the tokens of another client', async () => {
    const [agent, thief] = [await createAgent(), await withKeys({ jwks: { keys: [others.publicJwk] } })]
    const tokens = await letIn(agent)
    await tester.getCode(thief, host)
    const stolen = await refresh(thief, tokens, await sign(thief, { key: others.privateKey }))
    expect(stolen.json()).toMatchObject({ error: 'invalid_grant' })
  })

  it('has nothing stored for it before somebody has allowed it, and ids of JWTs for minutes only', async () => {
    const count = async () =>
      (await selectRows(db, sql`select from oauth_records where kind = 'ReplayDetection'`)).length
    const agent = await createAgent()
    const before = await count()
    expect((await exchange(agent, 'no-code', await sign(agent))).statusCode).toBe(401)
    expect(await count()).toBe(before)
    await letIn(agent)
    expect(await count()).toBe(before + 1)
    await deleteStaleRecords(db, new Date(Date.now() + 11 * 60_000))
    expect(await count()).toBe(0)
  })
})

describe('the keys of a client', () => {
  it('are fetched by jwks_uri once somebody has allowed it, and again for a new key', async () => {
    const url = 'https://keys.example/jwks.json'
    keySets.set(url, { keys: [keys.publicJwk] })
    const agent = await withKeys({ jwks_uri: url })
    expect((await exchange(agent, 'no-code', await sign(agent))).statusCode).toBe(401)
    expect(fetched).not.toContain(url)
    const tokens = await letIn(agent)
    expect(fetched.filter((each) => each === url)).toHaveLength(1)
    expect((await refresh(agent, tokens, await sign(agent))).statusCode).toBe(200)
  })

  it('are of the URL in a metadata document', async () => {
    const clientId = 'https://documented.example/client.json'
    const url = 'https://documented.example/jwks.json'
    keySets.set(url, { keys: [keys.publicJwk] })
    keySets.set(clientId, {
      ...{ client_id: clientId, client_name: 'Documented', redirect_uris: ['http://127.0.0.1:1/callback'] },
      ...{ token_endpoint_auth_method: 'private_key_jwt', jwks_uri: url },
    })
    const agent = {
      ...{ clientId, redirectUri: 'http://127.0.0.1:1/callback' },
      verifier: oauth.generateRandomCodeVerifier(),
    }
    expect(await letIn(agent)).toHaveProperty('access_token')
    const wrong = await exchange(
      agent,
      await getCode(agent, host),
      await sign(agent, { key: others.privateKey }),
    )
    expect(wrong.statusCode).toBe(401)
  })

  it('are refused without https, twice, none, private or symmetric', async () => {
    const { d } = await crypto.subtle.exportKey('jwk', keys.privateKey)
    for (const metadata of [
      { jwks_uri: 'http://keys.example/jwks.json' },
      { jwks_uri: 'https://keys.example/jwks.json', jwks: { keys: [keys.publicJwk] } },
      {},
      { jwks: { keys: [{ ...keys.publicJwk, d }] } },
      { jwks: { keys: [{ kty: 'oct', k: 'c2VjcmV0' }] } },
      { jwks: { keys: 'none' } },
    ]) {
      const answer = await tester.register({
        ...{
          redirect_uris: ['https://agent.example/callback'],
          token_endpoint_auth_method: 'private_key_jwt',
        },
        ...metadata,
      })
      expect(answer.statusCode, JSON.stringify(metadata)).toBe(400)
      expect(answer.json()).toMatchObject({ error: 'invalid_client_metadata' })
    }
  })

  it('that cannot be fetched have the client try again, without a hint why', async () => {
    const agent = await withKeys({ jwks_uri: 'https://gone.example/jwks.json' })
    const refused = await exchange(agent, await getCode(agent, host), await sign(agent))
    expect(refused.statusCode).toBe(503)
    expect(refused.headers['retry-after']).toBe('60')
    expect(refused.json()).toMatchObject({ error: 'temporarily_unavailable' })
    expect(refused.body).not.toContain('gone.example')
    expect(refused.body).not.toContain('404')
  })
})
