import { Client, StreamableHTTPClientTransport, UnauthorizedError, auth } from '@modelcontextprotocol/client'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Locator, Page } from 'playwright-core'
import { beforeAll, describe, expect, it } from 'vitest'
import { createAgentMemory } from '../support/agent-memory.ts'
import { randomEmail } from '../support/company.ts'
import {
  longComments,
  longestWordOf,
  longNames,
  longSeeds,
  longWorkspaceName,
} from '../support/long-texts.ts'
import { hasBrowser, openPage, sizes } from './browser.ts'
import { startSite, type Site } from './site.ts'
import { password } from './visitor.ts'

/** The most presses of Tab to anything on a page. */
const tabsMax = 80

/** How a person works with a page. */
interface Hands {
  /** Follows a link or presses a button. */
  press: (target: Locator) => Promise<void>
  fill: (target: Locator, text: string) => Promise<void>
  /** Chooses a radio button that is the first of its group. */
  choose: (target: Locator) => Promise<void>
}

const hasFocus = (target: Locator) =>
  target.evaluate(
    (it: { ownerDocument: { activeElement: unknown } }) => it.ownerDocument.activeElement === it,
  )

/** Moves the focus by the key Tab alone. */
async function tabTo(page: Page, target: Locator): Promise<void> {
  await target.waitFor()
  for (let i = 0; i < tabsMax; i++) {
    if (await hasFocus(target)) return
    await page.keyboard.press('Tab')
  }
  throw new Error(`${target.toString()} is not reached with the keyboard, on ${page.url()}`)
}

const handsOf: Record<'pointer' | 'keyboard', (page: Page) => Hands> = {
  pointer: () => ({
    press: (target) => target.click(),
    fill: (target, text) => target.fill(text),
    choose: (target) => target.check(),
  }),
  keyboard: (page) => ({
    press: async (target) => {
      await tabTo(page, target)
      await page.keyboard.press('Enter')
    },
    fill: async (target, text) => {
      await tabTo(page, target)
      await page.keyboard.press('ControlOrMeta+A')
      await page.keyboard.type(text)
    },
    choose: async (target) => {
      await tabTo(page, target)
      await page.keyboard.press('Space')
    },
  }),
}

/** An agent that knows only the URL of the MCP endpoint. `authorization` is where it sends the person. */
async function createAgent(endpoint: URL) {
  let answer: URL | undefined
  const callback = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://127.0.0.1')
    if (url.pathname === '/callback') answer = url
    response.setHeader('content-type', 'text/html').end('<title>Connected</title>')
  })
  callback.listen(0, '127.0.0.1')
  await once(callback, 'listening')
  const redirectUrl = `http://127.0.0.1:${(callback.address() as AddressInfo).port}/callback`
  const authProvider = createAgentMemory('Research agent', redirectUrl)
  const connect = async () => {
    const client = new Client({ name: 'research', version: '1' })
    await client.connect(new StreamableHTTPClientTransport(endpoint, { authProvider }))
    return client
  }
  await expect(connect()).rejects.toThrow(UnauthorizedError)
  return {
    authorization: String(authProvider.memory.authorization),
    /** Takes the code that the browser has brought, and reads the validation kit. */
    async read() {
      const { code = '', iss = '' } = Object.fromEntries(answer?.searchParams ?? [])
      await auth(authProvider, { serverUrl: endpoint, authorizationCode: code, iss })
      const client = await connect()
      const { structuredContent } = await client.callTool({
        name: 'read_validation_kit',
        arguments: { detail: 'full' },
      })
      await client.close()
      callback.close()
      return structuredContent
    },
  }
}

describe.runIf(hasBrowser)('a new person in a browser', () => {
  let site: Site

  beforeAll(async () => {
    site = await startSite()
  })

  async function signUp(page: Page, { press, fill }: Hands, name: string, email: string): Promise<void> {
    const { origin, website } = site
    await fill(page.getByLabel('Your name'), name)
    await fill(page.getByLabel('Email address'), email)
    await fill(page.getByLabel('Password'), password)
    await press(page.getByRole('main').getByRole('button', { name: 'Sign up', exact: true }))
    await page.getByRole('heading', { name: 'Check your email' }).waitFor()
    await page.goto(origin + (await website.waitForMail(email, /Verify/)).path)
    await press(page.getByRole('button', { name: 'Verify and sign in' }))
  }

  it.each([
    { size: 'desk', by: 'pointer' },
    { size: 'phone', by: 'keyboard' },
  ] as const)('can use all main features on a $size with the $by', async ({ size, by }) => {
    const { browser, origin, website } = site
    const { context, page, complaints } = await openPage(browser, { viewport: sizes[size] })
    const hands = handsOf[by](page)
    const { press, fill, choose } = hands
    const seeds = longSeeds.slice(1, 4)
    const main = page.getByRole('main')
    const go = (name: string) => press(page.getByRole('navigation').getByRole('link', { name, exact: true }))
    const [, colleagueName] = longNames
    const slug = `journey-${crypto.randomUUID().slice(0, 8)}`

    // Signs up, and makes a workspace.
    await page.goto(`${origin}/sign-up`)
    await signUp(page, hands, longNames[0], randomEmail())
    await fill(page.getByLabel('Name', { exact: true }), longWorkspaceName)
    await expect
      .poll(() => page.getByLabel('Address').inputValue())
      .toMatch(/^gesellschaft-fur-ideenvalidierung/)
    await fill(page.getByLabel('Address'), slug)
    await press(page.getByRole('button', { name: 'Create workspace' }))
    await page.waitForURL(`**/w/${slug}`)

    // Invites a colleague, who accepts.
    await press(main.getByRole('link', { name: /^Invite/ }).first())
    const colleague = randomEmail()
    await fill(page.getByLabel('Email address'), colleague)
    await press(page.getByRole('button', { name: 'Send invites' }))
    await page.getByLabel(`Link for ${colleague}`).waitFor()
    const other = await openPage(browser, { viewport: sizes[size] })
    const theirHands = handsOf[by](other.page)
    await other.page.goto(origin + (await website.waitForMail(colleague, /invited you/)).path)
    await theirHands.fill(other.page.getByLabel('Your name'), colleagueName)
    await theirHands.fill(other.page.getByLabel('Password'), password)
    await theirHands.press(other.page.getByRole('button', { name: 'Create account and join' }))
    await other.page.waitForURL(`**/w/${slug}`)
    await other.context.close()

    // Writes three seeds, and adds evidence and a comment that mentions the colleague.
    for (const { title, summary } of seeds) {
      await go('Seeds')
      await press(main.getByRole('link', { name: /^(New seed|Create the first seed)$/ }).first())
      await fill(page.getByLabel('Title'), title)
      await fill(page.getByLabel('Summary'), summary)
      await press(page.getByRole('button', { name: 'Create seed' }))
      await page.getByRole('heading', { name: title }).waitFor()
    }
    await press(main.locator('summary').filter({ hasText: 'Add evidence' }))
    await choose(page.getByRole('radio', { name: 'Supports' }))
    await fill(page.getByLabel('What you found out'), longComments[1])
    await press(page.getByRole('button', { name: 'Add evidence' }))
    await page.getByText('Evidence added.').waitFor()
    const comment = page.getByLabel('Comment', { exact: true })
    await comment.focus()
    await page.keyboard.type(`Who asked, @${longestWordOf(colleagueName)}`)
    await page.getByRole('option', { name: colleagueName }).waitFor()
    await page.keyboard.press('Enter')
    await page.keyboard.type('?')
    await press(main.getByRole('button', { name: 'Comment', exact: true }))
    await page.getByText('Comment added.').waitFor()
    await main.getByRole('link', { name: `@${colleagueName}` }).waitFor()

    // Connects an agent, which reads it.
    const agent = await createAgent(new URL('/agent/mcp', origin))
    await page.goto(agent.authorization)
    await press(page.getByRole('button', { name: 'Allow' }))
    await page.waitForURL('http://127.0.0.1:*/callback?**')
    expect(await agent.read()).toMatchObject({
      workspace: { slug },
      seeds: [
        { title: seeds[2]?.title, evidence: [{ summary: longComments[1] }] },
        { title: seeds[1]?.title },
        { title: seeds[0]?.title },
      ],
    })

    // Sees it in the activity, and finds a person.
    await page.goto(`${origin}/w/${slug}`)
    await go('Activity')
    await page.locator('.event', { hasText: 'Research agent' }).first().waitFor()
    await page.getByText(`${colleagueName} accepted`).waitFor()
    await go('People')
    await fill(
      page
        .getByRole('searchbox')
        .or(main.getByLabel(/Search/))
        .first(),
      longestWordOf(colleagueName),
    )
    await page.keyboard.press('Enter')
    await press(main.getByRole('link', { name: colleagueName, exact: true }))
    await page.getByRole('heading', { name: colleagueName }).waitFor()

    // Changes the theme.
    await press(page.locator('summary').filter({ hasText: 'Account' }))
    await press(page.getByRole('button', { name: 'Dark' }))
    await page.locator('html[data-theme="dark"]').waitFor()
    expect(complaints).toEqual([])
    await context.close()
  })
})
