import { describe, expect, it } from 'vitest'
import { addPerson, createCompany } from '../support/company.ts'
import { eventually } from '../support/eventually.ts'
import { longComments, longCompany, longSeeds } from '../support/long-texts.ts'
import { findClosedPort } from '../support/raw-http.ts'
import { createSeed } from '../support/seeds.ts'
import { clone, startTestApp } from '../support/test-app.ts'
import { hasBrowser, openBrowser } from './browser.ts'
import { openAs } from './site.ts'
import { startWebsite } from './visitor.ts'

describe.runIf(hasBrowser)('a draft in a browser, when APP_SECRET is replaced', () => {
  it('is still filled in, also after the former secret has gone, and texts without a field are shown', async () => {
    const port = await findClosedPort('localhost')
    const origin = `http://localhost:${port}`
    const text = `Begun under the former secret. ${longComments[1]}`
    const [older, newer] = ['o'.repeat(32), 'n'.repeat(32)]
    const environment = { DATABASE_URL: await clone(), PORT: String(port), BASE_URL: origin }
    const website = await startWebsite({ environment: { ...environment, APP_SECRET: older } })
    await website.app.listen({ host: 'localhost', port })
    const company = await createCompany(website, longCompany)
    const person = await addPerson(website, company.workspace, 'member')
    const seed = await createSeed(website, person, company, longSeeds[1])
    const browser = await openBrowser()
    try {
      const { page } = await openAs({ origin, website, browser }, person)
      page.on('dialog', (dialog) => void dialog.accept())
      const readNames = () =>
        page.evaluate<string[]>(`Object.keys(localStorage).filter((name) => name.startsWith('draft:'))`)
      const field = page.getByLabel('Comment', { exact: true })
      const note = page.getByText(/^Your draft of \d/)
      await page.goto(`${origin}/w/${company.workspace.slug}/seeds/${seed.id}`)
      await field.fill(text)
      await eventually(async () => expect(await readNames()).toHaveLength(1))
      const before = await readNames()

      // The process is replaced. The browser stays where it is.
      await website.close()
      const during = await startTestApp({
        environment: { ...environment, APP_SECRET: newer, APP_SECRET_PREVIOUS: older },
      })
      await during.app.listen({ host: 'localhost', port })
      await page.route(page.url(), async (route) => {
        const answer = await route.fetch()
        const body = (await answer.text()).replace(/<form[^>]*\/comments"[\s\S]*?<\/form>/, '')
        await route.fulfill({ response: answer, body })
      })
      await page.reload()
      await page.getByRole('heading', { name: 'What you began to write' }).waitFor()
      expect(await page.getByRole('main').getByRole('textbox').last().inputValue()).toBe(text)
      expect(await readNames()).toEqual(before)
      await page.unroute(page.url())
      await page.reload()
      await note.waitFor()
      expect(await field.inputValue()).toBe(text)
      const moved = await readNames()
      expect(moved).toHaveLength(1)
      expect(moved).not.toEqual(before)

      await during.close()
      const after = await startTestApp({ environment: { ...environment, APP_SECRET: newer } })
      await after.app.listen({ host: 'localhost', port })
      await page.reload()
      await note.waitFor()
      expect(await field.inputValue()).toBe(text)
      expect(await readNames()).toEqual(moved)
    } finally {
      await browser.close()
    }
  })
})
