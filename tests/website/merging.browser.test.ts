import { beforeAll, describe, expect, it } from 'vitest'
import { createCompany, type TestCompany } from '../support/company.ts'
import { longCompany, longSeeds } from '../support/long-texts.ts'
import { createSeed } from '../support/seeds.ts'
import { check, hasBrowser, sizes } from './browser.ts'
import { openAs, startSite, type Site } from './site.ts'

describe.runIf(hasBrowser)('merging and similar seeds in a browser', () => {
  let site: Site
  let company: TestCompany

  beforeAll(async () => {
    site = await startSite()
    company = await createCompany(site.website, longCompany)
  })

  it('names similar seeds while the title is written, by the keyboard, and says so', async () => {
    const { website } = site
    const seed = await createSeed(website, company.member, company, { title: 'Lending library for tools' })
    await createSeed(website, company.member, company, { title: 'Something else' })
    const { page, complaints } = await openAs(site, company.member, { viewport: sizes.phone })
    await page.goto(`${site.origin}/w/${company.workspace.slug}/seeds/new`)
    const title = page.getByLabel('Title')
    await title.pressSequentially('Lending libary')
    const part = page.locator('.similar')
    await part.getByRole('status').getByText('1 similar seed:').waitFor()
    const link = part.getByRole('link', { name: 'Lending library for tools' })
    expect(await link.getAttribute('href')).toBe(`/w/${company.workspace.slug}/seeds/${seed.id}`)
    await check(page)

    // The links are behind the title. Escape closes them, and they come back with another title.
    await title.press('Tab')
    expect(await page.evaluate<boolean>('document.activeElement.matches(".similar a")')).toBe(true)
    await page.keyboard.press('Escape')
    await link.waitFor({ state: 'detached' })
    expect(await part.getByRole('status').textContent()).toBe('')
    expect(await page.evaluate<boolean>('document.activeElement.id === "title"')).toBe(true)
    await title.fill('Lending tools')
    await link.waitFor()
    await title.fill('Parking')
    await link.waitFor({ state: 'detached' })

    // What is found for an earlier title is not shown, however late it comes.
    let release: () => unknown = () => undefined
    const late = new Promise((resolve) => {
      release = () => resolve(undefined)
    })
    await page.route('**/seeds/similar?title=Lending', async (route) => {
      await late
      await route.continue().catch(() => undefined)
    })
    const asked = page.waitForRequest('**/seeds/similar?title=Lending')
    await title.fill('Lending')
    await asked
    const answered = page.waitForResponse('**/seeds/similar?title=Nothing')
    await title.fill('Nothing')
    await answered
    release()
    await page.waitForFunction('document.querySelector(".similar ul").hidden')
    expect(await link.count()).toBe(0)
    expect(complaints).toEqual([])
  })

  it('chooses the other seed by a search, merges, and undoes it, on a phone and with long texts', async () => {
    const { website } = site
    const [one, other] = [
      await createSeed(website, company.owner, company, { title: longSeeds[0].title }),
      await createSeed(website, company.owner, company, { title: longSeeds[1].title }),
    ]
    const { page, complaints } = await openAs(site, company.owner, { viewport: sizes.phone })
    const pathOf = ({ id }: { id: string }) => `${site.origin}/w/${company.workspace.slug}/seeds/${id}`
    await page.goto(pathOf(one))
    await page.getByLabel('Manage the seed').click()
    await page.getByRole('link', { name: 'Merge into another seed' }).click()
    await check(page)
    await page.getByRole('searchbox', { name: 'Search seeds' }).fill(longSeeds[1].title.slice(0, 40))
    await page.keyboard.press('Enter')
    await page.getByRole('main').getByRole('link', { name: longSeeds[1].title }).click()
    await page.getByRole('button', { name: 'Merge' }).waitFor()
    await check(page)
    await page.getByRole('button', { name: 'Merge' }).click()
    await page.waitForURL((url) => url.pathname.endsWith(other.id))
    await page.getByRole('status').getByText('Merged').waitFor()
    await check(page)
    await page.goto(`${pathOf(one)}#people`)
    await page.waitForURL((url) => url.pathname.endsWith(other.id) && url.hash === '#people')
    await page.getByText('You opened it by its former address.').waitFor()
    await page.getByRole('button', { name: 'Undo the merge' }).click()
    await page.waitForURL((url) => url.pathname.endsWith(one.id))
    await page.getByRole('status').getByText('is a seed of its own again.').waitFor()
    await check(page)
    expect(complaints).toEqual([])
  })
})
