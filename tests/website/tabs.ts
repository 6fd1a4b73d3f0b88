import { existsSync } from 'node:fs'
import axe from 'axe-core'
import type { Browser } from 'playwright-core'
import { launch } from 'puppeteer-core'
import { eventually } from '../support/eventually.ts'
import { patientMs } from '../support/patient-limits.ts'
import { hasBrowser, openBrowser, sizes } from './browser.ts'

const firefoxPath = ['/usr/bin/firefox-esr', '/usr/bin/firefox'].find((path) => existsSync(path))

/** The engines that journeys run in. Playwright cannot drive Debian's Firefox: it needs one of its own. */
export const engines = {
  Chromium: { isInstalled: hasBrowser, package: 'chromium', open: openChromium },
  Firefox: { isInstalled: firefoxPath !== undefined, package: 'firefox-esr', open: openFirefox },
}

/** The role and the accessible name of something on a page. */
type Target = readonly [role: string, name: string]

/** What journeys need of a page, in any engine. */
interface Engine {
  goto: (url: string) => Promise<unknown>
  /** Clicks what is visible, once it is there. */
  click: (target: Target) => Promise<void>
  /** Presses a key, with others held down: `Control+k`. */
  press: (keys: string) => Promise<void>
  type: (text: string) => Promise<void>
  evaluate: <T>(script: string) => Promise<T>
  /** Shows the page, which Firefox hides behind one that was opened later: it is not live then, and gets no keys. */
  bringToFront: () => Promise<void>
  resize: (size: { width: number; height: number }) => Promise<void>
  /** Opens another window of the same person. */
  openWindow: () => Promise<Tab>
}

/** A window of the browser of one person. */
export interface Tab extends Engine {
  /** Errors of scripts and of the console. */
  complaints: string[]
  /** Waits until a text is on the page. */
  see: (text: string) => Promise<void>
  /** Waits until an expression is true. */
  until: (expression: string, what?: string) => Promise<void>
  /** Moves the focus to the first element that matches. */
  focus: (selector: string) => Promise<void>
  /** Replaces the text of a field. */
  fill: (label: string, text: string) => Promise<void>
  /** Finds violations of accessibility and horizontal overflow, on narrow phones in both themes. */
  findViolations: () => Promise<string[]>
}

/** Opens a browser for each person, who signs in there. */
export interface Engines {
  openTab(options: { size: keyof typeof sizes; signInUrl: string }): Promise<Tab>
  close(): Promise<void>
}

function createTab(engine: Engine, complaints: string[]): Tab {
  const { goto, click, type, evaluate, resize, bringToFront } = engine
  const tab: Tab = {
    ...engine,
    complaints,
    /** Goes to a page, in front of those of the other people. */
    async goto(url: string) {
      await bringToFront()
      await goto(url)
    },
    see: (text: string) => tab.until(`document.body.innerText.includes(${JSON.stringify(text)})`, text),
    async until(expression, what = expression) {
      try {
        await eventually(async () => {
          // While the page changes, there is none to ask. Until it has loaded, keys may get lost, and the browser moves
          // the focus to what the address names.
          const isShown = `document.readyState === 'complete' && Boolean(${expression})`
          if (!(await evaluate<boolean>(isShown).catch(() => false))) throw new Error(`waiting for: ${what}`)
        })
      } catch (error) {
        const shown = await evaluate<string>(`[
          location.href, document.readyState, document.activeElement?.outerHTML.slice(0, 200), document.body.innerText
        ].join('\\n')`).catch(String)
        throw new Error(`${(error as Error).message}\nshown:\n${shown}`, { cause: error })
      }
    },
    focus: (selector) =>
      tab.until(
        `(() => {
      const element = document.querySelector(${JSON.stringify(selector)})
      element?.focus()
      return element !== null && element === document.activeElement
    })()`,
        `the focus on ${selector}`,
      ),
    async fill(label, text) {
      await click(['textbox', label])
      await evaluate('document.activeElement.select()')
      await type(text)
    },
    async findViolations() {
      await evaluate(axe.source)
      const found: string[] = []
      for (const width of [320, 390])
        for (const theme of ['light', 'dark']) {
          await resize({ width, height: 844 })
          const violations = await evaluate<string[]>(`
            document.documentElement.dataset.theme = '${theme}'
            axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) => [
              ...violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html).join(' ')),
              ...(document.documentElement.scrollWidth > innerWidth ? ['wider than the screen'] : []),
            ])`)
          found.push(...violations.map((violation) => `${width} px, ${theme}: ${violation}`))
        }
      return found
    },
  }
  return tab
}

async function openChromium(): Promise<Engines> {
  const browser: Browser = await openBrowser()
  return {
    close: () => browser.close(),
    async openTab({ size, signInUrl }) {
      const context = await browser.newContext({ viewport: sizes[size] })
      const complaints: string[] = []
      const openWindow = async () => {
        const page = await context.newPage()
        page.setDefaultTimeout(patientMs)
        page.on('pageerror', ({ message }) => complaints.push(message))
        // Leaving a page with a text that was begun asks.
        page.on('dialog', (dialog) => void dialog.accept())
        const find = ([role, name]: Target) =>
          page
            .getByRole(role as 'button', { name, exact: true })
            .filter({ visible: true })
            .first()
        const engine: Engine = {
          openWindow,
          goto: (url) => page.goto(url),
          click: (target) => find(target).click(),
          press: (keys) => page.keyboard.press(keys),
          type: (text) => page.keyboard.type(text),
          resize: (viewport) => page.setViewportSize(viewport),
          bringToFront: () => page.bringToFront(),
          evaluate: <T>(script: string) => page.evaluate<T>(script),
        }
        return createTab(engine, complaints)
      }
      return signIn(await openWindow(), signInUrl)
    },
  }
}

async function openFirefox(): Promise<Engines> {
  const browser = await launch({
    browser: 'firefox',
    ...(firefoxPath !== undefined && { executablePath: firefoxPath }),
  })
  return {
    close: () => browser.close(),
    async openTab({ size, signInUrl }) {
      const context = await browser.createBrowserContext()
      const complaints: string[] = []
      const openWindow = async () => {
        const page = await context.newPage()
        await page.setViewport(sizes[size])
        page.setDefaultTimeout(patientMs)
        page.on('pageerror', (error) => complaints.push(String(error)))
        page.on('dialog', (dialog) => void dialog.accept())
        const engine: Engine = {
          openWindow,
          goto: (url) => page.goto(url),
          async click([role, name]) {
            await page.locator(`::-p-aria([name="${name}"][role="${role}"])`).click()
          },
          async press(keys) {
            const [key, ...held] = keys.split('+').toReversed() as ['Enter', ...'Control'[]]
            for (const other of held) await page.keyboard.down(other)
            await page.keyboard.press(key)
            for (const other of held) await page.keyboard.up(other)
          },
          resize: (viewport) => page.setViewport(viewport),
          bringToFront: () => page.bringToFront(),
          type: (text) => page.keyboard.type(text),
          evaluate: async <T>(script: string) => (await page.evaluate(script)) as T,
        }
        return createTab(engine, complaints)
      }
      return signIn(await openWindow(), signInUrl)
    },
  }
}

async function signIn(tab: Tab, signInUrl: string): Promise<Tab> {
  await tab.goto(signInUrl)
  await tab.click(['button', 'Sign in'])
  await tab.until('/^.(w.|onboarding)/.test(location.pathname)')
  return tab
}
