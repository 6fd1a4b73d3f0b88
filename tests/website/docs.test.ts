import { describe, expect, it } from 'vitest'
import { errors, statusOfTag } from '../../src/kernel/errors.ts'
import { html } from '../../src/website/components/html.ts'
import { checkEach } from '../support/check-each.ts'
import { startTestApp } from '../support/test-app.ts'

const { app, config } = await startTestApp()
const origin = config.baseUrl

interface Operation {
  operationId: string
  tags: string[]
  summary: string
  responses: Record<string, unknown>
}
const description = app.swagger() as unknown as { paths: Record<string, Record<string, Operation>> }
const operations = Object.entries(description.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ method, path, ...operation })),
)
const browserHeaders = { accept: 'text/html,application/xhtml+xml' }
const reference = await app.inject({ url: '/docs', headers: browserHeaders })
const tags = (app.swagger() as unknown as { tags: { name: string }[] }).tags.map(({ name }) => name)
const groups = new Map<string, string>()
for (const name of tags)
  groups.set(name, (await app.inject({ url: `/docs/api/${name}`, headers: browserHeaders })).body)
const catalogue = await app.inject({ url: '/docs/errors', headers: browserHeaders })

const idsOf = (page: string) => [...page.matchAll(/\sid="([^"]*)"/g)].map(([, id = '']) => id)
const escape = (text: string) => html`${text}`.toString()

/** The markup of an operation on the page of its group. */
function partOf(id: string): string {
  return part(groups.get(id.slice(0, id.indexOf('.'))) ?? '', `<details class="operation" id="${id}"`)
}

/** The markup of an operation on the first page. */
function entryOf(id: string): string {
  return part(reference.body, `<li class="operation" id="${id}"`)
}

function part(page: string, start: string): string {
  const from = page.indexOf(start)
  if (from < 0) return ''
  const to = page.indexOf(' class="operation"', from + start.length)
  return page.slice(from, to < 0 ? undefined : to)
}

describe.each([
  ['/docs', reference],
  ['/docs/api/webhooks', await app.inject({ url: '/docs/api/webhooks', headers: browserHeaders })],
  ['/docs/errors', catalogue],
])('%s', (_path, page) => {
  it('is public, and sets no cookie', () => {
    expect(page.statusCode).toBe(200)
    expect(page.headers['content-type']).toBe('text/html; charset=utf-8')
    expect(page.headers['set-cookie']).toBeUndefined()
  })

  it('has a strict content security policy, and no inline scripts or styles', () => {
    const policy = String(page.headers['content-security-policy'])
    for (const rule of [
      "default-src 'none'",
      "script-src 'self'",
      "style-src 'self'",
      "connect-src 'self'",
      "base-uri 'none'",
      "frame-ancestors 'none'",
    ])
      expect(policy.split(';')).toContain(rule)
    expect(page.body).not.toMatch(/\sstyle=|\son\w+=|<style|<script(?! src=")/)
  })

  it('loads only from its own origin, and has no broken links', async () => {
    const links = new Set([...page.body.matchAll(/\s(?:href|src)="([^"]*)"/g)].map(([, link = '']) => link))
    expect(links).toContain('/')
    expect(links).toContain('/openapi.json')
    expect(links).toContain('/docs/errors')
    const urls = [...links].map((link) => new URL(link, origin + _path))
    expect(urls.filter((url) => url.origin !== origin)).toEqual([])
    for (const path of new Set(urls.map(({ pathname }) => pathname))) {
      const answer = await app.inject({ url: path, headers: browserHeaders })
      expect(answer.statusCode, path).toBeLessThan(400)
      const anchors = urls.filter((url) => url.pathname === path && url.hash).map(({ hash }) => hash.slice(1))
      expect(idsOf(answer.body), path).toEqual(expect.arrayContaining(anchors))
    }
  })

  it('has no duplicate element ids', () => {
    const ids = idsOf(page.body)
    expect(ids.filter((id, i) => ids.indexOf(id) !== i)).toEqual([])
  })
})

describe('/docs', () => {
  it('lists each operation with its method, path and summary, and a link to its description', () =>
    checkEach(
      operations,
      ({ operationId }) => operationId,
      ({ operationId, method, path, summary, tags: [tag = ''] }) => {
        const entry = entryOf(operationId).replaceAll('<wbr />', '')
        for (const text of [
          `href="/docs/api/${tag}#${operationId}"`,
          `<span class="method ${method}">${method.toUpperCase()}</span>`,
          `<code>${escape(path)}</code>`,
          escape(summary),
        ])
          expect(entry).toContain(text)
        expect(idsOf(groups.get(tag) ?? '')).toContain(operationId)
      },
    ))

  it('is small, whatever the number of operations', () => {
    expect(Buffer.byteLength(reference.body)).toBeLessThan(100_000)
    expect(reference.body.match(/<[a-z]/g)?.length).toBeLessThan(3_000)
  })

  it('has a page for each tag and no other', async () => {
    for (const [name, page] of groups)
      expect(idsOf(page), name).toContain(operations.find(({ tags: [tag] }) => tag === name)?.operationId)
    expect((await app.inject('/docs/api/unknown')).statusCode).toBe(404)
    expect((await app.inject('/docs/api')).statusCode).toBe(404)
  })

  it('describes each operation with its method, path, summary and error statuses', () =>
    checkEach(
      operations,
      ({ operationId }) => operationId,
      ({ operationId, method, path, summary, responses }) => {
        const part = partOf(operationId).replaceAll('<wbr />', '')
        expect(part).toContain(`<span class="method ${method}">${method.toUpperCase()}</span>`)
        expect(part).toContain(`<code>${escape(path)}</code>`)
        expect(part).toContain(escape(summary))
        const failures = Object.keys(responses).filter((status) => !status.startsWith('2'))
        expect(part).toContain(`<summary>Errors: ${failures.join(', ')}</summary>`)
      },
    ))

  it('shows a curl command for each operation', () => {
    const commandOf = (id: string) => /<pre data-copy>([^<]*)<\/pre>/.exec(partOf(id))?.[1]
    expect(commandOf('system.health')).toBe(escape(`curl '${origin}/health'`))
    expect(commandOf('members.remove')).toBe(
      escape(
        `curl -X DELETE -H "Authorization: Bearer $API_KEY" '${origin}/v1/workspaces/SLUG/members/USER_ID'`,
      ),
    )
    expect(commandOf('me.uploadPhoto')).toBe(
      escape(`curl -H "Authorization: Bearer $API_KEY" -F file=@picture.png '${origin}/v1/me/photo'`),
    )
    expect(commandOf('agentOAuth.token')).toMatch(
      /^curl -d &#39;grant_type=authorization_code[^ ]*&#39; &#39;/,
    )
    for (const [id, path] of [
      ['workspaces.search', 'search'],
      ['workspaces.searchCounts', 'search/counts'],
    ] as const)
      expect(commandOf(id)).toContain(escape(`'${origin}/v1/workspaces/SLUG/${path}?q=checkout'`))
    expect(commandOf('agent.readValidationKit')).toContain('Bearer $ACCESS_TOKEN')
    for (const { operationId } of operations) expect(commandOf(operationId), operationId).toMatch(/^curl /)
  })

  it('has a request form for each operation, except those of agents, the OAuth token endpoints and streams', () => {
    const without = operations
      .map(({ operationId }) => operationId)
      .filter((id) => !partOf(id).includes('<form'))
    const ofAgents = without.filter((id) => id.startsWith('agent.'))
    expect(ofAgents).toContain('agent.readValidationKit')
    expect(without.filter((id) => !ofAgents.includes(id)).toSorted()).toEqual([
      'agentOAuth.revoke',
      'agentOAuth.token',
      'events.stream',
    ])
    expect(partOf('events.stream')).toContain('curl -N ')
    expect(partOf('events.stream')).toContain('data: {')
    expect(partOf('system.health')).not.toContain('data-needs-key')
    expect(partOf('me.profile')).toContain('data-needs-key')
  })

  it('describes the requests that a receiver of webhooks gets, with an example and what it may answer', () => {
    for (const id of ['webhooks.receive', 'webhooks.receiveTest']) {
      const part = partOf(id).replaceAll('<wbr />', '')
      expect(part, id).toContain('<code>webhook-signature</code>')
      expect(part, id).toContain('<code>data.workspaceId</code>')
      expect(part, id).toContain('<strong>410</strong>')
      expect(part, id).not.toContain('<form')
    }
    expect(partOf('webhooks.receive')).toContain(escape('"type": "'))
    expect(partOf('webhooks.receiveTest')).toContain(escape('"type": "webhook.test"'))
  })

  it('links each group to its guide, and names of guides in texts', () => {
    for (const [name, page] of groups)
      expect(page, name).toMatch(/<a href="\/docs\/guides\/[^"]*">Guide<\/a>/)
    expect([...groups.values()].join()).toContain(
      '<a href="/docs/guides/events"><code>/docs/guides/events</code></a>',
    )
  })

  it('says when limits are off, and shows their headers', () => {
    expect(reference.body).toContain('On the embedded database')
    expect(reference.body).toContain(escape('RateLimit: "api-key";r=5999;t=60'))
  })

  it('is also served at /docs/', async () => {
    expect((await app.inject('/docs/')).body).toBe(reference.body)
  })

  it.each([
    '/docs/unknown',
    '/docs/static/favicon-32x32.png',
    '/docs/%00',
    '/docs/..%5c',
    '/docs/..%2f..%2fpackage.json',
    `/docs/${'x'.repeat(8_000)}`,
  ])('returns 404 route_not_found for other paths below it: %s', async (url) => {
    const answer = await app.inject({ url, headers: browserHeaders })
    expect(answer.statusCode).toBe(404)
    expect(answer.json()).toMatchObject({ _tag: 'NotFound', code: 'route_not_found' })
  })
})

describe('/docs/errors', () => {
  it('lists each error with its status, tag, code, message and meaning', () =>
    checkEach(
      Object.values(errors),
      ({ code }) => code,
      ({ tag, code, message, when }) => {
        const [, heading = ''] = new RegExp(`<h2 id="${tag}">(.*?)</h2>`).exec(catalogue.body) ?? []
        expect(heading).toBe(`${statusOfTag[tag]} <code>${tag}</code>`)
        const from = catalogue.body.indexOf(`<tr id="${code}">`)
        expect(from).toBeGreaterThan(catalogue.body.indexOf(`<h2 id="${tag}">`))
        const row = catalogue.body.slice(from, catalogue.body.indexOf('</tr>', from))
        for (const text of [message, ...when.split('`')]) expect(row).toContain(escape(text))
      },
    ))
})
