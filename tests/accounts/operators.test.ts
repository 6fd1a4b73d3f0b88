import { randomUUID } from 'node:crypto'
import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { createId } from '../../src/kernel/ids.ts'
import type { Principal } from '../../src/domain/principal.ts'
import { createCompany, get, post } from '../support/company.ts'
import { createOAuthTester } from '../support/oauth-client.ts'
import { clone, selectRows, startTestApp, type TestPerson } from '../support/test-app.ts'
import { createTestClock } from '../support/test-clock.ts'

/** Services that only the commands for operators call. */
const clock = createTestClock()
const service = await startTestApp({
  clock,
  environment: {
    DATABASE_URL: await clone(),
    BASE_URL: 'https://api.example.com',
    WEB_URL: 'https://app.example.com',
  },
})
const { app, as, createPerson, db, services } = service
const { accounts, agentOAuth, apiKeys, credentials, evidence, seeds, workspaces } = services

async function principalOf(person: TestPerson): Promise<Principal> {
  const user = await accounts.findByEmail(person.email)
  if (!user) throw new Error('the person is not there')
  return { user, source: 'system', apiKeyId: null, sessionId: null, grantId: null }
}

describe('listing users', () => {
  it('filters by email address or part of a name, newest first, with the total number', async () => {
    const tag = randomUUID().slice(0, 8)
    const people: TestPerson[] = []
    for (const [i, isVerified] of [true, false, true].entries()) {
      clock.advance(1000)
      const email = `${i}.${tag}@example.com`
      people.push(await createPerson({ name: `Tag_${tag} ${i}`, email, isVerified }))
    }
    const [first, second, third] = people
    const list = await accounts.list({ query: `tAG_${tag}`, limit: 2 })
    expect(list.total).toBe(3)
    expect(list.items.map(({ id }) => id)).toEqual([third?.id, second?.id])
    expect(list.items.map(({ isVerified }) => isVerified)).toEqual([true, false])
    expect((await accounts.list({ query: `${tag}@example` })).total).toBe(3)
    // `%` and `_` are not wildcards.
    expect((await accounts.list({ query: `Tag%${tag}` })).total).toBe(0)
    expect((await accounts.list({ query: `TagX${tag}` })).total).toBe(0)
    expect(await accounts.list({ email: `0.${tag}@EXAMPLE.com` })).toMatchObject({
      total: 1,
      items: [{ id: first?.id, workspaceCount: 0 }],
    })
    await expect(accounts.list({ email: 'nobody' })).rejects.toMatchObject({ code: 'email_invalid' })
    await expect(accounts.list({ query: '\u001b[31m' })).rejects.toMatchObject({ code: 'text_invalid' })
  })

  it('counts the workspaces of each user', async () => {
    const { member } = await createCompany(service)
    await createCompany(service)
    // With that of `addMembers`.
    expect((await accounts.list({ email: member.email })).items).toMatchObject([{ workspaceCount: 2 }])
  })
})

describe('verifying a user', () => {
  it('marks the address as verified once, and joins the workspace that allows its domain', async () => {
    const domain = `${randomUUID().slice(0, 8)}.example`
    const { workspace } = await createCompany(service)
    await db.execute(sql`update workspaces set allowed_domains = array[${domain}] where id = ${workspace.id}`)
    const person = await createPerson({ email: `ivy@${domain}`, isVerified: false })
    expect(await accounts.verify(person.id)).toBe(true)
    expect(await accounts.verify(person.id)).toBe(false)
    expect(await accounts.findByEmail(person.email)).toMatchObject({ emailVerifiedAt: clock.now() })
    expect((await as(person, get('/v1/workspaces'))).json()).toMatchObject([{ id: workspace.id }])
  })

  it('throws not_found for an unknown user', async () => {
    await expect(accounts.verify(randomUUID())).rejects.toMatchObject({ code: 'not_found' })
  })
})

describe('a link that an operator creates', () => {
  it.each([
    ['sign_in', /^https:\/\/app\.example\.com\/sign-in\/link\/[\w-]{43}$/],
    ['reset_password', /^https:\/\/app\.example\.com\/reset\/[\w-]{43}$/],
  ] as const)('opens a page of the website for 24 hours, for the purpose %s', async (purpose, form) => {
    const person = await createPerson()
    const { url, expiresAt } = await credentials.createLink(purpose, person.id)
    expect(url).toMatch(form)
    expect(expiresAt.getTime() - clock.now().getTime()).toBe(24 * 60 * 60 * 1000)
    const open = () => app.inject({ url: new URL(url).pathname, headers: { accept: 'text/html' } })
    clock.advance(23 * 60 * 60 * 1000)
    expect((await open()).statusCode).toBe(200)
    clock.advance(60 * 60 * 1000)
    expect((await open()).statusCode).toBe(404)
  })
})

describe('revoking an API key as an operator', () => {
  it('returns the name of the key, its user, and whether it was active', async () => {
    const person = await createPerson()
    expect(await apiKeys.revokeAny(person.apiKeyId)).toEqual({
      name: 'Test key',
      email: person.email,
      wasActive: true,
    })
    expect((await as(person, get('/v1/me'))).statusCode).toBe(401)
    clock.advance(1000)
    expect(await apiKeys.revokeAny(person.apiKeyId)).toMatchObject({ wasActive: false })
    for (const id of ['nonsense', randomUUID(), person.id])
      await expect(apiKeys.revokeAny(id)).rejects.toMatchObject({ code: 'not_found' })
  })
})

describe('listing workspaces', () => {
  it('filters by name and slug, and lists the owners', async () => {
    const company = await createCompany(service)
    const { slug, id } = company.workspace
    const list = await workspaces.listAll({ query: slug.toUpperCase() })
    expect(list).toMatchObject({
      total: 1,
      items: [{ id, slug, name: 'Acme', memberCount: 4, owners: [company.owner.email] }],
    })
    expect((await workspaces.listAll({ query: 'ACME', limit: 1 })).items).toHaveLength(1)
    expect((await workspaces.listAll({ query: 'ACME', limit: 1 })).total).toBeGreaterThan(1)
  })
})

describe('OAuth clients', () => {
  it('are listed with the number of their grants, and deleted with their grants', async () => {
    const { createAgent, createHost, getTokens, readKit } = createOAuthTester(service)
    const unused = await createAgent({ client_name: 'Unused' })
    clock.advance(1000)
    const agent = await createAgent({ client_name: 'Used' })
    const tokens = []
    for (let i = 0; i < 2; i++) tokens.push(await getTokens(agent, await createHost()))
    const { items, total } = await agentOAuth.listClients({})
    expect(total).toBe(2)
    expect(items).toMatchObject([
      { id: agent.clientId, name: 'Used', grantCount: 2, registeredAt: clock.now().toISOString() },
      { id: unused.clientId, name: 'Unused', grantCount: 0, lastUsedAt: null },
    ])
    expect((await agentOAuth.listClients({ limit: 1 })).items).toHaveLength(1)

    expect(await agentOAuth.deleteClient(agent.clientId)).toBe(2)
    expect(await agentOAuth.deleteClient(agent.clientId)).toBeUndefined()
    for (const { access_token } of tokens) expect((await readKit(access_token)).statusCode).toBe(401)
    expect((await agentOAuth.listClients({})).items.map(({ id }) => id)).toEqual([unused.clientId])
    expect(await agentOAuth.deleteClient(unused.clientId)).toBe(0)
  })

  it('are listed while they have an active grant, if they have a metadata document', async () => {
    const { createHost } = createOAuthTester(service)
    const host = await createHost()
    const lastUsedAt = clock.now()
    const clientId = 'https://agent.example/metadata.json'
    const grantId = randomUUID()
    await db.execute(sql`
      insert into agent_grants (id, client_id, client_name, workspace_id, user_id, scopes, created_at, last_used_at, expires_at)
      values (${grantId}, ${clientId}, 'Documented', ${host.workspaceId}, ${host.id}, '{}', now(),
        ${lastUsedAt.toISOString()}, '2100-01-01')`)
    const { items } = await agentOAuth.listClients({})
    expect(items.find(({ id }) => id === clientId)).toEqual({
      id: clientId,
      name: 'Documented',
      grantCount: 1,
      registeredAt: null,
      lastUsedAt: lastUsedAt.toISOString(),
    })
    await db.execute(sql`update agent_grants set revoked_at = now() where id = ${grantId}`)
    expect((await agentOAuth.listClients({})).items.find(({ id }) => id === clientId)).toBeUndefined()
  })
})

describe('removing the example seeds', () => {
  it('deletes the example seeds of the first start, except those with a changed title, and records events', async () => {
    const company = await createCompany(service)
    const { slug, id: workspaceId } = company.workspace
    const owner = await principalOf(company.owner)
    const [example, renamed] = [
      await seeds.create(owner, slug, { title: 'Example: One', summary: 'x' }),
      await seeds.create(owner, slug, { title: 'Example: Two', summary: 'x' }),
    ]
    await seeds.join(owner, example.id)
    await evidence.add(owner, example.id, { kind: 'note', verdict: 'neutral', summary: 'x' })
    await seeds.update(owner, renamed.id, { title: 'Our own' })
    const own = await as(
      company.member,
      post(`${company.url}/seeds`, { title: 'Example: Mine', summary: 'x' }),
    )
    expect(own.statusCode).toBe(200)

    expect(await seeds.deleteExamples()).toEqual(['Example: One'])
    expect(await seeds.deleteExamples()).toEqual([])
    const titles = (await as(company.owner, get(`${company.url}/seeds`))).json<{ title: string }[]>()
    expect(titles.map(({ title }) => title).toSorted()).toEqual(['Example: Mine', 'Our own'])
    expect(await selectRows(db, sql`select id from evidence where seed_id = ${example.id}`)).toEqual([])
    expect(
      await selectRows(
        db,
        sql`select actor_type, source, summary from events
          where workspace_id = ${workspaceId} and type = 'seed.deleted'`,
      ),
    ).toEqual([
      { actor_type: 'system', source: 'system', summary: 'An operator deleted the seed Example: One' },
    ])
  })
})

describe('jobs', () => {
  it('are listed with their states, and run again once they have failed in all attempts', async () => {
    const add = async (task: string, change: string) => {
      const [row] = await selectRows<{ id: string }>(
        db,
        sql`select id::text from graphile_worker.add_job(${task}, run_at => '2001-02-03T04:05:06.789Z')`,
      )
      await db.execute(sql.raw(`update graphile_worker._private_jobs set ${change} where id = ${row?.id}`))
      return String(row?.id)
    }
    const failed = await add('failed_task', `attempts = max_attempts, last_error = 'the mail server is gone'`)
    const other = await add('failed_task', 'attempts = max_attempts')
    const ready = await add('ready_task', 'attempts = 3')
    const running = await add('running_task', `locked_at = now(), locked_by = 'a worker'`)
    const later = await add('later_task', `run_at = now() + interval '1 hour'`)
    const { jobOperations } = services
    const statesOf = async () =>
      Object.fromEntries((await jobOperations.list({})).items.map(({ id, state }) => [id, state]))
    const expected = { [failed]: 'failed', [other]: 'failed', [ready]: 'ready', [running]: 'running' }
    expect(await statesOf()).toMatchObject({ ...expected, [later]: 'scheduled' })
    const list = await jobOperations.list({ isFailed: true, limit: 1 })
    expect(list).toEqual({
      total: 2,
      items: [
        {
          ...{ id: failed, task: 'failed_task', state: 'failed', attempts: 25, attemptsMax: 25 },
          ...{ runAt: '2001-02-03T04:05:06.789Z', lastError: 'the mail server is gone' },
          subjects: {},
        },
      ],
    })
    // A job that has not failed is left alone.
    expect(await jobOperations.retry([failed, ready, running, '987654'])).toEqual([failed])
    expect(await statesOf()).toMatchObject({ ...expected, [failed]: 'ready' })
    expect(await jobOperations.retry()).toEqual([other])
    expect(await jobOperations.count()).toMatchObject({ failed: 0, running: 1 })
    // Only those that wait for another attempt.
    const inviteId = createId()
    const [waiting] = await selectRows<{ id: string }>(
      db,
      sql`select id::text from graphile_worker.add_job('waiting_task',
        ${JSON.stringify({ inviteId, email: 'linus@example.com' })}::json, run_at => now() + interval '6 hours')`,
    )
    await db.execute(
      sql`update graphile_worker._private_jobs set attempts = 9, last_error = 'no' where id = ${waiting?.id}::bigint`,
    )
    expect(await jobOperations.retryWaiting()).toEqual([waiting?.id])
    const { items } = await jobOperations.list({})
    expect(items.find(({ id }) => id === waiting?.id)).toMatchObject({
      ...{ state: 'ready', attempts: 9, subjects: { inviteId } },
    })
    expect(items.find(({ id }) => id === later)).toMatchObject({ state: 'scheduled' })
  })
})

describe('access of a person', () => {
  it('is revoked at once: all API keys, and all sessions with the links that were sent', async () => {
    const person = await createPerson()
    const principal = await principalOf(person)
    const expired = await apiKeys.createRestricted(principal, {
      ...{ name: 'Soon over', access: 'full', workspaceIds: null },
      expiresAt: new Date(clock.now().getTime() + 3_600_000).toISOString(),
    })
    clock.advance(3_700_000)
    await apiKeys.create(principal, { name: 'Another' })
    const browser = {
      userAgent: '',
      sessionToken: undefined,
      browserToken: 'a browser',
      requestId: 'a request',
    }
    const tokenOf = async () =>
      new URL((await credentials.createLink('sign_in', person.id)).url).pathname.split('/').at(-1) ?? ''
    const signedIn = await credentials.signInByLink(await tokenOf(), browser)
    if (!('sessionToken' in signedIn)) throw new Error('there is no session')
    const unused = await tokenOf()

    expect((await as(person, get('/v1/me'))).statusCode).toBe(200)
    // The expired one counts no longer.
    expect(await apiKeys.revokeAllOf(person.id)).toBe(2)
    expect(await apiKeys.revokeAllOf(person.id)).toBe(0)
    expect((await as(person, get('/v1/me'))).statusCode).toBe(401)
    const [row] = await selectRows(db, sql`select revoked_at from api_keys where id = ${expired.id}`)
    expect(row?.revoked_at).not.toBeNull()

    expect(await services.sessions.find(signedIn.sessionToken)).toBeDefined()
    expect(await credentials.signOutEverywhere(person.id)).toBe(1)
    expect(await services.sessions.find(signedIn.sessionToken)).toBeUndefined()
    await expect(credentials.signInByLink(unused, browser)).rejects.toMatchObject({ code: 'link_invalid' })
    // They may come back.
    expect(await credentials.signInByLink(await tokenOf(), browser)).toHaveProperty('sessionToken')
  })
})
