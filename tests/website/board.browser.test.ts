import { sql } from 'drizzle-orm'
import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, it } from 'vitest'
import { createCompany, type TestCompany } from '../support/company.ts'
import { longCompany, longSeeds } from '../support/long-texts.ts'
import { createSeed, findSeed, joinSeed } from '../support/seeds.ts'
import { check, hasBrowser, sizes } from './browser.ts'
import { openAs, startSite, type Site } from './site.ts'

describe.runIf(hasBrowser)('the board in a browser', () => {
  let site: Site
  let company: TestCompany

  beforeAll(async () => {
    site = await startSite()
    company = await createCompany(site.website, longCompany)
  })

  const lane = (page: Page, status: string) => page.locator(`.lane[data-status="${status}"]`)
  const countOf = async (page: Page, status: string) => lane(page, status).locator('h2 .hint').textContent()

  const urlOf = (title: string) =>
    `${site.origin}/w/${company.workspace.slug}/seeds?view=board&q=${encodeURIComponent(title.slice(0, 100))}`

  it('moves a card by the keyboard, and says so', async () => {
    const { website } = site
    const { title } = longSeeds[1]
    const seed = await createSeed(website, company.member, company, { title })
    await joinSeed(website, company.admin, seed)
    const { page, complaints } = await openAs(site, company.member, {
      viewport: sizes.phone,
    })
    const url = urlOf(title)
    await page.goto(url)
    await check(page)
    await page.locator('summary', { hasText: `Move ${title}` }).focus()
    await page.keyboard.press('Enter')
    await check(page)
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await page.getByRole('status').getByText('Moved to Validating.').waitFor()
    await lane(page, 'validating').getByText(title, { exact: true }).first().waitFor()
    expect(await countOf(page, 'open')).toBe('0')
    expect(await countOf(page, 'validating')).toBe('1')
    // The address is that of the board, and who used the keyboard goes on from the card.
    expect(page.url()).toBe(url)
    expect(await page.evaluate<string>('document.activeElement.textContent')).toContain(title)
    expect(await findSeed(website, seed)).toMatchObject({ status: 'validating' })
    expect(complaints).toEqual([])
    await page.context().close()
  })

  it('moves a card by dragging it, and puts it back with a sentence when that is refused', async () => {
    const { website } = site
    const { title } = longSeeds[2]
    const seed = await createSeed(website, company.member, company, longSeeds[2])
    const { page, complaints } = await openAs(site, company.member, { viewport: sizes.desk })
    const followed = page.waitForResponse('**/changes?*')
    await page.goto(urlOf(title))
    await followed
    const card = page.locator(`#card-${seed.id}`)

    // What changes while the pointer is pressed on a card, such as before it is dragged, is shown when it is released.
    await card.hover()
    await page.mouse.down()
    const reported = page.waitForRequest('**/notifications/count')
    await createSeed(website, company.member, company, { title: `${title} 2` })
    await reported
    await page.evaluate('fetch(location.href).then((answer) => answer.text())')
    expect(await countOf(page, 'open')).toBe('1')
    await page.mouse.up()
    await lane(page, 'open').getByText(`${title} 2`, { exact: true }).first().waitFor()

    await card.dragTo(lane(page, 'validated'))
    await page.getByRole('status').getByText('Moved to Validated.').waitFor()
    await lane(page, 'validated').locator(`#card-${seed.id}`).waitFor()
    expect(await findSeed(website, seed)).toMatchObject({ status: 'validated' })

    // The service does not answer.
    await page.route('**/move?*', (route) => route.abort())
    await card.dragTo(lane(page, 'open'))
    await page.getByRole('status').getByText('The card could not be moved. Try again.').waitFor()
    await lane(page, 'validated').locator(`#card-${seed.id}`).waitFor()
    await page.unroute('**/move?*')
    expect(complaints).toEqual([expect.stringContaining('ERR_FAILED')])

    // Somebody else has moved it meanwhile: a page that is not refreshed still shows it elsewhere.
    const stale = await openAs(site, company.member, { viewport: sizes.desk })
    await stale.page.route('**/changes*', (route) => route.abort())
    await stale.page.goto(page.url())
    await website.db.execute(sql`update seeds set status = 'dropped' where id = ${seed.id}`)
    await stale.page.locator(`#card-${seed.id}`).dragTo(lane(stale.page, 'open'))
    await stale.page.getByRole('status').getByText('Somebody else has moved this seed meanwhile.').waitFor()
    await lane(stale.page, 'dropped').locator(`#card-${seed.id}`).waitFor()
    await stale.page.context().close()
    await page.context().close()
  })

  it('shows no page that is older than a move', async () => {
    const { website } = site
    const { title } = longSeeds[3]
    const seed = await createSeed(website, company.member, company, longSeeds[3])
    const { page, complaints } = await openAs(site, company.member, { viewport: sizes.desk })
    const url = urlOf(title)
    const followed = page.waitForResponse('**/changes?*')
    await page.goto(url)
    await followed

    // The page is fetched before the move, and arrives after it.
    let isAsked: (() => void) | undefined
    let arrive: (() => void) | undefined
    const asked = new Promise<void>((resolve) => (isAsked = resolve))
    const released = new Promise<void>((resolve) => (arrive = resolve))
    await page.route(
      url,
      async (route) => {
        const response = await route.fetch()
        isAsked?.()
        await released
        await route.fulfill({ response })
      },
      { times: 1 },
    )
    await createSeed(website, company.member, company, { title: `${title} 2` })
    await asked
    const card = page.locator(`#card-${seed.id}`)
    await card.dragTo(lane(page, 'validating'))
    await page.getByRole('status').getByText('Moved to Validating.').waitFor()
    await page.evaluate(`
      document.activeElement.blur()
      new MutationObserver(() => {
        if (document.querySelector('.lane[data-status="open"] #card-${seed.id}')) window.isBack = true
      }).observe(document.querySelector('.board'), { childList: true })`)
    arrive?.()
    await createSeed(website, company.member, company, { title: `${title} 3` })
    await page.getByText(`${title} 3`, { exact: true }).first().waitFor()
    expect(await page.evaluate('window.isBack')).toBeUndefined()
    expect(complaints).toEqual([])
    await page.context().close()
  })

  it('gives viewers no way to move cards', async () => {
    await createSeed(site.website, company.member, company, longSeeds[0])
    const { page, complaints } = await openAs(site, company.viewer, { viewport: sizes.desk })
    await page.goto(urlOf(longSeeds[0].title))
    await page.getByText(longSeeds[0].title, { exact: true }).first().waitFor()
    expect(await page.locator('.lane summary, .lane button, [data-movable]').count()).toBe(0)
    expect(complaints).toEqual([])
    await page.context().close()
  })
})

describe.runIf(hasBrowser)('the filters of seeds in a browser', () => {
  it('act at once, and leave a clean address', async () => {
    const site = await startSite()
    const company = await createCompany(site.website, longCompany)
    await createSeed(site.website, company.member, company, longSeeds[3])
    await createSeed(site.website, company.owner, company, longSeeds[4])
    const { page } = await openAs(site, company.member, { viewport: sizes.desk })
    const base = `${site.origin}/w/${company.workspace.slug}/seeds`
    await page.goto(`${base}?view=list`)
    await page.getByLabel('People', { exact: true }).selectOption('mine')
    await page.waitForURL(`${base}?of=mine`)
    expect(await page.locator('a.title').allTextContents()).toEqual([longSeeds[3].title])
    await page.getByRole('link', { name: 'Open 1' }).click()
    await page.waitForURL(`${base}?status=open&of=mine`)
    await page.getByLabel('People', { exact: true }).selectOption('')
    await page.waitForURL(`${base}?status=open`)
    await page.context().close()
  })
})

it.skipIf(hasBrowser)('needs Chromium (apt-get install chromium)', (context) => {
  context.skip('there is no browser here')
})
