import { describe, expect, it } from 'vitest'
import { errors } from '../../src/kernel/errors.ts'
import { expectError } from '../support/expect-error.ts'
import { createOAuthTester } from '../support/oauth-client.ts'
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
