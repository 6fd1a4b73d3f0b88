import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import {
  getToolUiResourceUri,
  McpUiResourceMetaSchema,
  McpUiToolMetaSchema,
  RESOURCE_MIME_TYPE,
} from '@modelcontextprotocol/ext-apps/app-bridge'
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as TransportV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import { agentScopes, type AgentScope } from '../../src/domain/agent.ts'
import { addPerson, createCompany } from '../support/company.ts'
import { createOAuthTester } from '../support/oauth-client.ts'
import { listen } from '../support/raw-http.ts'
import { createSeed } from '../support/seeds.ts'
import { startTestApp } from '../support/test-app.ts'

const service = await startTestApp()
const endpoint = new URL(`http://127.0.0.1:${await listen(service.app)}/agent/mcp`)
const company = await createCompany(service)

afterAll(() => service.app.server.closeAllConnections())

const clientInfo = { name: 'a program', version: '1' }
const extension = 'io.modelcontextprotocol/ui'
const withCards = { extensions: { [extension]: { mimeTypes: [RESOURCE_MIME_TYPE] } } }

/** The official clients: of both eras, and the line before. */
const clients = ['2026-07-28', '2025-11-25', 'SDK 1.x'] as const

/** Connects an agent of the member whose program declares these capabilities. */
async function connect(
  kind: (typeof clients)[number],
  capabilities: object,
  scopes: readonly AgentScope[] = agentScopes,
) {
  const token = await createOAuthTester(service).letIn(company.workspace, company.member, { scopes })
  const requestInit = { headers: { authorization: `Bearer ${token}` } }
  if (kind === 'SDK 1.x') {
    const client = new ClientV1(clientInfo, { capabilities })
    await client.connect(new TransportV1(endpoint, { requestInit }))
    onTestFinished(() => client.close())
    return client
  }
  const client = new Client(clientInfo, {
    capabilities,
    ...(kind === '2026-07-28' && { versionNegotiation: { mode: { pin: kind } } }),
  })
  await client.connect(new StreamableHTTPClientTransport(endpoint, { requestInit }))
  onTestFinished(() => client.close())
  return client
}

const uri = 'ui://seed-card'

describe.each(clients)('a program of %s', (kind) => {
  it('that shows cards finds the card by the tools whose answers it shows', async () => {
    const client = await connect(kind, withCards)
    const { tools } = await client.listTools()
    const linked = tools.filter(({ _meta }) => _meta !== undefined)
    expect(linked.map(({ name }) => name)).toEqual([
      'read_validation_kit',
      'create_seed',
      'update_seed',
      'add_evidence',
    ])
    for (const tool of linked) {
      expect(McpUiToolMetaSchema.safeParse(tool._meta?.ui).success).toBe(true)
      expect(getToolUiResourceUri(tool as never)).toBe(uri)
    }
    const { contents } = await client.readResource({ uri })
    expect(contents).toMatchObject([{ uri, mimeType: 'text/html;profile=mcp-app' }])
    // As programs may, none that is for tools alone is listed.
    const { resources } = await client.listResources()
    expect(resources.map((resource) => resource.uri)).not.toContain(uri)
  })

  it.each([
    ['nothing', {}],
    ['the extension without a type', { extensions: { [extension]: {} } }],
    ['pages of another type', { extensions: { [extension]: { mimeTypes: ['text/html'] } } }],
  ])('that declares %s gets the same tools without it', async (_what, capabilities) => {
    const without = await connect(kind, capabilities)
    const { tools } = await without.listTools()
    expect(JSON.stringify(tools)).not.toContain('_meta')
    const linked = await (await connect(kind, withCards)).listTools()
    expect(linked.tools.map((tool) => ({ ...tool, _meta: undefined }))).toEqual(
      tools.map((tool) => ({ ...tool, _meta: undefined })),
    )
  })

  it('gets the same answers whether it shows cards or not', async () => {
    const seed = await createSeed(service, company.member, company)
    const read = { name: 'read_validation_kit', arguments: { seedId: seed.id } }
    const [shown, told] = await Promise.all(
      [withCards, {}].map(async (capabilities) => (await connect(kind, capabilities)).callTool(read)),
    )
    const withoutGrant = ({ content, structuredContent }: NonNullable<typeof shown>) => {
      const parts = content as { text: string }[]
      expect(parts).toHaveLength(1)
      expect(JSON.parse(parts[0]?.text ?? '')).toEqual(structuredContent)
      return { ...(structuredContent as object), grant: undefined, generatedAt: undefined }
    }
    if (!shown || !told) throw new Error('there is no answer')
    expect(withoutGrant(shown)).toEqual(withoutGrant(told))
  })

  it('has only the tools of its scopes with a card', async () => {
    const client = await connect(kind, withCards, ['validation-kit:read'])
    const { tools } = await client.listTools()
    expect(tools.map(({ name, _meta }) => [name, _meta])).toEqual([
      ['read_validation_kit', { ui: { resourceUri: uri } }],
    ])
  })
})

describe('a conversation of the earlier revisions', () => {
  async function send(token: string, message: object, headers: Record<string, string> = {}) {
    return service.app.inject({
      ...{ method: 'POST', url: '/agent/mcp' },
      headers: {
        ...{ authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        ...{ accept: 'application/json, text/event-stream', ...headers },
      },
      payload: JSON.stringify({ jsonrpc: '2.0', id: 1, ...message }),
    })
  }
  const initialize = (capabilities: object) => ({
    method: 'initialize',
    params: { protocolVersion: '2025-06-18', capabilities, clientInfo },
  })

  it('has a session only if its program shows cards, also if it accepts JSON alone', async () => {
    const token = await createOAuthTester(service).letIn(company.workspace, company.member)
    for (const accept of ['application/json, text/event-stream', 'application/json']) {
      const begun = await send(token, initialize(withCards), { accept })
      expect(begun.statusCode, begun.body).toBe(200)
      const session = String(begun.headers['mcp-session-id'])
      expect(session).toMatch(/^cards-[\da-f-]{36}$/)
      const listed = await send(token, { method: 'tools/list' }, { accept, 'mcp-session-id': session })
      expect(listed.body).toContain(`"resourceUri":"${uri}"`)
    }
    expect((await send(token, initialize({}))).headers['mcp-session-id']).toBeUndefined()
    const other = await send(token, { method: 'tools/list' }, { 'mcp-session-id': 'of another server' })
    expect(other.statusCode).toBe(200)
    expect(other.body).not.toContain(uri)
  })

  it('gains nothing by the session of somebody else', async () => {
    const oauth = createOAuthTester(service)
    const begun = await send(
      await oauth.letIn(company.workspace, company.owner, { scopes: agentScopes }),
      initialize(withCards),
    )
    const session = { 'mcp-session-id': String(begun.headers['mcp-session-id']) }
    expect((await send('nothing', { method: 'tools/list' }, session)).statusCode).toBe(401)
    const viewer = await addPerson(service, company.workspace, 'viewer')
    const token = await oauth.letIn(company.workspace, viewer, { scopes: ['validation-kit:read'] })
    const listed = await send(token, { method: 'tools/list' }, session)
    expect(listed.body.match(/"name":"\w+"/g)).toEqual(['"name":"read_validation_kit"'])
  })

  it('is not begun by what is no message', async () => {
    const token = await createOAuthTester(service).letIn(company.workspace, company.member)
    for (const params of [null, 'cards', [], { capabilities: null }, { capabilities: { extensions: 1 } }]) {
      const answer = await send(token, { method: 'initialize', params })
      expect(answer.statusCode).toBeLessThan(500)
      expect(answer.headers['mcp-session-id']).toBeUndefined()
    }
  })
})

describe('the page of the card', () => {
  const readPage = async () => {
    const { contents } = await (await connect('2026-07-28', withCards)).readResource({ uri })
    const [content] = contents as unknown as { text: string; _meta: { ui: object } }[]
    if (!content) throw new Error('there is no page')
    return content
  }

  it('is one of less than 30 kB that names no other', async () => {
    const { text } = await readPage()
    expect(Buffer.byteLength(text)).toBeLessThan(30_000)
    expect(text).toMatch(/^<!doctype html>/)
    // What would load something, and what would make HTML or code of a text.
    expect(text).not.toMatch(/https?:\/\/[\w/]|\bsrc=|\bhref=|@import|url\(|\bimport\b/)
    expect(text).not.toMatch(/innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function/)
    expect(text).not.toMatch(/\b(?:fetch|XMLHttpRequest|WebSocket|EventSource|sendBeacon|localStorage)\b/)
    // Its script and its stylesheet end where the page says.
    expect(text.match(/<\/(?:script|style)>/g)).toEqual(['</style>', '</script>'])
  })

  it('declares, as the extension asks, that it needs no origin, and refuses all by itself', async () => {
    const { text, _meta: meta } = await readPage()
    expect(McpUiResourceMetaSchema.parse(meta.ui)).toEqual({
      csp: { connectDomains: [], resourceDomains: [], frameDomains: [], baseUriDomains: [] },
      prefersBorder: true,
    })
    const policy = /<meta http-equiv="Content-Security-Policy" content="([^"]*)">/.exec(text)?.[1]
    expect(policy?.split('; ')).toEqual([
      "default-src 'none'",
      "script-src 'unsafe-inline'",
      "style-src 'unsafe-inline'",
      "base-uri 'none'",
      "form-action 'none'",
    ])
  })
})
