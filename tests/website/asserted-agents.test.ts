import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { startAssertingProvider } from '../support/asserting-provider.ts'
import { createCompany, get, type TestCompany } from '../support/company.ts'
import { createOAuthTester } from '../support/oauth-client.ts'
import { insertGrant } from '../support/seeds.ts'
import { createTestClock } from '../support/test-clock.ts'
import { noticeOn, signInAs, startWebsite } from './visitor.ts'

const clock = createTestClock()
const acme = await startAssertingProvider(clock)
const provider = {
  id: 'acme',
  name: 'Acme ID',
  issuer: acme.issuer,
  clientId: 'us',
  clientSecret: 'a secret',
}
const trusting = { OIDC_PROVIDERS: JSON.stringify([{ ...provider, agentAssertions: true }]) }
const website = await startWebsite({ environment: trusting, clock })
const { app, as, config, db } = website
const { register, createAgent } = createOAuthTester(website)

const textOf = (page: string) => page.replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ')

async function createClient(): Promise<{ id: string; secret: string }> {
  const answer = await register({
    redirect_uris: ['https://agent.example/callback'],
    client_name: 'Claude <3',
    token_endpoint_auth_method: 'client_secret_post',
  })
  const { client_id: id, client_secret: secret } = answer.json<{ client_id: string; client_secret: string }>()
  return { id, secret }
}

async function startCompany() {
  const company = await createCompany(website)
  const agents = `/w/${company.workspace.slug}/agents`
  const page = `/w/${company.workspace.slug}/settings/agents`
  const policyOf = async () => (await as(company.owner, get(`${company.url}/agent-policy`))).json<object>()
  return { company, agents, page, policyOf, owner: await signInAs(website, company.owner) }
}

/** Links an account of a member, for whom the client then asks for a token. */
async function startAsking({ member }: TestCompany, client: { id: string; secret: string }) {
  const subject = crypto.randomUUID()
  await db.execute(sql`insert into identities (issuer, subject, user_id, created_at)
    values (${acme.issuer}, ${subject}, ${member.id}, now())`)
  return async () => {
    const resource = `${config.baseUrl}/agent/mcp`
    const assertion = await acme.sign({ sub: subject, aud: config.baseUrl, client_id: client.id, resource })
    const { statusCode } = await app.inject({
      method: 'POST',
      url: '/agent/oauth/token',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      payload: new URLSearchParams({
        grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
        client_id: client.id,
        client_secret: client.secret,
        assertion,
      }).toString(),
    })
    return statusCode
  }
}

describe('the page of agents of the organization', () => {
  it('lets an owner turn them on, with clients and scopes, and names the clients', async () => {
    const { owner, agents, page, policyOf } = await startCompany()
    expect((await owner.get(agents)).body).toContain(`href="${page}"`)
    const before = (await owner.get(page)).body
    expect(textOf(before)).toContain('trusts Acme ID for this.')
    expect(before).not.toContain('workspace:write')
    const { id } = await createClient()
    const saved = await owner.submit(page, { assertedAgents: 'on', clients: id, 'workspace:read': 'on' })
    expect(noticeOn(saved.body)).toBe('Saved.')
    expect(saved.body).toContain('Claude &lt;3')
    expect(await policyOf()).toMatchObject({
      assertedAgents: 'on',
      scopes: ['validation-kit:read', 'workspace:read'],
      clients: [id],
    })
    // What is unchecked and taken out is taken away.
    await owner.submit(page, { assertedAgents: 'off', clients: '', 'workspace:read': '' })
    expect(await policyOf()).toMatchObject({
      assertedAgents: 'off',
      scopes: ['validation-kit:read'],
      clients: [],
    })
  })

  it('shows the form again with what is wrong about the clients', async () => {
    const { owner, page, policyOf } = await startCompany()
    const { clientId } = await createAgent()
    const refusals = [
      ['nobody', 'There is no client with one of these ids.'],
      ['a'.repeat(1025), 'There is no client with one of these ids.'],
      [clientId, 'Name registered clients that authenticate by a secret or a key.'],
      [Array.from({ length: 21 }, (_, i) => `c${i}`).join(' '), 'At most 20 clients can get access so.'],
    ] as const
    for (const [clients, message] of refusals) {
      await owner.get(page)
      const answer = await owner.submit(page, { assertedAgents: 'on', clients, 'seeds:write': 'on' })
      expect(answer.statusCode).toBe(400)
      expect(textOf(answer.body)).toContain(message)
      expect(answer.body).toContain(`value="${clients}"`)
      expect(answer.body).toMatch(/name="seeds:write"[^>]*checked/)
    }
    expect(await policyOf()).toMatchObject({ assertedAgents: 'off', clients: [] })
  })

  it('asks for a proof, and is for owners', async () => {
    const { company, agents, owner, page, policyOf } = await startCompany()
    await db.execute(sql`update sessions set proven_at = null where user_id = ${company.owner.id}`)
    await owner.get(page)
    const sent = await owner.post(page, { assertedAgents: 'on', clients: '' })
    expect(sent.headers.location).toContain('/settings/security/confirm')
    expect(await policyOf()).toMatchObject({ assertedAgents: 'off' })
    const admin = await signInAs(website, company.admin)
    expect((await admin.get(page)).statusCode).toBe(403)
    expect((await admin.get(agents)).body).not.toContain(page)
  })

  it('says that it has no effect without a provider that is trusted, and nothing leads to it', async () => {
    const untrusting = await startWebsite({ environment: { OIDC_PROVIDERS: JSON.stringify([provider]) } })
    const company = await createCompany(untrusting)
    const owner = await signInAs(untrusting, company.owner)
    const page = `/w/${company.workspace.slug}/settings/agents`
    expect(textOf((await owner.get(page)).body)).toContain('so it has no effect.')
    expect((await owner.get(`/w/${company.workspace.slug}/agents`)).body).not.toContain(page)
  })
})

describe('an agent that a provider let in', () => {
  it('is shown with the provider, and kept away once the person revokes it, until they allow it again', async () => {
    const { company, agents, owner, page } = await startCompany()
    const client = await createClient()
    await owner.get(page)
    await owner.submit(page, { assertedAgents: 'on', clients: client.id })
    const ask = await startAsking(company, client)
    expect(await ask()).toBe(200)

    const member = await signInAs(website, company.member)
    const inbox = textOf((await member.get('/notifications')).body)
    expect(inbox).toContain('Your organization gave Claude &lt;3 access to Acme, where it acts for you')
    const shown = (await member.get(agents)).body
    expect(textOf(shown)).toContain('Given by Acme ID to act for you')
    expect(textOf((await owner.get(agents)).body)).toContain('Given by Acme ID to act for Mary Member')
    const [, id = ''] = new RegExp(`${agents}/([\\w-]{36})/revoke`).exec(shown) ?? []
    // Neither prolonged nor changed by its person.
    for (const body of [shown, (await member.get(`${agents}/${id}`)).body])
      expect(body).not.toMatch(/\/(?:scopes|prolong|asking)"/)

    await member.get(agents)
    const revoked = await member.submit(`${agents}/${id}/revoke`)
    expect(noticeOn(revoked.body)).toContain('was revoked')
    expect(textOf(revoked.body)).toContain('Revoked agents of the organization')
    expect(await ask()).toBe(400)
    expect((await owner.get(agents)).body).not.toContain('allow-again')

    const allow = `${agents}/${id}/allow-again`
    await db.execute(sql`update sessions set proven_at = null where user_id = ${company.member.id}`)
    await member.get(agents)
    const asked = await member.post(allow)
    expect(asked.headers.location).toContain('/settings/security/confirm')
    await db.execute(sql`update sessions set proven_at = now() where user_id = ${company.member.id}`)
    await member.get(agents)
    const allowed = await member.submit(allow)
    expect(noticeOn(allowed.body)).toBe('The organization can give Claude &lt;3 access again.')
    expect(allowed.body).not.toContain('allow-again')
    expect(await ask()).toBe(200)
  })

  it('is shown with the issuer of a provider that is not configured any more', async () => {
    const { company, agents, owner } = await startCompany()
    await insertGrant(website, company.workspace, company.member, { assertedIssuer: 'https://old.example' })
    expect(textOf((await owner.get(agents)).body)).toContain('Given by https://old.example to act for')
  })
})
