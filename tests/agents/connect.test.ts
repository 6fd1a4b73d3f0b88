import {
  auth,
  Client,
  StreamableHTTPClientTransport,
  UnauthorizedError,
  type OAuthClientProvider,
} from '@modelcontextprotocol/client'
import {
  auth as authV1,
  UnauthorizedError as UnauthorizedErrorV1,
} from '@modelcontextprotocol/sdk/client/auth.js'
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as TransportV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { randomBytes, randomUUID } from 'node:crypto'
import { sql } from 'drizzle-orm'
import * as oauth from 'oauth4webapi'
import * as openid from 'openid-client'
import { describe, expect, it } from 'vitest'
import { createAgentMemory } from '../support/agent-memory.ts'
import { Browser } from '../support/browser.ts'
import { findClosedPort } from '../support/raw-http.ts'
import { selectRows, startTestApp } from '../support/test-app.ts'

const port = await findClosedPort()
const origin = `http://127.0.0.1:${port}`
const service = await startTestApp({ environment: { BASE_URL: origin } })
const { app, db, services } = service
await app.listen({ host: '127.0.0.1', port })
const endpoint = new URL(`${origin}/agent/mcp`)
const redirectUrl = 'http://127.0.0.1:33418/callback'

/** A person who has signed up on the website and is signed in there. */
async function createVisitor(): Promise<{
  browser: Browser
  email: string
  slug: string
  workspaceId: string
}> {
  const email = `${randomUUID()}@example.com`
  const password = randomUUID()
  await services.credentials.signUp({ name: 'Grace Hopper', email, password })
  await db.execute(sql`update users set email_verified_at = now() where email = ${email}`)
  const browser = new Browser(origin)
  await browser.signIn(email, password)
  const user = await services.accounts.findByEmail(email)
  if (!user) throw new Error('nobody has signed up')
  const slug = `w-${randomUUID().slice(0, 13)}`
  const principal = { user, source: 'web' as const, apiKeyId: null, sessionId: null, grantId: null }
  const { id } = await services.workspaces.create(principal, { name: 'Acme', slug })
  return { browser, email, slug, workspaceId: id }
}

/** Opens what the agent sent the person to, and decides. Returns where the person is sent back to. */
async function decide(
  browser: Browser,
  authorization: URL | undefined,
  fields: Record<string, string>,
): Promise<URL> {
  if (!authorization) throw new Error('the agent sent nobody anywhere')
  const page = await (await browser.open(authorization)).text()
  const action = /<form[^>]*action="(\/agent\/oauth\/consent\/[^"]+)"/.exec(page)?.[1]
  if (action === undefined) throw new Error(`there is nothing to decide on: ${page}`)
  const answer = await browser.submit(page, action, fields)
  return new URL(String(answer.headers.get('location')))
}

/** Connects with the tokens that an agent has. */
async function connectWith(authProvider: OAuthClientProvider, mode: 'legacy' | 'auto'): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } })
  await client.connect(new StreamableHTTPClientTransport(endpoint, { authProvider }))
  return client
}

describe('an MCP client that knows only the URL', () => {
  it('connects with SDK 1.x', async () => {
    const { browser, slug, workspaceId } = await createVisitor()
    const agent = createAgentMemory('Test agent', redirectUrl)
    const connect = async () => {
      const transport = new TransportV1(endpoint, { authProvider: agent })
      const client = new ClientV1({ name: 'test', version: '1' })
      await client.connect(transport)
      return client
    }
    await expect(connect()).rejects.toThrow(UnauthorizedErrorV1)
    const back = await decide(browser, agent.memory.authorization, { decision: 'allow', workspaceId })
    expect(back.href).toMatch(redirectUrl)
    const code = String(back.searchParams.get('code'))
    expect(await authV1(agent as never, { serverUrl: endpoint, authorizationCode: code })).toBe('AUTHORIZED')
    const client = await connect()
    const answer = await client.callTool({ name: 'read_validation_kit', arguments: {} })
    expect(answer.structuredContent).toMatchObject({
      workspace: { slug },
      grant: { clientName: 'Test agent' },
    })
    await client.close()
  })

  it.each([['legacy' as const], ['auto' as const]])('connects with SDK 2.x (%s)', async (mode) => {
    const { browser, slug, workspaceId } = await createVisitor()
    const agent = createAgentMemory('Test agent', redirectUrl)
    const connect = () => connectWith(agent, mode)
    await expect(connect()).rejects.toThrow(UnauthorizedError)
    const back = await decide(browser, agent.memory.authorization, { decision: 'allow', workspaceId })
    const authorizationCode = String(back.searchParams.get('code'))
    const iss = String(back.searchParams.get('iss'))
    expect(iss).toBe(origin)
    expect(await auth(agent, { serverUrl: endpoint, authorizationCode, iss })).toBe('AUTHORIZED')
    const client = await connect()
    const answer = await client.callTool({ name: 'read_validation_kit', arguments: {} })
    expect(answer.structuredContent).toMatchObject({
      workspace: { slug },
      grant: { clientName: 'Test agent' },
    })
    await client.close()
  })
})

describe('an MCP client that needs another scope', () => {
  it.each([['legacy' as const], ['auto' as const]])(
    'asks the person for consent again, and then calls the tool (%s)',
    async (mode) => {
      const { browser, workspaceId } = await createVisitor()
      const agent = createAgentMemory('Test agent', redirectUrl)
      const connect = () => connectWith(agent, mode)
      const consent = async (fields: Record<string, string>) => {
        const back = await decide(browser, agent.memory.authorization, {
          decision: 'allow',
          workspaceId,
          ...fields,
        })
        const authorizationCode = String(back.searchParams.get('code'))
        return auth(agent, { serverUrl: endpoint, authorizationCode, iss: origin })
      }
      await expect(connect()).rejects.toThrow(UnauthorizedError)
      await consent({})
      const call = { name: 'create_seed', arguments: { title: 'Onboarding', summary: 'It is quick.' } }
      const reader = await connect()
      await expect(reader.callTool(call)).rejects.toThrow(UnauthorizedError)
      await reader.close()
      expect(agent.memory.authorization?.searchParams.get('scope')).toBe('validation-kit:read seeds:write')

      await consent({ 'seeds:write': 'on' })
      const writer = await connect()
      const { tools } = await writer.listTools()
      expect(tools.map(({ name }) => name)).toContain('create_seed')
      const answer = await writer.callTool(call)
      expect(answer.structuredContent).toMatchObject({ changed: ['created', 'joined', 'led'] })
      await writer.close()
      const grants = sql`select revoked_at from agent_grants where workspace_id = ${workspaceId} and revoked_at is null`
      expect(await selectRows(db, grants)).toHaveLength(1)
    },
  )
})

/** Finds what an agent without credentials is told: the resource, its authorization server, and the scope to ask for. */
async function discover() {
  const refused = await fetch(endpoint, { method: 'POST' })
  expect(refused.status).toBe(401)
  const challenge = String(refused.headers.get('www-authenticate'))
  const url = String(/resource_metadata="([^"]+)"/.exec(challenge)?.[1])
  const resource = (await (await fetch(url)).json()) as { resource: string; authorization_servers: string[] }
  return {
    resource: resource.resource,
    issuer: new URL(String(resource.authorization_servers[0])),
    scope: String(/scope="([^"]+)"/.exec(challenge)?.[1]),
  }
}

/** Calls the tool as agents do that have no SDK: one message, one answer. */
async function readKit(accessToken: string, protocolVersion: string): Promise<unknown> {
  const answer = await fetch(endpoint, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${accessToken}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': protocolVersion,
    },
    body: JSON.stringify({
      ...{ jsonrpc: '2.0', id: 1, method: 'tools/call' },
      params: { name: 'read_validation_kit', arguments: {} },
    }),
  })
  expect(answer.status).toBe(200)
  const text = await answer.text()
  const data = /^data: (.*)$/m.exec(text)?.[1] ?? text
  return (JSON.parse(data) as { result: { structuredContent: unknown } }).result.structuredContent
}

describe('a general OAuth client', () => {
  it('oauth4webapi gets and refreshes tokens', async () => {
    const { browser, slug, workspaceId } = await createVisitor()
    // eslint-disable-next-line @typescript-eslint/no-deprecated -- marked so that nobody uses it outside of tests
    const insecure = { [oauth.allowInsecureRequests]: true }
    const { issuer, resource, scope } = await discover()
    const found = await oauth.discoveryRequest(issuer, { algorithm: 'oauth2', ...insecure })
    const server = await oauth.processDiscoveryResponse(issuer, found)
    const metadata = { client_name: 'oauth4webapi', redirect_uris: [redirectUrl] }
    const client = await oauth.processDynamicClientRegistrationResponse(
      await oauth.dynamicClientRegistrationRequest(server, metadata, insecure),
    )
    const verifier = oauth.generateRandomCodeVerifier()
    const state = oauth.generateRandomState()
    const authorization = new URL(String(server.authorization_endpoint))
    authorization.search = new URLSearchParams({
      ...{ client_id: client.client_id, redirect_uri: redirectUrl, response_type: 'code' },
      ...{ scope, resource, state, code_challenge_method: 'S256' },
      code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    }).toString()
    const back = await decide(browser, authorization, { decision: 'allow', workspaceId })
    // Checks `iss` too.
    const parameters = oauth.validateAuthResponse(server, client, back, state)
    const tokens = await oauth.processAuthorizationCodeResponse(
      server,
      client,
      await oauth.authorizationCodeGrantRequest(
        ...([server, client, oauth.None(), parameters, redirectUrl, verifier] as const),
        { additionalParameters: { resource }, ...insecure },
      ),
    )
    expect(await readKit(tokens.access_token, '2025-06-18')).toMatchObject({ workspace: { slug } })
    const refreshed = await oauth.processRefreshTokenResponse(
      server,
      client,
      await oauth.refreshTokenGrantRequest(
        ...([server, client, oauth.None(), String(tokens.refresh_token), insecure] as const),
      ),
    )
    expect(await readKit(refreshed.access_token, '2025-06-18')).toMatchObject({ workspace: { slug } })
  })

  it('openid-client gets, refreshes and revokes tokens', async () => {
    const { browser, slug, workspaceId } = await createVisitor()
    const { issuer, resource, scope } = await discover()
    const config = await openid.dynamicClientRegistration(
      issuer,
      { client_name: 'openid-client', redirect_uris: [redirectUrl], token_endpoint_auth_method: 'none' },
      openid.None(),
      // eslint-disable-next-line @typescript-eslint/no-deprecated -- marked so that nobody uses it outside of tests
      { algorithm: 'oauth2', execute: [openid.allowInsecureRequests] },
    )
    const pkceCodeVerifier = openid.randomPKCECodeVerifier()
    const expectedState = openid.randomState()
    const authorization = openid.buildAuthorizationUrl(config, {
      ...{ redirect_uri: redirectUrl, scope, resource, state: expectedState },
      code_challenge: await openid.calculatePKCECodeChallenge(pkceCodeVerifier),
      code_challenge_method: 'S256',
    })
    const back = await decide(browser, authorization, { decision: 'allow', workspaceId })
    const tokens = await openid.authorizationCodeGrant(
      ...([config, back, { pkceCodeVerifier, expectedState }, { resource }] as const),
    )
    expect(await readKit(tokens.access_token, '2025-06-18')).toMatchObject({ workspace: { slug } })
    const refreshed = await openid.refreshTokenGrant(config, String(tokens.refresh_token))
    expect(await readKit(refreshed.access_token, '2025-06-18')).toMatchObject({ workspace: { slug } })
    await openid.tokenRevocation(config, String(refreshed.refresh_token))
    await expect(openid.refreshTokenGrant(config, String(refreshed.refresh_token))).rejects.toThrow()
  })
})

describe('an agent that registers itself', () => {
  /** What agents register and ask for, as seen in their requests. */
  const agents = {
    Claude: {
      metadata: {
        redirect_uris: ['https://claude.ai/api/mcp/auth_callback'],
        grant_types: ['authorization_code', 'refresh_token'],
        token_endpoint_auth_method: 'none',
        scope: 'validation-kit:read',
      },
      protocolVersion: '2025-11-25',
    },
    ChatGPT: {
      metadata: {
        redirect_uris: ['https://chatgpt.com/connector_platform_oauth_redirect'],
        grant_types: ['authorization_code', 'refresh_token'],
        token_endpoint_auth_method: 'client_secret_post',
      },
      protocolVersion: '2025-06-18',
    },
    'VS Code': {
      metadata: {
        redirect_uris: ['http://127.0.0.1:33418/', 'https://vscode.dev/redirect', 'http://localhost/'],
        grant_types: ['authorization_code', 'refresh_token', 'urn:ietf:params:oauth:grant-type:device_code'],
        token_endpoint_auth_method: 'none',
        application_type: 'native',
      },
      protocolVersion: '2025-11-25',
    },
    Cursor: {
      metadata: {
        redirect_uris: ['cursor://anysphere.cursor-mcp/oauth/callback'],
        grant_types: ['authorization_code', 'refresh_token'],
        token_endpoint_auth_method: 'none',
      },
      protocolVersion: '2025-06-18',
    },
  }

  it.each(Object.entries(agents))(
    'gets and refreshes tokens with the metadata that %s sends',
    async (name, { metadata, protocolVersion }) => {
      const { browser, slug, workspaceId } = await createVisitor()
      const { issuer, resource, scope } = await discover()
      const server = (await (
        await fetch(new URL('/.well-known/oauth-authorization-server', issuer))
      ).json()) as Record<string, string>
      const registered = await fetch(String(server.registration_endpoint), {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ client_name: name, response_types: ['code'], ...metadata }),
      })
      expect(registered.status).toBe(201)
      const client = (await registered.json()) as { client_id: string; client_secret?: string }
      expect(client.client_secret !== undefined).toBe(metadata.token_endpoint_auth_method !== 'none')
      const [redirectUri = ''] = metadata.redirect_uris
      const verifier = randomBytes(32).toString('base64url')
      const authorization = new URL(String(server.authorization_endpoint))
      authorization.search = new URLSearchParams({
        ...{ client_id: client.client_id, redirect_uri: redirectUri, response_type: 'code' },
        ...{ scope, resource, state: 'a state', code_challenge_method: 'S256' },
        code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
      }).toString()
      const back = await decide(browser, authorization, { decision: 'allow', workspaceId })
      expect(back.href.split('?')[0]).toBe(redirectUri)
      expect(back.searchParams.get('state')).toBe('a state')
      const requestTokens = async (parameters: Record<string, string>) => {
        const body = new URLSearchParams({ client_id: client.client_id, resource, ...parameters })
        if (client.client_secret !== undefined) body.set('client_secret', client.client_secret)
        const answer = await fetch(String(server.token_endpoint), { method: 'POST', body })
        expect(answer.status).toBe(200)
        return (await answer.json()) as { access_token: string; refresh_token: string }
      }
      const tokens = await requestTokens({
        ...{ grant_type: 'authorization_code', redirect_uri: redirectUri, code_verifier: verifier },
        code: String(back.searchParams.get('code')),
      })
      expect(await readKit(tokens.access_token, protocolVersion)).toMatchObject({
        workspace: { slug },
        grant: { clientName: name },
      })
      const refreshed = await requestTokens({
        grant_type: 'refresh_token',
        refresh_token: tokens.refresh_token,
      })
      expect(await readKit(refreshed.access_token, protocolVersion)).toMatchObject({ workspace: { slug } })
    },
  )
})

describe('the consent page', () => {
  const asked = async () => {
    const agent = createAgentMemory('Test agent', redirectUrl)
    await auth(agent, { serverUrl: endpoint })
    const { authorization } = agent.memory
    if (!authorization) throw new Error('the agent sent nobody anywhere')
    return authorization
  }

  it('redirects to the sign-in page with a link back when nobody is signed in', async () => {
    const answer = await new Browser(origin).open(await asked())
    expect(new URL(answer.url).pathname).toBe('/sign-in')
    expect(new URL(answer.url).searchParams.get('next')).toMatch(/^\/agent\/oauth\/consent\//)
  })

  it('shows the agent, the redirect target, the lifetime and the workspaces, and cannot be framed or cached', async () => {
    const { browser } = await createVisitor()
    const answer = await browser.open(await asked())
    const page = await answer.text()
    for (const text of ['Test agent', 'unverified', '127.0.0.1:33418', '180 days', 'Acme'])
      expect(page).toContain(text)
    // Not the longest term.
    expect(page).toMatch(/<option value="90"\s+selected/)
    const policy = String(answer.headers.get('content-security-policy'))
    // Browsers apply it to the redirect that follows as well.
    expect(policy).not.toContain('form-action')
    expect(policy).toContain(`frame-ancestors 'none'`)
    expect(answer.headers.get('cache-control')).toMatch('no-store')
    expect(answer.headers.get('referrer-policy')).not.toBe('unsafe-url')
  })

  it('redirects with access_denied when the person denies', async () => {
    const { browser } = await createVisitor()
    const back = await decide(browser, await asked(), { decision: 'deny' })
    expect(back.searchParams.get('error')).toBe('access_denied')
    expect(back.searchParams.get('code')).toBeNull()
  })

  it('returns 403 for a workspace that the person is not a member of', async () => {
    const [{ browser }, stranger] = [await createVisitor(), await createVisitor()]
    const page = await (await browser.open(await asked())).text()
    const action = /action="(\/agent\/oauth\/consent\/[^"]+)"/.exec(page)?.[1] ?? ''
    const answer = await browser.submit(page, action, {
      decision: 'allow',
      workspaceId: stranger.workspaceId,
    })
    expect(answer.status).toBe(403)
    expect(answer.headers.get('location')).toBeNull()
  })

  it('returns 403 without a valid CSRF token', async () => {
    const { browser, workspaceId } = await createVisitor()
    const page = await (await browser.open(await asked())).text()
    const action = /action="(\/agent\/oauth\/consent\/[^"]+)"/.exec(page)?.[1] ?? ''
    for (const csrf of ['', 'wrong']) {
      const answer = await browser.submit(page, action, { decision: 'allow', workspaceId, _csrf: csrf })
      expect(answer.status).toBe(403)
    }
  })

  it('returns 404 in another browser', async () => {
    const [{ browser }, stranger] = [await createVisitor(), await createVisitor()]
    const page = await (await browser.open(await asked())).text()
    const action = /action="(\/agent\/oauth\/consent\/[^"]+)"/.exec(page)?.[1] ?? ''
    expect((await stranger.browser.open(action)).status).toBe(404)
  })

  it.each(['one after the other', 'at once'])(
    'redirects repeated clicks (%s) to the same code, and returns 404 once the code is used',
    async (order) => {
      const { browser, workspaceId } = await createVisitor()
      const agent = createAgentMemory('Test agent', redirectUrl)
      await auth(agent, { serverUrl: endpoint })
      const page = await (await browser.open(agent.memory.authorization ?? '')).text()
      const action = /action="(\/agent\/oauth\/consent\/[^"]+)"/.exec(page)?.[1] ?? ''
      const click = (decision: string) => browser.submit(page, action, { decision, workspaceId })
      const answers =
        order === 'at once'
          ? await Promise.all([click('allow'), click('allow'), click('allow')])
          : [await click('allow'), await click('allow'), await click('deny')]
      expect(answers.map(({ status }) => status)).toEqual([303, 303, 303])
      const [first, ...others] = answers.map(({ headers }) => headers.get('location') ?? '')
      expect(first).toMatch(/[?&]code=/)
      for (const other of others) expect(other).toBe(first)
      const grants = sql`select id from agent_grants where workspace_id = ${workspaceId}`
      expect(await selectRows(db, grants)).toHaveLength(1)
      const { code = '', iss = '' } = Object.fromEntries(new URL(first ?? '').searchParams)
      expect(await auth(agent, { serverUrl: endpoint, authorizationCode: code, iss })).toBe('AUTHORIZED')

      // The code is used: a second use would revoke the grant.
      const late = await click('allow')
      expect(late.status).toBe(404)
      expect(await late.text()).toContain('already answered')
      expect((await browser.open(action)).status).toBe(404)
    },
  )
})
