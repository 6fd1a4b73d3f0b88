import { randomUUID } from 'node:crypto'
import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import type { LightMyRequestResponse } from 'fastify'
import { createCompany } from '../support/company.ts'
import { codeOf, createOAuthTester, redirectOf, type TestAgent } from '../support/oauth-client.ts'
import { selectRows } from '../support/test-app.ts'
import { createTestClock } from '../support/test-clock.ts'
import {
  createVisitor,
  fieldsOf,
  noticeOn,
  password,
  signInAs,
  signUp,
  startWebsite,
  type Visitor,
} from './visitor.ts'

const clock = createTestClock()
const website = await startWebsite({ clock })
const { createAgent, createHost, exchange, getAuthorizationUrl, getTokens } = createOAuthTester(website)
const isConsent = /^\/agent\/oauth\/consent\/[\w-]+$/

const labelOn = (page: string, scope: string) =>
  new RegExp(`name="${scope}"[^]*?</label>`).exec(page)?.[0] ?? ''

/** The scopes of the tokens that an agent gets after a person has allowed it. */
async function scopeOf(agent: TestAgent, visitor: Visitor, allowed: LightMyRequestResponse): Promise<string> {
  const back = await visitor.get(new URL(String(allowed.headers.location)).pathname)
  return (await exchange(agent, codeOf(back))).json<{ scope: string }>().scope
}

/** A browser that an agent has sent here, with where it was led, and the path of the consent page. */
async function visitFromAgent(visitor: Visitor = createVisitor(website), scope?: string) {
  const agent = await createAgent()
  const url = await getAuthorizationUrl(agent, scope === undefined ? {} : { scope })
  const sent = await visitor.get(url)
  const consent = new URL(String(sent.headers.location)).pathname
  expect(consent).toMatch(isConsent)
  const answer = await visitor.open(consent)
  return { agent, visitor, consent, answer }
}

describe('a new person sent by an agent', () => {
  it('returns to the consent page after signing up, verifying the address and creating a workspace', async () => {
    const { agent, visitor, consent } = await visitFromAgent()
    const email = `${randomUUID()}@example.com`
    // The links of the pages lead back, and so does a page that was opened without one.
    await visitor.get('/sign-up')
    expect(visitor.page()).toContain('An agent is waiting')
    await visitor.submit('/sign-up', { name: 'Grace', email, password })
    expect(visitor.page()).toContain('An agent is waiting')
    const { path } = await website.waitForMail(email, /Verify/)
    await visitor.get(path)
    expect(visitor.page()).toContain('An agent is waiting')
    const verified = await visitor.submit(path, { password })
    expect(verified.headers.location).toBe(consent)
    await visitor.get(consent)
    expect(visitor.page()).toContain('Create or join a workspace')
    await visitor.get('/onboarding')
    expect(visitor.page()).toContain('An agent is waiting')
    const created = await visitor.submit('/onboarding', {
      name: 'Acme',
      slug: `w-${randomUUID().slice(0, 8)}`,
    })
    expect(created.headers.location).toBe(consent)
    await visitor.get(consent)
    const [, workspaceId = ''] = /<option value="([^"]+)"/.exec(visitor.page()) ?? []
    const allowed = await visitor.submit(consent, { decision: 'allow', workspaceId })
    const back = await visitor.get(new URL(String(allowed.headers.location)).pathname)
    expect((await exchange(agent, codeOf(back))).statusCode).toBe(200)

    // Nothing waits any longer.
    const more = { name: 'Other', slug: `w-${randomUUID().slice(0, 8)}` }
    await visitor.get('/onboarding')
    expect(visitor.page()).not.toContain('An agent is waiting')
    expect((await visitor.submit('/onboarding', more)).headers.location).toBe(`/w/${more.slug}`)
  })

  it('returns to the consent page after setting a new password', async () => {
    const host = await createHost()
    const { visitor, consent } = await visitFromAgent()
    await visitor.get('/forgot')
    expect(visitor.page()).toContain('An agent is waiting')
    await visitor.submit('/forgot', { email: host.email })
    const { path } = await website.waitForMail(host.email, /password/)
    await visitor.get(path)
    await visitor.open(String((await visitor.submit(path, { password })).headers.location))
    expect(visitor.page()).toContain('An agent is waiting')
    const [, next = ''] = /name="next" value="([^"]+)"/.exec(visitor.page()) ?? []
    const signedIn = await visitor.submit('/sign-in', { email: host.email, password, next })
    expect(signedIn.headers.location).toBe(consent)
  })

  it.each(['/', '/sign-in', '/sign-up', '/forgot', '/verify', '/sign-in/link', '/invites/a-token'])(
    'can deny the request of the agent on %s',
    async (url) => {
      const { visitor, consent } = await visitFromAgent()
      const page = await visitor.get(url)
      expect(page.body).toContain(`action="${consent}"`)
      // Browsers apply it to the redirect to the agent as well.
      expect(page.headers['content-security-policy']).not.toContain('form-action')
      const denied = await visitor.submit(consent, { decision: 'deny' })
      const back = await visitor.get(new URL(String(denied.headers.location)).pathname)
      expect(redirectOf(back)).toMatchObject({ error: 'access_denied', state: 'some state' })
      expect((await visitor.get(url)).body).not.toContain('An agent is waiting')
    },
  )

  it('cannot allow the request before signing in', async () => {
    const { visitor, consent } = await visitFromAgent()
    const answer = await visitor.submit(consent, { decision: 'allow', workspaceId: randomUUID() })
    expect(answer.headers.location).toBe('/sign-in')
  })
})

describe('the consent page', () => {
  it('shows the signed-in account, and offers another one that returns to the same request', async () => {
    const [first, second] = [await createHost(), await createHost()]
    const signIn = async (visitor: Visitor, { id }: { id: string }) => {
      const { url } = await website.services.credentials.createLink('sign_in', id)
      await visitor.get(new URL(url).pathname)
      return visitor.submit(new URL(url).pathname)
    }
    const visitor = createVisitor(website)
    await signIn(visitor, first)
    const { consent } = await visitFromAgent(visitor)
    expect(visitor.page()).toContain(first.email)
    expect(visitor.page()).toContain('Not you?')
    const left = await visitor.submit('/sign-out')
    await visitor.open(String(left.headers.location))
    expect(visitor.page()).toContain(`name="next" value="${consent}"`)
    expect((await signIn(visitor, second)).headers.location).toBe(consent)
    await visitor.get(consent)
    expect(visitor.page()).toContain(second.email)
    expect(visitor.page()).not.toContain(first.email)
  })

  it('grants the selected scopes for the selected number of days, and the scopes can be changed later', async () => {
    const host = await createHost()
    const visitor = createVisitor(website)
    const { url } = await website.services.credentials.createLink('sign_in', host.id)
    await visitor.get(new URL(url).pathname)
    await visitor.submit(new URL(url).pathname)
    const { agent, consent } = await visitFromAgent(visitor)
    expect(visitor.page()).not.toContain('checked')
    const choice = { decision: 'allow', workspaceId: host.workspaceId, 'seeds:write': 'on', days: '30' }
    const allowed = await visitor.submit(consent, choice)
    const back = await visitor.get(new URL(String(allowed.headers.location)).pathname)
    const tokens = (await exchange(agent, codeOf(back))).json<{ access_token: string; scope: string }>()
    expect(tokens.scope).toBe('validation-kit:read seeds:write')
    const findGrant = async () => (await website.services.authenticateAgent(tokens.access_token))?.grant
    const grant = await findGrant()
    const days = ((grant?.expiresAt.getTime() ?? 0) - Date.now()) / (24 * 60 * 60 * 1000)
    expect(Math.round(days)).toBe(30)

    const agents = `/w/${host.slug}/agents`
    await visitor.get(agents)
    expect(visitor.page()).toContain(
      'edit and delete comments and delete seeds of its own, mark your notifications as read, and be asked by comments',
    )
    const saved = await visitor.submit(`${agents}/${grant?.id ?? ''}/scopes`, { 'workspace:read': 'on' })
    expect(noticeOn(saved.body)).toMatch(/^The access of .+ was changed\.$/)
    expect((await findGrant())?.scopes).toEqual(['validation-kit:read', 'workspace:read'])
  })

  it('marks what the agent asks for, except the scope that agents cannot ask for, which the person may tick', async () => {
    const host = await createHost()
    const visitor = await signInAs(website, host)
    const { agent, consent } = await visitFromAgent(visitor, 'seeds:write workspace:write')
    const labelOf = (scope: string) => labelOn(visitor.page(), scope)
    expect(labelOf('seeds:write')).toContain('the agent asks for this')
    expect(labelOf('workspace:write')).toContain('invite people as members or viewers')
    expect(labelOf('workspace:write')).not.toContain('the agent asks for this')
    const both = { 'seeds:write': 'on', 'workspace:write': 'on' }
    const choice = { decision: 'allow', workspaceId: host.workspaceId, ...both, days: '30' }
    const allowed = await visitor.submit(consent, choice)
    const back = await visitor.get(new URL(String(allowed.headers.location)).pathname)
    const { scope } = (await exchange(agent, codeOf(back))).json<{ scope: string }>()
    expect(scope).toBe('validation-kit:read seeds:write workspace:write')
  })

  it('lets members ask the agent if the person ticks that', async () => {
    const host = await createHost()
    const visitor = await signInAs(website, host)
    const { agent, consent } = await visitFromAgent(visitor, 'seeds:write')
    expect(visitor.page()).not.toMatch(/name="membersMayAsk"\s+checked/)
    const choice = { decision: 'allow', workspaceId: host.workspaceId, shown: host.workspaceId, days: '30' }
    const sent = { ...choice, 'seeds:write': 'on', membersMayAsk: 'on' }
    // It could not read what it is asked.
    const warned = await visitor.submit(consent, sent)
    expect(warned.body).toContain('Members will not be able to ask it with this choice.')
    expect(warned.body).toMatch(/name="membersMayAsk"\s+checked/)
    await scopeOf(agent, visitor, await visitor.submit(consent, { ...sent, 'workspace:read': 'on' }))
    const [grant] = await selectRows<{ membersMayAsk: boolean; data: object }>(
      website.db,
      sql`select members_may_ask as "membersMayAsk", data from agent_grants
        join events on type = 'integration.granted' and target_id = agent_grants.id
        where agent_grants.workspace_id = ${host.workspaceId}`,
    )
    expect(grant?.membersMayAsk).toBe(true)
    expect(grant?.data).toMatchObject({ membersMayAsk: true })
  })

  it('says before it gives nothing of what the agent asks for', async () => {
    const host = await createHost()
    const visitor = await signInAs(website, host)
    const { agent, consent } = await visitFromAgent(visitor, 'seeds:write')
    const choice = { decision: 'allow', workspaceId: host.workspaceId, shown: host.workspaceId, days: '30' }
    const asked = await visitor.submit(consent, { ...choice, 'workspace:read': 'on' })
    expect(asked.body).toContain('The agent asks for something else, and will not get it:')
    expect(asked.body).toMatch(/name="workspace:read"\s+checked/)
    expect(asked.body).toContain('<option value="30" selected>')
    // A choice that the page has not warned of is asked about again.
    const { seen } = fieldsOf(asked.body, consent)
    const other = await visitor.submit(consent, { ...choice, seen: String(seen) })
    expect(other.body).toContain('will not get it')
    const { seen: seenNow } = fieldsOf(other.body, consent)
    expect(
      await scopeOf(agent, visitor, await visitor.submit(consent, { ...choice, seen: String(seenNow) })),
    ).toBe('validation-kit:read')
  })

  describe('of an agent that has access already', () => {
    /** Somebody whose agent has access to two workspaces, with a request of it for a further scope. */
    async function askAgain(scopes: Parameters<typeof getTokens>[2]) {
      const host = await createHost()
      const slug = `w-${randomUUID().slice(0, 8)}`
      const second = await website.services.workspaces.create(host.principal, { name: 'Second', slug })
      const agent = await createAgent()
      const tokens = await getTokens(agent, host, scopes)
      const visitor = await signInAs(website, host)
      const sent = await visitor.get(await getAuthorizationUrl(agent, { scope: 'seeds:write' }))
      const consent = new URL(String(sent.headers.location)).pathname
      await visitor.open(consent)
      const choice = {
        decision: 'allow',
        workspaceId: host.workspaceId,
        shown: host.workspaceId,
        days: 'as-now',
      }
      return { host, second, agent, tokens, visitor, consent, choice }
    }

    it('shows the workspace where it is, with what it has now ticked, and adds to that', async () => {
      const { agent, choice, consent, host, tokens, visitor } = await askAgain({
        scopes: ['workspace:read'],
        days: 90,
      })
      expect(visitor.page()).toContain(`<option value="${host.workspaceId}" selected>`)
      expect(visitor.page()).toMatch(/name="workspace:read"\s+checked/)
      expect(labelOn(visitor.page(), 'workspace:read')).toContain('it has this now')
      expect(visitor.page()).not.toMatch(/name="seeds:write"\s+checked/)
      expect(labelOn(visitor.page(), 'seeds:write')).toContain('the agent asks for this')
      expect(visitor.page()).toMatch(/<option value="as-now" selected>\s+As now, until /)
      const both = { 'workspace:read': 'on', 'seeds:write': 'on' }
      const scope = await scopeOf(agent, visitor, await visitor.submit(consent, { ...choice, ...both }))
      expect(scope).toBe('validation-kit:read workspace:read seeds:write')
      const { grant } = (await website.services.authenticateAgent(tokens.access_token)) ?? {}
      expect(grant?.scopes.join(' ')).toBe(scope)
    })

    it('says before it takes away what the agent has', async () => {
      const { agent, choice, consent, visitor } = await askAgain({
        scopes: ['workspace:read', 'workspace:write'],
      })
      // Inviting people and changing teams is ticked by the person each time.
      expect(visitor.page()).not.toMatch(/name="workspace:write"\s+checked/)
      expect(labelOn(visitor.page(), 'workspace:write')).toContain('it has this now')
      const ticked = { ...choice, 'workspace:read': 'on', 'seeds:write': 'on' }
      const warned = await visitor.submit(consent, ticked)
      expect(warned.body).toContain('This takes away what the agent has now:')
      expect(warned.body).not.toContain('will not get it')
      const { seen = '' } = fieldsOf(warned.body, consent)
      const scope = await scopeOf(agent, visitor, await visitor.submit(consent, { ...ticked, seen }))
      expect(scope).toBe('validation-kit:read workspace:read seeds:write')
    })

    it('says before members can no longer ask it', async () => {
      const scopes = ['workspace:read', 'seeds:write'] as const
      const { agent, choice, consent, host, visitor } = await askAgain({ scopes: [...scopes] })
      const letMembersAsk = sql`update agent_grants set members_may_ask = true where workspace_id = ${host.workspaceId}`
      await website.db.execute(letMembersAsk)
      await visitor.open(consent)
      expect(visitor.page()).toMatch(/name="membersMayAsk"\s+checked/)
      const ticked = { ...choice, 'workspace:read': 'on', 'seeds:write': 'on', 'workspace:write': 'on' }
      const warned = await visitor.submit(consent, { ...ticked, membersMayAsk: 'on' })
      expect(warned.body).toContain('Members will not be able to ask it with this choice.')
      expect(warned.body).not.toContain('This takes away')
      const { seen = '' } = fieldsOf(warned.body, consent)
      const allowed = await visitor.submit(consent, { ...ticked, membersMayAsk: 'on', seen })
      expect(await scopeOf(agent, visitor, allowed)).toContain('workspace:write')
      const [grant] = await selectRows<{ membersMayAsk: boolean; data: object }>(
        website.db,
        sql`select members_may_ask as "membersMayAsk", data from agent_grants
          join events on type = 'integration.changed' and target_id = agent_grants.id
          where agent_grants.workspace_id = ${host.workspaceId}`,
      )
      expect(grant?.membersMayAsk).toBe(false)
      expect(grant?.data).toMatchObject({ membersMayAsk: false })
    })

    it('is shown again for a workspace that was chosen without a script', async () => {
      const { choice, consent, second, visitor } = await askAgain({
        scopes: ['workspace:read', 'seeds:write'],
      })
      const moved = { ...choice, workspaceId: second.id, 'workspace:read': 'on', 'seeds:write': 'on' }
      const shown = await visitor.submit(consent, moved)
      expect(shown.body).toContain(`<option value="${second.id}" selected>`)
      expect(shown.body).toContain(`name="shown" value="${second.id}"`)
      expect(shown.body).not.toContain('checked')
      expect(shown.body).not.toContain('role="alert"')
      expect((await visitor.get(`${consent}?workspaceId=${choice.workspaceId}`)).body).toContain(
        `name="shown" value="${choice.workspaceId}"`,
      )
    })
  })

  it.each([
    ['member', ['workspace:read', 'seeds:write'], 'You are a member of this workspace'],
    ['viewer', ['workspace:read'], 'You are a viewer of this workspace'],
  ] as const)(
    'offers a %s what the role allows, and says what it does not',
    async (role, offered, reason) => {
      const company = await createCompany(website)
      const visitor = await signInAs(website, company[role])
      const { agent, consent, answer } = await visitFromAgent(visitor, 'seeds:write')
      for (const scope of ['workspace:read', 'seeds:write', 'workspace:write'])
        expect(answer.body.includes(`name="${scope}"`)).toBe((offered as readonly string[]).includes(scope))
      expect(answer.body).toContain(reason)
      expect(answer.body).toContain('Create, rename and delete teams')
      const all = { 'workspace:read': 'on', 'seeds:write': 'on', 'workspace:write': 'on' }
      const choice = { decision: 'allow', workspaceId: company.workspace.id, ...all, days: '30' }
      const sent = await visitor.submit(consent, choice)
      const { seen = '' } = fieldsOf(sent.body, consent)
      const allowed = sent.statusCode === 303 ? sent : await visitor.submit(consent, { ...choice, seen })
      expect(await scopeOf(agent, visitor, allowed)).toBe(['validation-kit:read', ...offered].join(' '))
      // The page of agents offers the same.
      const agents = await visitor.get(`/w/${company.workspace.slug}/agents`)
      expect(agents.body).toContain(reason)
      expect(agents.body).not.toContain('name="workspace:write"')
    },
  )

  it('asks the person to confirm their identity before allowing, and keeps their choice; denying requires none', async () => {
    const email = `${randomUUID()}@example.com`
    const visitor = await signUp(website, { email })
    await visitor.get('/onboarding')
    for (const name of ['First', 'Second'])
      await visitor.submit('/onboarding', { name, slug: `w-${randomUUID().slice(0, 8)}` })
    clock.advance(15 * 60_000)
    const { agent, consent } = await visitFromAgent(visitor)
    const workspaceIds = [...visitor.page().matchAll(/<option value="([^"]{36})"/g)].map(([, id]) => id)
    const choice = {
      decision: 'allow',
      workspaceId: String(workspaceIds[1]),
      'seeds:write': 'on',
      days: '30',
    }
    const asked = await visitor.submit(consent, choice)
    expect(asked.headers.location).toMatch(/^\/settings\/security\/confirm\?next=/)
    await visitor.get(String(asked.headers.location))
    expect(visitor.page()).toContain('This changes access to your account')
    // The request waits, and can be denied here too.
    expect(visitor.page()).toContain(`action="${consent}"`)

    const [, next = ''] = /name="next" value="([^"]+)"/.exec(visitor.page()) ?? []
    const proven = await visitor.post('/settings/security/confirm/password', { password, next })
    expect(proven.headers.location).toBe(next)
    await visitor.get(next)
    expect(visitor.page()).toMatch(/name="seeds:write"\s+checked/)
    expect(visitor.page()).not.toMatch(/name="workspace:read"\s+checked/)
    expect(visitor.page()).toContain(`<option value="${choice.workspaceId}" selected>`)
    expect(visitor.page()).toContain('<option value="30" selected>')
    const allowed = await visitor.submit(consent, choice)
    const back = await visitor.get(new URL(String(allowed.headers.location)).pathname)
    expect((await exchange(agent, codeOf(back))).statusCode).toBe(200)

    clock.advance(15 * 60_000)
    const other = await visitFromAgent(visitor)
    const denied = await visitor.submit(other.consent, { decision: 'deny' })
    const refused = await visitor.get(new URL(String(denied.headers.location)).pathname)
    expect(redirectOf(refused)).toMatchObject({ error: 'access_denied' })
  })

  it('requires a confirmed identity before an agent gets more scopes, but not to revoke its access', async () => {
    const host = await createHost()
    const { access_token: token } = await getTokens(await createAgent(), host)
    const visitor = await signInAs(website, host)
    const id = (await website.services.authenticateAgent(token))?.grant.id ?? ''
    await visitor.get(`/w/${host.slug}/agents`)
    clock.advance(15 * 60_000)
    const asked = await visitor.submit(`/w/${host.slug}/agents/${id}/scopes`, { 'seeds:write': 'on' })
    expect(asked.headers.location).toMatch(/^\/settings\/security\/confirm\?next=/)
    const [grant] = await selectRows(website.db, sql`select scopes from agent_grants where id = ${id}`)
    expect(grant).toEqual({ scopes: ['validation-kit:read'] })
    const revoked = await visitor.submit(`/w/${host.slug}/agents/${id}/revoke`)
    expect(noticeOn(revoked.body)).toMatch(/was revoked/)
  })

  it('ignores a consent cookie whose value is not a request id', async () => {
    const visitor = createVisitor(website)
    for (const value of ['//evil.example', '..%2f..%2f', 'a b']) {
      visitor.cookies.set('consent', value)
      const page = await visitor.get('/sign-in')
      expect(page.body).not.toContain('An agent is waiting')
    }
  })
})
