import { describe, expect, it } from 'vitest'
import { errors } from '../../src/kernel/errors.ts'
import { expectError } from '../support/expect-error.ts'
import { createOAuthTester } from '../support/oauth-client.ts'
import { listen } from '../support/raw-http.ts'
import { startTestApp } from '../support/test-app.ts'

const service = await startTestApp()
const { createAgent, createHost, getTokens } = createOAuthTester(service)
const { access_token: token } = await getTokens(await createAgent(), await createHost())

const initialize = (options: { accept?: string; url?: string; name?: string }) =>
  service.app.inject({
    method: 'POST',
    url: options.url ?? '/agent/mcp',
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      ...(options.accept !== undefined && { accept: options.accept }),
    },
    payload: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'initialize',
      params: {
        protocolVersion: '2025-06-18',
        capabilities: {},
        clientInfo: { name: options.name ?? 'test', version: '1' },
      },
    }),
  })

const latestMeta = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'a test', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
}
const list = { jsonrpc: '2.0', id: 1, method: 'tools/list' }

const post = (accept: string, message: unknown, headers: Record<string, string> = {}) =>
  service.app.inject({
    ...{ method: 'POST', url: '/agent/mcp', payload: JSON.stringify(message) },
    headers: { authorization: `Bearer ${token}`, accept, 'content-type': 'application/json', ...headers },
  })

describe('the MCP endpoint', () => {
  it.each([['application/json, text/event-stream'], ['*/*'], ['application/json, */*;q=0.1'], [undefined]])(
    'returns 200 for Accept: %s',
    async (accept) => {
      const answer = await initialize({ ...(accept !== undefined && { accept }) })
      expect(answer.statusCode, answer.body).toBe(200)
      expect(answer.body).toContain('"serverInfo"')
    },
  )

  it('returns 406 when only other media types are accepted', async () => {
    expect((await initialize({ accept: 'text/html' })).statusCode).toBe(406)
  })

  it.each([['application/json'], ['application/json; charset=utf-8'], ['application/*']])(
    'returns JSON, and no event stream, for Accept: %s',
    async (accept) => {
      const answer = await initialize({ accept })
      expect(answer.statusCode, answer.body).toBe(200)
      expect(answer.headers['content-type']).toMatch('application/json')
      expect(answer.json()).toMatchObject({ id: 1, result: { serverInfo: { name: 'workspace' } } })
      const batch = await post(accept, [list, { ...list, id: 2 }])
      expect(batch.json()).toMatchObject([
        { id: 1, result: {} },
        { id: 2, result: {} },
      ])
      expect((await post(accept, { jsonrpc: '2.0', method: 'notifications/initialized' })).statusCode).toBe(
        202,
      )
      const call = { ...list, method: 'tools/call', params: { name: 'read_validation_kit' } }
      expect((await post(accept, call)).json()).toMatchObject({ id: 1, result: { structuredContent: {} } })
    },
  )

  it('opens the stream of a subscription also to a client that accepts JSON alone', async () => {
    const stop = new AbortController()
    const params = { notifications: { toolsListChanged: true }, _meta: latestMeta }
    const answer = await fetch(`http://127.0.0.1:${await listen(service.app)}/agent/mcp`, {
      ...{ method: 'POST', signal: stop.signal },
      headers: {
        ...{
          authorization: `Bearer ${token}`,
          accept: 'application/json',
          'content-type': 'application/json',
        },
        ...{ 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'subscriptions/listen' },
      },
      body: JSON.stringify({ ...list, method: 'subscriptions/listen', params }),
    })
    expect(answer.headers.get('content-type')).toMatch('text/event-stream')
    stop.abort()
  })

  it.each(['GET', 'DELETE'] as const)(
    'returns 405 to %s, whatever content type and body it has',
    async (method) => {
      for (const payload of [undefined, '', '{}', '{"a":1}', 'x'])
        for (const type of [undefined, 'application/json', 'text/plain']) {
          if (payload !== undefined && type === undefined) continue
          const answer = await service.app.inject({
            ...{
              method,
              url: '/agent/mcp',
              ...(payload !== undefined && method === 'DELETE' && { payload }),
            },
            headers: {
              authorization: `Bearer ${token}`,
              ...(type !== undefined && { 'content-type': type }),
            },
          })
          expect(answer.statusCode, `${type} ${payload}: ${answer.body}`).toBe(405)
          expect(answer.headers.allow).toBe('POST')
        }
    },
  )

  it.each<[string, object]>([
    ['tools/list', { cursor: null }],
    ['resources/list', { cursor: null }],
    ['prompts/list', { cursor: 5 }],
    ['resources/read', {}],
    ['prompts/get', { name: null }],
    ['tools/call', {}],
    ['tools/call', { name: null }],
    ['completion/complete', { ref: 5 }],
    ['initialize', { capabilities: {}, clientInfo: { name: 'test', version: '1' } }],
    ['initialize', {}],
  ])('returns -32602 without the text of a library for %s %j, in both eras', async (method, params) => {
    for (const isLatest of method === 'initialize' ? [false] : [false, true]) {
      const headers = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': method, 'mcp-name': 'x' }
      const message = { ...list, method, params: { ...params, ...(isLatest && { _meta: latestMeta }) } }
      const answer = await post('application/json', message, isLatest ? headers : {})
      const { error } = answer.json<{ error: { code: number; message: string } }>()
      // A request of the latest revision without the name in its header is refused by the header.
      expect([-32602, isLatest ? -32020 : -32602], error.message).toContain(error.code)
      expect(error.message).not.toMatch(/[[{]|zod|expected/i)
    }
  })

  it('names the parameter that is wrong', async () => {
    const answer = await post('application/json', { ...list, params: { cursor: null } })
    expect(answer.json()).toMatchObject({
      error: { message: 'Invalid params: params.cursor is missing or of another type than MCP defines.' },
    })
  })

  it('sends Cache-Control: private, no-store with event streams', async () => {
    const answer = await initialize({ accept: '*/*' })
    expect(answer.headers['content-type']).toMatch('text/event-stream')
    expect(answer.headers['cache-control']).toBe('private, no-store')
  })

  it('is also served with a trailing slash', async () => {
    const answer = await initialize({ accept: '*/*', url: '/agent/mcp/' })
    expect(answer.statusCode).toBe(200)
    const refused = await service.app.inject({ method: 'POST', url: '/agent/mcp/' })
    expect(refused.statusCode).toBe(401)
    expect(refused.headers['www-authenticate']).toContain('/.well-known/oauth-protected-resource/agent/mcp"')
    const preflight = { origin: 'https://claude.ai', 'access-control-request-method': 'POST' }
    const options = await service.app.inject({ method: 'OPTIONS', url: '/agent/mcp/', headers: preflight })
    expect(options.statusCode).toBe(204)
  })

  it('returns 413 for a message of more than 64 KiB', async () => {
    expect((await initialize({ accept: '*/*', name: 'x'.repeat(64_000) })).statusCode).toBe(200)
    const refused = await initialize({ accept: '*/*', name: 'x'.repeat(64 * 1024) })
    expectError(refused, errors.bodyTooLarge)
  })
})

describe('the root URL in place of the endpoint', () => {
  const send = (payload: string, type = 'application/json') =>
    service.app.inject({ method: 'POST', url: '/', payload, headers: { 'content-type': type } })

  it('answers MCP messages with an error that names the endpoint', async () => {
    for (const id of [1, 'one', 0]) {
      const answer = await send(JSON.stringify({ ...list, id, method: 'initialize', params: {} }))
      expect(answer.statusCode).toBe(200)
      expect(answer.headers['content-type']).toMatch('application/json')
      expect(answer.json()).toEqual({
        ...{ jsonrpc: '2.0', id },
        error: {
          code: -32600,
          message: `This URL is the website, not the MCP server. Use ${service.config.baseUrl}/agent/mcp instead.`,
        },
      })
    }
    const notification = await send(JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' }))
    expect(notification.statusCode).toBe(202)
  })

  it('answers anything else as before', async () => {
    const nowhere = await service.app.inject({ method: 'PUT', url: '/' })
    expect(nowhere.statusCode).toBe(404)
    const others: [string, string?][] = [
      ...([['{}'], ['[]'], ['null'], ['x'], ['{"jsonrpc":"2.0"}'], ['{"jsonrpc":"1.0","method":"x"}']] as [
        string,
      ][]),
      ['a=b', 'application/x-www-form-urlencoded'],
    ]
    for (const [payload, type] of others) {
      const answer = await send(payload, type)
      expect([answer.statusCode, answer.headers['content-type']], payload).toEqual([
        nowhere.statusCode,
        nowhere.headers['content-type'],
      ])
    }
    expect((await service.app.inject('/')).statusCode).not.toBe(404)
  })
})
