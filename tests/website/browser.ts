import { existsSync } from 'node:fs'
import axe from 'axe-core'
import { chromium, type Browser, type BrowserContextOptions, type Page } from 'playwright-core'
import { expect } from 'vitest'
import { patientMs } from '../support/patient-limits.ts'

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

/** Pages are checked in each of these. */
export const looks = [
  { size: 'phone', colorScheme: 'dark' },
  { size: 'desk', colorScheme: 'light' },
] as const

/**
 * Checks the current page for accessibility violations and horizontal overflow, as a phone in the dark color scheme and as
 * a desktop computer in the light one.
 */
export async function check(page: Page): Promise<void> {
  const viewport = page.viewportSize()
  const isDark = await page.evaluate<boolean>('matchMedia("(prefers-color-scheme: dark)").matches')
  for (const { size, colorScheme } of looks) {
    await page.setViewportSize(sizes[size])
    await page.emulateMedia({ colorScheme })
    expect(await findViolations(page), `${page.url()} on a ${size}`).toEqual([])
    const overflow = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth')
    expect(overflow, `${page.url()} is wider than a ${size}`).toBeLessThanOrEqual(0)
  }
  if (viewport) await page.setViewportSize(viewport)
  await page.emulateMedia({ colorScheme: isDark ? 'dark' : 'light' })
  expect(await page.title()).toMatch(/ · Workspace$/)
}

async function findViolations(page: Page): Promise<string[]> {
  if (await page.evaluate<boolean>('!window.axe')) await page.evaluate(axe.source)
  return page.evaluate<string[]>(`
    axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) =>
      violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html).join(' ')))`)
}

/** Opens a page in a new browser context, and collects its console errors and exceptions. */
export async function openPage(browser: Browser, options: BrowserContextOptions) {
  const context = await browser.newContext(options)
  const page = await context.newPage()
  page.setDefaultTimeout(patientMs)
  const complaints: string[] = []
  page.on('console', (message) => {
    // The console also reports responses that the tests expect, such as 404.
    if (message.type() === 'error' && !message.text().includes('the server responded with a status of'))
      complaints.push(message.text())
  })
  page.on('pageerror', (error) => complaints.push(error.message))
  return { context, page, complaints }
}
