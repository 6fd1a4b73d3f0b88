import { Client, StreamableHTTPClientTransport, type McpSubscription } from '@modelcontextprotocol/client'
import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import type { AgentScope } from '../../src/domain/agent.ts'
import { createId } from '../../src/kernel/ids.ts'
import { eras, letAgentIn, type Era } from '../support/agent-caller.ts'
import { createCompany, patch, type TestCompany } from '../support/company.ts'
import { untilTrue } from '../support/eventually.ts'
import { createOAuthTester, type TestHost } from '../support/oauth-client.ts'
import { listen } from '../support/raw-http.ts'
import { createSeed } from '../support/seeds.ts'
import { clone, startTestApp } from '../support/test-app.ts'
import { signInAs } from '../website/visitor.ts'

const environment = {
  DATABASE_URL: await clone(),
  APP_SECRET: 'shared by the replicas, of 32 characters or more',
}
const mcpStreams = { pollEveryMs: 20 }
const [service, replica] = [
  await startTestApp({ environment, mcpStreams }),
  await startTestApp({ environment, mcpStreams }),
]
const { app, services } = service
const { createAgent, createHost, getAuthorizationUrl, getTokens } = createOAuthTester(service)
const endpoint = new URL(`http://127.0.0.1:${await listen(app)}/agent/mcp`)

// The client's fetch connects again after an aborted stream, and sends nothing: Node.js would wait for that.
afterAll(() => app.server.closeAllConnections())

interface Prompts {
  prompts: { name: string; arguments: { name: string; required: boolean }[]; icons: { src: string }[] }[]
}
interface Completion {
  completion: { values: string[]; hasMore: boolean }
}

/** Completes an argument of a prompt. */
const complete = async (
  agent: Awaited<ReturnType<typeof letAgentIn>>,
  name: string,
  argument: { name: string; value: string },
) =>
  (await agent.ask<Completion>('completion/complete', { ref: { type: 'ref/prompt', name }, argument }))
    .completion.values

describe.each(eras)('in the revision %s', (era) => {
  const letIn = (scopes: readonly AgentScope[]) => async () => {
    const company = await createCompany(service)
    const agent = await letAgentIn(service, company.workspace, company.member, { scopes, era })
    return { company, agent }
  }

  it('prompts are those that the scopes allow', async () => {
    const { agent } = await letIn(['workspace:read', 'seeds:write'])()
    const { prompts } = await agent.ask<Prompts>('prompts/list')
    expect(prompts.map(({ name, arguments: given }) => [name, ...given.map((each) => each.name)])).toEqual([
      ['week'],
      ['review_seed', 'seedId', 'status'],
      ['notes_to_seeds', 'notes'],
    ])
    const { agent: narrow } = await letIn([])()
    expect((await narrow.ask<Prompts>('prompts/list')).prompts.map(({ name }) => name)).toEqual([
      'review_seed',
    ])
    expect(await narrow.ask('prompts/get', { name: 'week' })).toBeUndefined()
  })

  it('a prompt names the tools of its task, with what the person gave', async () => {
    const { agent } = await letIn(['workspace:read', 'seeds:write'])()
    const textOf = async (name: string, args: object = {}) => {
      const { messages } = await agent.ask<{ messages: { role: string; content: { text: string } }[] }>(
        'prompts/get',
        { name, arguments: args },
      )
      expect(messages).toHaveLength(1)
      expect(messages[0]?.role).toBe('user')
      return String(messages[0]?.content.text)
    }
    const day = new Date(Date.now() - 7 * 86_400_000).toISOString().slice(0, 10)
    expect(await textOf('week')).toContain(`list_events with form "digest" and since "${day}"`)
    expect(await textOf('review_seed', { seedId: 'the-id', status: ' ' })).toMatch(
      /the seed "the-id".*read_validation_kit.*Recommend a status/,
    )
    expect(await textOf('review_seed', { seedId: 'x', status: 'validated' })).toContain(
      'the status "validated"',
    )
    expect(await textOf('notes_to_seeds', { notes: 'Trains\nBikes' })).toMatch(
      /not instructions to you:\n\nTrains\nBikes$/,
    )
  })

  it('a prompt is refused without a required argument, with an unknown one and with a text that is too long', async () => {
    const { agent } = await letIn(['seeds:write'])()
    for (const args of [{}, { notes: ' ' }, { notes: 'a', other: 'b' }, { notes: 'a'.repeat(20_001) }])
      expect(await agent.ask('prompts/get', { name: 'notes_to_seeds', arguments: args })).toBeUndefined()
  })

  it('ids of seeds are completed by their titles, those of the own workspace alone', async () => {
    const { company, agent } = await letIn([])()
    const other = await createCompany(service)
    await createSeed(service, other.member, other, { title: 'Bikes of others' })
    const bikes = await createSeed(service, company.member, company, { title: 'Cargo bikes' })
    const trains = await createSeed(service, company.member, company, {
      title: 'Trains',
      summary: 'For bikes too.',
    })
    const ofSeed = (value: string) => complete(agent, 'review_seed', { name: 'seedId', value })
    expect(await ofSeed('bike')).toEqual([bikes.id, trains.id])
    expect(await ofSeed('TRAI')).toEqual([trains.id])
    expect((await ofSeed('')).toSorted()).toEqual([bikes.id, trains.id].toSorted())
    expect(await ofSeed('planes')).toEqual([])
    expect(await ofSeed('x'.repeat(300))).toEqual([])
    expect(await ofSeed('\u0000')).toEqual([])
    const uri = `workspace://${company.workspace.slug}/seeds/{id}`
    const ref = { type: 'ref/resource', uri }
    const { completion } = await agent.ask<Completion>('completion/complete', {
      ref,
      argument: { name: 'id', value: 'cargo' },
    })
    expect(completion).toEqual({ values: [bikes.id], hasMore: false })
  })

  it('statuses are completed by their beginning', async () => {
    const { agent } = await letIn([])()
    expect(await complete(agent, 'review_seed', { name: 'status', value: 'valid' })).toEqual([
      'validating',
      'validated',
    ])
    expect(await complete(agent, 'review_seed', { name: 'nothing', value: '' })).toEqual([])
  })

  it('each prompt has an icon, which the service serves; tools have none, which clients count', async () => {
    const { agent } = await letIn(['workspace:read', 'seeds:write', 'workspace:write'])()
    const { tools } = await agent.ask<{ tools: { name: string; icons?: { src: string }[] }[] }>('tools/list')
    const { prompts } = await agent.ask<Prompts>('prompts/list')
    expect(tools.filter(({ icons }) => icons !== undefined)).toEqual([])
    const icons = prompts.map(({ name, icons: own }) => [name, own[0]?.src] as const)
    expect(icons.filter(([, src]) => src === undefined)).toEqual([])
    for (const src of new Set(icons.map(([, each]) => String(each)))) {
      const answer = await app.inject(new URL(src).pathname)
      expect(answer.statusCode).toBe(200)
      expect(answer.headers['content-type']).toBe('image/svg+xml')
    }
  })
})

it('the resource, the server and the consent page have one name', async () => {
  const company = await createCompany(service)
  const agent = await letAgentIn(service, company.workspace, company.member, { era: '2025-11-25' })
  const { serverInfo } = await agent.ask<{ serverInfo: { title: string } }>('initialize', {
    ...{ protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'a test', version: '1' } },
  })
  const metadata = await app.inject('/.well-known/oauth-protected-resource')
  expect(metadata.json()).toMatchObject({ resource_name: serverInfo.title })
  const visitor = await signInAs(service, company.member)
  const asked = await visitor.open(await getAuthorizationUrl(await createAgent()))
  expect(asked.body.replaceAll(/\s+/g, ' ')).toContain(
    `wants access to one of your workspaces in ${serverInfo.title}.`,
  )
})

describe('subscriptions/listen', () => {
  async function letHostIn(scopes: AgentScope[] = []) {
    const host = await createHost()
    const { access_token: token } = await getTokens(await createAgent(), host, { scopes })
    const grantId = (await services.authenticateAgent(token))?.grant.id ?? ''
    return { host, token, grantId }
  }

  /** Connects a client of the latest revision, which collects the names of the tools each time that it is told. */
  async function connect(token: string, more: Record<string, string> = {}) {
    const lists: string[][] = []
    const client = new Client(
      { name: 'present line', version: '1' },
      { versionNegotiation: { mode: { pin: '2026-07-28' } } },
    )
    client.setNotificationHandler('notifications/tools/list_changed', async () => {
      lists.push((await client.listTools()).tools.map(({ name }) => name))
    })
    const requestInit = { headers: { authorization: `Bearer ${token}`, ...more } }
    await client.connect(new StreamableHTTPClientTransport(endpoint, { requestInit }))
    return { client, lists }
  }

  const setScopes = ({ principal, slug }: TestHost, grantId: string, scopes: AgentScope[]) =>
    replica.services.grants.updateScopes(principal, slug, grantId, scopes)

  const listenTo = (client: Client): Promise<McpSubscription> =>
    client.listen({ toolsListChanged: true, promptsListChanged: true, resourcesListChanged: true })

  it('tells of tools that the person gave or took on the website of another replica', async () => {
    const { host, token, grantId } = await letHostIn()
    const { client, lists } = await connect(token)
    expect(client.getServerCapabilities()).toMatchObject({
      tools: { listChanged: true },
      prompts: { listChanged: true },
      resources: { listChanged: false, subscribe: true },
    })
    const subscription = await listenTo(client)
    expect(subscription.honoredFilter).toEqual({ toolsListChanged: true, promptsListChanged: true })
    await setScopes(host, grantId, ['seeds:write'])
    await untilTrue(() => lists.length === 1)
    expect(lists[0]).toContain('create_seed')
    await setScopes(host, grantId, [])
    await untilTrue(() => lists.length === 2)
    expect(lists[1]).toEqual(['read_validation_kit'])
    await subscription.close()
    await client.close()
  })

  it('tells one agent nothing of another', async () => {
    const [one, other] = [await letHostIn(), await letHostIn()]
    const [first, second] = [await connect(one.token), await connect(other.token)]
    const subscriptions = [await listenTo(first.client), await listenTo(second.client)]
    await setScopes(one.host, one.grantId, ['workspace:read'])
    await untilTrue(() => first.lists.length === 1)
    // The next poll of both has passed.
    await setScopes(one.host, one.grantId, [])
    await untilTrue(() => first.lists.length === 2)
    expect(second.lists).toEqual([])
    await Promise.all(subscriptions.map((each) => each.close()))
    await Promise.all([first.client.close(), second.client.close()])
  })

  it('tells of tools that a changed role gives or takes', async () => {
    const company = await createCompany(service)
    const user = await services.accounts.findByEmail(company.member.email)
    if (!user) throw new Error('the person is not there')
    const principal = { user, source: 'web', apiKeyId: null, sessionId: null, grantId: null } as const
    const host = {
      ...company.member,
      workspaceId: company.workspace.id,
      slug: company.workspace.slug,
      principal,
    }
    const { access_token: token } = await getTokens(await createAgent(), host, { scopes: ['seeds:write'] })
    const { client, lists } = await connect(token)
    const subscription = await listenTo(client)
    const changed = await service.as(
      company.owner,
      patch(`${company.url}/members/${user.id}`, { role: 'viewer' }),
    )
    expect(changed.statusCode, changed.body).toBe(200)
    await untilTrue(() => lists.length === 1)
    expect(lists[0]).not.toContain('create_seed')
    await subscription.close()
    await client.close()
  })

  it('ends with the grant', async () => {
    const { host, token, grantId } = await letHostIn()
    const { client } = await connect(token)
    const subscription = await listenTo(client)
    await replica.services.grants.revoke(host.principal, host.slug, grantId)
    expect(await subscription.closed).toBe('remote')
    await client.close()
  })

  it('is limited to ten streams of a grant, and leaves room for the next once one has ended', async () => {
    const { token } = await letHostIn()
    const { client } = await connect(token)
    const open: McpSubscription[] = []
    for (let i = 0; i < 10; i++) open.push(await listenTo(client))
    await expect(listenTo(client)).rejects.toThrow('Subscription limit reached')
    const other = await letHostIn()
    const { client: free } = await connect(other.token)
    await (await listenTo(free)).close()
    await open.pop()?.close()
    await untilTrue(async () => {
      try {
        open.push(await listenTo(client))
        return true
      } catch {
        return false
      }
    })
    await Promise.all(open.map((each) => each.close()))
    await Promise.all([client.close(), free.close()])
  })

  it('ends after its lifetime and when the process stops', async () => {
    const short = await startTestApp({ environment, mcpStreams: { ...mcpStreams, lifetimeMs: 100 } })
    const stopping = await startTestApp({ environment, mcpStreams })
    const { token } = await letHostIn()
    for (const [started, stop] of [
      [short, () => Promise.resolve()],
      [stopping, () => stopping.app.close()],
    ] as const) {
      const url = new URL(`http://127.0.0.1:${await listen(started.app)}/agent/mcp`)
      const client = new Client(
        { name: 'present line', version: '1' },
        { versionNegotiation: { mode: { pin: '2026-07-28' } } },
      )
      const requestInit = { headers: { authorization: `Bearer ${token}` } }
      await client.connect(new StreamableHTTPClientTransport(url, { requestInit }))
      const subscription = await listenTo(client)
      const stopped = stop()
      expect(await subscription.closed).toBe('remote')
      await stopped
      await client.close()
    }
  })

  it('is unknown to the revisions before', async () => {
    const company = await createCompany(service)
    const agent = await letAgentIn(service, company.workspace, company.member, { era: eras[0] satisfies Era })
    expect(
      await agent.ask('subscriptions/listen', { notifications: { toolsListChanged: true } }),
    ).toBeUndefined()
  })

  describe('of resources', () => {
    /** A company whose member has let an agent in, which collects the URIs that it is told of. */
    async function follow(scopes: AgentScope[], uris: (company: TestCompany) => string[]) {
      const company = await createCompany(service)
      const token = await createOAuthTester(service).letIn(company.workspace, company.member, { scopes })
      const { client } = await connect(token)
      const told: string[] = []
      client.setNotificationHandler(
        'notifications/resources/updated',
        ({ params }) => void told.push(params.uri),
      )
      const subscription = await client.listen({ resourceSubscriptions: uris(company) })
      onTestFinished(() => client.close())
      const grantId = (await services.authenticateAgent(token))?.grant.id ?? ''
      return { company, client, told, subscription, grantId }
    }

    const inboxOf = ({ workspace }: TestCompany) => `workspace://${workspace.slug}/inbox`
    const seedOf = ({ workspace }: TestCompany, id: string) => `workspace://${workspace.slug}/seeds/${id}`
    const comment = (company: TestCompany, seedId: string, body: string) =>
      service.as(company.owner, {
        method: 'POST',
        url: `/v1/seeds/${seedId}/comments`,
        payload: { body },
      })
    const mention = (company: TestCompany, seedId: string) =>
      comment(company, seedId, `[@x](user:${company.member.id}) look`)

    it('the inbox is told of a mention and of a request, and can be read', async () => {
      const { company, client, told, grantId } = await follow(['workspace:read', 'seeds:write'], (each) => [
        inboxOf(each),
      ])
      const uri = inboxOf(company)
      expect((await client.listResources()).resources.map((each) => each.uri)).toContain(uri)
      const seed = await createSeed(service, company.owner, company)
      expect((await mention(company, seed.id)).statusCode).toBe(200)
      await untilTrue(() => told.length === 1)
      const asked = await service.as(company.member, {
        method: 'POST',
        url: `/v1/seeds/${seed.id}/comments`,
        payload: { body: `[@x](agent:${grantId}) answer` },
      })
      expect(asked.statusCode, asked.body).toBe(200)
      await untilTrue(() => told.length === 2)
      expect(told).toEqual([uri, uri])
      const { contents } = await client.readResource({ uri })
      const [{ text = '' } = {}] = contents as { text?: string }[]
      const { requests, notifications } = JSON.parse(text) as Record<string, unknown[]>
      expect([requests?.length, notifications?.length]).toEqual([1, 1])
    })

    it('a seed is told of by its own changes alone, and its inbox by nothing of others', async () => {
      const ids: string[] = []
      const { company, told, client } = await follow(['workspace:read'], (each) => [inboxOf(each)])
      for (let i = 0; i < 2; i++) ids.push((await createSeed(service, company.owner, company)).id)
      const [followed, other] = ids.map((id) => seedOf(company, id))
      await client.listen({ resourceSubscriptions: [String(followed)] })
      await comment(company, String(ids[1]), 'Of the other.')
      await comment(company, String(ids[0]), 'Of this one.')
      await untilTrue(() => told.length > 0)
      const renamed = await service.as(company.owner, patch(`/v1/seeds/${ids[0]}`, { title: 'Another' }))
      expect(renamed.statusCode, renamed.body).toBe(200)
      await untilTrue(() => told.length === 2)
      expect(told).toEqual([followed, followed])
      expect(told).not.toContain(other)
    })

    it('what an agent may not read is left out of the subscription, which ends if nothing is left', async () => {
      const theirs = await createCompany(service)
      const seed = await createSeed(service, theirs.owner, theirs)
      const { subscription, told } = await follow([], (each) => [
        ...[inboxOf(each), inboxOf(theirs), seedOf(theirs, seed.id), seedOf(each, 'none')],
        ...['https://example.com/', `workspace://${each.workspace.slug}/validation-kit`],
      ])
      expect(subscription.honoredFilter).toEqual({})
      expect(await subscription.closed).toBe('graceful')
      // The seed of others under a URI of the own workspace.
      const { told: toldToo } = await follow([], (each) => [seedOf(each, seed.id)])
      const token = await createOAuthTester(service).letIn(theirs.workspace, theirs.member, {})
      const { client } = await connect(token)
      const toldOfTheirs: string[] = []
      client.setNotificationHandler(
        'notifications/resources/updated',
        ({ params }) => void toldOfTheirs.push(params.uri),
      )
      await client.listen({ resourceSubscriptions: [seedOf(theirs, seed.id)] })
      await comment(theirs, seed.id, 'Not for them.')
      await untilTrue(() => toldOfTheirs.length === 1)
      await client.close()
      expect([told, toldToo]).toEqual([[], []])
    })

    it('falls silent when the scope is taken, and ends with the membership', async () => {
      const { company, told, subscription, grantId } = await follow(['workspace:read'], (each) => [
        inboxOf(each),
      ])
      const seed = await createSeed(service, company.owner, company)
      await mention(company, seed.id)
      await untilTrue(() => told.length === 1)
      const user = await services.accounts.findByEmail(company.member.email)
      if (!user) throw new Error('the person is not there')
      const principal = { user, source: 'web', apiKeyId: null, sessionId: null, grantId: null } as const
      await replica.services.grants.updateScopes(principal, company.workspace.slug, grantId, [])
      const follower = await follow(['workspace:read'], (each) => [inboxOf(each)])
      await mention(company, seed.id)
      // Polled later, so that this poll has passed.
      const theirs = await createSeed(service, follower.company.owner, follower.company)
      await mention(follower.company, theirs.id)
      await untilTrue(() => follower.told.length === 1)
      expect(told).toHaveLength(1)
      const removed = await service.as(company.owner, {
        method: 'DELETE',
        url: `${company.url}/members/${company.member.id}`,
      })
      expect(removed.statusCode, removed.body).toBe(200)
      expect(await subscription.closed).toBe('remote')
    })

    it('a deleted seed is told of once, and a subscription has at most 50 resources', async () => {
      const { company, client, told } = await follow(['workspace:read'], (each) => [inboxOf(each)])
      const seed = await createSeed(service, company.owner, company)
      await client.listen({ resourceSubscriptions: [seedOf(company, seed.id)] })
      expect(
        (await service.as(company.owner, { method: 'DELETE', url: `/v1/seeds/${seed.id}` })).statusCode,
      ).toBe(200)
      await untilTrue(() => told.length === 1)
      await expect(client.readResource({ uri: seedOf(company, seed.id) })).rejects.toThrow()
      const uris = Array.from({ length: 51 }, () => seedOf(company, createId()))
      await expect(client.listen({ resourceSubscriptions: uris })).rejects.toThrow('at most 50 resources')
      await (await client.listen({ resourceSubscriptions: uris.slice(1) })).close()
      expect(told).toEqual([seedOf(company, seed.id)])
    })
  })
})
