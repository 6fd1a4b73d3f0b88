import { existsSync } from 'node:fs'
import axe from 'axe-core'
import { chromium, type Browser, type BrowserContextOptions, type Page } from 'playwright-core'
import { expect } from 'vitest'

const executablePath = ['/usr/bin/chromium', '/usr/bin/chromium-browser'].find((path) => existsSync(path))

/** Whether a browser is installed. */
export const hasBrowser = executablePath !== undefined

/** Launches Debian's Chromium, headless and without background requests. */
export function openBrowser(): Promise<Browser> {
  return chromium.launch({
    ...(executablePath !== undefined && { executablePath }),
    args: [
      '--headless',
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      '--disable-dev-shm-usage',
    ],
  })
}

/** The viewports of a phone and of a desktop computer. */
export const sizes = {
  phone: { width: 390, height: 844 },
  desk: { width: 1280, height: 800 },
} as const

/** Browser tests run with each of these. `check` also checks the other color scheme. */
export const looks = [
  { size: 'phone', colorScheme: 'dark' },
  { size: 'desk', colorScheme: 'light' },
] as const

/**
 * Checks the current page for accessibility violations and horizontal overflow. In the other color scheme it only
 * checks the rules that depend on colors.
 */
export async function check(page: Page): Promise<void> {
  expect(await findViolations(page, {}), page.url()).toEqual([])
  const isDark = await page.evaluate<boolean>('matchMedia("(prefers-color-scheme: dark)").matches')
  await page.emulateMedia({ colorScheme: isDark ? 'light' : 'dark' })
  expect(
    await findViolations(page, { runOnly: ['color-contrast', 'link-in-text-block'] }),
    `${page.url()} in ${isDark ? 'light' : 'dark'}`,
  ).toEqual([])
  await page.emulateMedia({ colorScheme: isDark ? 'dark' : 'light' })
  const overflow = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth')
  expect(overflow, `${page.url()} is wider than the screen`).toBeLessThanOrEqual(0)
  expect(await page.title()).toMatch(/ · Workspace$/)
}

async function findViolations(page: Page, options: axe.RunOptions): Promise<string[]> {
  const run = JSON.stringify({ resultTypes: ['violations'], ...options })
  if (await page.evaluate<boolean>('!window.axe')) await page.evaluate(axe.source)
  return page.evaluate<string[]>(`
    axe.run(document, ${run}).then(({ violations }) =>
      violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html).join(' ')))`)
}

/** Opens a page in a new browser context, and collects its console errors and exceptions. */
export async function openPage(browser: Browser, options: BrowserContextOptions) {
  const context = await browser.newContext(options)
  const page = await context.newPage()
  page.setDefaultTimeout(20_000)
  const complaints: string[] = []
  page.on('console', (message) => {
    // The console also reports responses that the tests expect, such as 404.
    if (message.type() === 'error' && !message.text().includes('the server responded with a status of'))
      complaints.push(message.text())
  })
  page.on('pageerror', (error) => complaints.push(error.message))
  return { context, page, complaints }
}
