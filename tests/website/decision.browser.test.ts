import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { addPerson, createCompany, createTeam, get, post } from '../support/company.ts'
import { longNames } from '../support/long-texts.ts'
import type { TestSeed } from '../support/seeds.ts'
import { startReceiver } from '../support/webhook-receiver.ts'
import { createWebhook } from '../support/webhooks.ts'
import type { sizes } from './browser.ts'
import { serveSite } from './site.ts'
import { engines } from './tabs.ts'

const titles = {
  kept: '見積もりを音声で受け取る — Quotes by voice 👩🏽‍🔧',
  double: 'Quotes by voice for fitters',
  other: 'مكتبة إعارة الأدوات',
}
const table = [
  'Idea,What it is about,Criteria',
  `"${titles.kept}","Fitters say what they need, and get a quote.","Eight of ten fitters would use it\nTwo pay for it"`,
  `"${titles.double}",The same in other words.,`,
  `"${titles.other}",Nobody owns a ladder.,`,
].join('\n')
const reason = 'Eight of ten fitters would use it, and two have paid <!channel>.'

let site: Awaited<ReturnType<typeof serveSite>>

beforeAll(async () => {
  site = await serveSite()
})

describe.each(Object.entries(engines))('a team decides about an idea, in %s', (name, engine) => {
  it('from a table of ideas to a message in a chat', async (context) => {
    if (!engine.isInstalled) return context.skip(`needs the package ${engine.package}`)
    const { origin, website } = site
    const company = await createCompany(website)
    const { workspace, owner } = company
    const base = `${origin}/w/${workspace.slug}`
    const grace = await addPerson(website, workspace, 'member', longNames[1])
    const team = await createTeam(website, owner, company, 'Research 調査')
    await website.as(owner, post(`${company.url}/teams/${team.id}/members`, { userId: grace.id }))
    const read = async <Answer>(url: string) => (await website.as(owner, get(url))).json<Answer>()
    const browser = await engine.open()
    onTestFinished(() => browser.close())
    const openAs = async ({ id }: { id: string }, size: keyof typeof sizes) =>
      browser.openTab({ size, signInUrl: (await website.services.credentials.createLink('sign_in', id)).url })
    const violations: string[] = []

    // The owner pastes a table of ideas.
    const desk = await openAs(owner, 'desk')
    // Once is enough: what axe looks at is the same in both.
    const look = async () => {
      if (name === 'Chromium') violations.push(...(await desk.findViolations()))
    }
    await desk.goto(`${base}/seeds/import`)
    await desk.fill('Or paste the table', table)
    await desk.click(['button', 'Continue'])
    await desk.see('What the columns are')
    await desk.evaluate(`(() => {
      const columns = ['title', 'summary', 'successCriteria']
      for (const [i, select] of [...document.querySelectorAll('main select')].entries()) select.value = columns[i]
    })()`)
    await desk.click(['button', 'Check again'])
    await desk.until(`document.querySelectorAll('main select')[2]?.value === 'successCriteria'`)
    await look()
    await desk.click(['button', 'Import 3 seeds'])
    await desk.until(`document.querySelector('#progress')?.textContent.includes('3 of 3 seeds')`)
    const seeds = await read<TestSeed[]>(`${company.url}/seeds`)
    const seedOf = (begin: string) => {
      const seed = seeds.find(({ title }) => title.startsWith(begin))
      if (!seed) throw new Error(`no seed ${begin}`)
      return seed
    }
    const [kept, double] = [seedOf(titles.kept), seedOf(titles.double)]
    expect(kept.successCriteria).toEqual(['Eight of ten fitters would use it', 'Two pay for it'])

    // The double is merged into the idea that stays.
    await desk.goto(`${base}/seeds/${double.id}`)
    await desk.focus('summary[aria-label="Manage the seed"]')
    await desk.press('Enter')
    await desk.click(['link', 'Merge into another seed'])
    await desk.see('Similar seeds')
    await look()
    await desk.click(['link', titles.kept])
    await desk.click(['button', 'Merge'])
    await desk.until(`location.pathname.endsWith(${JSON.stringify(kept.id)})`)
    await desk.see('Merged')
    expect(await read(`/v1/seeds/${double.id}`)).toMatchObject({ id: kept.id })

    // The team is asked, of whom one adds evidence for a criterion, with a file.
    await desk.focus('textarea[name="body"]')
    await desk.type('Who has asked fitters, @res')
    await desk.until(
      `document.querySelector(".mentions [role=option]")?.textContent.includes(${JSON.stringify(team.name)})`,
    )
    await desk.press('Enter')
    await desk.press('Control+Enter')
    await desk.see('Comment added.')
    const phone = await openAs(grace, 'phone')
    await phone.goto(`${origin}/notifications`)
    await phone.see('mentioned you in')
    await phone.goto(`${base}/seeds/${kept.id}`)
    await phone.focus('#add-evidence summary')
    await phone.press('Enter')
    const form = `document.querySelector('form[action$="/evidence"]')`
    await phone.until(`${form}.checkVisibility()`)
    await phone.evaluate(`(() => {
      const form = ${form}
      form.querySelector('[name="verdict"][value="supports"]').click()
      form.querySelector('[name^="criterion-"]').click()
      const transfer = new DataTransfer()
      transfer.items.add(new File(['role,answer\\nfitter,yes\\n'], 'interviews 面接.csv', { type: 'text/csv' }))
      const paste = new Event('paste', { bubbles: true, cancelable: true })
      Object.defineProperty(paste, 'clipboardData', { value: transfer })
      form.querySelector('textarea').dispatchEvent(paste)
    })()`)
    await phone.until(`${form}.querySelector('.files li input') !== null`, 'the uploaded file')
    await phone.fill('What you found out', 'Eight of **ten** would.')
    await phone.click(['button', 'Add evidence'])
    await phone.see('Evidence added.')
    const [piece] = await read<{ criterionIds: string[]; attachments: { name: string }[] }[]>(
      `/v1/seeds/${kept.id}/evidence`,
    )
    expect(piece).toMatchObject({
      criterionIds: [kept.criteria[0]?.id],
      attachments: [{ name: 'interviews 面接.csv' }],
    })

    // The criterion is met, the owner decides, and a chat is told why.
    await desk.goto(`${base}/seeds/${kept.id}`)
    await desk.focus('.criteria details summary')
    await desk.press('Enter')
    await desk.press('Tab')
    await desk.press('Enter')
    await desk.until(`document.querySelector('.criteria .criterion-met') !== null`)
    const chat = await startReceiver()
    await createWebhook(website, owner, company, {
      ...{ url: chat.url, format: 'slack', types: ['seed.updated'], seedIds: [kept.id] },
    })
    await desk.focus('[aria-labelledby="status"] details summary')
    await desk.press('Enter')
    await desk.focus('[name="statusReason"]')
    await desk.type(reason)
    await desk.click(['button', 'Mark as validated'])
    await desk.see(reason)
    await look()
    const [message] = await chat.waitFor(1)
    const { text } = JSON.parse(message?.body ?? '{}') as { text: string }
    expect(text).toContain('from open to validated')
    expect(text).toContain(kept.id)
    expect(text).not.toContain('<!channel>')
    expect(await read(`/v1/seeds/${kept.id}`)).toMatchObject({
      ...{ status: 'validated', statusReason: reason, decidedByUserId: owner.id },
      criteria: [{ state: 'met' }, { state: 'open' }],
      evidenceCounts: { supports: 1 },
    })
    expect(violations).toEqual([])
    for (const { complaints } of [desk, phone]) expect(complaints).toEqual([])
  })
})
