import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'drizzle-orm'
import type { Page, Request } from 'playwright-core'
import { beforeAll, describe, expect, it } from 'vitest'
import { agentScopes } from '../../src/domain/agent.ts'
import { check, hasBrowser, looks, openPage, sizes } from './browser.ts'
import { openAs, startSite, type Site } from './site.ts'
import { password } from './visitor.ts'
import { afterFile } from '../support/after-file.ts'
import { addPerson, createCompany, createTeam, post, randomEmail } from '../support/company.ts'
import {
  longComments,
  longCompany,
  longestWordOf,
  longNames,
  longSeeds,
  longWorkspaceName,
} from '../support/long-texts.ts'
import { createSeed, insertGrant } from '../support/seeds.ts'
import { createWorkspace } from '../support/workspaces.ts'
import { drawQuadrants } from '../support/images.ts'

if (!hasBrowser)
  console.warn('Chromium is not installed: skipping the browser tests. Install the package chromium.')

describe.runIf(hasBrowser)('the website in a browser', () => {
  let site: Site

  beforeAll(async () => {
    site = await startSite()
  })

  const isChanges = (url: string) => url.includes('/activity/changes')

  /** Goes to a page, and waits until changes are reported to it. */
  async function goToLivePage(page: Page, url: string): Promise<void> {
    // The page that is left may be live too: its stream could be answered only now.
    await page.goto('about:blank')
    const opened = page.waitForResponse((answer) => isChanges(answer.url()) && answer.status() === 200)
    await page.goto(url)
    await opened
  }

  // One person's journey: each test goes on where the one before ended.
  describe('every page works and is accessible', () => {
    const email = randomEmail()
    const colleague = randomEmail()
    const slug = `engines-${crypto.randomUUID().slice(0, 8)}`
    let opened: Awaited<ReturnType<typeof openPage>>
    let inviteUrl: string

    beforeAll(async () => {
      opened = await openPage(site.browser, { viewport: sizes.desk })
    })
    const go = async (path: string) => {
      await opened.page.goto(site.origin + path)
      await check(opened.page)
    }
    const press = (name: string) =>
      opened.page.getByRole('main').getByRole('button', { name, exact: true }).click()

    it('of people who sign up, create a workspace, invite and make a team', async () => {
      const { website } = site
      const { page } = opened
      for (const path of [
        '/',
        '/sign-in',
        '/verify',
        '/forgot',
        '/sign-in/link',
        '/invites/unknown',
        '/no-such-page',
        '/help',
      ])
        await go(path)

      // Signs up.
      await go('/sign-up')
      await page.getByLabel('Your name').fill(longNames[0])
      await page.getByLabel('Email address').fill(email)
      await page.getByLabel('Password').fill('short')
      await press('Sign up')
      await page.waitForSelector('.error')
      await check(page)
      expect(await page.getByLabel('Your name').inputValue()).toBe(longNames[0])
      await page.getByLabel('Password').fill(password)
      await press('Sign up')
      await page.getByRole('heading', { name: 'Check your email' }).waitFor()
      await check(page)
      const { path: verifyPath } = await website.waitForMail(email, /Verify/)
      await go(verifyPath)
      await press('Verify and sign in')

      // Creates a workspace. The script suggests its address.
      await page.getByRole('heading', { name: 'Create a workspace' }).waitFor()
      await check(page)
      await page.getByLabel('Name').fill('Analytical  Engines Łódź!')
      await expect.poll(() => page.getByLabel('Address').inputValue()).toBe('analytical-engines-lodz')
      await page.getByLabel('Address').fill('settings')
      await page.getByText('This address is not available.').waitFor()
      await check(page)
      await page.getByLabel('Address').fill(slug)
      await page.getByText('Available.').waitFor()
      await press('Create workspace')
      await page.getByRole('heading', { name: 'Activity' }).waitFor()
      await check(page)

      // Invites a colleague.
      await go(`/w/${slug}/invites`)
      await page.getByLabel('Email address').fill(colleague)
      await press('Send invites')
      inviteUrl = await page.getByLabel(`Link for ${colleague}`).inputValue()
      await page.getByRole('button', { name: 'Copy' }).click()
      await page
        .getByText(/Copied|Press Ctrl/)
        .first()
        .waitFor()
      await check(page)
      expect((await website.waitForMail(colleague, /invited you/)).path).toMatch(/^\/invites\//)

      // Creates a team and joins it.
      await go(`/w/${slug}/teams`)
      await page.getByLabel('Team name').fill('Looms')
      await press('Create team')
      await page.getByRole('heading', { name: 'Looms' }).waitFor()
      await page.getByLabel('Find people to add').fill(longestWordOf(longNames[0]))
      await press('Search')
      await page.getByText(email).last().waitFor()
      await check(page)
      await press(`Add ${longNames[0]}`)
      await page.getByText('You joined the team.').waitFor()
      await check(page)
      await page.getByText('Delete team').first().click()
      await check(page)
    })

    it('of seeds and evidence', async () => {
      const { page } = opened
      // Creates a seed, joins it, adds evidence and decides.
      await go(`/w/${slug}/seeds`)
      await page.getByRole('link', { name: 'Create the first seed' }).click()
      await page.getByLabel('Title').fill(longSeeds[2].title)
      await page.getByLabel('Summary').fill(longSeeds[3].summary)
      await page.getByLabel('Success criteria').fill('One\nTwo')
      // White space passes the checks of the browser.
      await page.getByLabel('Problem').fill(' \u2800 ')
      await press('Create seed')
      await page.waitForSelector('.error')
      await check(page)
      expect(await page.evaluate('document.activeElement.id')).toBe('problem')
      await page.keyboard.type('Nobody reads.')
      await press('Create seed')
      await page.getByText('Seed created.').waitFor()
      await check(page)
      await press('Leave the seed')
      await page.getByText('You left the seed.').waitFor()
      await check(page)
      await press('Join this seed')
      await page.getByText('You joined the seed.').waitFor()
      for (const verdict of ['Supports', 'Contradicts', 'Neutral']) {
        await page.getByText('Add evidence', { exact: true }).first().click()
        await page.getByRole('radio', { name: verdict }).check()
        await page.getByLabel('What you found out').fill(longComments[3])
        await page.getByLabel('Source').fill(`https://example.com/${'long'.repeat(40)}`)
        await check(page)
        // The page stays until the form has been sent, and may say that an earlier piece was added.
        await Promise.all([page.waitForEvent('load'), press('Add evidence')])
        await page.getByText('Evidence added.').waitFor()
      }
      await page.getByText('1 supports it').waitFor()
      await check(page)
      await page.getByText('Change the status').click()
      await press('Start validating')
      await page.getByText('Status changed.').waitFor()
      await page.getByLabel('Manage the seed').click()
      await page.getByRole('link', { name: 'Edit', exact: true }).click()
      await page.getByRole('heading', { name: 'Edit seed' }).waitFor()
      await check(page)
      for (const view of ['list', 'board']) await go(`/w/${slug}/seeds?view=${view}`)
      await page.getByLabel('Search').fill('nothing like it')
      await page.keyboard.press('Enter')
      await page.getByText('No seed matches these filters.').waitFor()
      await check(page)
    })

    it('of settings, pictures and people', async () => {
      const { origin } = site
      const { page } = opened
      // Settings, with pictures.
      await go(`/w/${slug}/settings`)
      await page.getByLabel('Allowed email domains').fill('gmail.com')
      await press('Save')
      await page.getByText('public email service').waitFor()
      await check(page)
      const picture = {
        name: 'icon.png',
        mimeType: 'image/png',
        buffer: await drawQuadrants(64, 64).png().toBuffer(),
      }
      // Larger than is allowed, and than the connection can hold.
      const folder = await mkdtemp(join(tmpdir(), 'workspace-test-'))
      afterFile(() => rm(folder, { recursive: true }))
      const large = join(folder, 'large.png')
      await writeFile(large, Buffer.alloc(30_000_000))
      for (const [path, label] of [
        [`/w/${slug}/settings`, 'New icon'],
        ['/settings/profile', 'New photo'],
      ] as const) {
        await go(path)
        await page.getByLabel(label).setInputFiles(large)
        await press('Upload')
        await page.getByText('The picture is larger than 5 MB.').waitFor()
        await check(page)
        await page.getByLabel(label).setInputFiles(picture)
        await page.locator('main img[src^="data:"]').waitFor()
        await press('Upload')
        await page.getByText('Saved.').waitFor()
        await check(page)
        const isShown = 'document.querySelector("main img").naturalWidth > 0'
        // The content security policy blocks waitForFunction.
        await expect.poll(() => page.evaluate(isShown)).toBe(true)
      }
      await page.goto(`${origin}/w/${slug}/people`)
      await page.getByRole('link', { name: longNames[0] }).last().click()
      await page.getByRole('heading', { name: 'Recent activity' }).waitFor()
      await check(page)
      await page.getByRole('link', { name: `All activity of ${longNames[0]}` }).click()
      await page.getByText('Show everyone').waitFor()
      await check(page)
      await go('/onboarding')
      await go('/settings/notifications')
      await page.getByLabel('Product updates').uncheck()
      await page.getByRole('button', { name: 'Save' }).first().click()
      expect(await page.getByLabel('Product updates').isChecked()).toBe(false)
    })

    it('of API keys, invites, roles and passwords', async () => {
      const { browser, origin, website } = site
      const { context, page, complaints } = opened
      // Creates an API key, uses it, and revokes it.
      await go('/settings/security')
      await page.getByRole('link', { name: 'Manage API keys' }).click()
      await check(page)
      await page.getByLabel('Key name').fill('Laptop')
      await page.getByRole('button', { name: 'Create key' }).dblclick()
      const apiKey = await page.getByLabel('API key Laptop').inputValue()
      await check(page)
      const call = () => fetch(`${origin}/v1/me`, { headers: { authorization: `Bearer ${apiKey}` } })
      expect(await (await call()).json()).toMatchObject({ email, name: longNames[0] })
      await page.reload()
      expect(await page.content()).not.toContain(apiKey)
      expect(await page.getByRole('button', { name: 'Revoke the key Laptop' }).count()).toBe(1)
      const revoke = page.getByRole('button', { name: 'Revoke the key Laptop' })
      const question = page.getByRole('dialog', { name: 'Programs that use this key' })
      for (const close of [
        () => page.keyboard.press('Escape'),
        () => question.getByRole('button', { name: 'Cancel' }).click(),
      ]) {
        await revoke.click()
        await question.waitFor()
        await close()
        await question.waitFor({ state: 'hidden' })
      }
      await revoke.click()
      await check(page)
      await press('Revoke key')
      await page.getByText('The key “Laptop” was revoked.').waitFor()
      expect((await call()).status).toBe(401)

      // The colleague follows the link in another browser.
      const other = await browser.newContext({ viewport: sizes.desk })
      const theirs = await other.newPage()
      await theirs.goto(inviteUrl)
      await check(theirs)
      await theirs.getByRole('link', { name: 'Sign up' }).click()
      await theirs.getByLabel('Your name').fill(longNames[1])
      await theirs.getByLabel('Email address').fill(colleague)
      await theirs.getByLabel('Password').fill(password)
      await theirs.getByRole('button', { name: 'Sign up' }).click()
      await theirs.getByRole('heading', { name: 'Check your email' }).waitFor()
      await theirs.goto(origin + (await website.waitForMail(colleague, /Verify/)).path)
      await theirs.getByRole('button', { name: 'Verify and sign in' }).click()
      await theirs.getByRole('button', { name: 'Accept invite' }).waitFor()
      await check(theirs)
      await theirs.getByRole('button', { name: 'Accept invite' }).click()
      await theirs.waitForURL(`**/w/${slug}`)
      await other.close()
      await go(`/w/${slug}/people`)
      await page.getByRole('link', { name: `Manage ${longNames[1]}` }).click()
      await page.getByLabel('Viewer').check()
      await press('Change role')
      await page.getByText(`${longNames[1]} is now a viewer.`).waitFor()
      await page.getByRole('button', { name: `Remove ${longNames[1]} from the workspace` }).click()
      await check(page)

      // Signs out and resets the password.
      await page.locator('summary', { hasText: 'Account of' }).click()
      await check(page)
      await page.getByRole('button', { name: 'Sign out' }).click()
      await page.getByText('You are signed out.').waitFor()
      await page.getByRole('link', { name: 'Forgot your password?' }).click()
      await page.getByLabel('Email address').fill(email)
      await press('Send link')
      await page.getByRole('heading', { name: 'Check your email' }).waitFor()
      await go((await website.waitForMail(email, /new password/)).path)
      await page.getByLabel('Password').fill('another long password')
      await press('Set password')
      await page.getByText('Your password is set.').waitFor()
      await check(page)
      await page.getByLabel('Email address').fill(email)
      await page.getByLabel('Password').fill('another long password')
      await press('Sign in')
      await page.waitForURL(`**/w/${slug}`)
      expect(complaints).toEqual([])
      await context.close()
    })
  })

  it('shows activity in the reader’s time zone and language, and adds new activity unless it is paused', async () => {
    const { origin, website } = site
    const company = await createCompany(website, longCompany)
    const { owner, viewer, workspace } = company
    const base = `${origin}/w/${workspace.slug}`
    const at = (time: string) =>
      sql`update events set created_at = ${time} where workspace_id = ${workspace.id}`
    await website.db.execute(at('2026-03-01T15:30:00Z'))
    const reader = await openAs(site, owner, { locale: 'de-DE', timezoneId: 'Asia/Tokyo' })
    const { page } = reader
    await goToLivePage(page, `${base}/activity`)
    await page.getByRole('heading', { name: 'Montag, 2. März 2026' }).waitFor()
    await page.getByText('00:30').waitFor()
    // What this page shows has also been reported to the other one.
    const home = await openAs(site, viewer)
    await goToLivePage(home.page, base)
    let created = 0
    const create = async (name: string) => {
      await createTeam(website, owner, company, name)
      created += 1
      // The home shows several in a row as one.
      const what = created === 1 ? `the team ${name}` : `${created} teams`
      await home.page.getByText(`${owner.name} created ${what}`).waitFor()
    }
    const shown = (name: string) => page.getByText(`${owner.name} created the team ${name}`)

    await create('Looms')
    await shown('Looms').waitFor()
    expect(await page.getByRole('heading', { level: 2 }).count()).toBe(2)
    await check(page)

    // While a text is selected, the list stays as it is.
    await page.evaluate('getSelection().selectAllChildren(document.querySelector("[data-live] li"))')
    await create('Shuttles')
    expect(await shown('Shuttles').count()).toBe(0)
    await page.evaluate('getSelection().removeAllRanges()')
    await shown('Shuttles').waitFor()

    const setHidden = (isHidden: boolean) =>
      page.evaluate(`
        Object.defineProperty(document, 'hidden', { value: ${isHidden}, configurable: true })
        document.dispatchEvent(new Event('visibilitychange'))`)
    const choice = page.getByLabel('Show new activity automatically')
    const pauses: [string, () => Promise<unknown>, () => Promise<unknown>][] = [
      ['Reeds', () => choice.uncheck(), () => choice.check()],
      ['Warps', () => setHidden(true), () => setHidden(false)],
    ]
    for (const [name, stop, resume] of pauses) {
      const closed = page.waitForEvent('requestfailed', (request) => isChanges(request.url()))
      await stop()
      await closed
      const requests: string[] = []
      page.on('request', (request) => requests.push(request.url()))
      await create(name)
      expect(requests).toEqual([])
      await resume()
      await shown(name).waitFor()
    }
    for (const { context, complaints } of [reader, home]) {
      expect(complaints).toEqual([])
      await context.close()
    }
  })

  it('shows new activity even when the event stream fails, and reconnects after 15 seconds', async () => {
    const { origin, website } = site
    const company = await createCompany(website, longCompany)
    const { context, page, complaints } = await openAs(site, company.owner)
    await page.clock.install()
    await page.route(
      ({ pathname }) => isChanges(pathname),
      async (route) => {
        await createTeam(website, company.owner, company, 'Looms')
        await route.fulfill({ status: 503 })
      },
      { times: 1 },
    )
    await page.goto(`${origin}/w/${company.workspace.slug}/activity`)
    await page.getByText(`${company.owner.name} created the team Looms`).waitFor()
    const opened = page.waitForResponse((answer) => isChanges(answer.url()) && answer.status() === 200)
    await page.clock.fastForward(15_000)
    await opened
    await createTeam(website, company.owner, company, 'Shuttles')
    await page.getByText(`${company.owner.name} created the team Shuttles`).waitFor()
    expect(complaints).toEqual([])
    await context.close()
  })

  it('lists with long, right-to-left and hostile names are accessible', async () => {
    const { origin, website } = site
    const company = await createCompany(website, longCompany)
    const { owner, workspace } = company
    const names = [...longNames, 'Wolfeschlegelsteinhausenbergerdorff'.repeat(2), 'אדה', 'Ada <b>']
    for (const name of names) {
      const person = await addPerson(website, workspace, 'member', name)
      await createSeed(website, person, company, { title: name, summary: name })
      const team = await createTeam(website, owner, company, name.slice(0, 64))
      await website.as(owner, post(`${team.url}/members`, { userId: person.id }))
    }
    for (let i = 0; i < 60; i++) await addPerson(website, workspace, 'viewer', `Robot ${i}`)
    const team = await createTeam(website, owner, company, 'Looms')
    const grant = await insertGrant(website, workspace, owner)
    await website.db.execute(sql`
      update agent_grants set scopes = ${sql.param([...agentScopes])} where id = ${grant.id}`)
    await website.db.execute(sql`
      insert into agent_call_log (grant_id, called_at, id, tool, code)
      select ${grant.id}, now() - i * interval '20 minutes', gen_random_uuid(), 'add_evidence', 'not_a_participant'
      from generate_series(1, 3) i`)
    const { context, page, complaints } = await openAs(site, owner, { viewport: sizes.desk })
    for (const path of [
      '',
      '/seeds',
      '/people',
      '/people?q=robot',
      `/people/${company.member.id}`,
      '/activity',
      '/activity?person=a',
      '/members',
      '/teams',
      `/teams/${team.id}?q=robot`,
      '/agents',
      `/agents/${grant.id}`,
      '/search',
      '/search?q=a',
      '/settings',
    ]) {
      await page.goto(`${origin}/w/${workspace.slug}${path}`)
      await check(page)
    }
    await page.goto(`${origin}/design`)
    await check(page)
    expect(complaints).toEqual([])
    await context.close()
  })

  it.each(looks)('menus, themes and the command palette work, on a $size', async ({ colorScheme, size }) => {
    const { origin, website } = site
    const company = await createCompany(website, longCompany)
    const others = await Promise.all(
      [longSeeds[2].title, longSeeds[3].title.slice(0, 64)].map((name) =>
        createWorkspace(website, company.owner, { name }),
      ),
    )
    await createSeed(website, company.owner, company, longSeeds[1])
    const { context, page, complaints } = await openAs(site, company.owner, {
      colorScheme,
      viewport: sizes[size],
    })
    for (const { slug } of others) {
      await page.goto(`${origin}/w/${slug}`)
      await check(page)
    }
    await page.goto(`${origin}/w/${company.workspace.slug}`)

    // Escape and a click elsewhere close a menu.
    const switcher = page.locator('.switcher')
    await page.locator('summary', { hasText: 'switch workspace' }).click()
    await check(page)
    await page.keyboard.press('Escape')
    expect(await switcher.getAttribute('open')).toBeNull()
    expect(await page.evaluate('document.activeElement.parentElement.className')).toContain('switcher')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 1 }).click({ position: { x: 1, y: 1 }, force: true })
    expect(await switcher.getAttribute('open')).toBeNull()

    // The chosen theme is kept, whatever the device prefers.
    for (const theme of ['Dark', 'Light', 'System']) {
      await page.locator('summary', { hasText: 'Account of' }).click()
      await page.getByRole('button', { name: theme }).click()
      await page.waitForURL(`**/w/${company.workspace.slug}`)
      await page.locator('summary', { hasText: 'Account of' }).click()
      expect(await page.getByRole('button', { name: theme }).getAttribute('aria-pressed')).toBe('true')
      await page.keyboard.press('Escape')
      const ground = await page.evaluate<string>('getComputedStyle(document.body).backgroundColor')
      const isDark = theme === 'Dark' || (theme === 'System' && colorScheme === 'dark')
      expect(ground === 'rgb(255, 255, 255)').toBe(!isDark)
      await check(page)
    }

    // The palette finds a seed, a page and a person.
    const open = async () => {
      await page.keyboard.press('Control+k')
      await page.getByRole('option', { name: new RegExp(`^${longSeeds[1].title}`) }).waitFor()
      return page.getByRole('combobox')
    }
    let box = await open()
    await check(page)
    await page.keyboard.press('Escape')
    expect(await box.isVisible()).toBe(false)
    box = await open()
    await box.fill(longSeeds[1].title.slice(0, 3))
    await page.getByText('1 result.').waitFor()
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: longSeeds[1].title }).waitFor()
    const seedUrl = page.url()
    box = await open()
    await box.fill('e')
    await page.getByRole('option', { name: 'Teams' }).waitFor()
    const selected = () => page.locator('.palette').getByRole('option', { selected: true }).textContent()
    const first = await selected()
    await page.keyboard.press('ArrowDown')
    expect(await selected()).not.toBe(first)
    await page.keyboard.press('ArrowUp')
    expect(await selected()).toBe(first)
    expect(await box.getAttribute('aria-activedescendant')).toBe(
      await page.locator('.palette').getByRole('option', { selected: true }).getAttribute('id'),
    )
    await box.fill(longestWordOf(company.member.name))
    await page.getByText('1 result.').waitFor()
    await page.getByRole('option', { name: company.member.name }).click()
    await page.getByRole('heading', { name: company.member.name }).waitFor()
    await page.getByRole('link', { name: 'Search' }).click()
    await page.getByRole('combobox').fill('nothing like it')
    await page.getByText('Nothing matches.').waitFor()
    await check(page)

    // It also does things: here with the seed whose page is open, and on every page.
    await page.goto(seedUrl)
    box = await open()
    await box.fill('status validating')
    await page.getByText('1 result.').waitFor()
    await check(page)
    await page.keyboard.press('Enter')
    await page.getByText('Status changed.').waitFor()
    await page.goto(`${origin}/settings/profile`)
    box = await open()
    await box.fill('dark theme')
    await page.getByText('1 result.').waitFor()
    await page.keyboard.press('Enter')
    await page.locator('html[data-theme="dark"]').waitFor()
    expect(new URL(page.url()).pathname).toBe('/settings/profile')
    expect(complaints).toEqual([])
    await context.close()
  })

  it('shows what happened before its stream was opened and while it was hidden, and fetches itself only then', async () => {
    const { origin, website } = site
    const company = await createCompany(website, longCompany)
    const { context, page } = await openAs(site, company.owner, {})
    await page.route(
      ({ pathname }) => isChanges(pathname),
      async (route) => {
        await createTeam(website, company.owner, company, 'Reeds')
        await route.continue()
      },
      { times: 1 },
    )
    const show = (isHidden: boolean) =>
      page.evaluate(`
        Object.defineProperty(document, 'hidden', { value: ${isHidden}, configurable: true })
        document.dispatchEvent(new Event('visibilitychange'))`)
    const url = `${origin}/w/${company.workspace.slug}/activity`
    await goToLivePage(page, url)
    await page.getByText(`${company.owner.name} created the team Reeds`).waitFor()
    await show(true)
    await createTeam(website, company.owner, company, 'Looms')
    await show(false)
    await page.getByText(`${company.owner.name} created the team Looms`).waitFor()

    const fetched: string[] = []
    page.on('request', (request) => request.url() === url && fetched.push(request.url()))
    await show(true)
    const opened = page.waitForResponse((answer) => isChanges(answer.url()))
    await show(false)
    await opened
    await createTeam(website, company.owner, company, 'Shuttles')
    await page.getByText(`${company.owner.name} created the team Shuttles`).waitFor()
    expect(fetched).toHaveLength(1)
    await context.close()
  })

  it('opens at Enter what the typed text finds, however late the first results of the palette come', async () => {
    const { origin, website } = site
    const company = await createCompany(website, longCompany)
    await createSeed(website, company.owner, company, longSeeds[1])
    const { context, page } = await openAs(site, company.owner, {})
    // The palette waits with its search until we let it.
    await page.clock.install()
    await page.goto(`${origin}/w/${company.workspace.slug}`)
    await page.clock.pauseAt(Date.now() + 60_000)
    let release: () => void = () => undefined
    const released = new Promise<void>((resolve) => (release = resolve))
    const isFirst = (url: URL) => url.pathname.endsWith('/search/results') && url.searchParams.get('q') === ''
    await page.route(isFirst, async (route) => {
      await released
      // Nobody may want it any more.
      await route.continue().catch(() => undefined)
    })
    const isOver = (request: Request) => isFirst(new URL(request.url()))
    const firstIsOver = Promise.race([
      page.waitForEvent('requestfinished', isOver),
      page.waitForEvent('requestfailed', isOver),
    ])
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox').fill(longestWordOf(company.member.name))
    await page.keyboard.press('Enter')
    release()
    await firstIsOver
    await page.clock.runFor(1_000)
    await page.getByRole('heading', { name: company.member.name }).waitFor()
    await context.close()
  })

  it('works without JavaScript, and with the keyboard', async () => {
    const { browser, origin, website } = site
    const context = await browser.newContext({ javaScriptEnabled: false, viewport: sizes.phone })
    const page = await context.newPage()
    const email = randomEmail()
    await page.goto(`${origin}/sign-up`)
    await page.getByLabel('Your name').fill(longNames[4])
    await page.keyboard.press('Tab')
    await page.keyboard.type(email)
    await page.keyboard.press('Tab')
    await page.keyboard.type(password)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Check your email' }).waitFor()
    await page.goto(origin + (await website.waitForMail(email, /Verify/)).path)
    await page.getByRole('button', { name: 'Verify and sign in' }).focus()
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Create a workspace' }).waitFor()
    expect(new URL(page.url()).pathname).toBe('/onboarding')

    // A workspace with a seed, which is joined.
    const slug = `grace-${crypto.randomUUID().slice(0, 8)}`
    await page.getByLabel('Name').fill(longWorkspaceName)
    await page.keyboard.press('Tab')
    await page.keyboard.type(slug)
    await page.keyboard.press('Enter')
    await page.waitForURL(`**/w/${slug}`)
    await page.getByRole('main').getByRole('link', { name: 'New seed' }).focus()
    await page.keyboard.press('Enter')
    await page.getByLabel('Title').focus()
    await page.keyboard.type(longSeeds[4].title)
    await page.keyboard.press('Tab')
    await page.keyboard.type(longSeeds[2].summary)
    for (let i = 0; i < 5; i++) await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await page.getByText('Seed created.').waitFor()
    await page.getByRole('main').locator('summary').filter({ hasText: 'Add evidence' }).focus()
    await page.keyboard.press('Enter')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Space')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Tab')
    await page.keyboard.type(longComments[3])
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await page.getByText('Evidence added.').waitFor()
    await page.getByText('1 supports it').waitFor()
    await context.close()
  })
})
