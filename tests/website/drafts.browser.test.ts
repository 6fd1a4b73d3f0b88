import { sql } from 'drizzle-orm'
import type { BrowserContext, Page } from 'playwright-core'
import { beforeAll, describe, expect, it } from 'vitest'
import { addPerson, createCompany, del, patch } from '../support/company.ts'
import { eventually } from '../support/eventually.ts'
import { longCompany, longComments, longNames, longSeeds } from '../support/long-texts.ts'
import { createSeed } from '../support/seeds.ts'
import { check, hasBrowser, sizes } from './browser.ts'
import { openAs, startSite, type Site } from './site.ts'

const long = '予算は増えます。\n\n\tميزانية السنة 👩🏽‍🚀\u2028\ud83c\udf31 "<b>" & é e\u0301 '.repeat(60)

describe.runIf(hasBrowser)('a text of several lines in a browser', () => {
  let site: Site

  beforeAll(async () => {
    site = await startSite()
  })

  /** A member at the page of a seed. */
  async function openSeed() {
    const company = await createCompany(site.website, longCompany)
    const person = await addPerson(site.website, company.workspace, 'member', longNames[4])
    const seed = await createSeed(site.website, person, company, longSeeds[3])
    const opened = await openAs(site, person, { viewport: sizes.desk })
    const { page } = opened
    // Leaving a page with a text that was begun asks.
    page.on('dialog', (dialog) => void dialog.accept())
    const base = `${site.origin}/w/${company.workspace.slug}`
    const url = `${base}/seeds/${seed.id}`
    await page.goto(url)
    return { ...opened, company, person, seed, base, url, ...fieldsOf(page) }
  }

  const fieldsOf = (page: Page) => ({
    field: page.getByLabel('Comment', { exact: true }),
    button: page.getByRole('button', { name: 'Comment', exact: true }),
    note: page.getByText(/^Your draft of \d/),
    offer: page.getByText(/^You wrote another text here \d/),
  })

  const readDrafts = (page: Page) =>
    page.evaluate<Record<string, string>>(
      `Object.fromEntries(Object.entries(localStorage).filter(([name]) => name.startsWith('draft:')))`,
    )

  /** Writes a text, and waits until it is kept. */
  async function write(page: Page, text: string, label = 'Comment') {
    const before = JSON.stringify(await readDrafts(page))
    await page.getByLabel(label, { exact: true }).fill(text)
    await eventually(async () => expect(JSON.stringify(await readDrafts(page))).not.toBe(before))
  }

  const waitForNone = (page: Page) => eventually(async () => expect(await readDrafts(page)).toEqual({}))

  async function signIn(context: BrowserContext, { id }: { id: string }) {
    const page = await context.newPage()
    page.on('dialog', (dialog) => void dialog.accept())
    await page.goto((await site.website.services.credentials.createLink('sign_in', id)).url)
    await page.getByRole('main').getByRole('button').first().click()
    await page.waitForURL(/\/(w\/|onboarding)/)
    return page
  }

  it('is not cut when it is too long: it is counted, refused and kept', async () => {
    const { page, field, button, note, offer, complaints, context } = await openSeed()
    const text = '\u{1f331}'.repeat(5012)
    await field.fill(text)
    await page.getByText('5,012 of 5,000 characters').waitFor()
    await button.click()
    await page.getByText('must be at most 5000 characters').first().waitFor()
    expect(await field.inputValue()).toBe(text)
    await page.getByText('5,012 of 5,000 characters').waitFor()
    await check(page)
    // Nor when the refusal has been forgotten.
    await page.goto(page.url().split('?')[0] ?? '')
    await note.waitFor()
    expect(await field.inputValue()).toBe(text)
    await page.getByText('5,012 of 5,000 characters').waitFor()
    expect(await offer.count()).toBe(0)
    expect(complaints).toEqual([])
    await context.close()
  })

  it('is there again after reloading and going back, whatever its script, until it is sent', async () => {
    const { page, field, button, note, url, base, complaints, context } = await openSeed()
    // Reloaded before the script writes by itself.
    await field.fill(long)
    await page.reload()
    await note.waitFor()
    expect(await field.inputValue()).toBe(long)
    await check(page)
    await page.goto(base)
    await page.goBack()
    await eventually(async () => expect(await field.inputValue()).toBe(long))
    const [stored = ''] = Object.values(await readDrafts(page))
    expect(stored).not.toContain('予算')
    expect(atob(stored.split(' ')[1] ?? '')).not.toContain('text')
    await page.goto(url)
    await note.waitFor()
    expect(await field.inputValue()).toBe(long)
    await field.fill(longComments[5])
    await button.click()
    await page.getByText('Comment added.').waitFor()
    expect(await readDrafts(page)).toEqual({})
    await page.goto(url)
    expect(await field.inputValue()).toBe('')
    expect(await note.count()).toBe(0)
    expect(complaints).toEqual([])
    await context.close()
  })

  it('can be discarded, and is not kept when the field is as it was', async () => {
    const { page, field, note, context } = await openSeed()
    await write(page, longComments[0])
    await page.reload()
    await page.getByRole('button', { name: 'Discard the draft of Comment' }).click()
    expect(await field.inputValue()).toBe('')
    await waitForNone(page)
    expect(await note.count()).toBe(0)
    await write(page, longComments[0])
    await field.fill('  \n')
    await waitForNone(page)
    await context.close()
  })

  it('is offered where the field has another text now', async () => {
    const { page, company, person, seed, url, offer, context } = await openSeed()
    await page.goto(`${url}/edit`)
    const problem = page.getByLabel('Problem (optional)', { exact: true })
    await write(page, longSeeds[1].summary, 'Problem (optional)')
    const changed = await site.website.as(
      person,
      patch(`/v1/seeds/${seed.id}`, { problem: longSeeds[2].summary }),
    )
    expect(changed.statusCode, changed.body).toBe(200)
    await page.reload()
    await offer.waitFor()
    expect(await problem.inputValue()).toBe(longSeeds[2].summary)
    await check(page)
    await page.getByRole('button', { name: 'Restore the draft of Problem' }).click()
    expect(await problem.inputValue()).toBe(longSeeds[1].summary)
    await eventually(async () => {
      await page.reload()
      await page.getByText(/^Your draft of/).waitFor({ timeout: 2000 })
    })
    expect(await problem.inputValue()).toBe(longSeeds[1].summary)
    await page.getByRole('button', { name: 'Discard the draft of Problem' }).click()
    expect(await problem.inputValue()).toBe(longSeeds[2].summary)
    await waitForNone(page)
    expect(company.workspace.slug).not.toBe('')
    await context.close()
  })

  it('is found by the same person after the session, and by nobody else', async () => {
    const { page, person, company, field, note, url, context } = await openSeed()
    await write(page, 'Only mine')
    await site.website.db.execute(
      sql`update sessions set expires_at = now() - interval '1 minute' where user_id = ${person.id}`,
    )
    await page.goto(url)
    await page.waitForURL(/\/sign-in\?next=/)
    const kept = await readDrafts(page)
    expect(Object.keys(kept)).toHaveLength(1)
    expect(JSON.stringify(kept)).not.toMatch(/mine|Comment|seeds/)
    const again = await signIn(context, person)
    await again.goto(url)
    await fieldsOf(again).note.waitFor()
    expect(await fieldsOf(again).field.inputValue()).toBe('Only mine')
    expect(await readDrafts(again)).toEqual(kept)
    await again.close()
    await context.clearCookies()
    const other = await signIn(context, company.member)
    expect(await readDrafts(other)).toEqual({})
    // With a copy of what was there.
    await other.evaluate(`Object.assign(localStorage, ${JSON.stringify(kept)})`)
    await other.goto(url)
    await fieldsOf(other).field.fill('Of the other')
    await eventually(async () => expect(Object.keys(await readDrafts(other))).toHaveLength(1))
    expect(Object.keys(await readDrafts(other))).not.toEqual(Object.keys(kept))
    expect(await other.content()).not.toContain('Only mine')
    expect(await note.count()).toBe(0)
    expect(await field.count()).toBe(0)
    await context.close()
  })

  it('is deleted by signing out, and after a week', async () => {
    const { page, field, person, url, context } = await openSeed()
    await write(page, longComments[0])
    await page.locator('summary', { hasText: 'Account of' }).click()
    await page.getByRole('navigation').getByRole('button', { name: 'Sign out', exact: true }).click()
    await page.getByText('You are signed out.').waitFor()
    expect(await readDrafts(page)).toEqual({})
    const again = await signIn(context, person)
    await again.goto(url)
    expect(await fieldsOf(again).field.inputValue()).toBe('')
    await write(again, longComments[0])
    await again.evaluate(`{
      const [[name, value]] = Object.entries(localStorage).filter(([name]) => name.startsWith('draft:'))
      localStorage.setItem(name, (Date.now() - 7 * 86400000 - 1000) + value.slice(value.indexOf(' ')))
    }`)
    await again.evaluate(`document.querySelector('#comment textarea').value = ''`)
    await again.goto(`${site.origin}/settings/profile`)
    expect(await readDrafts(again)).toEqual({})
    expect(await field.count()).toBe(0)
    await context.close()
  })

  it('is shown to copy when its seed is deleted, or its form is gone since the role was lowered', async () => {
    for (const change of ['delete', 'lower', 'remove'] as const) {
      const { page, person, company, seed, url, context, complaints } = await openSeed()
      await write(page, long)
      const { owner } = company
      const membership = `${company.url}/members/${person.id}`
      const changed = await site.website.as(
        owner,
        {
          delete: del(`/v1/seeds/${seed.id}`),
          lower: patch(membership, { role: 'viewer' }),
          remove: del(membership),
        }[change],
      )
      expect(changed.statusCode, changed.body).toBe(200)
      await page.goto(url)
      await page.getByRole('heading', { name: 'What you began to write' }).waitFor()
      expect(await page.getByLabel('Comment', { exact: true }).inputValue()).toBe(long)
      expect(await page.getByRole('button', { name: 'Copy', exact: true }).count()).toBe(1)
      await check(page)
      await page.getByRole('button', { name: 'Discard', exact: true }).click()
      expect(await readDrafts(page)).toEqual({})
      expect(complaints).toEqual([])
      await context.close()
    }
  })

  it('is not lost when two windows write in the same field', async () => {
    const { page, field, note, offer, button, url, context } = await openSeed()
    const second = await context.newPage()
    second.on('dialog', (dialog) => void dialog.accept())
    await second.goto(url)
    await write(page, longComments[0])
    await write(second, longComments[1])
    await write(page, `${longComments[0]} ${longComments[4]}`)
    await write(second, `${longComments[1]} ${longComments[3]}`)
    await second.close()
    await page.reload()
    await note.waitFor()
    expect(await field.inputValue()).toBe(`${longComments[1]} ${longComments[3]}`)
    await button.click()
    await page.getByText('Comment added.').waitFor()
    // What was sent is gone. The other text is not.
    await note.or(offer).waitFor()
    expect(await field.inputValue()).toBe(`${longComments[0]} ${longComments[4]}`)
    await context.close()
  })

  it('is bounded: the oldest of 50 texts go, and what is no draft stays', async () => {
    const { page, field, note, context } = await openSeed()
    await write(page, longComments[0])
    await page.evaluate(`{
      localStorage.setItem('other', '1')
      const [name] = Object.keys(localStorage).filter((name) => name.startsWith('draft:'))
      const prefix = name.slice(0, name.lastIndexOf(':') + 1)
      for (let i = 0; i < 60; i++) localStorage.setItem(prefix + i, (Date.now() - 1000 - i) + ' AAAA')
    }`)
    await write(page, longComments[1])
    const names = Object.keys(await readDrafts(page)).map((name) => name.split(':')[2])
    expect(names).toHaveLength(50)
    expect(names).toContain('48')
    expect(names).not.toContain('49')
    expect(await page.evaluate(`localStorage.getItem('other')`)).toBe('1')
    await page.evaluate(
      `for (const name of Object.keys(localStorage)) if (/:\\d+$/.test(name)) localStorage.setItem(name, (Date.now() - 1000) + ' ' + 'A'.repeat(20000))`,
    )
    await write(page, longComments[4])
    const sizesOfAll = Object.values(await readDrafts(page)).map((value) => value.length)
    expect(sizesOfAll.reduce((sum, size) => sum + size)).toBeLessThanOrEqual(500_000)
    expect(sizesOfAll.length).toBeGreaterThan(20)
    // Altered ones do no harm, and go.
    await page.reload()
    await note.waitFor()
    expect(await field.inputValue()).toBe(longComments[4])
    await eventually(async () => expect(Object.keys(await readDrafts(page))).toHaveLength(1))
    await context.close()
  })

  it('is written and sent as before where the browser keeps nothing', async () => {
    const { page, field, button, url, context, complaints } = await openSeed()
    await page.addInitScript(
      `Storage.prototype.setItem = () => { throw new DOMException('full', 'QuotaExceededError') }`,
    )
    for (const init of [
      '',
      `Object.defineProperty(window, 'localStorage', { get() { throw new DOMException('no', 'SecurityError') } })`,
      `Object.defineProperty(window, 'isSecureContext', { value: false })`,
    ]) {
      await page.addInitScript(init)
      await page.goto(url)
      await field.fill(longComments[4])
      await button.click()
      await page.getByText('Comment added.').waitFor()
      expect(await field.inputValue()).toBe('')
    }
    expect(complaints).toEqual([])
    await context.close()
  })

  it('loads no script of drafts on pages without such a field', async () => {
    const { page, base, context } = await openSeed()
    const scripts = () => page.evaluate<string>(`Array.from(document.scripts, ({ src }) => src).join()`)
    expect(await scripts()).toMatch(/texts-.*drafts-/)
    for (const path of [base, `${base}/seeds`, `${base}/people`, `${site.origin}/settings/profile`]) {
      await page.goto(path)
      expect(await scripts()).not.toMatch(/texts-|drafts-/)
    }
    await context.close()
  })
})
