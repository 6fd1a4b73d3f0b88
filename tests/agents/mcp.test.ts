import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as TransportV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { createId } from '../../src/kernel/ids.ts'
import { createOAuthTester } from '../support/oauth-client.ts'
import { listen } from '../support/raw-http.ts'
import { startTestApp } from '../support/test-app.ts'

const service = await startTestApp()
const { app, config } = service
const { createAgent, createHost, getTokens } = createOAuthTester(service)
const endpoint = new URL(`http://127.0.0.1:${await listen(app)}/agent/mcp`)
const host = await createHost()
const agent = await createAgent()
const { access_token: token } = await getTokens(agent, host)
const headers = { authorization: `Bearer ${token}` }
const kit = { version: '1', workspace: { slug: host.slug }, grant: { userId: host.id, clientName: 'Robbie' } }

const post = (payload: unknown, more: Record<string, string> = {}) =>
  app.inject({
    method: 'POST',
    url: '/agent/mcp',
    headers: {
      ...headers,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...more,
    },
    payload: typeof payload === 'string' ? payload : JSON.stringify(payload),
  })

describe('MCP clients', () => {
  it('list and call the tool with SDK 1.x', async () => {
    const client = new ClientV1({ name: 'first line', version: '1' })
    await client.connect(new TransportV1(endpoint, { requestInit: { headers } }))
    const { tools } = await client.listTools()
    expect(tools).toMatchObject([
      {
        name: 'read_validation_kit',
        annotations: { readOnlyHint: true },
        inputSchema: { additionalProperties: false },
        outputSchema: { additionalProperties: false },
      },
    ])
    const answer = await client.callTool({ name: 'read_validation_kit', arguments: {} })
    expect(answer.structuredContent).toMatchObject(kit)
    expect(client.getServerCapabilities()).toMatchObject({ tools: { listChanged: false } })
    await client.close()
  })

  it.each([[undefined], [{ mode: 'auto' as const }], [{ mode: { pin: '2026-07-28' } }]])(
    'call the tool with SDK 2.x and the version negotiation %j',
    async (versionNegotiation) => {
      const options = versionNegotiation === undefined ? {} : { versionNegotiation }
      const client = new Client({ name: 'present line', version: '1' }, options)
      await client.connect(new StreamableHTTPClientTransport(endpoint, { requestInit: { headers } }))
      const answer = await client.callTool({ name: 'read_validation_kit', arguments: {} })
      expect(answer.structuredContent).toMatchObject(kit)
      await client.close()
    },
  )

  it.each(['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'])(
    'can use protocol revision %s',
    async (version) => {
      const answer = await post({
        jsonrpc: '2.0',
        id: 1,
        method: 'initialize',
        params: { protocolVersion: version, capabilities: {}, clientInfo: { name: 'old', version: '1' } },
      })
      expect(answer.statusCode).toBe(200)
      expect(readMessage(answer.body)).toMatchObject({ id: 1, result: { protocolVersion: version } })
      const call = await post(
        {
          jsonrpc: '2.0',
          id: 2,
          method: 'tools/call',
          params: { name: 'read_validation_kit', arguments: {} },
        },
        { 'mcp-protocol-version': version },
      )
      expect(readMessage(call.body)).toMatchObject({ id: 2, result: { content: [{ type: 'text' }] } })
    },
  )
})

describe('MCP resources', () => {
  it('are the validation kit and the seeds of the workspace, in a list of several pages', async () => {
    const owner = await createHost()
    const { access_token: ownToken } = await getTokens(await createAgent({ client_name: 'Reader' }), owner)
    const seeds = `/v1/workspaces/${owner.slug}/seeds`
    const payload = { title: 'Onboarding', summary: 'Without a call' }
    const { seed } = (await service.as(owner, { method: 'POST', url: seeds, payload })).json<{
      seed: { id: string }
    }>()
    await service.db.execute(sql`
      insert into seeds (id, workspace_id, title, summary, status, created_at, updated_at)
      select id::uuid, ${owner.workspaceId}, 'Seed', 'S', 'open', '2020-01-01', '2020-01-01'
      from jsonb_array_elements_text(${JSON.stringify(Array.from({ length: 250 }, createId))}::jsonb) as id`)
    const client = new Client({ name: 'present line', version: '1' })
    const requestInit = { headers: { authorization: `Bearer ${ownToken}` } }
    await client.connect(new StreamableHTTPClientTransport(endpoint, { requestInit }))
    const seedUri = `workspace://${owner.slug}/seeds/${seed.id}`
    const { resources } = await client.listResources()
    const uris = resources.map(({ uri }) => uri)
    expect(uris.slice(0, 2)).toEqual([`workspace://${owner.slug}/validation-kit`, seedUri])
    expect(new Set(uris).size).toBe(252)
    const { contents } = await client.readResource({ uri: seedUri })
    const [content] = contents
    expect(JSON.parse(content && 'text' in content ? content.text : '')).toMatchObject({
      seeds: [{ id: seed.id, title: 'Onboarding' }],
      totals: { seeds: 1, evidence: 0 },
    })
    await expect(client.readResource({ uri: `workspace://${host.slug}/validation-kit` })).rejects.toThrow(
      /not found/i,
    )
    await client.close()
  })
})

describe('the MCP server information', () => {
  it('has the name of the workspace, and an icon that exists', async () => {
    const client = new Client({ name: 'present line', version: '1' })
    await client.connect(new StreamableHTTPClientTransport(endpoint, { requestInit: { headers } }))
    expect(client.getInstructions()).toContain('"Acme"')
    const { websiteUrl, icons } = client.getServerVersion() ?? {}
    expect(websiteUrl).toBe(config.webUrl)
    const icon = await app.inject(String(icons?.[0]?.src).replace(config.baseUrl, ''))
    expect(icon.statusCode).toBe(200)
    expect(icon.headers['content-type']).toBe(icons?.[0]?.mimeType)
    await client.close()
  })
})

describe('requests without a valid access token', () => {
  const challenge = `Bearer resource_metadata="${config.baseUrl}/.well-known/oauth-protected-resource/agent/mcp", scope="validation-kit:read"`

  it.each(['GET', 'POST', 'DELETE'] as const)(
    '%s returns 401 agent_token_required, and a challenge with the resource metadata and no error',
    async (method) => {
      const answer = await app.inject({
        method,
        url: '/agent/mcp',
        ...(method === 'POST' && { payload: '{not json' }),
      })
      expect(answer.statusCode).toBe(401)
      expect(answer.headers['www-authenticate']).toBe(challenge)
      expect(answer.headers['access-control-expose-headers']).toMatch('WWW-Authenticate')
      expect(answer.json()).toMatchObject({ _tag: 'Unauthorized', code: 'agent_token_required' })
    },
  )

  it.each([['nonsense'], [host.apiKey]])(
    'an invalid token returns 401 invalid_token (case %#)',
    async (wrong) => {
      for (const url of ['/agent/mcp', '/agent/v1/validation-kit:read']) {
        const answer = await app.inject({
          method: 'POST',
          url,
          headers: { authorization: `Bearer ${wrong}` },
        })
        expect(answer.statusCode).toBe(401)
        expect(answer.headers['www-authenticate']).toMatch('error="invalid_token"')
        expect(answer.headers['www-authenticate']).toMatch('resource_metadata=')
      }
    },
  )

  it('an API key in X-API-Key returns 401', async () => {
    const answer = await app.inject({
      method: 'POST',
      url: '/agent/mcp',
      headers: { 'x-api-key': host.apiKey },
    })
    expect(answer.statusCode).toBe(401)
  })
})

describe('CORS', () => {
  const asked = [
    ...['authorization', 'content-type', 'accept', 'last-event-id'],
    ...['mcp-protocol-version', 'mcp-session-id', 'mcp-method', 'mcp-name'],
  ]

  it('a preflight request allows the headers that agents send, without credentials', async () => {
    const answer = await app.inject({
      method: 'OPTIONS',
      url: '/agent/mcp',
      headers: {
        origin: 'https://claude.ai',
        'access-control-request-method': 'POST',
        'access-control-request-headers': asked.join(', '),
      },
    })
    expect(answer.statusCode).toBe(204)
    const allowed = String(answer.headers['access-control-allow-headers']).toLowerCase()
    for (const name of asked) expect(allowed).toContain(name)
    expect(answer.headers['access-control-allow-credentials']).toBeUndefined()
  })

  it.each([
    'https://claude.ai',
    'https://chatgpt.com',
    'https://vscode.dev',
    'http://localhost:6274',
    config.webUrl,
  ])('accepts the origin %s', async (origin) => {
    const answer = await post({ jsonrpc: '2.0', id: 1, method: 'ping' }, { origin })
    expect(answer.statusCode).toBe(200)
  })

  it.each([
    'https://evil.example',
    'null',
    'http://localhost.evil.example',
    'https://claude.ai.evil.example',
  ])('returns 403 origin_forbidden for the origin %s', async (origin) => {
    const answer = await post({ jsonrpc: '2.0', id: 1, method: 'ping' }, { origin })
    expect(answer.statusCode).toBe(403)
    expect(answer.json()).toMatchObject({ code: 'origin_forbidden' })
  })
})

describe('MCP messages', () => {
  it('get the JSON-RPC error -32700 with status 400 when they are not JSON', async () => {
    const answer = await post('{not json')
    expect(answer.statusCode).toBe(400)
    expect(answer.json()).toMatchObject({ jsonrpc: '2.0', error: { code: -32700 } })
    expect(answer.headers['x-request-id']).toBeDefined()
  })

  it('get a tool error for an unknown seed', async () => {
    const answer = await post({
      jsonrpc: '2.0',
      id: 3,
      method: 'tools/call',
      params: { name: 'read_validation_kit', arguments: { seedId: 'nonsense' } },
    })
    expect(readMessage(answer.body)).toMatchObject({ result: { isError: true } })
  })

  it.each(['GET', 'DELETE'] as const)('get 405 with Allow: POST for the method %s', async (method) => {
    const answer = await app.inject({ method, url: '/agent/mcp', headers })
    expect(answer.statusCode).toBe(405)
    expect(answer.headers.allow).toBe('POST')
  })
})

describe('the grant of an agent', () => {
  it('is listed in the workspace, and revoking it takes effect with the next request', async () => {
    const [other, own] = [await createAgent({ client_name: 'Short-lived' }), await createHost()]
    const { access_token: shortLived } = await getTokens(other, own)
    const read = () =>
      app.inject({
        method: 'POST',
        url: '/agent/v1/validation-kit:read',
        headers: { authorization: `Bearer ${shortLived}` },
      })
    expect((await read()).statusCode).toBe(200)
    const integrations = `/v1/workspaces/${own.slug}/integrations`
    const [grant] = (await service.as(own, { url: integrations })).json<
      { id: string; clientName: string }[]
    >()
    expect(grant).toMatchObject({ clientName: 'Short-lived' })
    const revoked = await service.as(own, { method: 'POST', url: `${integrations}/${grant?.id}/revoke` })
    expect(revoked.json()).toEqual({ ok: true })
    expect((await read()).statusCode).toBe(401)
    expect((await service.as(own, { url: integrations })).json()).toEqual([])
  })
})

/** The JSON-RPC message of an answer, whether it came as JSON or as an event. */
function readMessage(body: string): unknown {
  return JSON.parse(/^data: (.*)$/m.exec(body)?.[1] ?? body) as unknown
}
