import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, it } from 'vitest'
import { check, hasBrowser, sizes } from './browser.ts'
import { openAs, startSite, type Site } from './site.ts'
import { createComment } from '../support/comments.ts'
import { addPerson, createCompany, patch } from '../support/company.ts'
import { longComments, longNames, longSeeds, longWorkspaceName } from '../support/long-texts.ts'
import { addEvidence, createSeed, joinSeed, type TestSeed } from '../support/seeds.ts'

if (!hasBrowser)
  console.warn('Chromium is not installed: skipping the tests of the layout. Install the package chromium.')

const widths = [1280, 390, 320]

describe.runIf(hasBrowser)('pages with long texts, of several scripts', () => {
  let site: Site
  let company: Awaited<ReturnType<typeof createCompany>>
  let page: Page
  let seed: TestSeed
  let pieceId: string

  beforeAll(async () => {
    site = await startSite()
    const { website } = site
    company = await createCompany(website)
    const renamed = await website.as(
      company.owner,
      patch(company.url, { name: longWorkspaceName, slug: company.workspace.slug }),
    )
    expect(renamed.statusCode).toBe(200)
    for (const name of longNames) {
      const person = await addPerson(website, company.workspace, 'member', name)
      for (const texts of longSeeds) {
        seed = await createSeed(website, person, company, texts)
        await joinSeed(website, company.member, seed)
      }
    }
    const piece = await addEvidence(website, company.member, seed, { summary: longComments.join('\n\n') })
    pieceId = piece.id
    for (const body of longComments) {
      await createComment(website, company.owner, seed, { body })
      await createComment(website, company.owner, seed, { body, evidenceId: pieceId })
    }
    ;({ page } = await openAs(site, company.owner))
  })

  const paths = () => [
    ...[
      '',
      '/seeds?view=list',
      '/seeds?view=board',
      `/seeds/${seed.id}`,
      `/seeds/${seed.id}/evidence/${pieceId}`,
    ],
    ...[
      '/seeds/new',
      '/people',
      '/teams',
      '/invites',
      '/activity',
      '/search?q=invoices',
      '/agents',
      '/settings',
    ],
    ...[
      '//notifications',
      '//settings/profile',
      '//settings/security',
      '//onboarding',
      '//docs',
      '//docs/api/seeds',
    ],
  ]

  const base = () => `${site.origin}/w/${company.workspace.slug}`

  it('fit a desktop computer and phones, and are accessible', async () => {
    const paths = [
      '',
      '/seeds?view=list',
      '/seeds?view=board',
      `/seeds/${seed.id}`,
      `/seeds/${seed.id}/evidence/${pieceId}`,
    ]
    for (const path of [...paths, '/people', '/activity', '/search?q=invoices', '/agents', '/teams']) {
      await page.goto(base() + path)
      await check(page)
      await page.setViewportSize({ width: 320, height: 640 })
      const overflow = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth')
      expect(overflow, `${path} is wider than 320 px`).toBeLessThanOrEqual(0)
    }
  })

  it('do not move while they load, on slow connections too', async () => {
    const { context, page: opened } = await openAs(site, company.owner)
    // https://developer.mozilla.org/en-US/docs/Web/API/LayoutShift
    await opened.addInitScript(`
      window.shifts = []
      new PerformanceObserver((list) => {
        for (const { value, sources } of list.getEntries())
          window.shifts.push({ value, moved: sources.map(({ node, previousRect: was, currentRect: is }) =>
            \`\${node?.localName ?? node?.nodeName}.\${node?.className} \${was.y} > \${is.y}, \${was.height} > \${is.height}\`) })
      }).observe({ type: 'layout-shift', buffered: true })`)
    const devTools = await context.newCDPSession(opened)
    await devTools.send('Network.enable')
    await devTools.send('Network.setCacheDisabled', { cacheDisabled: true })
    const problems: string[] = []
    for (const throughput of [10_000_000, 100_000]) {
      const conditions = {
        offline: false,
        latency: 20,
        downloadThroughput: throughput,
        uploadThroughput: throughput,
      }
      await devTools.send('Network.emulateNetworkConditions', conditions)
      for (const [path, size] of paths().flatMap(
        (each) =>
          [
            [each, 'desk'],
            [each, 'phone'],
          ] as const,
      )) {
        await opened.setViewportSize(sizes[size])
        await opened.goto(path.startsWith('//') ? site.origin + path.slice(1) : base() + path)
        const shifts = await opened.evaluate<{ value: number; moved: string[] }[]>(`
          new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => resolve(window.shifts))))`)
        const sum = shifts.reduce((total, { value }) => total + value, 0)
        // A good page has 0.1 at most (https://web.dev/articles/cls).
        if (sum >= 0.05) problems.push(`${path} at ${size}, ${throughput}: ${sum} ${JSON.stringify(shifts)}`)
      }
    }
    expect(problems).toEqual([])
    await context.close()
  })

  it.each(widths)('leave titles their room in the palette, at %i px', async (width) => {
    await page.setViewportSize({ width, height: 800 })
    await page.goto(`${base()}/seeds`)
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox', { name: /^Search/ }).fill('invoices')
    await page
      .getByRole('option', { name: /Invoices by voice/ })
      .first()
      .waitFor()
    // The share of each title that is seen, and of its option.
    const shares = await page.evaluate<{ seen: number; ofOption: number }[]>(`
      [...document.querySelectorAll('.palette [role=option]')].map((option) => {
        const { offsetWidth, scrollWidth } = option.firstElementChild
        return { seen: offsetWidth / scrollWidth, ofOption: offsetWidth / option.clientWidth }
      })`)
    expect(shares.length).toBeGreaterThan(3)
    for (const { seen, ofOption } of shares)
      expect(seen === 1 || ofOption > 0.6, JSON.stringify(shares)).toBe(true)
  })

  it('show the name of the workspace on a phone', async () => {
    for (const width of [390, 320]) {
      await page.setViewportSize({ width, height: 800 })
      await page.goto(base())
      const name = await page.locator('.switcher > summary .truncate').boundingBox()
      expect(name?.width, `${width} px`).toBeGreaterThan(width / 5)
    }
  })
})
