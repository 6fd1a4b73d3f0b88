import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { sql } from 'drizzle-orm'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { addPerson, createCompany } from '../support/company.ts'
import { eventually } from '../support/eventually.ts'
import {
  longComments,
  longestWordOf,
  longNames,
  longSeeds,
  longWorkspaceName,
} from '../support/long-texts.ts'
import { createOAuthTester } from '../support/oauth-client.ts'
import { runJobsNow } from '../support/run-jobs-now.ts'
import { addEvidence, findSeed } from '../support/seeds.ts'
import { selectRows } from '../support/test-app.ts'
import { sizes } from './browser.ts'
import { serveSite } from './site.ts'
import { engines } from './tabs.ts'

/** A client of MCP that acts for a member with a grant. */
async function connectAgent(origin: string, token: string) {
  const requestInit = { headers: { authorization: `Bearer ${token}` } }
  const client = new Client({ name: 'research', version: '1' })
  await client.connect(new StreamableHTTPClientTransport(new URL('/agent/mcp', origin), { requestInit }))
  onTestFinished(() => client.close())
  return async (name: string, args: Record<string, unknown>) => {
    const answer = await client.callTool({ name, arguments: args })
    expect(answer.isError ?? false, JSON.stringify(answer.content)).toBe(false)
    return answer.structuredContent
  }
}

let site: Awaited<ReturnType<typeof serveSite>>

beforeAll(async () => {
  site = await serveSite()
})

describe.each(Object.entries(engines))('a team of four and an agent, in %s', (name, engine) => {
  it('test an idea together', async (context) => {
    if (!engine.isInstalled) return context.skip(`needs the package ${engine.package}`)
    const { origin, website } = site
    const company = await createCompany(website, { name: longWorkspaceName })
    const { workspace } = company
    const base = `${origin}/w/${workspace.slug}`
    const [ada, grace, linus, mary] = await Promise.all([
      addPerson(website, workspace, 'owner', longNames[0]),
      addPerson(website, workspace, 'member', longNames[1]),
      addPerson(website, workspace, 'viewer', longNames[2]),
      addPerson(website, workspace, 'admin', longNames[4]),
    ])
    const browser = await engine.open()
    onTestFinished(() => browser.close())
    const openAs = async ({ id }: { id: string }, size: keyof typeof sizes) =>
      browser.openTab({ size, signInUrl: (await website.services.credentials.createLink('sign_in', id)).url })

    // Ada writes a seed on the phone.
    const phone = await openAs(ada, 'phone')
    await phone.goto(`${base}/seeds/new`)
    await phone.fill('Title', longSeeds[1].title)
    await phone.fill('Summary', longSeeds[1].summary)
    await phone.click(['button', 'Create seed'])
    await phone.see('Seed created.')
    // Without the flash, which the script takes out of the address after the notice is seen.
    const seedUrl = await phone.evaluate<string>('location.origin + location.pathname')
    const seed = { id: String(/[^/]+$/.exec(seedUrl)) }

    // Grace joins it, adds evidence, and mentions Linus, whom she chooses with the keyboard.
    const desk = await openAs(grace, 'desk')
    await desk.goto(seedUrl)
    await desk.click(['button', 'Join this seed'])
    await desk.see('You joined the seed.')
    const { id: evidenceId } = await addEvidence(website, grace, seed, { summary: longComments[1] })
    await desk.focus('textarea[name="body"]')
    await desk.type(`Who pays for the printing, @${longestWordOf(linus.name)}`)
    await desk.until(
      `document.querySelector(".mentions [role=option]")?.textContent.includes(${JSON.stringify(linus.name)})`,
    )
    await desk.press('Enter')
    await desk.type('?')
    await desk.press('Control+Enter')
    await desk.see('Comment added.')
    await desk.see(`Who pays for the printing, @${linus.name}`)

    // Linus gets a number at the bell, and one mail.
    const reader = await openAs(linus, 'phone')
    await reader.goto(`${origin}/notifications`)
    await reader.until('document.querySelector(".bell .count").textContent === "1"')
    await runJobsNow(website, 'send_mentions')
    const mail = await website.waitForMail(linus.email, /mentioned you/)
    expect(mail.subject).toBe(`${grace.name} mentioned you in ${longSeeds[1].title}`)
    const told = sql`select kind, mailed_at is not null as "isMailed" from notifications where user_id = ${linus.id}`
    await eventually(async () =>
      expect(await selectRows(website.db, told)).toEqual([{ kind: 'mention', isMailed: true }]),
    )

    // The agent of Mary adds evidence and a comment, which appear on the open page of Grace as its own.
    const token = await createOAuthTester(website).letIn(workspace, mary, {
      scopes: ['validation-kit:read', 'workspace:read', 'seeds:write'],
    })
    const use = await connectAgent(origin, token)
    await use('join_seed', { seedId: seed.id })
    await use('add_evidence', {
      ...{ seedId: seed.id, kind: 'metric', verdict: 'contradicts' },
      summary: longComments[3],
    })
    await use('add_comment', { seedId: seed.id, body: 'The numbers are of **last** year.' })
    await desk.bringToFront()
    await desk.see('The numbers are of last year.')
    expect(
      await desk.evaluate(
        `[...document.querySelectorAll('article')]
          .filter(({ innerText }) => innerText.includes(${JSON.stringify(`Agent Robbie for ${mary.name}`)})).length`,
      ),
    ).toBe(2)

    // Grace corrects her evidence.
    await desk.goto(seedUrl)
    await desk.see('1 supports it')
    await desk.see('1 contradicts it')
    await desk.click(['link', 'Correct this evidence'])
    await desk.fill('What you found out', longComments[2])
    await desk.click(['button', 'Save'])
    await desk.see(longComments[2])
    await desk.see('corrected')

    // Ada moves the card with the keyboard.
    await phone.goto(`${base}/seeds?view=board`)
    await phone.focus(`#card-${seed.id} summary`)
    await phone.press('Enter')
    await phone.press('Tab')
    await phone.press('Enter')
    await phone.see('Moved to Validating.')
    expect(await findSeed(website, seed)).toMatchObject({ status: 'validating' })

    // Linus, a viewer, sees no control that he may not use.
    const controls = (inside: string) =>
      reader.evaluate<string[]>(`
        [...document.querySelectorAll('${inside} :is(button, summary, textarea, input:not([type=hidden]), select)')]
          .map(({ textContent }) => textContent.trim())`)
    await reader.goto(seedUrl)
    await reader.see(longComments[2])
    expect(await controls('main')).toEqual(['Unfollow the seed'])
    await reader.goto(`${base}/seeds?view=board`)
    expect(await controls('.lane')).toEqual([])

    // Mary finds the sentence of the comment, and withdraws the evidence of Grace: it leaves the balance.
    const admin = await openAs(mary, 'desk')
    await admin.goto(base)
    await admin.press('Control+k')
    await admin.until('document.activeElement?.getAttribute("role") === "combobox"')
    await admin.type('pays for the printing')
    // Before the results are there.
    await admin.press('Enter')
    await admin.until('location.hash.startsWith("#comment-")')
    await admin.see('1 supports it')
    await admin.focus(`#evidence-${evidenceId} [popovertarget]`)
    await admin.press('Enter')
    await admin.focus(`#reason-${evidenceId}`)
    await admin.type('Asked twice')
    await admin.press('Enter')
    await admin.see(`Withdrawn by ${mary.name}: Asked twice`)
    expect(await admin.evaluate('document.body.innerText')).not.toContain('1 supports it')
    expect(await findSeed(website, seed)).toMatchObject({ supports_count: 0, contradicts_count: 1 })

    // Once is enough: what axe looks at is the same in both.
    const checked =
      name === 'Chromium'
        ? ['', '/seeds', '/seeds?view=board', `/seeds/${seed.id}`, '/search?q=printing']
        : []
    for (const path of checked) {
      await admin.goto(base + path)
      expect(await admin.findViolations(), path).toEqual([])
    }
    for (const { complaints } of [phone, desk, reader, admin]) expect(complaints).toEqual([])
  })
})
