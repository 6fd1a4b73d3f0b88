import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { SkillsClient } from '@modelcontextprotocol/client/ext/skills'
import { readFile } from 'node:fs/promises'
import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import type { AgentScope } from '../../src/domain/agent.ts'
import { eras, letAgentIn, type Era } from '../support/agent-caller.ts'
import { createCompany } from '../support/company.ts'
import { createOAuthTester } from '../support/oauth-client.ts'
import { listen } from '../support/raw-http.ts'
import { startTestApp } from '../support/test-app.ts'

const service = await startTestApp()
const endpoint = new URL(`http://127.0.0.1:${await listen(service.app)}/agent/mcp`)
const company = await createCompany(service)
const guide = await readFile('docs/validate-an-idea.md', 'utf8')
const uri = 'skill://validate-an-idea/SKILL.md'

afterAll(() => service.app.server.closeAllConnections())

/** Connects the official client, with its part for skills. */
async function connect(era: Era, scopes: readonly AgentScope[], role: 'member' | 'viewer' = 'member') {
  const token = await createOAuthTester(service).letIn(company.workspace, company[role], { scopes })
  const client = new Client(
    { name: 'a program', version: '1' },
    era === '2026-07-28' ? { versionNegotiation: { mode: { pin: era } } } : {},
  )
  const requestInit = { headers: { authorization: `Bearer ${token}` } }
  await client.connect(new StreamableHTTPClientTransport(endpoint, { requestInit }))
  onTestFinished(() => client.close())
  return { client, skills: new SkillsClient(client) }
}

describe.each(eras)('in the revision %s', (era) => {
  it('the official client lists the skill, reads it, and verifies it', async () => {
    const { client, skills } = await connect(era, ['validation-kit:read', 'seeds:write'])
    expect(skills.supported).toBe(true)
    expect(skills.directoryRead).toBe(false)
    const { skills: entries, invalid } = await skills.list()
    expect(invalid).toEqual([])
    expect(entries.map((entry) => entry.uri)).toEqual([uri])
    const [entry] = entries
    if (!entry) throw new Error('there is no skill')
    const file = await skills.read(entry)
    expect(file).toMatchObject({ uri, mimeType: 'text/markdown', verified: true })
    expect(file.body?.trimStart()).toBe(guide)
    expect(file.frontmatter).toEqual({
      name: 'validate-an-idea',
      description: guide.split('\n\n')[1],
    })
    const got = await skills.get(uri)
    expect(got.skill).toEqual(entry)
    await expect(skills.get('skill://another/SKILL.md')).rejects.toThrow('no skill with this uri')

    // Programs without the extension find it among the resources.
    const { resources } = await client.listResources()
    expect(resources[0]).toMatchObject({ uri, name: 'validate-an-idea', mimeType: 'text/markdown' })
    const { contents } = await client.readResource({ uri })
    expect(contents).toEqual([{ uri, mimeType: 'text/markdown', text: file.text }])
    expect(client.getInstructions()).toContain(uri)
  })

  it('is served to those who read or change the workspace, viewers too', async () => {
    for (const scope of ['workspace:read', 'seeds:write'] as const) {
      const { skills } = await connect(era, ['validation-kit:read', scope])
      expect((await skills.list()).skills).toHaveLength(1)
    }
    const viewer = await connect(era, ['validation-kit:read', 'workspace:read'], 'viewer')
    expect((await viewer.skills.list()).skills).toHaveLength(1)

    const { client, skills } = await connect(era, ['validation-kit:read'])
    expect(skills.supported).toBe(false)
    expect(JSON.stringify(await client.listResources())).not.toContain('skill://')
    await expect(client.readResource({ uri })).rejects.toThrow()
    expect(client.getInstructions()).not.toContain('skill://')
  })

  it('no file but its own is read by its scheme', async () => {
    const { client } = await connect(era, ['validation-kit:read', 'seeds:write'])
    for (const path of [
      '',
      'validate-an-idea/',
      'validate-an-idea/../../package.json',
      'validate-an-idea/skill.md',
    ])
      await expect(client.readResource({ uri: `skill://${path}` })).rejects.toThrow()
  })

  it('names only tools that exist, with the values that they take', async () => {
    const agent = await letAgentIn(service, company.workspace, company.member, { era })
    const { tools } = await agent.ask<{ tools: { name: string; inputSchema: object }[] }>('tools/list')
    const names = new Set(tools.map(({ name }) => name))
    const schemas = JSON.stringify(tools)
    const named = [...guide.matchAll(/`([a-z_]+)`/g)].map(([, word]) => word ?? '')
    expect(named.length).toBeGreaterThan(20)
    for (const word of named)
      expect(names.has(word) || schemas.includes(`"${word}"`), `${word} is no tool and no value`).toBe(true)
    for (const word of named.filter((each) => each.includes('_'))) expect([...names]).toContain(word)
  })
})

it('keeps to the limits of the format of skills', () => {
  const description = guide.split('\n\n')[1] ?? ''
  // https://agentskills.io/specification: at most 1024 characters, and 500 lines in the whole.
  expect(description.length).toBeGreaterThan(50)
  expect(description.length).toBeLessThanOrEqual(1024)
  expect(guide.split('\n').length).toBeLessThanOrEqual(500)
})
