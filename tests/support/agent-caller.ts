import type { LightMyRequestResponse } from 'fastify'
import { expect } from 'vitest'
import { agentScopes, type AgentScope } from '../../src/domain/agent.ts'
import { createOAuthTester } from './oauth-client.ts'
import type { TestApp, TestPerson } from './test-app.ts'

/** The answer of a tool over MCP. */
export interface ToolAnswer {
  isError?: boolean
  content: { text: string }[]
  structuredContent?: Record<string, unknown>
}

/** An agent that has been let in, on both faces. */
export interface AgentCaller {
  grantId: string
  /** Calls a tool over MCP. */
  call(name: string, args?: object): Promise<ToolAnswer>
  /** Calls a tool over MCP that succeeds. Returns its structured content. */
  use<Content = Record<string, unknown>>(name: string, args?: object): Promise<Content>
  /** Asks over MCP. Returns the result. */
  ask<Result>(method: string, params?: object): Promise<Result>
  /** Sends the HTTP form of a tool. */
  send(path: string, payload?: object): Promise<LightMyRequestResponse>
}

/** The eras of the protocol, as a client of each sends its requests. */
export const eras = ['2025-11-25', '2026-07-28'] as const
export type Era = (typeof eras)[number]

const latestMeta = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'a test', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
}

/** Lets an agent act for a member of a workspace. */
export async function letAgentIn(
  service: TestApp,
  workspace: { id: string; slug: string },
  person: TestPerson,
  { scopes = agentScopes, era = '2025-11-25' }: { scopes?: readonly AgentScope[]; era?: Era } = {},
): Promise<AgentCaller> {
  const token = await createOAuthTester(service).letIn(workspace, person, { scopes })
  const headers = { authorization: `Bearer ${token}` }
  const isLatest = era === '2026-07-28'

  const caller: AgentCaller = {
    grantId: (await service.services.authenticateAgent(token))?.grant.id ?? '',
    async ask(method, params = {}) {
      const { name } = params as { name?: string }
      const answer = await service.app.inject({
        method: 'POST',
        url: '/agent/mcp',
        headers: {
          ...headers,
          ...{ accept: 'application/json, text/event-stream', 'content-type': 'application/json' },
          'mcp-protocol-version': era,
          ...(isLatest && { 'mcp-method': method, ...(name !== undefined && { 'mcp-name': name }) }),
        },
        payload: JSON.stringify({
          ...{ jsonrpc: '2.0', id: 1, method },
          params: { ...params, ...(isLatest && { _meta: latestMeta }) },
        }),
      })
      expect(answer.statusCode, answer.payload).toBe(200)
      const data = /^data: (.*)$/m.exec(answer.payload)?.[1] ?? answer.payload
      return (JSON.parse(data) as { result: never }).result
    },
    call: (name, args = {}) => caller.ask('tools/call', { name, arguments: args }),
    async use(name, args) {
      const { isError, content, structuredContent } = await caller.call(name, args)
      expect(isError ?? false, content[0]?.text).toBe(false)
      expect(JSON.parse(content[0]?.text ?? '')).toEqual(structuredContent)
      return structuredContent as never
    },
    send: (path, payload = {}) =>
      service.app.inject({ method: 'POST', url: `/agent/v1/${path}`, headers, payload }),
  }
  return caller
}
