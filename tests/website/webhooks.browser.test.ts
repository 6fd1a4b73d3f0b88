import { sql } from 'drizzle-orm'
import { expect, it } from 'vitest'
import { createCompany, createTeam } from '../support/company.ts'
import { longCompany } from '../support/long-texts.ts'
import { startReceiver } from '../support/webhook-receiver.ts'
import { check, hasBrowser, sizes } from './browser.ts'
import { openAs, startSite } from './site.ts'

it.runIf(hasBrowser)('webhooks are added, tested and managed in a browser', async () => {
  const site = await startSite()
  const { website, origin } = site
  const company = await createCompany(website, longCompany)
  const receiver = await startReceiver()
  const { page, complaints } = await openAs(site, company.admin, { viewport: sizes.desk })
  const press = (name: string) => page.getByRole('main').getByRole('button', { name, exact: true }).click()
  await page.goto(`${origin}/w/${company.workspace.slug}/settings/webhooks`)
  await page.getByText('No webhooks yet.').waitFor()
  await check(page)
  await page.getByLabel('URL').fill('http://hooks.example.com/')
  await press('Add webhook')
  await page.getByText('Enter an https URL').waitFor()
  await check(page)
  await page.getByLabel('URL').fill(`${receiver.url}/${'long'.repeat(40)}`)
  await page.getByLabel('Description').fill('To the chat')
  await press('Add webhook')
  await page.getByLabel('Secret of the webhook').waitFor()
  await check(page)

  const { id } = company.workspace
  await createTeam(website, company.owner, company)
  await website.db.execute(sql`
    update webhook_deliveries set status = 'failed', attempts = 10, last_status = 500, last_error = 'status', next_attempt_at = null
    where webhook_id in (select id from webhooks where workspace_id = ${id})`)
  await press('Send a test')
  await page.getByText('The receiver answered 204: the test was delivered.').waitFor()
  await page.locator('.row strong', { hasText: 'Team created' }).waitFor()
  await check(page)
  await press('Replace the secret')
  await check(page)
  await page.getByRole('button', { name: 'Replace secret' }).click()
  await page.getByLabel('Secret of the webhook').waitFor()
  await press('Disable')
  await page.getByText('The webhook was disabled.').waitFor()
  await check(page)
  await page.goto(`${origin}/w/${company.workspace.slug}/settings/webhooks`)
  await page.getByText('To the chat').waitFor()
  await check(page)
  expect(complaints).toEqual([])
  await page.context().close()
})

it.skipIf(hasBrowser)('needs Chromium (apt-get install chromium)', (context) => {
  context.skip('there is no browser here')
})
