import { once } from 'node:events'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { sql } from 'drizzle-orm'
import sharp from 'sharp'
import { describe, expect, it } from 'vitest'
import { buildUpload } from '../support/forms.ts'
import { createOAuthTester } from '../support/oauth-client.ts'
import { listen } from '../support/raw-http.ts'
import { startTestApp } from '../support/test-app.ts'
import { createWorkspace } from '../support/workspaces.ts'
import { cookiesOf, createVisitor, csrfTokenOf } from '../website/visitor.ts'

const service = await startTestApp()
const { app, db, createPerson } = service
const port = await listen(app)
const person = await createPerson()
const workspace = await createWorkspace(service, person)
const list = `/v1/workspaces/${workspace.slug}/seeds?limit=100`
await db.execute(sql`
  insert into seeds (id, workspace_id, title, summary, status, created_at, updated_at)
  select gen_random_uuid(), ${workspace.id}, 'Seed ' || i, repeat('ü', 100), 'open', now(), now()
  from generate_series(1, 100) as i`)

interface Answer {
  status: number | undefined
  headers: IncomingMessage['headers']
  body: Buffer
}

/** Sends a request over the network, with no headers but these. The body is what came, not decompressed. */
async function ask(
  path: string,
  headers: Record<string, string> = {},
  { method = 'GET', payload = '' } = {},
): Promise<Answer> {
  const all = { authorization: `Bearer ${person.apiKey}`, ...headers }
  const sent = httpRequest({ port, host: '127.0.0.1', path, method, headers: all }).end(payload)
  const [answer] = (await once(sent, 'response')) as [IncomingMessage]
  return { status: answer.statusCode, headers: answer.headers, body: await buffer(answer) }
}

const accepting = (coding: string) => ({ 'accept-encoding': coding })
const decompress: Record<string, (body: Buffer) => Buffer> = { br: brotliDecompressSync, gzip: gunzipSync }
const textOf = ({ headers, body }: Answer) =>
  (decompress[headers['content-encoding'] ?? ''] ?? ((same: Buffer) => same))(body).toString()

describe('a long response', () => {
  it.each([
    ['gzip', 'gzip'],
    ['br', 'br'],
    ['gzip, deflate, br, zstd', 'br'],
    ['GZIP', 'gzip'],
    ['br;q=0.5, gzip', 'gzip'],
    ['*', 'br'],
    ['br;q=0, gzip;q=0.1', 'gzip'],
  ])('compresses a long response for Accept-Encoding %s with %s', async (accepted, coding) => {
    const plain = await ask(list)
    const answer = await ask(list, accepting(accepted))
    expect(answer.headers).toMatchObject({
      'content-encoding': coding,
      'content-length': String(answer.body.length),
      'content-type': 'application/json; charset=utf-8',
      vary: 'Accept-Encoding',
    })
    expect(textOf(answer)).toBe(plain.body.toString())
    expect(answer.body.length).toBeLessThan(plain.body.length / 4)
  })

  it.each([[undefined], ['identity'], ['deflate'], ['gzip;q=0'], ['*;q=0'], ['zstd'], ['']])(
    'does not compress a response for Accept-Encoding %j',
    async (accepted) => {
      const answer = await ask(list, accepted === undefined ? {} : accepting(accepted))
      expect(answer.headers).not.toHaveProperty('content-encoding')
      expect(JSON.parse(answer.body.toString())).toHaveLength(100)
      // A cache must not give it to others.
      expect(answer.headers.vary).toBe('Accept-Encoding')
    },
  )

  it('returns the same headers to HEAD, without the length when the response is compressed', async () => {
    const get = await ask(list, accepting('gzip'))
    const head = await ask(list, accepting('gzip'), { method: 'HEAD' })
    expect(head.status).toBe(200)
    expect(head.body).toHaveLength(0)
    for (const name of ['content-encoding', 'content-type', 'vary', 'link'] as const)
      expect(head.headers[name]).toBe(get.headers[name])
    // It may be left out, and must not be that of another response (RFC 9110 §8.6).
    expect(head.headers['content-length']).toBeUndefined()
    const plain = await ask(list, {}, { method: 'HEAD' })
    expect(plain.headers['content-length']).toBe(String((await ask(list)).body.length))
  })

  it('stores the response to a request with an Idempotency-Key uncompressed, and compresses each replay as requested', async () => {
    const payload = JSON.stringify({ title: 'A seed', summary: 's'.repeat(2000) })
    const headers = { 'content-type': 'application/json', 'idempotency-key': workspace.id }
    const create = (more: Record<string, string>) =>
      ask(`/v1/workspaces/${workspace.slug}/seeds`, { ...headers, ...more }, { method: 'POST', payload })
    const first = await create(accepting('gzip'))
    expect(first).toMatchObject({ status: 200, headers: { 'content-encoding': 'gzip' } })
    const again = await create({})
    expect(again).toMatchObject({ status: 200, headers: { 'idempotent-replayed': 'true' } })
    expect(again.body.toString()).toBe(textOf(first))
    const third = await create(accepting('br'))
    expect(third.headers).toMatchObject({ 'content-encoding': 'br', 'idempotent-replayed': 'true' })
    expect(textOf(third)).toBe(textOf(first))
  })
})

describe('responses that are not compressed', () => {
  it('does not compress a response under 1 KiB', async () => {
    const answer = await ask('/v1/me', accepting('gzip'))
    expect(answer.body.length).toBeLessThan(1024)
    expect(answer.headers).not.toHaveProperty('content-encoding')
    expect(answer.headers).not.toHaveProperty('vary')
  })

  it('does not compress a picture', async () => {
    // Of noise, so that it is large.
    const noise = { type: 'gaussian', mean: 128, sigma: 60 } as const
    const image = sharp({ create: { width: 256, height: 256, channels: 3, background: 'red', noise } })
    const upload = await service.as(person, {
      method: 'POST',
      url: '/v1/me/photo',
      ...buildUpload(await image.png().toBuffer()),
    })
    const { pathname } = new URL(upload.json<{ image: string }>().image)
    const answer = await ask(pathname, accepting('gzip, br'))
    expect(answer.body.length).toBeGreaterThan(1024)
    expect(answer.headers).not.toHaveProperty('content-encoding')
    expect(answer.body.toString('latin1', 8, 12)).toBe('WEBP')
  })
})

describe('a static document', () => {
  const page = app.inject({ url: '/docs' })

  it.each([['/openapi.json'], ['/docs'], ['the style sheet'], ['the script']])(
    'compresses a static document with Brotli and gzip: %s',
    async (name) => {
      const { body } = await page
      const patterns: Record<string, RegExp> = {
        'the style sheet': /\/assets\/site-[\w-]+\.css/,
        'the script': /\/assets\/site-[\w-]+\.js/,
      }
      const path = patterns[name] ? String(patterns[name].exec(body)?.[0]) : name
      const plain = await ask(path)
      expect(plain.status).toBe(200)
      expect(plain.headers.vary).toBe('Accept-Encoding')
      for (const coding of ['br', 'gzip', 'br']) {
        const answer = await ask(path, accepting(coding))
        expect(answer.headers['content-encoding']).toBe(coding)
        expect(answer.headers['cache-control']).toBe(plain.headers['cache-control'])
        expect(textOf(answer)).toBe(plain.body.toString())
      }
    },
  )
})

describe('the MCP endpoint', () => {
  const { createAgent, createHost, getTokens } = createOAuthTester(service)
  const connected = (async () => getTokens(await createAgent(), await createHost()))()
  const listTools = async (protocolVersion: string) => {
    const { access_token: token } = await connected
    const _meta = {
      'io.modelcontextprotocol/protocolVersion': protocolVersion,
      'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
      'io.modelcontextprotocol/clientCapabilities': {},
    }
    const isModern = protocolVersion === '2026-07-28'
    return ask(
      '/agent/mcp',
      {
        ...accepting('gzip'),
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': protocolVersion,
        ...(isModern && { 'mcp-method': 'tools/list' }),
      },
      {
        method: 'POST',
        payload: JSON.stringify({
          ...{ jsonrpc: '2.0', id: 1, method: 'tools/list' },
          params: isModern ? { _meta } : {},
        }),
      },
    )
  }

  it('compresses JSON responses', async () => {
    const answer = await listTools('2026-07-28')
    expect(answer.headers['content-encoding'], textOf(answer)).toBe('gzip')
    expect(answer.headers).toMatchObject({ 'cache-control': 'private, no-store', vary: 'Accept-Encoding' })
    expect(textOf(answer)).toContain('"read_validation_kit"')
  })

  it('does not compress event streams', async () => {
    const answer = await listTools('2025-06-18')
    expect(answer.headers['content-type']).toMatch('text/event-stream')
    expect(answer.headers).not.toHaveProperty('content-encoding')
    expect(answer.body.toString()).toContain('"read_validation_kit"')
  })
})

describe('a page with a form', () => {
  it('compresses the page, and masks its CSRF token differently in each response', async () => {
    const visitor = createVisitor(service)
    const first = await visitor.get('/sign-in')
    const cookie = cookiesOf(visitor)
    const second = await ask('/sign-in', { ...accepting('gzip'), cookie, accept: 'text/html' })
    expect(second.headers['content-encoding']).toBe('gzip')
    const tokens = [csrfTokenOf(first.body), csrfTokenOf(textOf(second))]
    expect(new Set(tokens).size).toBe(2)
    // No part of it is the same: a mask that covered less could be guessed around.
    const [one = '', other = ''] = tokens
    for (let i = 0; i + 8 <= one.length; i++) expect(other).not.toContain(one.slice(i, i + 8))
    // Both are valid.
    for (const token of tokens) {
      const answer = await visitor.submit('/sign-in', { _csrf: token, email: 'a@example.com', password: 'x' })
      expect(answer.statusCode).not.toBe(403)
    }
  })
})
