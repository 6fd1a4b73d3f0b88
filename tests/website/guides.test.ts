import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { eventKinds } from '../../src/domain/events.ts'
import { renderGuide } from '../../src/website/docs/guide-markdown.ts'
import { guides, siteTargetOf, textOfGuide } from '../../src/website/docs/guides.ts'
import { startTestApp } from '../support/test-app.ts'

const { app, config } = await startTestApp({
  environment: { BASE_URL: 'https://api.acme.example', WEB_URL: 'https://acme.example' },
})
const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')
const open = async (path: string) => {
  const answer = await app.inject({ url: path, headers: { accept: 'text/html' } })
  expect(answer.statusCode, path).toBe(200)
  return answer.body
}
const idsOf = (page: string) => [...page.matchAll(/\sid="([^"]*)"/g)].map(([, id = '']) => id)
const linksOf = (page: string) => [...page.matchAll(/\shref="([^"]*)"/g)].map(([, href = '']) => href)

describe('/docs/guides', () => {
  it('lists each guide, and so does the reference', async () => {
    const index = await open('/docs/guides')
    expect(await open('/docs/guides/')).toBe(index)
    expect(linksOf(index)).toEqual(expect.arrayContaining(guides.map(({ name }) => `/docs/guides/${name}`)))
    expect(linksOf(await open('/docs'))).toContain('/docs/guides')
  })

  it.each(guides.filter(({ name }) => name !== 'changelog'))(
    '$name names only operations and events that exist',
    ({ file }) => {
      const { paths, webhooks, tags } = app.swagger() as {
        paths: Record<string, Record<string, { operationId?: string }>>
        webhooks: Record<string, Record<string, { operationId?: string }>>
        tags: { name: string }[]
      }
      const described = [...Object.values(paths), ...Object.values(webhooks)].flatMap(Object.values)
      const known = new Set([
        ...described.map(({ operationId }: { operationId?: string }) => operationId),
        ...Object.keys(eventKinds),
        // What `webhooks.test` sends.
        'webhook.test',
      ])
      const areas = [
        ...tags.map(({ name }) => name),
        ...Object.keys(eventKinds).map((type) => type.split('.')[0]),
      ]
      const named = [...read(file).matchAll(/`(\w+)\.(\w+)`/g)].filter(([, area]) => areas.includes(area))
      expect(named.map(([, area, name]) => `${area}.${name}`).filter((name) => !known.has(name))).toEqual([])
    },
  )

  it.each(guides)('$name is public, has links that lead somewhere, and ids once', async ({ name, file }) => {
    const path = `/docs/guides/${name}`
    const page = await open(path)
    expect(page).not.toMatch(/\sstyle=|&lt;!--|<style/)
    const ids = idsOf(page)
    expect(ids.filter((id, i) => ids.indexOf(id) !== i)).toEqual([])
    const urls = linksOf(page).map((href) => new URL(href, config.baseUrl + path))
    for (const url of urls.filter(({ origin }) => origin === config.baseUrl)) {
      const answer = await app.inject({ url: url.pathname, headers: { accept: 'text/html' } })
      expect(answer.statusCode, `${file}: ${url.pathname}`).toBeLessThan(400)
      if (url.hash) expect(idsOf(answer.body), `${file}: ${url.pathname}`).toContain(url.hash.slice(1))
    }
    // Of the links of the file itself, none is left as it is there.
    const [, article = ''] = page.split('<article')
    expect(linksOf(article.split('</article>')[0] ?? '')).toSatisfy((hrefs: string[]) =>
      hrefs.every((href) => /^(?:https?:|#|\/docs|\/openapi\.json$)/.test(href)),
    )
  })

  it('has every type of events, and the rule for when a copy forgets a person in one place', async () => {
    expect(await open('/docs/guides/events')).toSatisfy((page: string) =>
      Object.keys(eventKinds).every((type) =>
        page.includes(`<h2 id="${type.replaceAll('.', '')}">${type}</h2>`),
      ),
    )
    const rule = '/docs/guides/first-copy#forget-a-person'
    for (const name of ['events', 'following-events'])
      expect(linksOf(await open(`/docs/guides/${name}`)), name).toContain(rule)
  })

  it('has examples with the origins of the service', async () => {
    const page = await open('/docs/guides/conventions')
    expect(page).toContain('https://api.acme.example/v1/me')
    expect(page).toContain('https://acme.example/s/{seedId}')
    expect(page).not.toContain('example.com/v1')
  })

  it('has of the changelog what is about the API, by release', async () => {
    const page = await open('/docs/guides/changelog')
    expect(page).toContain('<h2 id="100-rc1---2026-11-24">1.0.0-rc.1 - 2026-11-24</h2>')
    expect(page).toContain('<code>events.changes</code>')
    expect(page).not.toContain('<code>compose.yaml</code>')
  })

  it('has documents that the image has', () => {
    const [dockerfile, ignored] = [read('Dockerfile'), read('.dockerignore')]
    for (const { file } of guides) {
      const [pattern, copy] = file.startsWith('docs/')
        ? ['docs/*.md', 'COPY docs/*.md ./docs/']
        : [file, `COPY ${file} ./`]
      expect(ignored.split('\n'), file).toContain(`!${pattern}`)
      expect(dockerfile.split('\n'), file).toContain(copy)
    }
  })
})

describe('links of documents', () => {
  it.each([
    ['events.md', 'docs/webhooks.md', '/docs/guides/events'],
    ['events.md#seedcreated', 'docs/webhooks.md', '/docs/guides/events#seedcreated'],
    ['docs/events.md', 'CHANGELOG.md', '/docs/guides/events'],
    ['../CHANGELOG.md', 'docs/conventions.md', '/docs/guides/changelog'],
    ['errors.md#404', 'docs/conventions.md', '/docs/errors'],
    ['openapi.json', 'docs/agents.md', '/openapi.json'],
    ['#pages', 'docs/conventions.md', '#pages'],
    ['https://example.com/x.md', 'docs/agents.md', 'https://example.com/x.md'],
    ['operations.md#agents', 'docs/agents.md', undefined],
    ['../packages/client/README.md', 'docs/webhooks.md', undefined],
  ])('%s in %s leads to %s', (href, file, target) => {
    expect(siteTargetOf(href, file)).toBe(target)
  })

  it('that lead to nothing on the site are text, and left out in parentheses of their own', () => {
    const text = 'See [operations](operations.md) and [*events*](events.md) ([design](design/events.md#x)).'
    expect(renderGuide(text, 'docs/agents.md', {}).body.toString()).toBe(
      '<p>See operations and <a href="/docs/guides/events"><em>events</em></a>.</p>\n',
    )
  })

  it('have the title of the guide in place of the name of its file', () => {
    expect(renderGuide('[events.md](events.md)', 'docs/agents.md', {}).body.toString()).toBe(
      '<p><a href="/docs/guides/events">Events</a></p>\n',
    )
  })

  it('lead to headings by the anchors of GitHub', () => {
    const { sections, body } = renderGuide('## A `b.c` & D\n\n### A\n\n## A <b>', 'docs/agents.md', {})
    expect(sections).toEqual([
      { id: 'a-bc--d', title: 'A b.c & D' },
      { id: 'a-b', title: 'A <b>' },
    ])
    expect(body.toString()).toContain('<h2 id="a-b">A &lt;b&gt;</h2>')
  })
})

describe('textOfGuide', () => {
  it('takes the section of each release that has one', () => {
    const guide = { name: 'x', file: 'X.md', title: 'Changes', summary: '', only: 'API' }
    const text = '# X\n\n## [Next]\n\n### API\n\n- a\n\n### Added\n\n- b\n\n## 1\n\n### Added\n\n- c\n'
    const lines = textOfGuide(guide, text).split('\n').filter(Boolean)
    expect(lines).toEqual(['# Changes', '## Next', '- a'])
  })
})
