import { auth, Client, StreamableHTTPClientTransport, UnauthorizedError } from '@modelcontextprotocol/client'
import {
  auth as authV1,
  UnauthorizedError as UnauthorizedErrorV1,
} from '@modelcontextprotocol/sdk/client/auth.js'
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as TransportV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { randomUUID } from 'node:crypto'
import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { Browser } from '../support/browser.ts'
import { findClosedPort } from '../support/raw-http.ts'
import { selectRows, startTestApp } from '../support/test-app.ts'

const port = await findClosedPort()
const origin = `http://127.0.0.1:${port}`
const service = await startTestApp({ environment: { BASE_URL: origin, SIGN_IN_LIMIT_PER_MINUTE: '0' } })
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

/** What an agent keeps, as the SDKs' clients ask for it. */
function createAgentMemory() {
  const memory: { client?: unknown; tokens?: unknown; verifier?: string; authorization?: URL } = {}
  return {
    memory,
    redirectUrl,
    clientMetadata: { client_name: 'Test agent', redirect_uris: [redirectUrl] },
    clientInformation: () => memory.client as never,
    saveClientInformation: (client: unknown) => void (memory.client = client),
    tokens: () => memory.tokens as never,
    saveTokens: (tokens: unknown) => void (memory.tokens = tokens),
    redirectToAuthorization: (url: URL) => void (memory.authorization = url),
    saveCodeVerifier: (verifier: string) => void (memory.verifier = verifier),
    codeVerifier: () => memory.verifier ?? '',
  }
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

describe('an agent that knows only the URL', () => {
  it('of the first line comes in', async () => {
    const { browser, slug, workspaceId } = await createVisitor()
    const agent = createAgentMemory()
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

  it.each([['legacy' as const], ['auto' as const]])('of the present line comes in (%s)', async (mode) => {
    const { browser, slug, workspaceId } = await createVisitor()
    const agent = createAgentMemory()
    const connect = async () => {
      const transport = new StreamableHTTPClientTransport(endpoint, { authProvider: agent })
      const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } })
      await client.connect(transport)
      return client
    }
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

describe('the consent page', () => {
  const asked = async () => {
    const agent = createAgentMemory()
    await auth(agent, { serverUrl: endpoint })
    const { authorization } = agent.memory
    if (!authorization) throw new Error('the agent sent nobody anywhere')
    return authorization
  }

  it('leads somebody who is not signed in to the sign-in page, and back', async () => {
    const answer = await new Browser(origin).open(await asked())
    expect(new URL(answer.url).pathname).toBe('/sign-in')
    expect(new URL(answer.url).searchParams.get('next')).toMatch(/^\/agent\/oauth\/consent\//)
  })

  it('says who asks, for what, and where the person is sent back to', async () => {
    const { browser } = await createVisitor()
    const answer = await browser.open(await asked())
    const page = await answer.text()
    for (const text of ['Test agent', 'unverified', '127.0.0.1:33418', '180 days', 'Acme'])
      expect(page).toContain(text)
    const policy = String(answer.headers.get('content-security-policy'))
    // Browsers apply it to the redirect that follows as well.
    expect(policy).not.toContain('form-action')
    expect(policy).toContain(`frame-ancestors 'none'`)
    expect(answer.headers.get('cache-control')).toMatch('no-store')
    expect(answer.headers.get('referrer-policy')).not.toBe('unsafe-url')
  })

  it('takes a no', async () => {
    const { browser } = await createVisitor()
    const back = await decide(browser, await asked(), { decision: 'deny' })
    expect(back.searchParams.get('error')).toBe('access_denied')
    expect(back.searchParams.get('code')).toBeNull()
  })

  it('refuses a workspace that the person is not in', async () => {
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

  it('refuses a form without the token of the browser', async () => {
    const { browser, workspaceId } = await createVisitor()
    const page = await (await browser.open(await asked())).text()
    const action = /action="(\/agent\/oauth\/consent\/[^"]+)"/.exec(page)?.[1] ?? ''
    for (const csrf of ['', 'wrong']) {
      const answer = await browser.submit(page, action, { decision: 'allow', workspaceId, _csrf: csrf })
      expect(answer.status).toBe(403)
    }
  })

  it('is nothing to another browser', async () => {
    const [{ browser }, stranger] = [await createVisitor(), await createVisitor()]
    const page = await (await browser.open(await asked())).text()
    const action = /action="(\/agent\/oauth\/consent\/[^"]+)"/.exec(page)?.[1] ?? ''
    expect((await stranger.browser.open(action)).status).toBe(404)
  })

  it.each(['one after the other', 'at once'])('leads two clicks to the same code, %s', async (order) => {
    const { browser, workspaceId } = await createVisitor()
    const agent = createAgentMemory()
    await auth(agent, { serverUrl: endpoint })
    const page = await (await browser.open(agent.memory.authorization ?? '')).text()
    const action = /action="(\/agent\/oauth\/consent\/[^"]+)"/.exec(page)?.[1] ?? ''
    const click = (decision: string) => browser.submit(page, action, { decision, workspaceId })
    const answers =
      order === 'at once'
        ? await Promise.all([click('allow'), click('allow'), click('allow')])
        : [await click('allow'), await click('allow'), await click('deny')]
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
  })
})
