import { sql } from 'drizzle-orm'
import type { Page, Route } from 'playwright-core'
import { beforeAll, describe, expect, it } from 'vitest'
import { createCompany, del, patch } from '../support/company.ts'
import { eventually } from '../support/eventually.ts'
import { longCompany, longComments, longSeeds } from '../support/long-texts.ts'
import { createSeed } from '../support/seeds.ts'
import { check, hasBrowser, sizes } from './browser.ts'
import { openAs, startSite, type Site } from './site.ts'

const kept = 'What you wrote is kept.'

describe.runIf(hasBrowser)('a form with a text of several lines', () => {
  let site: Site

  beforeAll(async () => {
    site = await startSite()
  })

  /** A member at the page of a seed. */
  async function openSeed() {
    const company = await createCompany(site.website, longCompany)
    const seed = await createSeed(site.website, company.member, company, longSeeds[1])
    const opened = await openAs(site, company.member, { viewport: sizes.desk })
    const path = `/w/${company.workspace.slug}/seeds/${seed.id}`
    const url = site.origin + path
    await opened.page.goto(url)
    const listComments = async (): Promise<string[]> => {
      const answer = await site.website.as(company.member, {
        method: 'GET',
        url: `/v1/seeds/${seed.id}/comments`,
      })
      return answer.json<{ body: string }[]>().map(({ body }) => body)
    }
    return { ...opened, company, seed, url, path, ...fieldsOf(opened.page), listComments }
  }

  const endSessions = ({ id }: { id: string }) =>
    site.website.db.execute(
      sql`update sessions set expires_at = now() - interval '1 minute' where user_id = ${id}`,
    )

  const fieldsOf = (page: Page) => ({
    field: page.getByLabel('Comment', { exact: true }),
    button: page.getByRole('button', { name: 'Comment', exact: true }),
    problem: page.getByRole('main').getByRole('alert'),
  })

  it('stays when it cannot be sent, says so, and is sent when that is possible again', async () => {
    const { page, field, button, problem, context, complaints, listComments } = await openSeed()
    const text = longComments.join('\n\n')
    await field.fill(text)
    await context.setOffline(true)
    await button.click()
    await problem.filter({ hasText: `You are offline. ${kept}` }).waitFor()
    expect(await field.inputValue()).toBe(text)
    expect(await button.isEnabled()).toBe(true)
    await check(page)
    await context.setOffline(false)
    await button.click()
    await page.getByText('Comment added.').waitFor()
    expect(await field.inputValue()).toBe('')
    expect(await listComments()).toEqual([text])
    expect(complaints.filter((text) => !text.includes('ERR_INTERNET_DISCONNECTED'))).toEqual([])
    await context.close()
  })

  it.each<[what: string, answer: Parameters<Route['fulfill']>[0], text: string]>([
    ['429', { status: 429, headers: { 'retry-after': '30' } }, 'Too many requests. Try again in 30 seconds.'],
    ['429 without a time', { status: 429 }, 'Too many requests. Try again later.'],
    [
      '503',
      { status: 503, headers: { 'retry-after': '300' } },
      'The service is unavailable. Try again in 5 minutes.',
    ],
    [
      '502 of a proxy',
      { status: 502, contentType: 'text/html', body: '<h1>Bad' },
      'Something went wrong. Try again later.',
    ],
    [
      '200 of another server',
      { status: 200, contentType: 'text/html', body: '<h1>Log in' },
      'The service does not answer.',
    ],
  ])('stays after %s', async (_what, answer, text) => {
    const { page, field, button, problem, context, url, listComments } = await openSeed()
    await page.route('**/comments', (route) => route.fulfill(answer))
    await field.fill(longComments[4])
    await field.press('Control+Enter')
    await problem.filter({ hasText: `${text} ${kept}` }).waitFor()
    expect(await field.inputValue()).toBe(longComments[4])
    expect(page.url()).toBe(url)
    await page.unroute('**/comments')
    await button.click()
    await page.getByText('Comment added.').waitFor()
    expect(await listComments()).toEqual([longComments[4]])
    await context.close()
  })

  it('stays when it is larger than the service takes', async () => {
    const { field, button, problem, context } = await openSeed()
    const text = '\u{1f331}'.repeat(20_000)
    await field.fill(text)
    await button.click()
    await problem.filter({ hasText: `This is too long to be sent. ${kept}` }).waitFor()
    expect(await field.inputValue()).toBe(text)
    await context.close()
  })

  it('is sent once, however often it is sent', async () => {
    const { page, field, button, context, listComments } = await openSeed()
    let count = 0
    let release: () => void = () => undefined
    const released = new Promise<void>((resolve) => (release = resolve))
    await page.route('**/comments', async (route) => {
      count++
      await released
      await route.continue()
    })
    await field.fill(longComments[5])
    await field.press('Control+Enter')
    await eventually(() => expect(count).toBe(1))
    expect(await button.isDisabled()).toBe(true)
    expect(await field.evaluate((element) => (element as unknown as { readOnly: boolean }).readOnly)).toBe(
      true,
    )
    await field.press('Control+Enter')
    release()
    await page.getByText('Comment added.').waitFor()
    expect(count).toBe(1)
    expect(await listComments()).toEqual([longComments[5]])
    await context.close()
  })

  it('takes effect once when its answer was lost', async () => {
    const { page, field, button, problem, context, listComments } = await openSeed()
    await page.route(
      '**/comments',
      async (route) => {
        await route.fetch({ maxRedirects: 0 })
        await route.abort('connectionreset')
      },
      { times: 1 },
    )
    await field.fill(`${longComments[1]}\n${longComments[2]}`)
    await button.click()
    await problem.filter({ hasText: `The service does not answer. ${kept}` }).waitFor()
    await button.click()
    // The comment itself is shown before, by the live update after the first time.
    await page.getByText('Comment added.').waitFor()
    expect(await field.inputValue()).toBe('')
    expect(await listComments()).toEqual([`${longComments[1]}\n${longComments[2]}`])
    await context.close()
  })

  it('leads to the page with its texts when its seed is gone, or the role was lowered', async () => {
    for (const change of ['delete', 'lower'] as const) {
      const { page, field, button, company, seed, context } = await openSeed()
      const { owner, member, url } = company
      await field.fill(longComments[3])
      const changed = await site.website.as(
        owner,
        change === 'delete'
          ? del(`/v1/seeds/${seed.id}`)
          : patch(`${url}/members/${member.id}`, { role: 'viewer' }),
      )
      expect(changed.statusCode).toBe(200)
      await button.click()
      await page.getByRole('heading', { name: 'What you wrote' }).waitFor()
      expect(await page.getByLabel('Comment', { exact: true }).inputValue()).toBe(longComments[3])
      await context.close()
    }
  })

  it('leads to the sign-in after its session, and from there back to the form', async () => {
    const { page, field, button, context, company } = await openSeed()
    await field.fill(longComments[3])
    await endSessions(company.member)
    await button.click()
    await page.getByText('What you wrote is kept').waitFor()
    expect(page.url()).toContain('/sign-in?done=form-kept')
    await context.close()
  })

  it('asks nothing when it leaves, and stays when nobody is signed in', async () => {
    const { page, field, button, problem, context } = await openSeed()
    await field.fill(longComments[3])
    await context.clearCookies()
    await button.click()
    await problem.filter({ hasText: `You are signed out. Sign in, then send this again. ${kept}` }).waitFor()
    expect(await field.inputValue()).toBe(longComments[3])
    await check(page)
    await context.close()
  })
})
