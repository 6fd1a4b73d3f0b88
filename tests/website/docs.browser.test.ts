import type { Browser, BrowserContextOptions } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { makePng } from '../support/images.ts'
import { guides } from '../../src/website/docs/guides.ts'
import { findClosedPort } from '../support/raw-http.ts'
import { startTestApp } from '../support/test-app.ts'
import { check, hasBrowser, openBrowser, openPage, sizes } from './browser.ts'

const port = await findClosedPort('localhost')
const origin = `http://localhost:${port}`
const { app, createPerson, as } = await startTestApp({
  environment: { PORT: String(port), BASE_URL: origin },
})

describe.runIf(hasBrowser)('the API reference in a browser', () => {
  let browser: Browser

  beforeAll(async () => {
    await app.listen({ host: 'localhost', port })
    browser = await openBrowser()
  })
  afterAll(() => browser.close())

  async function openReference(options: BrowserContextOptions) {
    const { context, page, complaints } = await openPage(browser, options)
    page.on('request', (request) => {
      if (!request.url().startsWith(`${origin}/`)) complaints.push(request.url())
    })
    const open = async (id: string) => {
      await page.goto(`${origin}/docs#${id}`)
      await page.waitForURL(`${origin}/docs/api/*#${id}`)
      const operation = page.locator(`[id="${id}"]`)
      await operation.getByText('Try it').click()
      return operation
    }
    return { context, page, open, complaints }
  }

  it('is accessible and sends requests', async () => {
    const { context, page, open, complaints } = await openReference({ viewport: sizes.desk })
    const person = await createPerson()
    await page.goto(`${origin}/docs/errors#slug_taken`)
    await check(page)
    await page.goto(`${origin}/docs`)
    await page.getByLabel('Find an operation').fill('seeds.add evidence')
    await page.getByText('1 operation', { exact: true }).waitFor()
    expect(await page.locator('.operation:visible').getAttribute('id')).toBe('seeds.addEvidence')
    await check(page)
    await page.locator('.operation:visible').getByRole('link').click()
    await page.waitForURL(`${origin}/docs/api/seeds#seeds.addEvidence`)
    await page.locator('[id="seeds.addEvidence"][open]').waitFor()
    // First without a key, then with one, which the tab keeps.
    const profile = await open('me.updateProfile')
    const send = () => page.getByRole('button', { name: 'Send request' }).click()
    await profile.locator('textarea').fill('{"name":"Ada Lovelace"}')
    await send()
    await profile.getByText('Enter your API key').waitFor()
    await page.getByLabel('API key', { exact: true }).fill(person.apiKey)
    await send()
    await profile.getByText('200 OK').waitFor()
    expect((await as(person, { url: '/v1/me' })).json()).toMatchObject({ name: 'Ada Lovelace' })
    await page.reload()
    expect(await page.getByLabel('API key', { exact: true }).inputValue()).toBe(person.apiKey)

    // In the path, in the query and in a header.
    const create = await open('workspaces.create')
    const slug = `docs-${crypto.randomUUID().slice(0, 8)}`
    await create.locator('textarea').fill(JSON.stringify({ name: 'Docs', slug }))
    await create.getByLabel('Idempotency-Key').fill('once')
    await create.getByRole('button', { name: 'Send request' }).click()
    await create.getByText('200 OK').waitFor()
    const events = await open('events.list')
    await events.getByLabel('slug').fill(slug)
    await events.getByLabel('limit').fill('1')
    await events.getByRole('button', { name: 'Send request' }).click()
    await events.getByText('200 OK').waitFor()
    expect(JSON.parse(await events.getByLabel('Response', { exact: true }).innerText())).toHaveLength(1)

    // A file, and an error.
    const photo = await open('me.uploadPhoto')
    await photo
      .getByLabel('file')
      .setInputFiles({ name: 'me.png', mimeType: 'image/png', buffer: await makePng() })
    await photo.getByRole('button', { name: 'Send request' }).click()
    await photo.getByText('200 OK').waitFor()
    expect((await as(person, { url: '/v1/me' })).json()).not.toMatchObject({ image: null })
    const key = await open('apiKeys.revoke')
    await key.getByLabel('apiKeyId').fill('a/../b')
    await key.getByRole('button', { name: 'Send request' }).click()
    await key.getByText('"not_found"').waitFor()
    await key.getByText('Errors:').click()
    await check(page)
    await page.goto(`${origin}/docs/api/agent#agent.readValidationKit`)
    await page.getByText('API keys are not accepted').first().waitFor()
    await page.goto(`${origin}/docs/api/webhooks#webhooks.receive`)
    const received = page.locator('[id="webhooks.receive"]')
    await received.getByText('webhook-signature').waitFor()
    await check(page)
    await received.page().goto(`${origin}/docs#apiKeys.revoke`)
    await page.waitForURL(`${origin}/docs/api/apiKeys#apiKeys.revoke`)
    await key.getByText('Errors:').click()
    await key.getByRole('link', { name: 'decode_error' }).click()
    await page.waitForURL(`${origin}/docs/errors#decode_error`)
    await page.getByRole('rowheader', { name: 'decode_error' }).waitFor()

    await page.getByRole('link', { name: 'API reference' }).click()
    await page
      .getByRole('navigation', { name: 'API reference' })
      .getByRole('link', { name: 'Me', exact: true })
      .click()
    await page.getByRole('button', { name: 'Forget key' }).click()
    await page.reload()
    expect(await page.getByLabel('API key', { exact: true }).inputValue()).toBe('')
    expect(complaints).toEqual([])
    await context.close()
  })

  it('can be operated with the keyboard', async () => {
    const { context, page } = await openReference({ viewport: sizes.desk })
    await page.goto(`${origin}/docs/api/system#system.health`)
    const operation = page.locator('[id="system.health"]')
    await operation.locator('> summary').focus()
    await page.keyboard.press('Enter')
    expect(await operation.getAttribute('open')).toBeNull()
    await page.keyboard.press('Enter')
    await operation.getByText('Try it').focus()
    await page.keyboard.press('Enter')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await operation.getByText('200 OK').waitFor()
    await context.close()
  })

  it('is readable without JavaScript, and then hides the request forms', async () => {
    const { context, page } = await openReference({ javaScriptEnabled: false, viewport: sizes.phone })
    await page.goto(`${origin}/docs#workspaces.create`)
    const operation = page.locator('[id="workspaces.create"]')
    await operation.getByRole('link').click()
    await page.waitForURL(`${origin}/docs/api/workspaces#workspaces.create`)
    await operation.locator('> summary').click()
    await operation.getByRole('rowheader', { name: 'slug', exact: true }).first().waitFor()
    expect(await operation.getByText('Try it').isVisible()).toBe(false)
    expect(await page.getByLabel('API key', { exact: true }).isVisible()).toBe(false)
    await context.close()
  })

  it('has guides that are accessible, and readable on a phone', async () => {
    const { context, page, complaints } = await openReference({ viewport: sizes.phone })
    await page.goto(`${origin}/docs`)
    await page.getByRole('link', { name: 'Guides', exact: true }).click()
    await page.getByRole('heading', { name: 'Guides' }).waitFor()
    await check(page)
    for (const { name, title } of guides) {
      await page.goto(`${origin}/docs/guides/${name}`)
      await page.getByRole('link', { name: title, exact: true }).and(page.locator('[aria-current]')).waitFor()
      await check(page)
    }
    await page.goto(`${origin}/docs/guides/conventions`)
    await page.getByText('On this page').click()
    await page.getByRole('link', { name: 'Conditional requests' }).click()
    await page.waitForURL(`${origin}/docs/guides/conventions#conditional-requests`)
    await page.getByRole('link', { name: 'A first copy →' }).click()
    await page.waitForURL(`${origin}/docs/guides/first-copy`)
    expect(complaints).toEqual([])
    await context.close()
  })
})
