import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { agentScopes } from '../../src/domain/agent.ts'
import { eras, letAgentIn, type ToolAnswer } from '../support/agent-caller.ts'
import { addPerson, createCompany } from '../support/company.ts'
import { createOAuthTester } from '../support/oauth-client.ts'
import { createSeed } from '../support/seeds.ts'
import { startTestApp, type TestPerson } from '../support/test-app.ts'

const service = await startTestApp()
const { app, db } = service
const company = await createCompany(service)
const { workspace, member, viewer } = company
const tester = createOAuthTester(service)

/** Sends a message of the revision 2025-11-25. */
async function post(person: TestPerson | string, message: unknown, headers: Record<string, string> = {}) {
  const token =
    typeof person === 'string' ? person : await tester.letIn(workspace, person, { scopes: agentScopes })
  return app.inject({
    ...{ method: 'POST', url: '/agent/mcp', payload: JSON.stringify(message) },
    headers: {
      ...{ authorization: `Bearer ${token}`, accept: 'application/json', 'content-type': 'application/json' },
      ...headers,
    },
  })
}
const creation = {
  ...{ jsonrpc: '2.0', id: 1, method: 'tools/call' },
  params: { name: 'create_seed', arguments: { title: 'Robots', summary: 'A summary' } },
}
const listing = { jsonrpc: '2.0', id: 2, method: 'tools/list' }
const resultOf = (answer: { json: () => unknown }) => (answer.json() as { result: ToolAnswer }).result

describe.each(eras)('a tool that an agent does not have, in %s', (era) => {
  it('says which role it needs, whatever the arguments, and is not listed', async () => {
    const agent = await letAgentIn(service, workspace, viewer, { era })
    for (const args of [{ title: 'Robots', summary: 'A summary' }, {}, { nothing: 1 }]) {
      const answer = await agent.call('create_seed', args)
      const message =
        `create_seed needs the role member or higher; ${viewer.name} is a viewer in ${workspace.name}. ` +
        'An owner or admin can change that.'
      expect(answer).toMatchObject({
        ...{ isError: true, content: [{ type: 'text', text: message }] },
        structuredContent: { error: { message, code: 'role_insufficient', retry_after_seconds: null } },
      })
    }
    const { tools } = await agent.ask<{ tools: { name: string }[] }>('tools/list')
    expect(tools.map(({ name }) => name)).not.toContain('create_seed')
  })

  it('names the lowest role that is high enough', async () => {
    const { content } = await (
      await letAgentIn(service, workspace, member, { era })
    ).call('create_team', { name: 'x' })
    expect(content[0]?.text).toMatch(/^create_team needs the role admin or higher; .* is a member in /)
  })

  it('says so rather than asking for a scope that would not help', async () => {
    const agent = await letAgentIn(service, workspace, viewer, { era, scopes: ['validation-kit:read'] })
    expect((await agent.call('create_seed')).content[0]?.text).toMatch('needs the role member or higher')
  })

  it('is invalid parameters if there is no such tool', async () => {
    const token = await tester.letIn(workspace, viewer, { scopes: agentScopes })
    const isLatest = era === '2026-07-28'
    const _meta = {
      'io.modelcontextprotocol/protocolVersion': era,
      'io.modelcontextprotocol/clientInfo': { name: 'a test', version: '1' },
      'io.modelcontextprotocol/clientCapabilities': {},
    }
    for (const name of ['drop_tables', 'constructor', '__proto__']) {
      const message = { ...creation, params: { name, arguments: {}, ...(isLatest && { _meta }) } }
      const headers = {
        'mcp-protocol-version': era,
        ...(isLatest && { 'mcp-method': 'tools/call', 'mcp-name': name }),
      }
      const answer = await post(token, message, headers)
      expect(answer.json(), name).toMatchObject({ error: { code: -32602 } })
    }
  })
})

describe('a tool that an agent does not have', () => {
  it('says why in a batch too', async () => {
    const answer = await post(viewer, [creation])
    expect(answer.json()).toMatchObject([{ id: 1, result: { isError: true } }])
    const listed = await post(viewer, [creation, listing])
    const [refused, list] = listed.json<{ id: number }[]>().sort((one, other) => one.id - other.id)
    expect(refused).toMatchObject({ error: { code: -32602 } })
    expect(JSON.stringify(list)).not.toContain('create_seed')
  })

  it('asks for a missing scope with a challenge, and says when the consent is from before the tool', async () => {
    const token = await tester.letIn(workspace, member, { scopes: ['validation-kit:read'] })
    const missing = await post(token, creation)
    expect(missing.statusCode).toBe(403)
    expect(missing.headers['www-authenticate']).toMatch(/error="insufficient_scope".*seeds:write/)
    expect(missing.json()).toMatchObject({ message: 'The person did not allow this agent to do this.' })

    const person = await addPerson(service, workspace, 'member')
    const agent = await letAgentIn(service, workspace, person)
    const old = await tester.letIn(workspace, person, { scopes: agentScopes })
    await db.execute(sql`update agent_grants set consent_version = 0 where user_id = ${person.id}`)
    const seed = await createSeed(service, person, company)
    const comment = { name: 'add_comment', arguments: { seedId: seed.id, body: 'Hello' } }
    const refused = await post(old, { ...creation, params: comment })
    expect(refused.statusCode).toBe(403)
    expect(refused.headers['www-authenticate']).toMatch(/error="insufficient_scope".*seeds:write/)
    expect(refused.json()).toMatchObject({
      code: 'insufficient_scope',
      message: expect.stringMatching(/agreed to this scope before it included this tool/) as string,
    })
    expect(agent.grantId).not.toBe('')
  })
})

describe('X-MCP-Readonly', async () => {
  const token = await tester.letIn(workspace, member, { scopes: agentScopes })

  it.each(['true', '1', 'TRUE', ' True ', 'yes', 'on', 'true, false', 'x', 'none'])(
    'is on with %j',
    async (value) => {
      const answer = await post(token, creation, { 'x-mcp-readonly': value })
      expect(resultOf(answer)).toMatchObject({
        ...{ isError: true, structuredContent: { error: { code: 'connection_read_only' } } },
        content: [{ text: expect.stringMatching(/^create_seed makes changes.*X-MCP-Readonly/) as string }],
      })
      const list = await post(token, listing, { 'x-mcp-readonly': value })
      expect(list.payload).not.toContain('"create_seed"')
      expect(list.payload).toContain('"list_events"')
    },
  )

  it.each(['', ' ', 'false', '0', 'no', 'off', 'n', 'f', 'FALSE', ' Off '])(
    'is off with %j',
    async (value) => {
      const list = await post(token, listing, { 'x-mcp-readonly': value })
      expect(list.payload).toContain('"create_seed"')
    },
  )
})
