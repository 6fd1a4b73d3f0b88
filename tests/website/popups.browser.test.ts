import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { beforeAll, describe, expect, it } from 'vitest'
import { afterFile } from '../support/after-file.ts'
import { randomEmail } from '../support/company.ts'
import { longNames, longWorkspaceName } from '../support/long-texts.ts'
import { createOAuthTester } from '../support/oauth-client.ts'
import { hasBrowser, openPage, sizes } from './browser.ts'
import { startSite, type Site } from './site.ts'
import { password, signUp } from './visitor.ts'

/** The site of an agent: it opens the authorization page in a popup, and its callback tells the opener what came back. */
async function serveAgent(authorizationUrl: () => string): Promise<string> {
  const server = createServer((request, response) => {
    response.setHeader('content-type', 'text/html; charset=utf-8')
    const isCallback = request.url?.startsWith('/callback')
    response.end(
      isCallback
        ? `<!doctype html><title>Back</title><script>window.opener?.postMessage(location.search, location.origin)</script>`
        : `<!doctype html><title>Agent</title><button>Connect</button><script>
             addEventListener('message', ({ data }) => { window.answer = data })
             document.querySelector('button').onclick = () => {
               window.popup = window.open(${JSON.stringify(authorizationUrl())}, 'connect', 'width=500,height=700')
             }
           </script>`,
    )
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  afterFile(() => server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

describe.runIf(hasBrowser)('a site that opens the authorization page in a popup', () => {
  let site: Site

  beforeAll(async () => {
    site = await startSite()
  })

  it('stays connected to it while the person signs in and chooses, and gets the code by postMessage', async () => {
    const { browser, origin, website } = site
    const { createAgent, exchange, getAuthorizationUrl } = createOAuthTester(website)
    const email = randomEmail()
    await signUp(website, { name: longNames[0], email })
    let url = ''
    const agentOrigin = await serveAgent(() => url)
    const agent = await createAgent({ redirect_uris: [`${agentOrigin}/callback`] })
    url = origin + (await getAuthorizationUrl(agent))

    const { context, page } = await openPage(browser, { viewport: sizes.desk })
    await page.goto(agentOrigin)
    const [popup] = await Promise.all([context.waitForEvent('page'), page.getByRole('button').click()])
    const expectConnected = async () => {
      expect(await page.evaluate<boolean>('popup.closed')).toBe(false)
      expect(await popup.evaluate<boolean>('window.opener !== null')).toBe(true)
    }

    await popup.getByRole('heading', { name: 'Sign in' }).waitFor()
    await expectConnected()
    await popup.getByRole('link', { name: 'Forgot your password?' }).click()
    await popup.getByLabel('Email address').waitFor()
    await expectConnected()
    await popup.goBack()
    await popup.getByLabel('Email address').fill(email)
    await popup.getByLabel('Password').fill('not the password')
    await popup.getByRole('main').getByRole('button', { name: 'Sign in', exact: true }).click()
    await popup.getByText('The email address or the password is incorrect.').waitFor()
    await expectConnected()
    await popup.getByLabel('Password').fill(password)
    await popup.getByRole('main').getByRole('button', { name: 'Sign in', exact: true }).click()
    await popup.getByRole('link', { name: 'Create or join a workspace' }).click()
    await expectConnected()
    await popup.getByLabel('Name', { exact: true }).fill(longWorkspaceName)
    await popup.getByLabel('Workspace address').fill(`w-${randomUUID().slice(0, 8)}`)
    await popup.getByRole('main').getByRole('button', { name: 'Create workspace' }).click()
    await popup.getByLabel('In the workspace').waitFor()
    await expectConnected()
    await popup.getByRole('button', { name: 'Allow' }).click()

    await page.waitForFunction('window.answer !== undefined')
    const code = new URLSearchParams(await page.evaluate<string>('answer')).get('code') ?? ''
    expect((await exchange(agent, code)).statusCode).toBe(200)
    await context.close()
  })
})
