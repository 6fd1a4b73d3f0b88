import type { Browser } from 'playwright-core'
import { afterFile } from '../support/after-file.ts'
import { findClosedPort } from '../support/raw-http.ts'
import { openBrowser } from './browser.ts'
import { startWebsite } from './visitor.ts'

/** The website as a browser sees it. */
export interface Site {
  origin: string
  website: Awaited<ReturnType<typeof startWebsite>>
  browser: Browser
}

/** Starts the website on a port, and a browser. Both are closed after the last test of the file. */
export async function startSite(): Promise<Site> {
  const port = await findClosedPort('localhost')
  const origin = `http://localhost:${port}`
  const website = await startWebsite({ environment: { PORT: String(port), BASE_URL: origin } })
  await website.app.listen({ host: 'localhost', port })
  const browser = await openBrowser()
  afterFile(() => browser.close())
  return { origin, website, browser }
}
