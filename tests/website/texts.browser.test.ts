import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { createComment } from '../support/comments.ts'
import { addPerson, createCompany, del, get, patch } from '../support/company.ts'
import { longComments, longNames, longSeeds } from '../support/long-texts.ts'
import { createSeed } from '../support/seeds.ts'
import { sizes } from './browser.ts'
import { serveSite } from './site.ts'
import { engines, type Tab } from './tabs.ts'

let site: Awaited<ReturnType<typeof serveSite>>

beforeAll(async () => {
  site = await serveSite()
})

const journeys = Object.entries(engines).flatMap(([name, engine]) =>
  (['desk', 'phone'] as const).map((size) => ({ name, engine, size, width: sizes[size].width })),
)

const text = longComments.join('\n\n')
const field = `document.querySelector('textarea[name="body"]')`
const drafts = `JSON.stringify(Object.entries(localStorage).filter(([name]) => name.startsWith('draft:')))`

/** Writes in the field for comments, as pasting does, and waits until the browser keeps it. */
async function write(tab: Tab, value: string): Promise<void> {
  await tab.focus('textarea[name="body"]')
  await tab.evaluate(`(() => {
    const field = ${field}
    window.before = ${drafts}
    field.value = ${JSON.stringify(value)}
    field.dispatchEvent(new Event('input', { bubbles: true }))
  })()`)
  await tab.until(`window.before !== ${drafts}`, 'the draft')
}

/** Cuts the page off from the network, or connects it again. */
const setOffline = (tab: Tab, isOffline: boolean) =>
  tab.evaluate(`(() => {
    window.kept ??= window.fetch
    window.fetch = ${isOffline} ? () => Promise.reject(new TypeError('offline')) : window.kept
    Object.defineProperty(navigator, 'onLine', { value: ${!isOffline}, configurable: true })
  })()`)

describe.each(journeys)('what a person writes in $name, $width px wide', ({ engine, size }) => {
  it('is never lost', async (context) => {
    if (!engine.isInstalled) return context.skip(`needs the package ${engine.package}`)
    const { origin, website } = site
    const company = await createCompany(website)
    const { workspace, owner } = company
    const person = await addPerson(website, workspace, 'member', longNames[1])
    const seed = await createSeed(website, owner, company, longSeeds[1])
    const url = `${origin}/w/${workspace.slug}/seeds/${seed.id}`
    for (const body of longComments) await createComment(website, owner, seed, { body })
    const listBodies = async () => {
      const listed = await website.as(owner, get(`/v1/seeds/${seed.id}/comments`))
      return listed.json<{ body: string }[]>().map(({ body }) => body)
    }
    const browser = await engine.open()
    onTestFinished(() => browser.close())
    const signInUrl = async () => (await website.services.credentials.createLink('sign_in', person.id)).url
    const tab = await browser.openTab({ size, signInUrl: await signInUrl() })
    const isShown = (what: string) =>
      `[...document.querySelectorAll('textarea, pre')].some((it) => (it.value ?? it.textContent) === ${JSON.stringify(what)})`
    const violations: string[] = []
    const look = async () => violations.push(...(await tab.findViolations()))

    // Offline, the page stays. What was written is sent when that is possible again.
    await tab.goto(url)
    await write(tab, text)
    await setOffline(tab, true)
    await tab.click(['button', 'Comment'])
    await tab.see('You are offline. What you wrote is kept.')
    await look()
    await setOffline(tab, false)
    await tab.click(['button', 'Comment'])
    await tab.see('Comment added.')
    expect(await listBodies()).toContain(text)

    // Two windows write in the same field. One is closed, one is reloaded.
    const second = await tab.openWindow()
    await second.goto(url)
    await write(tab, 'First')
    await write(second, text)
    await second.goto('about:blank')
    await tab.goto(url)
    await tab.until(isShown(text))
    await look()

    // The seed is deleted meanwhile: the page says so, and the text is there to copy.
    await website.as(owner, del(`/v1/seeds/${seed.id}`))
    await tab.see('deleted the seed')
    await tab.until(isShown(text))
    await tab.click(['button', 'Comment'])
    await tab.see('This seed was deleted')
    await tab.until(isShown(text))
    await look()

    // The role is lowered meanwhile.
    const another = await createSeed(website, owner, company, longSeeds[2])
    await tab.goto(`${origin}/w/${workspace.slug}/seeds/${another.id}`)
    await write(tab, text)
    await website.as(owner, patch(`${company.url}/members/${person.id}`, { role: 'viewer' }))
    await tab.click(['button', 'Comment'])
    await tab.see('You are a viewer, and this role does not allow this.')
    await tab.until(isShown(text))
    await look()

    expect(violations).toEqual([])
    expect(tab.complaints).toEqual([])
  })
})
