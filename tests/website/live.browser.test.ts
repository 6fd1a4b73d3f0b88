import { randomUUID } from 'node:crypto'
import { sql } from 'drizzle-orm'
import type { Page, Request } from 'playwright-core'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { createComment } from '../support/comments.ts'
import { addPerson, createCompany, del, patch, post } from '../support/company.ts'
import { longCompany, longComments, longNames, longSeeds } from '../support/long-texts.ts'
import { addEvidence, createSeed } from '../support/seeds.ts'
import { check, hasBrowser, sizes } from './browser.ts'
import { openAs, startSite, type Site } from './site.ts'

/** What somebody else makes of the seed. */
const changed = longSeeds[1]

const isChanges = (url: string) => url.includes('/activity/changes')

describe.runIf(hasBrowser)('the open page of a seed', () => {
  let site: Site

  beforeAll(async () => {
    site = await startSite()
  })

  /** A member opens a seed of somebody else, and is told of changes. */
  async function openSeed() {
    const company = await createCompany(site.website, longCompany)
    const { workspace, admin } = company
    const reader = await addPerson(site.website, workspace, 'member', longNames[4])
    const seed = await createSeed(site.website, admin, company, longSeeds[2])
    const opened = await openAs(site, reader, { viewport: sizes.desk })
    onTestFinished(() => opened.context.close())
    const { page } = opened
    const isLive = page.waitForResponse((answer) => isChanges(answer.url()) && answer.status() === 200)
    await page.goto(`${site.origin}/w/${workspace.slug}/seeds/${seed.id}`)
    await isLive
    const change = (body: object) => site.website.as(admin, patch(`/v1/seeds/${seed.id}`, body))
    return { ...opened, company, admin, reader, seed, change }
  }

  const heading = (page: Page, name: string) => page.getByRole('heading', { level: 1, name })

  it('shows the title, the status, the texts, the numbers and the history as they are', async () => {
    const { page, company, admin, seed, change, complaints } = await openSeed()
    await site.website.as(admin, post(`/v1/seeds/${seed.id}/join`))
    const piece = await addEvidence(site.website, admin, seed, { summary: longComments[3] })
    await page.getByText('1 supports it').waitFor()
    await site.website.as(company.owner, post(`/v1/evidence/${piece.id}/see`))
    await page.locator('.piece').getByText(`Seen too by ${company.owner.name}`).waitFor()
    await change({ ...changed, problem: changed.summary, status: 'validating' })
    await heading(page, changed.title).waitFor()
    expect((await page.title()).startsWith(changed.title)).toBe(true)
    await page.locator('#texts section').getByText(changed.summary).waitFor()
    for (const part of ['#state', '#side', '#events'])
      await page.locator(part).getByText('Validating').first().waitFor()
    await check(page)
    expect(complaints).toEqual([])
  })

  it('keeps what is written beside it, and follows again once it is gone', async () => {
    const { page, change } = await openSeed()
    const reason = page.getByLabel('Reason')
    await page.getByText('Change the status').click()
    await reason.fill(longComments[2])
    await heading(page, longSeeds[2].title).click()
    await change({ title: changed.title, status: 'validating' })
    await heading(page, changed.title).waitFor()
    expect(await reason.inputValue()).toBe(longComments[2])
    expect(await page.getByRole('button', { name: 'Start validating' }).count()).toBe(1)
    await reason.fill('')
    await heading(page, changed.title).click()
    await page.locator('#side').getByText('Validating', { exact: true }).waitFor()
    await page.getByText('Change the status').click()
    await page.getByRole('button', { name: 'Mark as validated' }).waitFor()
  })

  it('has a menu for the keyboard on a phone, which stays open while the page changes', async () => {
    const { company, change, page: other } = await openSeed()
    const { context, page, complaints } = await openAs(site, company.admin, { viewport: sizes.phone })
    onTestFinished(() => context.close())
    const isLive = page.waitForResponse((answer) => isChanges(answer.url()) && answer.status() === 200)
    await page.goto(other.url())
    await isLive
    const summary = page.getByLabel('Manage the seed')
    const edit = page.getByRole('link', { name: 'Edit', exact: true })
    await summary.focus()
    await page.keyboard.press('Enter')
    await edit.waitFor()
    await check(page)
    const panel = await page.locator('.head .panel').boundingBox()
    expect(panel?.x).toBeGreaterThanOrEqual(0)
    expect((panel?.x ?? 0) + (panel?.width ?? 0)).toBeLessThanOrEqual(sizes.phone.width)
    await change({ title: changed.title })
    await heading(page, changed.title).waitFor()
    expect(await edit.isVisible()).toBe(true)

    // After "Edit" and "Merge". Deleting asks. Escape closes the question and the menu.
    for (let i = 0; i < 3; i++) await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    const question = page.getByRole('dialog', { name: 'Delete this seed?' })
    await question.waitFor()
    await check(page)
    await page.keyboard.press('Escape')
    await question.waitFor({ state: 'hidden' })
    expect(await edit.isVisible()).toBe(false)
    expect(await page.evaluate('document.activeElement.ariaLabel')).toBe('Manage the seed')
    await page.keyboard.press('Enter')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Edit seed' }).waitFor()
    expect(complaints).toEqual([])

    // Without scripts.
    const plain = await openAs(site, company.admin, { javaScriptEnabled: false })
    onTestFinished(() => plain.context.close())
    await plain.page.goto(other.url())
    await plain.page.getByLabel('Manage the seed').click()
    await plain.page.getByRole('button', { name: 'Delete this seed' }).click()
    await plain.page.getByRole('button', { name: 'Delete seed' }).click()
    await plain.page.getByText(`Deleted ${changed.title}`).waitFor()
  })

  /** What the page asks for from now on. */
  function listRequests(page: Page): string[] {
    const urls: string[] = []
    page.on('request', (request: Request) => urls.push(request.url()))
    return urls
  }

  it('says who deleted it, asks no more, and offers to restore it', async () => {
    const { page, company, seed, complaints } = await openSeed()
    const { admin, workspace } = company
    const asAdmin = await openAs(site, admin, { viewport: sizes.phone })
    onTestFinished(() => asAdmin.context.close())
    const isLive = asAdmin.page.waitForResponse((answer) => isChanges(answer.url()))
    await asAdmin.page.goto(page.url())
    await isLive
    await page.clock.install()
    await site.website.as(admin, del(`/v1/seeds/${seed.id}`))
    for (const opened of [page, asAdmin.page])
      await opened
        .getByRole('alert')
        .filter({ hasText: `deleted the seed ${longSeeds[2].title}` })
        .waitFor()
    await check(asAdmin.page)
    expect(await page.getByRole('button', { name: 'Restore' }).count()).toBe(0)
    const urls = listRequests(page)
    await page.clock.fastForward(120_000)
    await page.evaluate('document.dispatchEvent(new Event("visibilitychange"))')
    await page.clock.fastForward(120_000)
    expect(urls.filter((url) => !url.endsWith('/count'))).toEqual([])
    await asAdmin.page.getByRole('button', { name: 'Restore' }).click()
    await asAdmin.page.getByText('Restored.').waitFor()
    expect(asAdmin.page.url()).toContain(`/w/${workspace.slug}/seeds/${seed.id}`)
    expect(complaints).toEqual([])
  })

  it('says that the person was signed out, and leads back after the sign-in', async () => {
    const { page, reader, change } = await openSeed()
    await site.website.db.execute(sql`delete from sessions where user_id = ${reader.id}`)
    await change({ title: changed.title })
    const link = page.getByRole('alert').getByRole('link', { name: 'Sign in' })
    await link.waitFor()
    await check(page)
    await link.click()
    await page.waitForURL(/\/sign-in\?next=/)
    expect(new URL(page.url()).searchParams.get('next')).toMatch(/\/seeds\/[0-9a-f-]{36}$/)
  })

  it('goes on after answers that say nothing about the seed', async () => {
    const { page, change } = await openSeed()
    const statuses = [500, 404, 503]
    await page.route(/\/seeds\/[0-9a-f-]{36}$/, async (route) => {
      const status = statuses.shift()
      await (status === undefined ? route.continue() : route.fulfill({ status, body: randomUUID() }))
    })
    await page.clock.install()
    await change({ title: changed.title })
    for (const left of [2, 1, 0]) {
      await expect.poll(() => statuses.length).toBe(left)
      await page.clock.fastForward(5_000)
    }
    await heading(page, changed.title).waitFor()
  })

  /** An open seed with a thread that is longer than the window. */
  async function openThread() {
    const opened = await openSeed()
    const { admin, page, seed } = opened
    const comments: { id: string }[] = []
    for (let i = 0; i < 16; i++)
      comments.push(await createComment(site.website, admin, seed, { body: `${i} ${longComments[2]}` }))
    await page.locator(`#comment-${comments[15]?.id}`).waitFor()
    const item = (i: number) => page.locator(`#comment-${comments[i]?.id}`)
    const topOf = async (locator: ReturnType<typeof item>) => (await locator.boundingBox())?.y ?? NaN
    const lengthen = (i: number, body: string) =>
      site.website.as(admin, patch(`/v1/comments/${comments[i]?.id}`, { body }))
    return { ...opened, item, topOf, lengthen }
  }

  it('leaves who reads where they are, and leads to a comment that comes below', async () => {
    const { admin, page, seed, item, topOf, lengthen, complaints } = await openThread()
    await page.evaluate(`document.querySelectorAll("#items article")[3].scrollIntoView()`)
    const top = await topOf(item(4))
    await lengthen(1, 'A longer text than before.\n\n'.repeat(20))
    await item(1).getByText('A longer text').first().waitFor({ state: 'attached' })
    expect(Math.abs((await topOf(item(4))) - top)).toBeLessThan(1.5)
    const { id } = await createComment(site.website, admin, seed, { body: 'The latest word' })
    const bar = page.getByRole('button', { name: '1 new comment' })
    await bar.waitFor()
    expect(Math.abs((await topOf(item(4))) - top)).toBeLessThan(1.5)
    await check(page)
    await bar.click()
    await expect.poll(() => bar.count()).toBe(0)
    const box = await page.locator(`#comment-${id}`).boundingBox()
    expect(box?.y).toBeGreaterThan(0)
    expect(box?.y).toBeLessThan(sizes.desk.height)
    expect(complaints).toEqual([])
  })

  it('leaves who writes where they are', async () => {
    const { admin, page, seed, topOf, lengthen } = await openThread()
    const field = page.getByLabel('Comment', { exact: true })
    await field.fill('Half a')
    const top = await topOf(field)
    await lengthen(14, 'A longer text than before.\n\n'.repeat(10))
    await createComment(site.website, admin, seed, { body: 'The latest word' })
    await page.getByText('The latest word').waitFor()
    expect(Math.abs((await topOf(field)) - top)).toBeLessThan(1.5)
    await page.keyboard.type(' sentence')
    expect(await field.inputValue()).toBe('Half a sentence')
  })
})

describe.runIf(hasBrowser)('keys of one letter', () => {
  it('lead to the form of the page and to help, not while somebody writes, and can be turned off', async () => {
    const site = await startSite()
    const company = await createCompany(site.website)
    const seed = await createSeed(site.website, company.member, company)
    const { page, context } = await openAs(site, company.member, { viewport: sizes.phone })
    onTestFinished(() => context.close())
    const base = `${site.origin}/w/${company.workspace.slug}`
    await page.goto(`${base}/people`)
    await page.getByRole('searchbox').pressSequentially('c?')
    expect(await page.getByRole('searchbox').inputValue()).toBe('c?')
    await page.getByRole('heading', { level: 1 }).click()
    await page.keyboard.press('c')
    await page.waitForURL(/\/seeds\/new$/)
    await page.goto(`${base}/seeds/${seed.id}`)
    await page.keyboard.press('c')
    await page.getByLabel('What you found out').waitFor()
    expect(await page.evaluate('document.activeElement.name')).toBe('verdict')
    await page.getByRole('heading', { level: 1 }).click()
    await page.keyboard.press('?')
    await page.waitForURL(/\/help#keys$/)
    await check(page)
    await page.getByLabel('Use these keys in this browser').uncheck()
    await page.goto(`${base}/people`)
    await page.keyboard.press('c')
    await page.keyboard.press('?')
    expect(new URL(page.url()).pathname).toMatch(/\/people$/)
    await page.goto(`${site.origin}/help`)
    expect(await page.getByLabel('Use these keys in this browser').isChecked()).toBe(false)
  })
})

describe.runIf(hasBrowser)('the open list of seeds', () => {
  it('shows what happens, with the numbers of the statuses', async () => {
    const site = await startSite()
    const company = await createCompany(site.website)
    const first = await createSeed(site.website, company.admin, company)
    const { page, context, complaints } = await openAs(site, company.member, { viewport: sizes.phone })
    onTestFinished(() => context.close())
    const isLive = page.waitForResponse((answer) => isChanges(answer.url()) && answer.status() === 200)
    await page.goto(`${site.origin}/w/${company.workspace.slug}/seeds?view=list`)
    await isLive
    await createSeed(site.website, company.admin, company, longSeeds[2])
    await page.getByRole('link', { name: longSeeds[2].title }).waitFor()
    await site.website.as(company.admin, patch(`/v1/seeds/${first.id}`, { status: 'validating' }))
    await page.locator(`#seed-${first.id}`).getByText('Validating').waitFor()
    expect(await page.getByRole('link', { name: 'Validating 1' }).count()).toBe(1)
    await check(page)
    expect(complaints).toEqual([])
  })
})
