import { systemClock } from '../../src/kernel/clock.ts'
import { createAppSecret } from '../../src/platform/secrets/app-secret.port.ts'
import { Type } from '@sinclair/typebox'
import { describe, expect, it } from 'vitest'
import { defineTool, readingHints, type AgentTool } from '../../src/agents/tools/agent-tool.ts'
import { createKitMcpHandler } from '../../src/agents/mcp/agent.mcp.ts'
import { seedCard } from '../../src/agents/mcp/seed-card.ts'
import type { AgentPrincipal } from '../../src/domain/agent.ts'
import { errors } from '../../src/kernel/errors.ts'
import { createPersonStreams } from '../../src/concurrency/person-streams.ts'
import type { Json } from '../../src/kernel/json-text.ts'

const agent: AgentPrincipal = {
  grant: {
    ...{ id: 'grant', clientId: 'client', clientName: 'Robbie', expiresAt: new Date() },
    scopes: ['validation-kit:read', 'seeds:write'],
    consentVersion: 0,
    membersMayAsk: false,
  },
  user: { id: 'user', name: 'Ada', email: 'ada@example.com', emailVerifiedAt: null, imageKey: null },
  workspace: { id: 'workspace', name: 'Acme', slug: 'acme' },
  role: 'member',
}

/** A tool whose answer is the JSON that `call` makes. */
function toolOf(name: string, scope: AgentTool['scope'], call: (agent: AgentPrincipal) => Promise<string>) {
  return defineTool({
    ...{ name, title: name, description: name, did: name, scope, action: 'seeds.list' },
    input: Type.Object({ seedId: Type.Optional(Type.String()) }, { additionalProperties: false }),
    output: Type.Object({}),
    ...{ parts: [], hints: readingHints, errors: [errors.notFound], advice: {} },
    call: async (who) => (await call(who)) as Json<object>,
  })
}

const handlerOf = (...tools: AgentTool[]) =>
  createKitMcpHandler(
    {
      tools,
      resources: { scope: 'validation-kit:read', action: 'seeds.list' } as never,
      prompts: [],
      skills: [],
      card: seedCard({ style: '', script: '' }),
    },
    {
      onError: (error) => expect.unreachable(String(error)),
      onRefusal: () => undefined,
      ...{ webUrl: 'https://example.com', iconUrl: 'https://api.example.com/icon.svg', areaIconUrls: {} },
      ...{
        followPositions: () => () => undefined,
        clock: systemClock,
        box: createAppSecret(() => 'a secret of 32 characters or more').boxOf('confirmations of calls'),
        useConfirmation: () => Promise.resolve(true),
        readChanges: () => Promise.reject(new Error('nothing is followed')),
        readAgents: () => Promise.resolve([]),
        personStreams: createPersonStreams(),
        onReadError: () => undefined,
      },
    },
  )

const json = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'read' } }

const modern = {
  headers: { ...json, 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': 'read' },
  call: {
    ...call,
    params: {
      name: 'read',
      _meta: {
        'io.modelcontextprotocol/protocolVersion': '2026-07-28',
        'io.modelcontextprotocol/clientInfo': { name: 'tester', version: '1' },
        'io.modelcontextprotocol/clientCapabilities': {},
      },
    },
  },
}

function without(object: object, ...names: string[]): Record<string, string> {
  return Object.fromEntries(Object.entries(object).filter(([name]) => !names.includes(name)))
}

describe('a direct call', () => {
  const text = '{"second": [1.0, \n 1e2],"first":"\\u00e9 \\" ü"}'
  const handler = handlerOf(toolOf('read', 'validation-kit:read', async () => text))

  it.each<[name: string, headers: Record<string, string>, message: { params: object }]>([
    ['without a version', json, call],
    ...['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'].map(
      (version): [string, typeof json, typeof call] => [
        version,
        { ...json, ...{ 'mcp-protocol-version': version } },
        call,
      ],
    ),
    ['2026-07-28', modern.headers, modern.call],
    ['content type with a parameter', { ...json, 'content-type': 'application/json; charset=utf-8' }, call],
    ['arguments', json, { ...call, params: { name: 'read', arguments: { seedId: 'x' } } }],
    ['a progress token', json, { ...call, params: { name: 'read', _meta: { progressToken: 5 } } }],
    ['the id 0', json, { ...call, ...{ id: 0 } }],
    ['an id that needs escapes', json, { ...call, ...{ id: '"\\' } }],
  ])('has the response of the SDK: %s', async (_name, headers, message) => {
    const answer = await handler.answerCall(headers, agent, message)
    const body = JSON.stringify(message)
    const request = new Request('https://api.example.com/agent/mcp', { method: 'POST', headers, body })
    const ordinary = await (await handler.answer(request, agent, message)).text()
    expect(JSON.parse(String(answer))).toEqual(JSON.parse(/^data: (.*)$/m.exec(ordinary)?.[1] ?? ordinary))
  })

  it.each([
    ['legacy', json, call],
    ['modern', modern.headers, modern.call],
  ])('has the JSON of the tool as it is, without parsing it (%s)', async (_era, headers, message) => {
    const answer = String(await handler.answerCall(headers, agent, message))
    expect(answer).toContain(`"structuredContent":${text},`)
    expect((JSON.parse(answer) as { result: unknown }).result).toMatchObject({
      content: [{ type: 'text', text }],
    })
  })

  it('has the error of a tool', async () => {
    const failing = handlerOf(toolOf('read', 'validation-kit:read', () => Promise.reject(errors.notFound())))
    const answer = await failing.answerCall(json, agent, call)
    expect(JSON.parse(String(answer))).toEqual({
      ...{ jsonrpc: '2.0', id: 1 },
      result: {
        ...{ isError: true, content: [{ type: 'text', text: 'Not found.' }] },
        structuredContent: { error: { message: 'Not found.', code: 'not_found', retry_after_seconds: null } },
      },
    })
  })
})

describe('what is not answered directly', () => {
  const handler = handlerOf(
    toolOf('read', 'validation-kit:read', async () => expect.unreachable('the tool was called')),
    toolOf('write', 'seeds:write', async () => expect.unreachable('the tool was called')),
  )
  const withParams = (params: unknown) => ({ ...call, params })

  it.each([
    ['a body that is not JSON', undefined],
    ['a batch', [call]],
    ['another method', { ...call, method: 'tools/list' }],
    ['a notification', without(call, 'id')],
    ['an id that is null', { ...call, id: null }],
    ['an id that is an object', { ...call, id: {} }],
    ['a message that is not JSON-RPC 2.0', without(call, 'jsonrpc')],
    ['a response', { ...without(call, 'method', 'params'), result: {} }],
    ['no parameters', without(call, 'params')],
    ['an unknown field', { ...call, other: 1 }],
    ['no name', withParams({})],
    ['an unknown tool', withParams({ name: 'drop_tables' })],
    ['a name of Object', withParams({ name: 'constructor' })],
    ['arguments that are a list', withParams({ name: 'read', arguments: [] })],
    ['arguments that are null', withParams({ name: 'read', arguments: null })],
    ['arguments that are a text', withParams({ name: 'read', arguments: 'x' })],
    ['a task', withParams({ name: 'read', task: {} })],
    ['the state of an earlier call', withParams({ name: 'read', requestState: 'x' })],
    ['responses to requests for input', withParams({ name: 'read', inputResponses: {} })],
    ['a malformed progress token', withParams({ name: 'read', _meta: { progressToken: {} } })],
    ['malformed metadata', withParams({ name: 'read', _meta: 5 })],
  ])('%s', async (_name, message) => {
    expect(await handler.answerCall(json, agent, message)).toBeUndefined()
  })

  it.each([
    [
      'a tool that the grant has no scope for',
      { grant: { ...agent.grant, scopes: ['validation-kit:read'] } },
    ],
    ['a tool that the role is not allowed to use', { role: 'nobody' as never }],
  ])('%s', async (_name, changed) => {
    const message = { ...call, params: { name: 'write' } }
    expect(await handler.answerCall(json, { ...agent, ...changed }, message)).toBeUndefined()
  })

  it.each([
    ['no media types', without(json, 'accept')],
    ['JSON alone', { ...json, accept: 'application/json' }],
    ['event streams alone', { ...json, accept: 'text/event-stream' }],
    ['no content type', without(json, 'content-type')],
    ['another content type', { ...json, 'content-type': 'text/plain' }],
    ['a content type that begins like JSON', { ...json, 'content-type': 'application/jsonp' }],
    ['an unknown revision', { ...json, 'mcp-protocol-version': '1999-01-01' }],
    ['two revisions', { ...json, 'mcp-protocol-version': '2025-06-18, 2025-03-26' }],
    ['the latest revision in the headers alone', modern.headers],
  ])('a call with %s', async (_name, headers) => {
    expect(await handler.answerCall(headers, agent, call)).toBeUndefined()
  })

  it.each([
    ['no revision', without(modern.headers, 'mcp-protocol-version')],
    ['another revision', { ...modern.headers, 'mcp-protocol-version': '2025-06-18' }],
    ['no method', without(modern.headers, 'mcp-method')],
    ['another method', { ...modern.headers, 'mcp-method': 'tools/list' }],
    ['no name', without(modern.headers, 'mcp-name')],
    ['another name', { ...modern.headers, 'mcp-name': 'write' }],
    ['an encoded name', { ...modern.headers, 'mcp-name': '=?base64?cmVhZA==?=' }],
  ])('a call of the latest revision with %s in the headers', async (_name, headers) => {
    expect(await handler.answerCall(headers, agent, modern.call)).toBeUndefined()
  })

  it.each([
    ['a later revision', { 'io.modelcontextprotocol/protocolVersion': '2099-01-01' }],
    ['an incomplete envelope', { 'io.modelcontextprotocol/clientCapabilities': undefined }],
  ])('a call with %s in its metadata', async (_name, changed) => {
    const _meta = { ...modern.call.params._meta, ...changed }
    const version = _meta['io.modelcontextprotocol/protocolVersion']
    const headers = { ...modern.headers, 'mcp-protocol-version': version }
    const message = JSON.parse(JSON.stringify({ ...modern.call, params: { name: 'read', _meta } })) as object
    expect(await handler.answerCall(headers, agent, message)).toBeUndefined()
  })
})

describe('direct calls at the same time', () => {
  it('each have the content of their own agent, whatever the order in which they end', async () => {
    const ends: (() => void)[] = []
    const wait = () => new Promise<void>((done) => ends.push(done))
    const toText = (tool: string, { grant, user, workspace }: AgentPrincipal) =>
      JSON.stringify({ tool, grant: grant.id, user: user.id, workspace: workspace.id })
    const handler = handlerOf(
      toolOf('read', 'validation-kit:read', async (who) => {
        await wait()
        return toText('read', who)
      }),
      toolOf('write', 'seeds:write', async (who) => {
        const text = toText('write', who)
        await wait()
        await new Promise((done) => setImmediate(done))
        return text
      }),
    )
    // Several with the same scopes, which share a server, and several of one user.
    const agents = Array.from({ length: 8 }, (_, i): AgentPrincipal => ({
      ...agent,
      grant: {
        ...{ ...agent.grant, id: `grant ${i}`, clientId: `client ${i}` },
        scopes: i % 3 === 0 ? ['validation-kit:read'] : ['validation-kit:read', 'seeds:write'],
      },
      user: { ...agent.user, id: `user ${i % 5}` },
      workspace: { ...agent.workspace, id: `workspace ${i}` },
    }))
    const calls = Array.from({ length: 96 }, (_, i) => {
      const who = agents[i % agents.length] ?? agent
      const name = i % 2 === 1 && who.grant.scopes.includes('seeds:write') ? 'write' : 'read'
      const isModern = i % 3 === 0
      // Clients count from the same number each.
      const message = isModern
        ? { ...modern.call, params: { ...modern.call.params, name } }
        : { ...call, params: { name } }
      const headers = isModern ? { ...modern.headers, 'mcp-name': name } : json
      return { expected: toText(name, who), answer: handler.answerCall(headers, who, message) }
    })
    while (ends.length < calls.length) await new Promise((done) => setImmediate(done))
    // From both ends of the queue in turn.
    for (let i = 0; ends.length > 0; i++) {
      ;(i % 2 === 0 ? ends.pop() : ends.shift())?.()
      if (i % 7 === 0) await new Promise((done) => setImmediate(done))
    }
    for (const { expected, answer } of calls) {
      const { id, result } = JSON.parse(String(await answer)) as { id: unknown; result: unknown }
      expect(id).toBe(1)
      expect(result).toMatchObject({
        content: [{ type: 'text', text: expected }],
        structuredContent: JSON.parse(expected) as object,
      })
    }
  })
})
