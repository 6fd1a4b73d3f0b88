import { beforeAll, describe, expect, it } from 'vitest'
import { createCompany, type TestCompany } from '../support/company.ts'
import { longCompany } from '../support/long-texts.ts'
import { check, hasBrowser, sizes } from './browser.ts'
import { openAs, startSite, type Site } from './site.ts'

const table = [
  'Idea,Description,Success criteria,Averylongnameofacolumnthatdoesnotfitonaphoneandhasnospacestobreakatanywhere',
  'アイデア 👩‍👩‍👧,مرحبا بالعالم,"One\nTwo",x',
  `=1+1,${'Averylongwordwithoutanyspaces'.repeat(10)},,${'y'.repeat(300)}`,
  ',Nobody knows,,',
].join('\n')

describe.runIf(hasBrowser)('importing and exporting tables in a browser', () => {
  let site: Site
  let company: TestCompany

  beforeAll(async () => {
    site = await startSite()
    company = await createCompany(site.website, longCompany)
  })

  it.each([true, false])(
    'goes from a table to seeds and back, with scripts: %s',
    async (javaScriptEnabled) => {
      const { page, complaints } = await openAs(site, company.member, {
        viewport: sizes.phone,
        javaScriptEnabled,
      })
      const main = page.getByRole('main')
      const look = async () => {
        // It is a script.
        if (javaScriptEnabled) await check(page)
      }
      await page.goto(`${site.origin}/w/${company.workspace.slug}/seeds`)
      await look()
      await main.getByRole('link', { name: 'Import from a table' }).click()
      await look()
      if (javaScriptEnabled) await main.getByLabel('Or paste the table').fill(table)
      else
        await main
          .getByLabel('File')
          .setInputFiles({ name: 'a.csv', mimeType: 'text/csv', buffer: Buffer.from(table) })
      await main.getByRole('button', { name: 'Continue' }).click()
      await main.getByRole('heading', { name: 'What the columns are' }).waitFor()
      await main.getByText('Row 4, Title: This text must not be blank.').waitFor()
      await look()
      await main.getByLabel('Success criteria').selectOption('Problem')
      await main.getByRole('button', { name: 'Check again' }).click()
      await expect.poll(() => main.getByLabel('Success criteria').inputValue()).toBe('problem')
      await main.getByRole('button', { name: 'Import 2 seeds, and leave out 1 row' }).click()
      await main.getByRole('heading', { name: 'Import of seeds' }).waitFor()
      const progress = main.locator('#progress')
      // Without scripts the link shows it.
      await expect
        .poll(async () => {
          const link = main.getByRole('link', { name: 'Show how far it is now' })
          if (!javaScriptEnabled && (await link.count()) > 0) await link.click()
          return progress.textContent()
        })
        .toContain('2 of 2 seeds')
      await page.reload()
      await look()
      await main.getByRole('button', { name: 'Undo this import' }).click()
      await look()
      await main.getByRole('button', { name: 'Undo the import' }).click()
      await main.getByText('The import is being undone.').waitFor()
      await expect
        .poll(async () => {
          await page.reload()
          return progress.textContent()
        })
        .toContain('2 seeds deleted')
      await look()
      await page.goto(`${site.origin}/w/${company.workspace.slug}/seeds/import`)
      await look()
      await page.goto(`${site.origin}/w/${company.workspace.slug}/seeds`)
      const downloading = page.waitForEvent('download')
      await main.getByRole('link', { name: 'Export CSV' }).click()
      expect((await downloading).suggestedFilename()).toMatch(/^[\w-]+-seeds-\d{4}-\d\d-\d\d\.csv$/)
      // Among them, what the content security policy refuses.
      expect(complaints).toEqual([])
    },
  )
})
