import { sql } from 'drizzle-orm'
import { beforeAll, describe, expect, it } from 'vitest'
import { createCompany } from '../support/company.ts'
import { longCompany, longComments, longSeeds } from '../support/long-texts.ts'
import { addEvidence, createSeed, joinSeed } from '../support/seeds.ts'
import { check, hasBrowser, sizes } from './browser.ts'
import { openAs, startSite, type Site } from './site.ts'

describe.runIf(hasBrowser)('the inbox and the home in a browser', () => {
  let site: Site

  beforeAll(async () => {
    site = await startSite()
  })

  it('show what is new', async () => {
    const { origin, website } = site
    const company = await createCompany(website, longCompany)
    const { member, owner, workspace } = company
    const base = `${origin}/w/${workspace.slug}`
    const seed = await createSeed(website, member, company, longSeeds[2])
    const idle = await createSeed(website, member, company, { ...longSeeds[4], decideBy: null })
    await website.db.execute(
      sql`update seeds set created_at = now() - '8 days'::interval where id = ${idle.id}`,
    )
    await joinSeed(website, owner, seed)
    const { context, page, complaints } = await openAs(site, member, { viewport: sizes.desk })

    // The open inbox shows what comes, without reloading.
    const opened = page.waitForResponse((answer) => answer.url().includes('/notifications/changes'))
    await page.goto(`${origin}/notifications`)
    await page.getByText('No notifications yet.').waitFor()
    await opened
    await check(page)
    const added = page.getByRole('link', {
      name: `${owner.name} added evidence that supports ${seed.title}`,
    })
    await addEvidence(website, owner, seed, { summary: longComments[1] })
    await added.waitFor()
    await page.getByRole('link', { name: 'Notifications, 1 unread' }).waitFor()
    await addEvidence(website, owner, seed, { summary: longComments[1] })
    await page.getByRole('heading', { name: seed.title }).waitFor()
    const below = page.getByRole('link', { name: `${owner.name} added evidence that supports this seed` })
    await below.nth(1).waitFor()
    await check(page)

    // The home begins with it, and with the seed that waits for evidence. It is live too.
    const followed = page.waitForResponse((answer) => answer.url().includes('/activity/changes'))
    await page.goto(base)
    await page.getByRole('heading', { name: 'Waiting for you' }).waitFor()
    await page.getByRole('link', { name: idle.title }).first().waitFor()
    await page.getByText(/No evidence yet, created/).waitFor()
    await page.getByText(/2 new pieces of evidence/).waitFor()
    await followed
    await addEvidence(website, owner, seed, { summary: longComments[1] })
    await page.getByText(/3 new pieces of evidence/).waitFor()
    await check(page)
    await page.getByRole('link', { name: `Unread: ${seed.title}` }).click()
    await page.getByRole('heading', { level: 1, name: seed.title }).waitFor()
    await page.getByRole('link', { name: 'Notifications', exact: true }).waitFor()
    expect(new URL(page.url()).search).toBe('')
    await page.goto(base)
    expect(await page.getByRole('link', { name: `Unread: ${seed.title}` }).count()).toBe(0)

    // One notification is set back to unread, by a button that shows when its row is pointed at.
    await page.goto(`${origin}/notifications`)
    await page.getByText(seed.title).first().hover()
    await page.getByRole('button', { name: 'Mark as unread' }).first().click()
    await page.getByRole('link', { name: 'Notifications, 1 unread' }).waitFor()
    await check(page)
    expect(complaints).toEqual([])
    await context.close()
  })

  it('dates of the last week are relative, and Ctrl+Enter sends a form', async () => {
    const { origin, website } = site
    const company = await createCompany(website, longCompany)
    await website.db.execute(
      sql`update memberships set joined_at = now() - '3 days'::interval where user_id = ${company.member.id}`,
    )
    const { context, page, complaints } = await openAs(site, company.owner, { locale: 'en-GB' })
    await page.goto(`${origin}/w/${company.workspace.slug}/people/${company.member.id}`)
    const joined = page.locator('main time').first()
    expect(await joined.textContent()).toBe('3 days ago')
    expect(await joined.getAttribute('title')).toMatch(/\d{4}/)

    await page.goto(`${origin}/w/${company.workspace.slug}/seeds/new`)
    await page.getByLabel('Title').fill(longSeeds[4].title)
    const summary = page.getByLabel('Summary')
    await summary.fill(longSeeds[3].summary)
    // A text that was begun is not left without a question.
    const asked = page.waitForEvent('dialog')
    const left = page.getByRole('link', { name: 'People' }).click()
    const dialog = await asked
    expect(dialog.type()).toBe('beforeunload')
    await dialog.dismiss()
    await left.catch(() => undefined)
    await summary.press('Control+Enter')
    await page.getByText('Seed created.').waitFor()
    expect(complaints).toEqual([])
    await context.close()
  })
})
