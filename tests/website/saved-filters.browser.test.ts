import { beforeAll, describe, expect, it } from 'vitest'
import { createCompany, type TestCompany } from '../support/company.ts'
import { longCompany } from '../support/long-texts.ts'
import { createSeed, saveFilter } from '../support/seeds.ts'
import { check, hasBrowser, sizes } from './browser.ts'
import { openAs, startSite, type Site } from './site.ts'

const names = ['W'.repeat(64), 'شراكات مع المتاجر المحلية', '👩‍👩‍👧 Families']

describe.runIf(hasBrowser)('saved filters in a browser', () => {
  let site: Site
  let company: TestCompany

  beforeAll(async () => {
    site = await startSite()
    company = await createCompany(site.website, longCompany)
    const { owner } = company
    await createSeed(site.website, owner, company, { title: 'Late', decideBy: '2020-01-01' })
    await createSeed(site.website, owner, company, { title: 'Of another time' })
    for (const [i, name] of names.entries())
      await saveFilter(site.website, owner, company, { name, shared: i > 0, filters: { q: name } })
  })

  it.each([
    ['phone', true],
    ['phone', false],
    ['desk', true],
  ] as const)(
    'are made, opened and deleted, at the size of a %s, with scripts: %s',
    async (size, javaScriptEnabled) => {
      const { page, complaints } = await openAs(site, company.owner, {
        viewport: sizes[size],
        javaScriptEnabled,
      })
      const main = page.getByRole('main')
      const base = `${site.origin}/w/${company.workspace.slug}`
      const saved = main.getByRole('navigation', { name: 'Saved filters' })
      const look = async () => {
        // It is a script.
        if (javaScriptEnabled) await check(page)
      }
      await page.goto(`${base}/seeds?view=list&due=overdue`)
      await saved.getByRole('link', { name: names[1] ?? '' }).waitFor()
      await main.getByText('Save these filters').click()
      await main.getByLabel('Filter name').fill('Late ones')
      await look()
      await main.getByLabel('Shown to').selectOption('Everybody in the workspace')
      await main.getByRole('button', { name: 'Save', exact: true }).click()
      await main.getByText('The filters were saved as').waitFor()
      await look()
      await page.goto(`${base}/seeds?view=board`)
      await look()
      await page.goto(base)
      if (javaScriptEnabled) {
        await page.keyboard.press('Control+k')
        await page.getByRole('combobox', { name: 'Search' }).fill('late on')
        await page.getByRole('option', { name: 'Late ones' }).waitFor()
        await look()
        await page.getByRole('option', { name: 'Late ones' }).click()
      } else {
        await page.goto(`${base}/search?q=late+on`)
        await main.getByRole('link', { name: 'Late ones' }).click()
      }
      await page.waitForURL(`${base}/seeds?due=overdue`)
      await main.getByRole('link', { name: 'Late', exact: true }).waitFor()
      expect(await main.getByRole('link', { name: 'Of another time' }).count()).toBe(0)
      await saved.getByRole('link', { name: 'Manage' }).click()
      await main.getByRole('heading', { name: 'Shared' }).waitFor()
      await look()
      await main.getByRole('link', { name: 'Edit Late ones' }).click()
      await main.getByRole('button', { name: 'Delete saved filter' }).click()
      await look()
      await page.getByRole('dialog').getByRole('button', { name: 'Delete saved filter' }).click()
      await main.getByText('was deleted.').waitFor()
      expect(await main.getByRole('link', { name: 'Late ones', exact: true }).count()).toBe(0)
      // Among them, what the content security policy refuses.
      expect(complaints).toEqual([])
    },
  )
})
