import {
  ProtocolError,
  ProtocolErrorCode,
  ResourceNotFoundError,
  type McpServer,
} from '@modelcontextprotocol/server'
import type { WorkspaceAction } from '../../access/permissions.ts'
import type { AgentPrincipal, AgentScope } from '../../domain/agent.ts'
import { ApiError, errors } from '../../kernel/errors.ts'
import type { FollowedTarget } from './followed-resources.ts'

/** A resource in a list. Its content is JSON. */
export interface McpResource {
  uri: string
  name: string
  title: string
  description: string
  /** The time of the last change, RFC 3339. */
  lastModified?: string
}

/** A resource whose text is the same for all agents. */
export interface McpDocument extends Omit<McpResource, 'lastModified'> {
  mimeType: string
  text: string
  /** What its extension says of it. */
  meta?: Record<string, unknown>
  /** Whether programs find it by the link of a tool alone, not in the list. */
  isLinked?: boolean
}

/** Suggests values for what was typed so far. */
export type Suggest = (agent: AgentPrincipal, typed: string) => Promise<readonly string[]>

/** A template whose variable programs complete. */
export interface CompletedTemplate {
  uriTemplate: string
  variable: string
  suggest: Suggest
}

/** The resources that agents read over MCP. The SDK has no list in pages, so they answer its methods themselves. */
export interface McpResources {
  /** The scope that a grant must have for them. */
  scope: AgentScope
  /** The row of the permission table: they are for the roles that may do this. */
  action: WorkspaceAction
  /** Throws `cursor_invalid`. */
  list(
    agent: AgentPrincipal,
    cursor: string | undefined,
  ): Promise<{ resources: McpResource[]; nextCursor: string | null }>
  /** The forms of URIs (RFC 6570). */
  templates(agent: AgentPrincipal): (Omit<McpResource, 'uri'> & { uriTemplate: string })[]
  /** Of these, the one whose variable programs complete. */
  completed(agent: AgentPrincipal): CompletedTemplate
  /** The resource as JSON. Throws `not_found`. */
  read(agent: AgentPrincipal, uri: string): Promise<string>
  /** What a subscription to a URI is about; undefined if the agent may not read it. A seed may not exist. */
  targetOf(agent: AgentPrincipal, uri: string): FollowedTarget | undefined
}

const mimeType = 'application/json'

/**
 * Registers the resources and documents with the server of a request. The documents stand first in the list. `onError` is
 * called with unexpected errors.
 */
export function registerResources(
  { server }: McpServer,
  agent: AgentPrincipal,
  resources: McpResources,
  {
    documents,
    subscribe,
    onError,
  }: { documents: readonly McpDocument[]; subscribe: boolean; onError: (error: unknown) => void },
): void {
  server.registerCapabilities({ resources: { listChanged: false, ...(subscribe && { subscribe }) } })

  server.setRequestHandler('resources/list', async ({ params }) => {
    const page = await toProtocolErrors(resources.list(agent, params?.cursor), '', onError)
    const listed = page.resources.map(({ lastModified, ...resource }) => ({
      ...{ ...resource, mimeType },
      ...(lastModified !== undefined && { annotations: { lastModified } }),
    }))
    const first = params?.cursor === undefined ? documents.filter(({ isLinked }) => isLinked !== true) : []
    return {
      resources: [...first.map(toListed), ...listed],
      ...(page.nextCursor !== null && { nextCursor: page.nextCursor }),
    }
  })

  server.setRequestHandler('resources/templates/list', () => ({
    resourceTemplates: resources.templates(agent).map((template) => ({ ...template, mimeType })),
  }))

  server.setRequestHandler('resources/read', async ({ params: { uri } }) => {
    const document = documents.find((each) => each.uri === uri)
    if (document) {
      const { text, meta } = document
      return { contents: [{ uri, mimeType: document.mimeType, text, ...(meta && { _meta: meta }) }] }
    }
    const text = await toProtocolErrors(resources.read(agent, uri), uri, onError)
    return { contents: [{ uri, mimeType, text }] }
  })
}

function toListed({ uri, name, title, description, mimeType: type }: McpDocument) {
  return { uri, name, title, description, mimeType: type }
}

/** Turns errors into those of the protocol, which have no details of what is unexpected. `uri`: of a resource. */
export async function toProtocolErrors<T>(
  result: Promise<T>,
  uri: string,
  onError: (error: unknown) => void,
): Promise<T> {
  try {
    return await result
  } catch (error) {
    if (error instanceof ApiError && error.status < 500) {
      if (error.code === errors.notFound.code) throw new ResourceNotFoundError(uri)
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, error.message)
    }
    onError(error)
    throw new ProtocolError(
      ProtocolErrorCode.InternalError,
      'This is a fault of the service. Try again later.',
    )
  }
}
