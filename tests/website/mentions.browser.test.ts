import type { BrowserContextOptions, Page } from 'playwright-core'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { createComment, type TestComment } from '../support/comments.ts'
import { addPerson, createCompany, createTeam, del } from '../support/company.ts'
import { eventually } from '../support/eventually.ts'
import { longestWordOf, longNames } from '../support/long-texts.ts'
import { createSeed, type TestSeed } from '../support/seeds.ts'
import type { TestPerson } from '../support/test-app.ts'
import { check, hasBrowser, sizes } from './browser.ts'
import { openAs, startSite, type Site } from './site.ts'

const hardNames = [...longNames, 'Hard [b] \\c* _d_ `e` <f> &lt; g|h', 'Regular $1 (x) ^?+'] as const

describe.runIf(hasBrowser)('a mention in a browser', () => {
  let site: Site
  let company: Awaited<ReturnType<typeof createCompany>>
  let author: TestPerson
  let people: TestPerson[]
  let ann: TestPerson
  let anna: TestPerson
  let twins: [TestPerson, TestPerson]

  beforeAll(async () => {
    site = await startSite()
    const { website } = site
    company = await createCompany(website)
    const add = (name: string) => addPerson(website, company.workspace, 'member', name)
    author = await add('Author')
    people = []
    for (const name of hardNames) people.push(await add(name))
    ann = await add('Ann')
    anna = await add('Ann Annason')
    twins = [await add('Twin Same'), await add('Twin Same')]
  })

  /** The author at the page of a seed. */
  async function openSeed(options: BrowserContextOptions = {}) {
    const seed = await createSeed(site.website, author, company)
    const opened = await openAs(site, author, { viewport: sizes.desk, ...options })
    onTestFinished(() => opened.context.close())
    const { page, complaints } = opened
    const base = `${site.origin}/w/${company.workspace.slug}`
    const url = `${base}/seeds/${seed.id}`
    await page.goto(url)
    return { page, complaints, context: opened.context, seed, base, url, ...controlsOf(page) }
  }

  const controlsOf = (page: Page) => ({
    field: page.getByLabel('Comment', { exact: true }),
    button: page.getByRole('button', { name: 'Comment', exact: true }),
    options: page.getByRole('listbox', { name: 'People' }).getByRole('option'),
  })

  /** Types a part of a name, and chooses the person whose address is known. */
  async function mention(page: Page, { email, name }: TestPerson, typed = name) {
    await page.keyboard.type('@')
    await page.keyboard.insertText(typed)
    await controlsOf(page).options.filter({ hasText: email }).click()
  }

  async function pressTimes(page: Page, key: string, times: number) {
    for (let i = 0; i < times; i++) await page.keyboard.press(key)
  }

  async function lastComment(seed: TestSeed): Promise<TestComment | undefined> {
    const answer = await site.website.as(author, { method: 'GET', url: `/v1/seeds/${seed.id}/comments` })
    return answer.json<TestComment[]>().at(-1)
  }

  async function send(page: Page, seed: TestSeed) {
    await controlsOf(page).button.click()
    await page.getByText('Comment added.').waitFor()
    const { body = '', mentions = [] } = (await lastComment(seed)) ?? {}
    return { body, mentioned: mentions.map(({ userId }) => userId).toSorted() }
  }

  const idsOf = (persons: readonly TestPerson[]) => persons.map(({ id }) => id).toSorted()
  const source = ({ id, name }: TestPerson) => `[@${name}](user:${id})`

  it('reads as the name, whatever is in it, and is sent with the id', async () => {
    const { page, field, seed, complaints } = await openSeed()
    await field.focus()
    for (const person of people) await mention(page, person, longestWordOf(person.name))
    expect(await field.inputValue()).toBe(hardNames.map((name) => `@${name} `).join(''))
    const { mentioned } = await send(page, seed)
    expect(mentioned).toEqual(idsOf(people))
    for (const name of hardNames)
      expect(
        await page
          .locator('.markdown .mention')
          .filter({ hasText: `@${name}` })
          .count(),
      ).toBe(1)
    // The same text again, in the form that edits it. Leaving it asks nothing.
    await page.getByRole('link', { name: /^Edit the comment/ }).click()
    expect(await field.inputValue()).toBe(
      hardNames
        .map((name) => `@${name} `)
        .join('')
        .trim(),
    )
    await page.getByRole('link', { name: 'Cancel' }).click()
    await page.getByRole('link', { name: /^Edit the comment/ }).click()
    await field.press('End')
    await page.keyboard.type(' Changed.')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Saved.').waitFor()
    const edited = await lastComment(seed)
    expect(edited?.mentions).toHaveLength(people.length)
    expect(edited?.body.endsWith(' Changed.')).toBe(true)
    expect(complaints).toEqual([])
  })

  it('is offered wherever an @ is not in an address, in any script', async () => {
    const { page, field, options } = await openSeed()
    const asked: string[] = []
    page.on('request', (request) => asked.push(request.url()))
    await page.clock.install()
    await field.focus()
    const type = async (text: string) => {
      await field.fill('')
      await page.keyboard.insertText(text)
      await page.clock.runFor(1_000)
    }
    const before = [
      '',
      'x ',
      '　',
      '(',
      '（',
      '「',
      '、',
      '了解です。',
      'お願い',
      '请',
      '"',
      '“',
      '/',
      '-',
      '>',
      'a,',
    ]
    for (const text of before) {
      for (const sign of ['@', '＠']) {
        await type(`${text}${sign}Ann`)
        await options.filter({ hasText: ann.email }).waitFor()
      }
    }
    asked.length = 0
    for (const text of ['mail', 'a.b1', 'é', 'почта', 'بريد']) {
      await type(`${text}@Ann`)
      expect(await options.count(), text).toBe(0)
    }
    expect(asked).toEqual([])
    await type('了解です。＠Ann')
    await options.filter({ hasText: ann.email }).click()
    expect(await field.inputValue()).toBe('了解です。@Ann ')
  })

  it('tells people of one name apart, and names that begin with another', async () => {
    const { page, field, seed } = await openSeed()
    await field.focus()
    await mention(page, twins[1], 'twin')
    await mention(page, twins[0], 'twin')
    await mention(page, ann)
    await mention(page, anna, 'Ann A')
    expect(await field.inputValue()).toBe('@Twin Same @Twin Same @Ann @Ann Annason ')
    // The first of the two alike goes: the other one stays.
    await field.press('Control+Home')
    await pressTimes(page, 'Shift+ArrowRight', '@Twin Same '.length)
    await field.press('Delete')
    expect(await field.inputValue()).toBe('@Twin Same @Ann @Ann Annason ')
    expect(await send(page, seed)).toEqual({
      body: [twins[0], ann, anna].map(source).join(' '),
      mentioned: idsOf([ann, anna, twins[0]]),
    })
  })

  it('of a team is chosen by its name, leads to its page, and is kept by an edit', async () => {
    const team = await createTeam(site.website, company.owner, company, 'Hard [b] \\c* “見積もり” 🚀')
    const { page, field, options, seed, url, complaints } = await openSeed()
    await field.focus()
    await page.keyboard.type('@hard')
    const option = options.filter({ hasText: team.name })
    await option.getByText('Team of 0').waitFor()
    await option.click()
    expect(await field.inputValue()).toBe(`@${team.name} `)
    await send(page, seed)
    expect((await lastComment(seed))?.teamMentions).toEqual([{ teamId: team.id, name: team.name }])
    await page.getByRole('link', { name: /^Edit the comment/ }).click()
    expect(await field.inputValue()).toBe(`@${team.name}`)
    await field.press('End')
    await page.keyboard.type(' Changed.')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Saved.').waitFor()
    expect((await lastComment(seed))?.teamMentions).toHaveLength(1)
    await page.getByRole('link', { name: `@${team.name}` }).click()
    await page.getByRole('heading', { name: team.name }).waitFor()
    // A quote tells nobody again.
    await page.goto(url)
    await page.getByRole('link', { name: /^Quote the comment/ }).click()
    expect(await field.inputValue()).toContain('> @Hard')
    await send(page, seed)
    expect((await lastComment(seed))?.teamMentions).toEqual([])
    expect(complaints).toEqual([])
  })

  it('is plain text when it was edited, and a mention again when that is undone, or it is pasted', async () => {
    const { page, field, seed } = await openSeed()
    const sent = () => field.evaluate((element) => (element as unknown as { toSent(): string }).toSent())
    await field.focus()
    await mention(page, ann)
    await page.keyboard.type('asks. ')
    expect(await sent()).toBe(`${source(ann)} asks. `)
    await field.press('Control+Home')
    await field.press('ArrowRight')
    await page.keyboard.type('x')
    expect(await sent()).toBe('@xAnn asks. ')
    await field.press('Control+z')
    expect(await sent()).toBe(`${source(ann)} asks. `)
    await field.press('Control+Home')
    await page.keyboard.type('See ')
    expect(await sent()).toBe(`See ${source(ann)} asks. `)
    await field.press('Control+a')
    await field.press('Control+x')
    expect(await sent()).toBe('')
    await page.keyboard.type('Pasted: ')
    await field.press('Control+v')
    // Whoever goes on with the name means another one, unless the script has no spaces between words.
    await mention(page, ann)
    await field.press('Backspace')
    await page.keyboard.type('s')
    expect(await sent()).toBe(`Pasted: See ${source(ann)} asks. @Anns`)
    await field.press('Backspace')
    expect(await sent()).toBe(`Pasted: See ${source(ann)} asks. ${source(ann)}`)
    await page.keyboard.insertText('さん')
    expect(await sent()).toBe(`Pasted: See ${source(ann)} asks. ${source(ann)}さん`)
    await pressTimes(page, 'Backspace', '@Annさん'.length)
    // By hand: nobody chose whom it means.
    await page.keyboard.type('@Twin Same, ')
    await field.press('Escape')
    const typed = `[@X](user:${anna.id})`
    await page.keyboard.insertText(typed)
    expect(await field.inputValue()).toBe(`Pasted: See @Ann asks. @Twin Same, ${typed}`)
    expect(await send(page, seed)).toEqual({
      body: `Pasted: See ${source(ann)} asks. @Twin Same, ${source(anna)}`,
      mentioned: idsOf([ann, anna]),
    })
  })

  it('is kept in drafts, in a quote, and when the form is refused', async () => {
    const { page, context, field, button, seed, url } = await openSeed()
    page.on('dialog', (dialog) => void dialog.accept())
    await field.focus()
    await mention(page, twins[1], 'twin')
    await page.keyboard.type('and ')
    await mention(page, people[1] ?? ann)
    const shown = `@Twin Same and @${hardNames[1]} `
    const second = await context.newPage()
    second.on('dialog', (dialog) => void dialog.accept())
    await eventually(async () => {
      await second.goto(url)
      await second.getByText(/^Your draft of/).waitFor({ timeout: 2000 })
      expect(await controlsOf(second).field.inputValue()).toBe(shown)
    })
    await second.close()
    await page.reload()
    await page.getByText(/^Your draft of/).waitFor()
    expect(await field.inputValue()).toBe(shown)
    // What is counted is what is sent.
    await field.press('End')
    await page.keyboard.insertText('x'.repeat(4950))
    await page.getByText(/^5,0\d\d of 5,000 characters$/).waitFor()
    expect((await field.inputValue()).length).toBeLessThan(5000)
    await button.click()
    await page.getByText('must be at most 5000 characters').first().waitFor()
    expect((await field.inputValue()).startsWith(shown)).toBe(true)
    await field.press('Control+Home')
    await pressTimes(page, 'ArrowRight', '@Twin Same and '.length)
    await field.press('Control+Shift+End')
    await page.keyboard.type('so on')
    const { mentioned: told } = await send(page, seed)
    expect(told).toEqual([twins[1].id])

    const comment = await createComment(site.website, twins[0], seed, { body: `Hello ${source(ann)}` })
    await page.goto(`${url}?quote=${comment.id}`)
    expect(await field.inputValue()).toBe('> Hello @Ann\n\n@Twin Same ')
    const { mentioned } = await send(page, seed)
    expect(mentioned).toEqual(idsOf([ann, twins[0]]))
  })

  it('reads as the name in a text that is shown to copy, and is a mention where it is pasted', async () => {
    const { page, context, field, button, seed, base, url, complaints } = await openSeed()
    page.on('dialog', (dialog) => void dialog.accept())
    await context.grantPermissions(['clipboard-read', 'clipboard-write'])
    await field.focus()
    await mention(page, twins[1], 'twin')
    await page.keyboard.type('and ')
    await mention(page, twins[0], 'twin')
    await page.keyboard.type('ask.')
    const shown = '@Twin Same and @Twin Same ask.'
    const deleted = await site.website.as(author, del(`/v1/seeds/${seed.id}`))
    expect(deleted.statusCode).toBe(200)
    const copy = page.getByRole('button', { name: 'Copy', exact: true })
    await button.click()
    await page.getByRole('heading', { name: 'What you wrote' }).waitFor()
    expect(await field.inputValue()).toBe(shown)
    await check(page)
    await copy.click()
    await page.getByText('Copied').first().waitFor()
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(shown)

    const other = await createSeed(site.website, author, company)
    await page.goto(`${base}/seeds/${other.id}`)
    await field.press('Control+v')
    expect(await field.inputValue()).toBe(shown)
    await page.keyboard.type(' Again.')
    expect(await send(page, other)).toEqual({
      body: `${source(twins[1])} and ${source(twins[0])} ask. Again.`,
      mentioned: idsOf(twins),
    })

    // The draft of the seed that is gone.
    await page.goto(url)
    await page.getByRole('heading', { name: 'What you began to write' }).waitFor()
    expect(await field.inputValue()).toBe(shown)
    expect(complaints.filter((text) => !/40[34]/.test(text))).toEqual([])
  })

  it('is sent with the id by the browser alone, and stands in its stored form without scripts', async () => {
    const { page, context, field, seed } = await openSeed()
    await context.route('**/assets/texts-*', (route) => route.abort())
    await page.reload()
    await field.focus()
    await mention(page, ann)
    const { body, mentioned } = await send(page, seed)
    expect({ body, mentioned }).toEqual({ body: source(ann), mentioned: [ann.id] })

    const plain = await openAs(site, author, { javaScriptEnabled: false })
    onTestFinished(() => plain.context.close())
    const comment = await lastComment(seed)
    await plain.page.goto(`${site.origin}/w/${company.workspace.slug}/comments/${String(comment?.id)}/edit`)
    expect(await controlsOf(plain.page).field.inputValue()).toBe(source(ann))
    await plain.page.getByRole('button', { name: 'Save' }).click()
    expect((await lastComment(seed))?.mentions).toHaveLength(1)
  })

  it.each([1280, 390, 320])('has a list under the line that is written, at %i px', async (width) => {
    const { page, field, options, complaints } = await openSeed({
      viewport: { width, height: 720 },
      hasTouch: width < 1280,
    })
    await field.focus()
    await page.keyboard.type('Who? @')
    await eventually(async () => expect(await options.count()).toBe(6))
    const boxOf = async (selector: string) =>
      page.evaluate<{ top: number; bottom: number; left: number; right: number }>(
        `document.querySelector('${selector}').getBoundingClientRect().toJSON()`,
      )
    const [list, written] = [await boxOf('.mentions'), await boxOf('#body')]
    expect(list.top).toBeGreaterThanOrEqual(written.bottom)
    // Browsers scroll by whole pixels.
    expect(list.bottom).toBeLessThan(721)
    expect(list.right).toBeLessThanOrEqual(width)
    expect(written.top).toBeGreaterThanOrEqual(0)
    // Each with face, name and address, of which nothing is outside.
    await page.keyboard.type('twin')
    await eventually(async () => expect(await options.count()).toBe(2))
    for (const option of await options.all()) {
      expect(await option.locator('.picture').count()).toBe(1)
      expect(await option.textContent()).toContain('@')
    }
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
    if (width === 1280) await check(page)
    expect(await options.count()).toBe(2)

    // What assistive technology hears of the choice of the keyboard is announced.
    await expectChosen(page, 0)
    await page.keyboard.press('ArrowDown')
    await expectChosen(page, 1)
    await page.keyboard.press('ArrowUp')
    await page.keyboard.press('ArrowUp')
    await expectChosen(page, 1)
    await page.keyboard.press('Escape')
    expect(await options.count()).toBe(0)
    expect(await field.inputValue()).toBe('Who? @twin')
    await page.keyboard.type(' @author')
    await options.filter({ hasText: author.email }).waitFor()
    expect(await page.getByText('1 person. Choose with').count()).toBe(1)
    await page.keyboard.press('Tab')
    expect(await field.inputValue()).toBe('Who? @twin @Author ')
    // More text does not search for it again.
    const asked: string[] = []
    page.on('request', (request) => asked.push(request.url()))
    await page.keyboard.type('or @twin')
    await eventually(async () => expect(await options.count()).toBe(2))
    expect(asked.filter((url) => url.includes('Author'))).toEqual([])
    const second = options.filter({ hasText: twins[1].email })
    await (width < 1280 ? second.tap() : second.click())
    expect(await field.inputValue()).toBe('Who? @twin @Author or @Twin Same ')
    expect(await page.evaluate('document.activeElement.id')).toBe('body')
    expect(complaints).toEqual([])
  })

  it('is the person of the text that is written, not of the list that is still shown', async () => {
    const { page, field, options } = await openSeed()
    await field.focus()
    await page.keyboard.type('@')
    await options.first().waitFor()
    let release: () => void = () => undefined
    const released = new Promise<void>((resolve) => (release = resolve))
    await page.route('**/people/names?q=hubert', async (route) => {
      await released
      await route.continue()
    })
    const asked = page.waitForRequest('**/people/names?q=hubert')
    await page.keyboard.type('hubert')
    await page.keyboard.press('Enter')
    await asked
    release()
    await eventually(async () => expect(await field.inputValue()).toBe(`@${hardNames[4]} `))
  })

  /** Which option assistive technology hears. */
  async function expectChosen(page: Page, index: number) {
    const chosen = await page.evaluate<{ active: string; selected: string[] }>(`({
      active: document.activeElement.getAttribute('aria-activedescendant'),
      selected: Array.from(document.querySelectorAll('.mentions [aria-selected=true]'), ({ id }) => id),
    })`)
    const id = `body-people-${index}`
    expect(chosen).toEqual({ active: id, selected: [id] })
  }
})
