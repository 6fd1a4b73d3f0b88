import axe from 'axe-core'
import { build } from 'esbuild'
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import type { AgentScope } from '../../src/domain/agent.ts'
import { afterFile } from '../support/after-file.ts'
import { eras, type Era } from '../support/agent-caller.ts'
import { addPerson, createCompany, patch, post, type TestCompany } from '../support/company.ts'
import { untilTrue } from '../support/eventually.ts'
import { longNames, longSeeds } from '../support/long-texts.ts'
import { createOAuthTester } from '../support/oauth-client.ts'
import { addEvidence, createSeed, findSeed, joinSeed } from '../support/seeds.ts'
import type { TestPerson } from '../support/test-app.ts'
import { hasBrowser, openPage, sizes } from '../website/browser.ts'
import { startSite, type Site } from '../website/site.ts'

/** What frames of web pages that show cards send with them, from what the card declares (SEP-1865, Host Behavior). */
function policyOf(domains: Record<string, string[]>): string {
  const of = (name: string, without: string) => (domains[name]?.length ? domains[name].join(' ') : without)
  const resources = of('resourceDomains', '')
  return [
    "default-src 'none'",
    `script-src 'self' 'unsafe-inline' ${resources}`,
    `style-src 'self' 'unsafe-inline' ${resources}`,
    `img-src 'self' data: ${resources}`,
    `media-src 'self' data: ${resources}`,
    `connect-src ${of('connectDomains', "'none'")}`,
    `frame-src ${of('frameDomains', "'none'")}`,
    `base-uri ${of('baseUriDomains', "'self'")}`,
    "object-src 'none'",
  ].join('; ')
}

/** Loads the card, and passes on the messages of both sides. */
const sandboxPage = `<!doctype html><html lang="en"><title>Sandbox</title><style>body{margin:0}iframe{border:0;width:100%;height:100vh}</style><body><script>
const inner = document.createElement('iframe')
inner.title = 'Card'
inner.sandbox = 'allow-scripts'
addEventListener('message', ({ source, data }) => {
  if (source === inner.contentWindow) parent.postMessage(data, '*')
  else if (source !== parent) return
  else if (data.method !== 'ui/notifications/sandbox-resource-ready') inner.contentWindow.postMessage(data, '*')
  else { inner.srcdoc = data.params.html; document.body.append(inner) }
})
parent.postMessage({ jsonrpc: '2.0', method: 'ui/notifications/sandbox-proxy-ready', params: {} }, '*')
</script>`

async function serve(host: 'localhost' | '127.0.0.1', answer: RequestListener): Promise<string> {
  const server = createServer(answer)
  server.listen(0, host)
  await once(server, 'listening')
  afterFile(() => new Promise<void>((done) => server.close(() => done())))
  return `http://${host}:${(server.address() as AddressInfo).port}`
}

/** Serves the program and its sandbox, on two origins. */
async function servePages(): Promise<{ host: string; sandbox: string }> {
  const bundled = await build({
    entryPoints: ['tests/agents/card-host.js'],
    ...{ bundle: true, write: false, format: 'esm', logLevel: 'error' },
  })
  const script = bundled.outputFiles[0]?.text ?? ''
  const host = await serve('localhost', (request, response) => {
    const isScript = request.url === '/host.js'
    response
      .setHeader('content-type', isScript ? 'text/javascript' : 'text/html')
      .end(
        isScript
          ? script
          : '<!doctype html><html lang="en"><title>A program</title><script type="module" src="/host.js"></script>',
      )
  })
  const sandbox = await serve('127.0.0.1', (request, response) => {
    const csp = new URL(request.url ?? '', 'http://127.0.0.1').searchParams.get('csp') ?? '{}'
    response
      .setHeader('content-type', 'text/html')
      .setHeader('content-security-policy', policyOf(JSON.parse(csp) as Record<string, string[]>))
      .end(sandboxPage)
  })
  return { host, sandbox }
}

const writing: AgentScope[] = ['validation-kit:read', 'workspace:read', 'seeds:write']
const hostileTitle = '<script>parent.x=1</script><img src=x onerror=parent.x=1> "&amp; عنوان 👩🏽‍💻'

describe.runIf(hasBrowser)('the card of a seed in a program of the official parts', () => {
  let site: Site
  let company: TestCompany
  let pages: { host: string; sandbox: string }

  beforeAll(async () => {
    site = await startSite()
    company = await createCompany(site.website)
    pages = await servePages()
  })

  interface Shown {
    name: string
    args?: object
    era?: Era
    at?: TestCompany
    person?: TestPerson
    scopes?: readonly AgentScope[]
    hostContext?: object
  }

  /** Connects the program as an agent of a person, has it call a tool, and shows the card. */
  async function show({ name, args = {}, hostContext, ...as }: Shown) {
    const { website, origin, browser } = site
    const { era = '2026-07-28', at = company, person = at.member, scopes = writing } = as
    const token = await createOAuthTester(website).letIn(at.workspace, person, { scopes })
    const opened = await openPage(browser, { viewport: sizes.desk })
    onTestFinished(() => opened.context.close())
    const { page, complaints } = opened
    await page.goto(pages.host)
    const given = { url: `${origin}/agent/mcp`, sandbox: pages.sandbox, token, era, name, args, hostContext }
    const text = await page.evaluate<string>(`openCard(${JSON.stringify(given)})`)
    const card = page.frameLocator('iframe').frameLocator('iframe')
    return {
      ...{ page, complaints, card, text },
      /** What the card asked the program for. */
      asked: () => page.evaluate<unknown[]>('asked'),
      async frame() {
        const found = page.frames().find((frame) => frame.url() === 'about:srcdoc')
        if (!found) throw new Error('there is no card')
        return found
      },
    }
  }

  const seedOf = (fields: object = {}) => createSeed(site.website, company.member, company, fields)
  const heading = (level: number, name?: string) => ({ level, ...(name !== undefined && { name }) })

  it.each(eras)('shows a seed with its balance and its evidence, in the revision %s', async (era) => {
    const seed = await seedOf({
      title: 'Self-service onboarding',
      hypothesis: 'Half of the teams finish the setup without help.',
      successCriteria: ['30 of 60 teams finish within a day'],
    })
    for (const verdict of ['supports', 'supports', 'contradicts', 'neutral'])
      await addEvidence(site.website, company.member, seed, { verdict, summary: `It is ${verdict}` })
    const sourceUrl = 'https://example.com/notes?a=1'
    await addEvidence(site.website, company.member, seed, { verdict: 'supports', sourceUrl })
    await addEvidence(site.website, company.member, seed, { verdict: 'supports', summary: 'The newest' })

    const { card, asked, complaints } = await show({
      ...{ name: 'read_validation_kit', args: { seedId: seed.id }, era, scopes: ['validation-kit:read'] },
    })
    await card.getByRole('heading', heading(1, 'Self-service onboarding')).waitFor()
    const text = await card.locator('main').innerText()
    expect(text).toContain('4 support it, 1 contradicts it, 1 neutral')
    expect(text).toContain('Half of the teams finish the setup without help.')
    expect(text).toContain('30 of 60 teams finish within a day')
    expect(text).toContain(`supports · interview · ${company.member.name} · `)
    expect(text).toContain('1 more are not shown.')
    expect(await card.locator('.evidence > li').count()).toBe(5)
    expect(await card.locator('.evidence > li').first().innerText()).toContain('The newest')
    // An agent that only reads is offered no change.
    expect(await card.getByRole('button', { name: 'Change the status' }).count()).toBe(0)
    await card.getByRole('button', { name: 'Open the source: example.com' }).click()
    await card.getByRole('button', { name: 'Open the seed' }).click()
    await untilTrue(async () => (await asked()).length === 2)
    expect(await asked()).toEqual([
      ['open', sourceUrl],
      ['open', `${site.origin}/w/${company.workspace.slug}/seeds/${seed.id}`],
    ])
    expect(complaints).toEqual([])
  })

  it('shows what people wrote as text, in every script and length, on a phone and in the dark', async () => {
    const { website } = site
    const ada = await addPerson(website, company.workspace, 'member', longNames[1])
    const seed = await createSeed(website, ada, company, {
      title: hostileTitle,
      summary: longSeeds[2].summary,
      hypothesis: `${longSeeds[3].title} <style>*{display:none}</style>`,
      successCriteria: ['x'.repeat(300), longSeeds[2].title],
    })
    await addEvidence(website, ada, seed, {
      summary: `${hostileTitle}\n${'z'.repeat(2_000)}`,
      sourceUrl: `https://example.com/${'y'.repeat(1_000)}`,
    })
    const shown = await show({ name: 'read_validation_kit', args: { seedId: seed.id }, person: ada })
    const { card, page, complaints } = shown
    await card.getByRole('heading', heading(1)).waitFor()
    expect(await card.getByRole('heading', heading(1)).textContent()).toBe(hostileTitle)
    expect(await card.locator('main :is(script, style, img, a, iframe)').count()).toBe(0)
    expect(await card.getByText(longNames[1]).count()).toBe(1)
    expect(await page.evaluate('typeof x')).toBe('undefined')

    const frame = await shown.frame()
    // As the program sends it: names that the service has no longer.
    const kit = JSON.parse(shown.text) as { seeds: { evidence: object[] }[] }
    const long = { authorName: 'W'.repeat(300), agentName: '<b>無</b>'.repeat(60) }
    Object.assign(kit.seeds[0]?.evidence[0] ?? {}, long)
    await page.evaluate(`bridge.sendToolResult(${JSON.stringify({ content: [], structuredContent: kit })})`)
    await card.getByText(long.authorName).waitFor()
    for (const colorScheme of ['dark', 'light'] as const) {
      for (const size of Object.values(sizes)) {
        await page.setViewportSize(size)
        await page.emulateMedia({ colorScheme })
        const overflow = await frame.evaluate<number>('document.documentElement.scrollWidth - innerWidth')
        expect(overflow).toBeLessThanOrEqual(0)
        await frame.evaluate(axe.source)
        const violations = await frame.evaluate<unknown[]>(
          `axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) => violations.map(({ id, nodes }) => [id, ...nodes.map(({ html }) => html)]))`,
        )
        expect(violations).toEqual([])
      }
    }
    expect(complaints).toEqual([])
  })

  it('sets a status only when the person confirms it, and tells the program', async () => {
    const seed = await seedOf({ title: hostileTitle })
    const { card, page, asked, complaints } = await show({
      ...{ name: 'read_validation_kit', args: { seedId: seed.id } },
    })
    const change = card.getByRole('button', { name: 'Change the status' })
    await card.getByLabel('New status').selectOption('dropped')
    await change.click()
    await card.getByText(`Set the status of “${hostileTitle}” from open to dropped?`).waitFor()
    await card.getByRole('button', { name: 'Cancel' }).click()
    await change.waitFor()
    expect(await card.locator(':focus').innerText()).toBe('Change the status')
    expect(await asked()).toEqual([])

    await card.getByLabel('New status').selectOption('validating')
    await change.click()
    // Ready to be written.
    await page.keyboard.insertText('Olga looks for evidence ‏نعم')
    await page.evaluate('refuse(true)')
    const set = card.getByRole('button', { name: 'Set to validating' })
    await set.click()
    await card.getByText('The person refused the call.').waitFor()
    expect((await findSeed(site.website, seed))?.status).toBe('open')

    await page.evaluate('refuse(false)')
    await set.click()
    await card.getByText('The status was set to validating.').waitFor()
    await card.getByRole('heading', heading(1)).waitFor()
    expect(await card.locator('.status').innerText()).toBe('validating')
    expect(await findSeed(site.website, seed)).toMatchObject({
      status: 'validating',
      status_reason: 'Olga looks for evidence ‏نعم',
    })
    const call = [
      'update_seed',
      { seedId: seed.id, status: 'validating', statusReason: 'Olga looks for evidence ‏نعم' },
    ]
    const text = `On the card, the person set the status of the seed ${seed.id} to validating.`
    expect(await asked()).toEqual([
      call,
      call,
      ['context', [{ type: 'text', text }]],
      ['read_validation_kit', { seedId: seed.id, evidenceLimit: 5 }],
    ])
    expect(complaints).toEqual([])
  })

  it('offers no change to the agent of a viewer, and says why the service refuses one', async () => {
    const seed = await seedOf()
    const args = { seedId: seed.id }
    const of = await show({ name: 'read_validation_kit', args, person: company.viewer })
    await of.card.getByRole('heading', heading(1, seed.title)).waitFor()
    expect(await of.card.getByRole('button').allInnerTexts()).toEqual(['Open the seed'])

    const person = await addPerson(site.website, company.workspace, 'member')
    const { card } = await show({ name: 'read_validation_kit', args, person })
    await card.getByRole('button', { name: 'Change the status' }).click()
    const demoted = await site.website.as(
      company.owner,
      patch(`${company.url}/members/${person.id}`, { role: 'viewer' }),
    )
    expect(demoted.statusCode, demoted.body).toBe(200)
    await card.getByRole('button', { name: /^Set to/ }).click()
    await card.getByRole('alert').waitFor()
    expect(await card.getByRole('alert').innerText()).toContain('viewer')
    expect((await findSeed(site.website, seed))?.status).toBe('open')
  })

  it('shows several seeds as a list, from which each is opened, without comments', async () => {
    const { website } = site
    const at = await createCompany(website)
    for (const { title, summary } of longSeeds.slice(0, 3)) {
      const { id } = await createSeed(website, at.member, at, { title, summary })
      const commented = await website.as(at.member, post(`/v1/seeds/${id}/comments`, { body: 'Between us' }))
      expect(commented.statusCode, commented.body).toBe(200)
    }
    for (const scopes of [writing, ['validation-kit:read'] as const]) {
      const { card, complaints } = await show({ name: 'read_validation_kit', at, scopes })
      await card.getByRole('heading', heading(1, '3 seeds')).waitFor()
      await card.getByRole('button', { name: longSeeds[0].title }).click()
      await card.getByRole('heading', heading(1, longSeeds[0].title)).waitFor()
      expect(await card.locator('body').innerText()).not.toContain('Between us')
      await card.getByRole('button', { name: 'All seeds' }).click()
      await card.getByRole('button', { name: longSeeds[2].title }).waitFor()
      expect(await card.locator(':focus').innerText()).toBe('3 seeds')
      expect(complaints).toEqual([])
    }
  })

  it('confirms what tools changed, with the seed, and shows why a tool failed', async () => {
    const created = await show({ name: 'create_seed', args: { title: 'Made by an agent', summary: 'So' } })
    await created.card.getByText('The seed was created.').waitFor()
    await created.card.getByRole('heading', heading(1, 'Made by an agent')).waitFor()

    const seed = await seedOf({ title: 'Before' })
    const args = { seedId: seed.id, title: 'After', status: 'validating' }
    const updated = await show({ name: 'update_seed', args })
    await updated.card.getByText('Changed: title, status.').waitFor()
    await updated.card.getByRole('heading', heading(1, 'After')).waitFor()

    await joinSeed(site.website, company.owner, seed)
    const found = { seedId: seed.id, kind: 'note', verdict: 'contradicts', summary: 'Nobody would' }
    const added = await show({ name: 'add_evidence', args: found, person: company.owner })
    await added.card.getByText('Evidence was added.').waitFor()
    await added.card.getByText('0 support it, 1 contradicts it, 0 neutral').waitFor()

    const failed = await show({ name: 'add_evidence', args: found, person: company.admin })
    await failed.card.getByRole('alert').waitFor()
    expect(await failed.card.getByRole('alert').innerText()).toBe(failed.text)
    expect(failed.text).toContain('join_seed')
    for (const { complaints } of [created, updated, added, failed]) expect(complaints).toEqual([])
  })

  it('reaches nothing, whatever the program around it allows', async () => {
    const seed = await seedOf()
    const shown = await show({ name: 'read_validation_kit', args: { seedId: seed.id } })
    await shown.card.getByRole('heading', heading(1, seed.title)).waitFor()
    const frame = await shown.frame()
    const reached: unknown[] = []
    const origin = await serve('localhost', ({ url }, response) => {
      reached.push(url)
      response.end()
    })
    // From elsewhere it is reached.
    expect((await fetch(`${origin}/before`)).status).toBe(200)
    // The policy of the page itself, which stands first in it.
    const blocked = await frame.evaluate<string[]>(`new Promise((resolve) => {
      const found = []
      addEventListener('securitypolicyviolation', ({ originalPolicy, effectiveDirective }) => {
        if (!originalPolicy.startsWith("default-src 'none'; script-src 'unsafe-inline';")) return
        found.push(effectiveDirective)
        if (found.length === 3) resolve(found.sort())
      })
      fetch('${origin}/health').catch(() => undefined)
      new Image().src = '${origin}/icon.svg'
      document.head.append(Object.assign(document.createElement('script'), { src: '${origin}/a.js' }))
    })`)
    expect(blocked).toEqual(['connect-src', 'img-src', 'script-src-elem'])
    expect(reached).toEqual(['/before'])
  })

  it('takes over the colors of the program, and only those of its own parent', async () => {
    const seed = await seedOf()
    const hostContext = {
      theme: 'dark',
      styles: { variables: { '--color-background-primary': 'rgb(1, 2, 3)' } },
    }
    const shown = await show({ name: 'read_validation_kit', args: { seedId: seed.id }, hostContext })
    await shown.card.getByRole('heading', heading(1, seed.title)).waitFor()
    const frame = await shown.frame()
    expect(await frame.evaluate('getComputedStyle(document.body).backgroundColor')).toBe('rgb(1, 2, 3)')
    expect(await frame.evaluate('document.documentElement.style.colorScheme')).toBe('dark')
    await frame.evaluate(`new Promise((resolve) => {
      addEventListener('message', resolve)
      const params = { content: [{ type: 'text', text: 'forged' }], isError: true }
      postMessage({ jsonrpc: '2.0', method: 'ui/notifications/tool-result', params }, '*')
    })`)
    expect(await shown.card.getByText('forged').count()).toBe(0)
  })
})
