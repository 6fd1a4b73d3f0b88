import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { sql } from 'drizzle-orm'
import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import { agentScopes } from '../../src/domain/agent.ts'
import { confirmationMs } from '../../src/agents/mcp/confirmations.ts'
import { createCompany, createTeam, get, type TestCompany } from '../support/company.ts'
import { createOAuthTester } from '../support/oauth-client.ts'
import { listen } from '../support/raw-http.ts'
import { startTestApp } from '../support/test-app.ts'
import { createTestClock } from '../support/test-clock.ts'

const clock = createTestClock()
const service = await startTestApp({ clock })
const endpoint = new URL(`http://127.0.0.1:${await listen(service.app)}/agent/mcp`)

afterAll(() => service.app.server.closeAllConnections())

type Action = 'accept' | 'decline' | 'cancel'

interface Answer {
  isError?: boolean
  content: { text: string }[]
  structuredContent?: { error?: { code: string } }
}

/** An agent of an admin, connected by the official client, whose person answers each question in the same way. */
async function connect(
  company: TestCompany,
  { era = '2026-07-28', action }: { era?: string; action?: Action },
) {
  const token = await createOAuthTester(service).letIn(company.workspace, company.admin, {
    scopes: agentScopes,
  })
  const questions: string[] = []
  const client = new Client(
    { name: 'a test', version: '1' },
    {
      capabilities: action ? { elicitation: {} } : {},
      ...(era === '2026-07-28' && { versionNegotiation: { mode: { pin: era } } }),
    },
  )
  if (action)
    client.setRequestHandler('elicitation/create', ({ params }) => {
      questions.push(params.message)
      return action === 'accept' ? { action, content: {} } : { action }
    })
  const requestInit = { headers: { authorization: `Bearer ${token}` } }
  await client.connect(new StreamableHTTPClientTransport(endpoint, { requestInit }))
  onTestFinished(() => client.close())
  const call = async (name: string, args: object) =>
    (await client.callTool({ name, arguments: { ...args } })) as unknown as Answer
  const use = async <Content>(name: string, args: object) => {
    const { isError, content } = await call(name, args)
    expect(isError ?? false, content[0]?.text).toBe(false)
    return JSON.parse(content[0]?.text ?? '') as Content
  }
  return { token, questions, call, use }
}

type Connected = Awaited<ReturnType<typeof connect>>

/** What is confirmed: how it is prepared, its call, the question, and whether it has happened. */
const confirmed: {
  tool: string
  prepare: (company: TestCompany, agent: Connected) => Promise<{ args: object; url: string }>
  question: RegExp
  isDone: (answer: { statusCode: number; body: string }) => boolean
}[] = [
  {
    tool: 'delete_seed',
    async prepare(_company, { use }) {
      const { id } = await createSeed(use)
      return { args: { seedId: id }, url: `/v1/seeds/${id}` }
    },
    question: /^Delete the seed “Cargo bikes”\? Its creator can restore it for 14 days\.$/,
    isDone: ({ statusCode }) => statusCode === 404,
  },
  {
    tool: 'delete_comment',
    async prepare(_company, { use }) {
      const seed = await createSeed(use)
      const { id } = await use<{ id: string }>('add_comment', { seedId: seed.id, body: 'Two\nlines' })
      return { args: { commentId: id }, url: `/v1/comments/${id}` }
    },
    question: /^Delete the comment “Two lines” on the seed “Cargo bikes” for good\?$/,
    isDone: ({ body }) => !body.includes('Two'),
  },
  {
    tool: 'withdraw_evidence',
    async prepare(_company, { use }) {
      const seed = await createSeed(use)
      await use('join_seed', { seedId: seed.id })
      const { id } = await use<{ id: string }>('add_evidence', {
        ...{ seedId: seed.id, kind: 'interview', verdict: 'supports', summary: 'Seven of eight would.' },
      })
      return { args: { evidenceId: id, reason: 'Asked the wrong people.' }, url: `/v1/evidence/${id}` }
    },
    question:
      /^Withdraw the evidence “Seven of eight would\.” of the seed “Cargo bikes” for good\? It no longer counts\.$/,
    isDone: ({ body }) => body.includes('Asked the wrong people.'),
  },
  {
    tool: 'create_invite',
    prepare: async (company) => ({
      args: { email: 'stranger@elsewhere.example.org', role: 'member' },
      url: `${company.url}/invites`,
    }),
    question:
      /^Invite “stranger@elsewhere\.example\.org”, who is not of your organization, to the workspace “.+” as member\? They can read all of it\.$/,
    isDone: ({ body }) => body.includes('stranger@'),
  },
  {
    tool: 'remove_team_member',
    async prepare(company, { use }) {
      const { id } = await createTeam(service, company.admin, company)
      await use('add_team_member', { teamId: id, userId: company.member.id })
      const url = `${company.url}/teams/${id}/members`
      return { args: { teamId: id, userId: company.member.id }, url }
    },
    question: /^Remove “.+” from the team “.+”\?$/,
    isDone: ({ body }) => body.includes('[]'),
  },
]

const createSeed = (use: Connected['use']) =>
  use<{ id: string }>('create_seed', { title: 'Cargo bikes', summary: 'For bakeries.' })

describe.each(confirmed)('$tool', ({ tool, prepare, question, isDone }) => {
  it.each(['accept', 'decline', 'cancel'] as const)('the person answers: %s', async (action) => {
    const company = await createCompany(service)
    const agent = await connect(company, { action })
    const { args, url } = await prepare(company, agent)
    const answer = await agent.call(tool, args)
    expect(agent.questions).toEqual([expect.stringMatching(question) as string])
    expect(answer.isError ?? false, JSON.stringify(answer)).toBe(action !== 'accept')
    if (action !== 'accept') {
      expect(answer.structuredContent).toMatchObject({ error: { code: 'not_confirmed' } })
      expect(answer.content[0]?.text).toMatch(/did not agree\. Nothing was changed\./)
    }
    expect(isDone(await service.as(company.owner, get(url)))).toBe(action === 'accept')
  })

  it.each([
    { era: '2026-07-28', action: undefined },
    { era: '2025-11-25', action: undefined },
    // Its calls do not say what the client can do.
    { era: '2025-11-25', action: 'decline' as const },
  ])('works without a question in $era, the client answering $action', async ({ era, action }) => {
    const company = await createCompany(service)
    const agent = await connect(company, { era, ...(action && { action }) })
    const { args, url } = await prepare(company, agent)
    const { isError, content } = await agent.call(tool, args)
    expect(isError ?? false, content[0]?.text).toBe(false)
    expect(agent.questions).toEqual([])
    expect(isDone(await service.as(company.owner, get(url)))).toBe(true)
  })
})

describe('an invite', () => {
  it('asks nothing about people of the allowed domains and members', async () => {
    const company = await createCompany(service)
    const agent = await connect(company, { action: 'decline' })
    await service.db.execute(
      sql`update workspaces set allowed_domains = '{friends.example.net}' where id = ${company.workspace.id}`,
    )
    const invited = await agent.call('create_invite', { email: 'Ada@Friends.example.net', role: 'viewer' })
    expect(invited.isError ?? false, JSON.stringify(invited)).toBe(false)
    const member = await agent.call('create_invite', { email: company.member.email, role: 'viewer' })
    expect(member.structuredContent).toMatchObject({ error: { code: 'already_member' } })
    expect(agent.questions).toEqual([])
  })
})

describe('what comes back with the answer', () => {
  /** Sends a call as a client does that asks its person. */
  async function send(
    token: string,
    tool: string,
    args: object,
    more: object = {},
    elicitation: object = {},
  ) {
    const answer = await service.app.inject({
      method: 'POST',
      url: '/agent/mcp',
      headers: {
        authorization: `Bearer ${token}`,
        ...{ accept: 'application/json, text/event-stream', 'content-type': 'application/json' },
        ...{ 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': tool },
      },
      payload: JSON.stringify({
        ...{ jsonrpc: '2.0', id: 1, method: 'tools/call' },
        params: {
          ...{ name: tool, arguments: args, ...more },
          _meta: {
            'io.modelcontextprotocol/protocolVersion': '2026-07-28',
            'io.modelcontextprotocol/clientInfo': { name: 'a test', version: '1' },
            'io.modelcontextprotocol/clientCapabilities': { elicitation },
          },
        },
      }),
    })
    expect(answer.statusCode, answer.payload).toBe(200)
    const data = /^data: (.*)$/m.exec(answer.payload)?.[1] ?? answer.payload
    return (JSON.parse(data) as { result: Answer & { resultType?: string; requestState?: string } }).result
  }

  const accepted = { inputResponses: { confirm: { action: 'accept', content: {} } } }

  async function prepare() {
    const company = await createCompany(service)
    const agent = await connect(company, {})
    const seeds = [await createSeed(agent.use), await createSeed(agent.use)]
    const [args, others] = seeds.map(({ id }) => ({ seedId: id })) as [object, object]
    const asked = await send(agent.token, 'delete_seed', args)
    expect(asked.resultType).toBe('input_required')
    const state = { requestState: String(asked.requestState) }
    return { company, agent, args, others, state }
  }

  const refused = { isError: true, structuredContent: { error: { code: 'confirmation_invalid' } } }

  it('is good for its call, and asks again without an answer', async () => {
    const { agent, args, state } = await prepare()
    const again = await send(agent.token, 'delete_seed', args, state)
    expect(again.resultType).toBe('input_required')
    // An answer alone confirms nothing.
    expect((await send(agent.token, 'delete_seed', args, accepted)).resultType).toBe('input_required')
    const done = await send(agent.token, 'delete_seed', args, { ...accepted, ...state })
    expect(done.isError ?? false, JSON.stringify(done)).toBe(false)
  })

  it('counts once, also of parallel calls', async () => {
    const { agent, args, state } = await prepare()
    const given = { ...accepted, ...state }
    const calls = await Promise.all([1, 2, 3].map(() => send(agent.token, 'delete_seed', args, given)))
    expect(calls.filter(({ isError = false }) => !isError)).toHaveLength(1)
    await agent.use('restore_seed', args)
    expect(await send(agent.token, 'delete_seed', args, given)).toMatchObject(refused)
  })

  it('is refused with other arguments, of another tool, of another grant, altered and too late', async () => {
    const { company, agent, args, others, state } = await prepare()
    const given = { ...accepted, ...state }
    expect(await send(agent.token, 'delete_seed', others, given)).toMatchObject(refused)
    expect(
      await send(agent.token, 'withdraw_evidence', { evidenceId: company.workspace.id, reason: 'x' }, given),
    ).toMatchObject(refused)
    const { token } = await connect(company, {})
    expect(await send(token, 'delete_seed', args, given)).toMatchObject(refused)
    for (const requestState of ['', 'x', `${state.requestState.slice(0, -4)}AAAA`])
      expect(await send(agent.token, 'delete_seed', args, { ...accepted, requestState })).toMatchObject(
        refused,
      )
    clock.advance(confirmationMs)
    expect(await send(agent.token, 'delete_seed', args, given)).toMatchObject(refused)
    const { seedId } = args as { seedId: string }
    expect((await service.as(company.owner, get(`/v1/seeds/${seedId}`))).statusCode).toBe(200)
  })

  it('a client that only opens pages is not asked', async () => {
    const { agent, others } = await prepare()
    const done = await send(agent.token, 'delete_seed', others, {}, { url: {} })
    expect(done.isError ?? false, JSON.stringify(done)).toBe(false)
  })

  it('nothing is asked about what does not exist', async () => {
    const { agent, company } = await prepare()
    const answer = await send(agent.token, 'delete_seed', { seedId: company.workspace.id })
    expect(answer).toMatchObject({ isError: true, structuredContent: { error: { code: 'not_found' } } })
  })
})
