import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { sql } from 'drizzle-orm'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { addPerson, createCompany } from '../support/company.ts'
import { longComments, longCompany, longNames, longSeeds } from '../support/long-texts.ts'
import { createOAuthTester } from '../support/oauth-client.ts'
import { createSeed } from '../support/seeds.ts'
import { hasBrowser, sizes } from './browser.ts'
import { openAs, startSite, type Site } from './site.ts'

interface Inbox {
  requests: { id: string; text: string; askedByName: string; fromYourPerson: boolean; seedId: string }[]
}

describe.runIf(hasBrowser)('asking an agent in a browser', () => {
  let site: Site
  let company: Awaited<ReturnType<typeof createCompany>>

  beforeAll(async () => {
    site = await startSite()
    company = await createCompany(site.website, longCompany)
  })

  /** A person with an agent, which is connected by the official client. */
  async function connectAgent() {
    const { website, origin } = site
    const ada = await addPerson(website, company.workspace, 'member', longNames[4])
    const token = await createOAuthTester(website).letIn(company.workspace, ada, {
      scopes: ['validation-kit:read', 'workspace:read', 'seeds:write'],
    })
    const client = new Client(
      { name: 'an agent', version: '1' },
      { versionNegotiation: { mode: { pin: '2026-07-28' } } },
    )
    const headers = { authorization: `Bearer ${token}` }
    await client.connect(
      new StreamableHTTPClientTransport(new URL(`${origin}/agent/mcp`), { requestInit: { headers } }),
    )
    onTestFinished(() => client.close())
    const grant = (await website.services.authenticateAgent(token))?.grant
    const use = async (name: string, args: Record<string, unknown> = {}) => {
      const { isError, content, structuredContent } = await client.callTool({ name, arguments: args })
      expect(isError ?? false, JSON.stringify(content)).toBe(false)
      return structuredContent
    }
    /** Does something about what it was asked each time that it is told that its inbox has changed, and never otherwise. */
    async function follow(act: (requests: Inbox['requests']) => Promise<void>) {
      const uri = `workspace://${company.workspace.slug}/inbox`
      client.setNotificationHandler('notifications/resources/updated', async ({ params }) => {
        expect(params.uri).toBe(uri)
        const { contents } = await client.readResource({ uri })
        const [{ text = '' } = {}] = contents as { text?: string }[]
        await act((JSON.parse(text) as Inbox).requests)
      })
      const subscription = await client.listen({ resourceSubscriptions: [uri] })
      expect(subscription.honoredFilter).toEqual({ resourceSubscriptions: [uri] })
    }
    return { ada, grantId: String(grant?.id), name: String(grant?.clientName), use, follow }
  }

  async function open(person: Parameters<typeof openAs>[1], path: string) {
    const opened = await openAs(site, person, { viewport: sizes.desk })
    onTestFinished(() => opened.context.close())
    const { page, complaints } = opened
    await page.goto(`${site.origin}/w/${company.workspace.slug}${path}`)
    return { page, complaints }
  }

  it('a person lets members ask it, a member asks, and the agent, which follows its inbox, answers or declines', async () => {
    const { ada, grantId, name, use, follow } = await connectAgent()
    const owned = await open(ada, `/agents/${grantId}`)
    await owned.page.getByLabel('Members may ask it').check()
    await owned.page.getByRole('button', { name: 'Save', exact: true }).click()
    await owned.page.getByText(`Members may ask ${name} now.`).waitFor()
    expect(await owned.page.getByLabel('Members may ask it').isChecked()).toBe(true)

    const seed = await createSeed(site.website, company.owner, company, longSeeds[1])
    const seen: Inbox['requests'] = []
    await follow(async (requests) => {
      for (const request of requests) {
        if (seen.some(({ id }) => id === request.id)) continue
        seen.push(request)
        const { id: requestId, seedId } = request
        if (seen.length === 1) await use('add_comment', { seedId, requestId, body: longComments[1] })
        else await use('decline_request', { requestId, reason: 'There is none. 無い' })
      }
    })
    const { page, complaints } = await open(company.member, `/seeds/${seed.id}`)
    const field = page.getByLabel('Comment', { exact: true })
    async function ask(text: string) {
      await field.click()
      await page.keyboard.type('@')
      await page.keyboard.insertText(name)
      await page
        .getByRole('option')
        .filter({ hasText: `Agent of ${ada.name}` })
        .click()
      await page.keyboard.insertText(text)
      expect(await field.inputValue()).toBe(`@${name} ${text}`)
      await page.getByRole('button', { name: 'Comment', exact: true }).click()
      await page.getByText('Comment added.').waitFor()
    }
    await ask(`find evidence against this: ${longComments[2]}`)
    // By the events of the seed, without loading the page again.
    await page.getByText(longComments[1]).waitFor()
    await page.getByText(`${name} answered`).waitFor()
    expect(await page.getByText(`Waiting for ${name}`).count()).toBe(0)
    expect(await page.locator('.comment').last().innerText()).toContain(`${name} for ${ada.name}`)
    expect(seen).toMatchObject([
      {
        ...{ askedByName: company.member.name, fromYourPerson: false, seedId: seed.id },
        text: `[@${name}](agent:${grantId}) find evidence against this: ${longComments[2]}`,
      },
    ])

    await page.reload()
    await ask('and one for it')
    await page.getByText(`${name} declined: There is none. 無い`).waitFor()
    expect(complaints).toEqual([])
  })

  it('who asked cancels, and what was not answered in time says so', async () => {
    const { ada, grantId, name, use } = await connectAgent()
    const seed = await createSeed(site.website, company.owner, company)
    const ask = () =>
      site.website.as(ada, {
        method: 'POST',
        url: `/v1/seeds/${seed.id}/comments`,
        payload: { body: `[@x](agent:${grantId}) look` },
      })
    await ask()
    const { page } = await open(ada, `/seeds/${seed.id}`)
    await page.getByRole('button', { name: 'Cancel the request to' }).click()
    await page.getByText('The request was cancelled.').waitFor()
    await page.getByText(`The request to ${name} was cancelled`).waitFor()
    expect(((await use('inbox')) as Inbox).requests).toEqual([])
    await ask()
    await site.website.db.execute(sql`update agent_requests set state = 'expired' where state = 'waiting'`)
    await page.reload()
    await page.getByText(`No answer from ${name}`).waitFor()
  })
})
