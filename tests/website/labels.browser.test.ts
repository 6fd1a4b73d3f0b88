import { sql } from 'drizzle-orm'
import { beforeAll, describe, expect, it } from 'vitest'
import { createCompany, createTeam, type TestCompany } from '../support/company.ts'
import { longCompany } from '../support/long-texts.ts'
import { createLabel, createSeed } from '../support/seeds.ts'
import { check, hasBrowser, sizes } from './browser.ts'
import { openAs, startSite, type Site } from './site.ts'

const names = ['W'.repeat(64), 'شراكات مع المتاجر المحلية', '価格についての長い名前のラベル', '👩‍👩‍👧 Families']

describe.runIf(hasBrowser)('labels in a browser', () => {
  let site: Site
  let company: TestCompany

  beforeAll(async () => {
    site = await startSite()
    company = await createCompany(site.website, longCompany)
    const { owner, workspace } = company
    const team = await createTeam(site.website, owner, company, 'M'.repeat(64))
    const labels: string[] = []
    for (const name of names) labels.push((await createLabel(site.website, owner, company, name)).id)
    await createSeed(site.website, owner, company, {
      ...{ title: 'Tools', teamId: team.id, labelIds: labels, decideBy: '2020-01-01' },
    })
    await site.website.db.execute(sql`
      insert into labels (id, workspace_id, name, created_at)
      select overlay(overlay(gen_random_uuid()::text placing '7' from 15) placing 'a' from 20)::uuid, ${workspace.id}, 'Label ' || n, now()
      from generate_series(1, ${100 - names.length}) as n`)
  })

  it.each([
    ['phone', true],
    ['phone', false],
    ['desk', true],
  ] as const)(
    'are made, chosen, shown and filtered by, at the size of a %s, with scripts: %s',
    async (size, javaScriptEnabled) => {
      const { page, complaints } = await openAs(site, company.owner, {
        viewport: sizes[size],
        javaScriptEnabled,
      })
      const main = page.getByRole('main')
      const base = `${site.origin}/w/${company.workspace.slug}`
      const look = async () => {
        // It is a script.
        if (javaScriptEnabled) await check(page)
      }
      await page.goto(`${base}/seeds?view=list`)
      await look()
      await main.getByRole('link', { name: names[1] ?? '', exact: true }).click()
      await main.getByRole('link', { name: 'Tools' }).waitFor()
      await page.goto(`${base}/seeds?view=board`)
      await look()
      await page.goto(`${base}/seeds?view=list`)
      await main.getByRole('link', { name: 'Tools' }).click()
      await main.getByRole('link', { name: 'M'.repeat(64) }).click()
      await main.getByRole('heading', { name: 'Due' }).waitFor()
      await look()
      await page.goto(`${base}/seeds/new`)
      await main.getByLabel('Title').fill('Another one')
      await main.getByLabel('Summary').fill('What it is')
      await main.getByText('Labels', { exact: true }).click()
      await main.getByLabel('Label 7', { exact: true }).check()
      await look()
      await main.getByRole('button', { name: 'Create seed' }).click()
      await main.getByRole('link', { name: 'Label 7', exact: true }).waitFor()
      await look()
      await page.goto(`${base}/labels`)
      await look()
      await main.getByRole('link', { name: 'Edit Label 7', exact: true }).click()
      await look()
      // Among them, what the content security policy refuses.
      expect(complaints).toEqual([])
    },
  )
})
