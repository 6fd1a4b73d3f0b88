import { createAppSecret } from '../../src/platform/secrets/app-secret.port.ts'
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { createKitMcpHandler } from '../../src/agents/mcp/agent.mcp.ts'
import { ideaSkill } from '../../src/agents/mcp/idea-skill.ts'
import { agentPrompts } from '../../src/agents/mcp/prompts.mcp.ts'
import { seedCard } from '../../src/agents/mcp/seed-card.ts'
import { systemClock } from '../../src/kernel/clock.ts'
import { inboxTools } from '../../src/agents/tools/inbox.tools.ts'
import { kitResources } from '../../src/agents/mcp/kit-resources.mcp.ts'
import { mcpForm, readValidationKitTool } from '../../src/agents/tools/read-validation-kit.tools.ts'
import type { KitService, ValidationKit } from '../../src/agents/kit/kit.service.ts'
import type { AgentPrincipal } from '../../src/domain/agent.ts'
import { errors } from '../../src/kernel/errors.ts'
import { createPersonStreams } from '../../src/concurrency/person-streams.ts'
import type { Json } from '../../src/kernel/json-text.ts'

const agent: AgentPrincipal = {
  grant: {
    id: 'grant',
    clientId: 'client',
    clientName: 'Robbie',
    scopes: ['validation-kit:read'],
    consentVersion: 0,
    membersMayAsk: false,
    expiresAt: new Date(),
  },
  user: { id: 'user', name: 'Ada', email: 'ada@example.com', emailVerifiedAt: null, imageKey: null },
  workspace: { id: 'workspace', name: 'Acme', slug: 'acme' },
  role: 'member',
}

const kit: ValidationKit = {
  version: '1',
  generatedAt: '2026-11-21T03:04:05.678Z',
  workspace: agent.workspace,
  grant: {
    id: 'grant',
    clientName: 'Robbie',
    userId: 'user',
    userName: 'Ada',
    role: 'member',
    scopes: ['validation-kit:read'],
    expiresAt: '2027-11-21T03:04:05.678Z',
  },
  totals: { seeds: 0, evidence: 0, comments: null },
  truncated: false,
  nextCursor: null,
  note: null,
  outline: [],
  summaries: null,
  comments: null,
  participants: null,
  attachments: null,
  seeds: [],
}

const outlineItem = {
  ...{ id: 's1', title: 'Onboarding', status: 'open' as const, updatedAt: '2026-11-21T03:04:05.678Z' },
  evidenceCounts: { supports: 1, contradicts: 2, neutral: 3 },
  ...{ createdAt: '2026-11-20T03:04:05.678Z', leadName: null, activeOn: '2026-11-21' },
  ...{ participantCount: 1, commentCount: 0 },
}

const toJson = (value: ValidationKit) => JSON.stringify(value) as Json<ValidationKit>

const urls = { webUrl: 'https://example.com', iconUrl: 'https://api.example.com/icon.svg' }
const rest = {
  ...urls,
  areaIconUrls: { seeds: 'https://api.example.com/seeds.svg' },
  followPositions: () => () => undefined,
  clock: systemClock,
  box: createAppSecret(() => 'a secret of 32 characters or more').boxOf('confirmations of calls'),
  useConfirmation: () => Promise.resolve(true),
  readChanges: () => Promise.reject(new Error('nothing is followed')),
  readAgents: () => Promise.resolve([]),
  personStreams: createPersonStreams(),
  onReadError: () => undefined,
}
const serverInfo = {
  name: 'workspace',
  title: 'Workspace',
  // server.json has it too (tests/contract/documents.test.ts).
  version: (JSON.parse(readFileSync('package.json', 'utf8')) as { version: string }).version,
  websiteUrl: urls.webUrl,
  icons: [{ src: urls.iconUrl, mimeType: 'image/svg+xml', sizes: ['any'] }],
}
const capabilitiesBefore2026 = {
  tools: { listChanged: false },
  resources: { listChanged: false },
  prompts: { listChanged: false },
  completions: {},
}
const latestCapabilities = {
  ...capabilitiesBefore2026,
  tools: { listChanged: true },
  resources: { listChanged: false, subscribe: true },
  prompts: { listChanged: true },
}

const revisionsBefore2026 = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25']
const latest = '2026-07-28'

interface Message {
  id?: unknown
  result?: Record<string, unknown>
  error?: { code: number; message: string }
}

const inbox = inboxTools({} as never, 'https://example.com')[0]

const skill = ideaSkill(readFileSync('docs/validate-an-idea.md', 'utf8'))
const card = seedCard({ style: '', script: '' })

/** The tool and the resources of a kit, whose calls are not counted. */
function capabilitiesOf(read: KitService['read']) {
  const calls = {
    count: <T>(_agent: unknown, _tool: unknown, _input: unknown, call: () => Promise<T>) => call(),
  }
  if (!inbox) throw new Error('there is no inbox')
  return {
    tools: [readValidationKitTool({ read })],
    resources: kitResources({ read }, calls, inbox),
    prompts: agentPrompts({ read }, systemClock),
    skills: [skill],
    card,
  }
}

/** `isDirect`: whether plain calls are answered directly, as the endpoint does, or by the SDK's handling of HTTP. */
function createTester(read: KitService['read'] = async () => toJson(kit), isDirect = true) {
  const failures: unknown[] = []
  const refusals: unknown[] = []
  const handle = createKitMcpHandler(capabilitiesOf(read), {
    onError: (error) => failures.push(error),
    onRefusal: (error) => refusals.push(error),
    ...rest,
  })

  async function send(body: string, more: Record<string, string> = {}, who = agent) {
    const headers = {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...more,
    }
    const json = isDirect ? await handle.answerCall(headers, who, parse(body)) : undefined
    if (json !== undefined) return { status: 200, isDirect: true, ...(JSON.parse(json) as Message) }
    const request = new Request('https://api.example.com/agent/mcp', { method: 'POST', headers, body })
    const response = await handle.answer(request, who)
    const text = await response.text()
    const isStream = response.headers.get('content-type')?.startsWith('text/event-stream')
    const message =
      text === '' ? {} : (JSON.parse(isStream ? (/^data: (.*)$/m.exec(text)?.[1] ?? '') : text) as Message)
    return { status: response.status, ...message }
  }

  /** Sends a request in the form of a revision: the latest says with every one which it is, and who asks. */
  function ask(revision: string, method: string, params: Record<string, unknown> = {}) {
    const message = { jsonrpc: '2.0', id: 1, method, params }
    if (revision !== latest) {
      const isFirst = method === 'initialize' || revision < '2025-06-18'
      return send(JSON.stringify(message), isFirst ? {} : { 'mcp-protocol-version': revision })
    }
    const _meta = {
      'io.modelcontextprotocol/protocolVersion': revision,
      'io.modelcontextprotocol/clientInfo': { name: 'tester', version: '1' },
      'io.modelcontextprotocol/clientCapabilities': {},
    }
    const name = params.name ?? params.uri
    return send(JSON.stringify({ ...message, params: { ...params, _meta } }), {
      'mcp-protocol-version': revision,
      'mcp-method': method,
      ...(typeof name === 'string' && { 'mcp-name': name }),
    })
  }

  const call = (revision: string, args?: unknown, name = 'read_validation_kit') =>
    ask(revision, 'tools/call', { name, ...(args !== undefined && { arguments: args }) })

  return { ask, call, failures, refusals, send }
}

function parse(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch {
    return undefined
  }
}

describe('starting an MCP conversation', () => {
  it.each(revisionsBefore2026)('initializes with protocol revision %s', async (revision) => {
    const { ask } = createTester()
    const answer = await ask(revision, 'initialize', {
      protocolVersion: revision,
      capabilities: {},
      clientInfo: { name: 'tester', version: '1' },
    })
    expect(answer.status).toBe(200)
    expect(answer.result).toEqual({
      protocolVersion: revision,
      capabilities: capabilitiesBefore2026,
      serverInfo,
      instructions: expect.stringMatching(
        /^This server gives access to the workspace "Acme"\. .*read_validation_kit/,
      ) as string,
    })
    expect(JSON.stringify(answer.result?.instructions).length).toBeLessThan(1024)
  })

  it('discovers the server with the latest revision', async () => {
    const { result } = await createTester().ask(latest, 'server/discover')
    expect(result).toMatchObject({
      supportedVersions: [latest],
      capabilities: latestCapabilities,
      ttlMs: 300_000,
      cacheScope: 'private',
      instructions: expect.stringContaining('read_validation_kit') as string,
    })
  })

  it('forbids caching the tool list, which changes with the scopes', async () => {
    const { result } = await createTester().ask(latest, 'tools/list')
    expect(result).toMatchObject({ ttlMs: 0, cacheScope: 'private' })
  })

  it('offers a supported revision when an unknown one is requested', async () => {
    const { result } = await createTester().ask('1999-01-01', 'initialize', {
      protocolVersion: '1999-01-01',
      capabilities: {},
      clientInfo: { name: 'tester', version: '1' },
    })
    expect(revisionsBefore2026).toContain(result?.protocolVersion)
  })

  it('returns 202 without a body for a notification', async () => {
    const { send } = createTester()
    const message = { jsonrpc: '2.0', method: 'notifications/initialized' }
    expect(await send(JSON.stringify(message))).toEqual({ status: 202 })
  })
})

describe.each(
  [...revisionsBefore2026, latest].flatMap((revision) => [
    { revision, way: 'direct', isDirect: true },
    { revision, way: 'through the SDK', isDirect: false },
  ]),
)('MCP revision $revision, calls $way', ({ revision, isDirect }) => {
  const createTesterOfWay = (read?: KitService['read']) => createTester(read, isDirect)

  it('lists one tool, which is read-only', async () => {
    const { result } = await createTesterOfWay().ask(revision, 'tools/list')
    const [tool, ...others] = result?.tools as Record<string, unknown>[]
    expect(others).toEqual([])
    expect(tool).toMatchObject({
      name: 'read_validation_kit',
      title: 'Read the validation kit',
      annotations: {
        readOnlyHint: true,
        idempotentHint: true,
        destructiveHint: false,
        openWorldHint: false,
      },
      inputSchema: {
        type: 'object',
        properties: { seedId: { type: 'string' } },
        additionalProperties: false,
      },
    })
  })

  it('describes the output by the names of its fields, closed and without references', async () => {
    const { result } = await createTesterOfWay().ask(revision, 'tools/list')
    const [tool] = result?.tools as { outputSchema: object }[]
    const text = JSON.stringify(tool)
    expect(text).not.toMatch(/\$ref|\$id/)
    expect(tool?.outputSchema).toEqual({
      type: 'object',
      properties: Object.fromEntries([...Object.keys(kit), 'error'].map((name) => [name, {}])),
      additionalProperties: false,
    })
  })

  it('returns the validation kit as text and as structured content', async () => {
    const asked: unknown[] = []
    const { call } = createTesterOfWay(async (...parameters) => {
      asked.push(parameters)
      return toJson(kit)
    })
    for (const args of [undefined, {}, { seedId: 'a seed' }]) {
      const { status, result } = await call(revision, args)
      expect(status).toBe(200)
      expect(result?.isError ?? false).toBe(false)
      expect(result?.structuredContent).toEqual(kit)
      expect(result?.content).toEqual([{ type: 'text', text: JSON.stringify(kit) }])
    }
    expect(asked).toEqual([
      [agent, { detail: 'outline' }, mcpForm],
      [agent, { detail: 'outline' }, mcpForm],
      [agent, { seedId: 'a seed' }, mcpForm],
    ])
  })

  it('returns a tool error that says how to list the seeds, for an unknown seed', async () => {
    const { call, failures } = createTesterOfWay(async () => {
      throw errors.notFound()
    })
    const { result } = await call(revision, { seedId: 'x' })
    expect(result).toMatchObject({
      isError: true,
      content: [
        {
          text: 'Not found. No seed of this workspace has this seedId. Call read_validation_kit without seedId to list the seeds.',
        },
      ],
    })
    expect(result?.structuredContent).toEqual({
      error: {
        message: expect.stringMatching(/^Not found\. No seed/) as string,
        code: 'not_found',
        retry_after_seconds: null,
      },
    })
    expect(failures).toEqual([])
  })

  it('hides the details of an unexpected error from the client, and reports it to the operator', async () => {
    const fault = new Error('password of the database: 12345')
    const { call, failures } = createTesterOfWay(async () => {
      throw fault
    })
    const answer = await call(revision)
    expect(answer.result).toMatchObject({
      isError: true,
      content: [
        {
          text: 'read_validation_kit failed. This is a fault of the service, not of the arguments. Try again later.',
        },
      ],
    })
    expect(answer.result?.structuredContent).toMatchObject({ error: { code: 'internal' } })
    expect(JSON.stringify(answer)).not.toContain('12345')
    expect(failures).toEqual([fault])
  })

  it('says in an error when to try again', async () => {
    const { call } = createTesterOfWay(async () => {
      throw errors.overloaded({ retryAfterSeconds: 7 })
    })
    const { result } = await call(revision)
    expect(result).toMatchObject({
      ...{ isError: true, content: [{ text: expect.stringContaining('Try again in 7 seconds.') as string }] },
      structuredContent: { error: { code: 'overloaded', retry_after_seconds: 7 } },
    })
  })

  it('returns a tool error for invalid arguments, without reading', async () => {
    const { call } = createTesterOfWay(() => {
      throw new Error('it read')
    })
    for (const [args, fault] of [
      [{ seedID: 'x' }, 'seedID is not a known field'],
      [{ seedId: 5 }, 'seedId must be string'],
      [{ other: null }, 'other is not a known field'],
      [{ limit: 201 }, 'limit must be <= 200'],
      [{ limit: '201' }, 'limit must be <= 200'],
      [{ limit: 'ten' }, 'limit must be integer'],
      [
        { limit: 0, status: 'new' },
        'status must be one or several of open, validating, validated, dropped; limit must be >= 1',
      ],
    ] as const) {
      const { result } = await call(revision, args)
      const known =
        'seedId, status, query, updatedSince, leadUserId, team, label, due, noEvidenceSince, sort, limit, cursor, evidenceLimit, detail'
      const text = `Invalid arguments for read_validation_kit: ${fault}. Call it again with these arguments only: ${known}.`
      expect(result).toMatchObject({ isError: true, content: [{ text }] })
      expect(result?.structuredContent).toMatchObject({ error: { code: 'decode_error' } })
    }
  })

  it('takes numbers as text, and cuts a query that is too long between words', async () => {
    const asked: unknown[] = []
    const { call } = createTesterOfWay(async (_agent, input) => {
      asked.push(input)
      return toJson(kit)
    })
    const inputs = [{ limit: ' 7' }, { query: `${'word '.repeat(20)}more` }, { query: '😀'.repeat(101) }]
    for (const input of inputs) expect((await call(revision, input)).result?.isError ?? false).toBe(false)
    expect(asked).toEqual([
      { detail: 'outline', limit: 7 },
      { detail: 'outline', query: 'word '.repeat(20).trim() },
      { detail: 'outline', query: '😀'.repeat(100) },
    ])
  })

  it('treats null and the empty string as absent', async () => {
    const asked: unknown[] = []
    const { call } = createTesterOfWay(async (_agent, input) => {
      asked.push(input)
      return toJson(kit)
    })
    const blanks = {
      seedId: null,
      query: '',
      status: '',
      updatedSince: null,
      limit: null,
      cursor: '',
      detail: null,
    }
    expect((await call(revision, { ...blanks, evidenceLimit: 0 })).result?.isError ?? false).toBe(false)
    expect(asked).toEqual([{ detail: 'outline', evidenceLimit: 0 }])
  })

  it('returns a tool error that says how to continue, for an invalid cursor', async () => {
    const { call, failures } = createTesterOfWay(async () => {
      throw errors.cursorInvalid({ field: 'cursor' })
    })
    const { result } = await call(revision, { cursor: 'x' })
    expect(result).toMatchObject({
      isError: true,
      content: [
        {
          text: expect.stringMatching(
            /^This cursor is invalid for this list\. The argument cursor is wrong\. .*leave out cursor/,
          ) as string,
        },
      ],
    })
    expect(failures).toEqual([])
  })

  it('lists the validation kit and its seeds as resources, in pages', async () => {
    const asked: unknown[] = []
    const { ask } = createTesterOfWay(async (_agent, input) => {
      asked.push(input)
      return toJson({
        ...kit,
        outline: [outlineItem],
        nextCursor: input?.cursor === undefined ? 'next' : null,
      })
    })
    const first = await ask(revision, 'resources/list')
    const seed = {
      uri: 'workspace://acme/seeds/s1',
      ...{ name: 'Onboarding', title: 'Onboarding', mimeType: 'application/json' },
      description: 'open; evidence: 1 for it, 2 against it, 3 neutral',
      annotations: { lastModified: outlineItem.updatedAt },
    }
    const kitUri = 'workspace://acme/validation-kit'
    expect(first.result).toMatchObject({
      resources: [{ uri: kitUri, name: 'validation-kit', mimeType: 'application/json' }, seed],
      nextCursor: 'next',
    })
    const second = await ask(revision, 'resources/list', { cursor: 'next' })
    expect(second.result?.resources).toEqual([seed])
    expect(second.result).not.toHaveProperty('nextCursor')
    expect(asked).toEqual([{ detail: 'outline' }, { detail: 'outline', cursor: 'next' }])
    const { result } = await ask(revision, 'resources/templates/list')
    expect(result?.resourceTemplates).toMatchObject([
      { uriTemplate: 'workspace://acme/seeds/{id}', name: 'seed' },
    ])
  })

  it('reads the validation kit and a seed as resources', async () => {
    const asked: unknown[] = []
    const { ask } = createTesterOfWay(async (...parameters) => {
      asked.push(parameters)
      return toJson(kit)
    })
    for (const uri of ['workspace://acme/validation-kit', 'workspace://acme/seeds/s1']) {
      const { result } = await ask(revision, 'resources/read', { uri })
      expect(result?.contents).toEqual([{ uri, mimeType: 'application/json', text: JSON.stringify(kit) }])
    }
    expect(asked).toEqual([
      [agent, {}, mcpForm],
      [agent, { seedId: 's1' }, mcpForm],
    ])
  })

  it('distinguishes an unknown resource, an invalid cursor and an unexpected error by their codes', async () => {
    const fault = new Error('password of the database: 12345')
    const thrown = [errors.notFound(), errors.cursorInvalid({ field: 'cursor' }), fault]
    const { ask, failures } = createTesterOfWay(() => Promise.reject(thrown.shift() ?? new Error('it read')))
    const read = (uri: string) => ask(revision, 'resources/read', { uri })
    const seedUri = 'workspace://acme/seeds/s1'
    expect((await read(seedUri)).error).toMatchObject({ code: -32602, data: { uri: seedUri } })
    expect((await ask(revision, 'resources/list', { cursor: 'x' })).error).toEqual({
      ...{ code: -32602, message: errors.cursorInvalid.message },
    })
    const { error } = await read('workspace://acme/validation-kit')
    expect(error).toEqual({ code: -32603, message: 'This is a fault of the service. Try again later.' })
    expect(failures).toEqual([fault])
    for (const uri of [
      'workspace://other/validation-kit',
      'workspace://other/seeds/s1',
      'file:///etc/passwd',
      'x',
    ]) {
      expect((await read(uri)).error, uri).toMatchObject({ code: -32602, data: { uri } })
    }
    expect(failures).toEqual([fault])
  })

  it('lists neither tools nor resources for a grant without the scope', async () => {
    const { send } = createTesterOfWay()
    const message = { jsonrpc: '2.0', id: 1, method: 'tools/list' }
    const { result } = await send(
      JSON.stringify(message),
      {},
      { ...agent, grant: { ...agent.grant, scopes: [] } },
    )
    expect(result?.tools).toEqual([])
    const resources = JSON.stringify({ ...message, method: 'resources/list' })
    const answer = await send(resources, {}, { ...agent, grant: { ...agent.grant, scopes: [] } })
    expect(answer.error).toMatchObject({ code: -32601 })
  })

  it('returns -32602 for an unknown tool, and -32601 for an unknown method', async () => {
    const { ask, call } = createTesterOfWay()
    expect((await call(revision, {}, 'drop_tables')).error).toMatchObject({ code: -32602 })
    expect((await ask(revision, 'logging/setLevel', { level: 'info' })).error).toMatchObject({ code: -32601 })
  })
})

describe('an invalid MCP message', () => {
  it.each([
    ['a body that is not JSON', '{', -32700, 400],
    ['an empty body', '', -32700, 400],
    ['JSON that is not JSON-RPC', '{"hello":"world"}', -32600, 400],
  ])('returns the JSON-RPC error for %s', async (_name, body, code, status) => {
    const answer = await createTester().send(body)
    expect(answer.status).toBe(status)
    expect(answer.error?.code).toBe(code)
  })

  it('returns 415 when the content type is not JSON', async () => {
    const answer = await createTester().send('{}', { 'content-type': 'text/plain' })
    expect(answer.status).toBe(415)
  })

  it('returns 400 with an unknown protocol revision', async () => {
    const { send } = createTester()
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' })
    const answer = await send(body, { 'mcp-protocol-version': '1999-01-01' })
    expect(answer.status).toBe(400)
  })
})

describe('concurrent requests of several agents', () => {
  it('each get the kit of their own workspace', async () => {
    const { send } = createTester(async (who) => {
      // The first takes longest.
      await new Promise((done) => setTimeout(done, 20 - Number(who.workspace.id.slice(1))))
      return toJson({ ...kit, workspace: who.workspace })
    })
    const message = JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'read_validation_kit' },
    })
    const workspaces = Array.from({ length: 20 }, (_, i) => ({ id: `w${i}`, name: `W ${i}`, slug: `w-${i}` }))
    const answers = await Promise.all(
      workspaces.map((workspace) => send(message, {}, { ...agent, workspace })),
    )
    expect(answers.map(({ result }) => (result?.structuredContent as ValidationKit).workspace)).toEqual(
      workspaces,
    )
  })
})

describe('a client that closes the connection', () => {
  it('before the response causes no error, and later requests work', async () => {
    const { failures, refusals, send } = createTester()
    const handle = createKitMcpHandler(
      capabilitiesOf(() => new Promise((done) => setTimeout(done, 50, toJson(kit)))),
      { onError: (error) => failures.push(error), onRefusal: (error) => refusals.push(error), ...rest },
    )
    const abort = new AbortController()
    const answer = handle.answer(
      new Request('https://api.example.com/agent/mcp', {
        method: 'POST',
        signal: abort.signal,
        headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
        body: JSON.stringify({
          jsonrpc: '2.0',
          id: 1,
          method: 'tools/call',
          params: { name: 'read_validation_kit' },
        }),
      }),
      agent,
    )
    abort.abort()
    await answer.then((response) => response.text()).catch(() => undefined)
    expect(failures).toEqual([])
    expect((await send('{')).status).toBe(400)
  })
})

describe('the tool calls of a batch', () => {
  it('run one at a time per person, and concurrently for different people', async () => {
    const running: string[] = []
    const atOnce: string[][] = []
    const { failures, send } = createTester(async ({ user }) => {
      running.push(user.id)
      atOnce.push([...running])
      const isThird = atOnce.length === 3
      await new Promise((done) => setTimeout(done, 5))
      running.splice(running.indexOf(user.id), 1)
      if (isThird) throw new Error('this call fails')
      return toJson(kit)
    })
    const batch = JSON.stringify(
      Array.from({ length: 16 }, (_, id) => ({
        ...{ jsonrpc: '2.0', id, method: 'tools/call' },
        params: { name: 'read_validation_kit' },
      })),
    )
    const other = { ...agent, user: { ...agent.user, id: 'other' } }
    await Promise.all([send(batch), send(batch, {}, other)])
    expect(atOnce).toHaveLength(32)
    for (const users of atOnce) expect(new Set(users).size).toBe(users.length)
    expect(atOnce.some((users) => users.length === 2)).toBe(true)
    expect(failures).toHaveLength(1)
  })
})
