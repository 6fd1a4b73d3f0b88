import type { Browser, BrowserContextOptions } from 'playwright-core'
import { afterFile } from '../support/after-file.ts'
import { findClosedPort } from '../support/raw-http.ts'
import { openBrowser, openPage } from './browser.ts'
import { startWebsite } from './visitor.ts'

/** The website as a browser sees it. */
export interface Site {
  origin: string
  website: Awaited<ReturnType<typeof startWebsite>>
  browser: Browser
}

/** Starts the website on a port. It is closed after the last test of the file. */
export async function serveSite(): Promise<Omit<Site, 'browser'>> {
  const port = await findClosedPort('localhost')
  const origin = `http://localhost:${port}`
  const website = await startWebsite({ environment: { PORT: String(port), BASE_URL: origin } })
  await website.app.listen({ host: 'localhost', port })
  return { origin, website }
}

/** Starts the website on a port, and a browser. Both are closed after the last test of the file. */
export async function startSite(): Promise<Site> {
  const served = await serveSite()
  const browser = await openBrowser()
  afterFile(() => browser.close())
  return { ...served, browser }
}

/** Opens a browser in which a person is signed in. */
export async function openAs(
  { browser, website }: Site,
  { id }: { id: string },
  options: BrowserContextOptions = {},
) {
  const opened = await openPage(browser, options)
  await opened.page.goto((await website.services.credentials.createLink('sign_in', id)).url)
  await opened.page.getByRole('main').getByRole('button').first().click()
  await opened.page.waitForURL(/\/(w\/|onboarding)/)
  return opened
}
