import {
  fromJsonSchema,
  ProtocolError,
  ProtocolErrorCode,
  type McpServer,
} from '@modelcontextprotocol/server'
import type { AgentPrincipal } from '../../domain/agent.ts'
import { trusting } from './mcp-tool.ts'
import type { McpDocument } from './mcp-resources.ts'

/** What a server says of a skill (`Skill` of the extension). */
export interface SkillEntry {
  uri: string
  frontmatter: { name: string; description: string }
  resources: { uri: string; digest: string; size: number }[]
}

/** Instructions for a task that programs with skills load when it comes up. */
export interface McpSkill {
  isFor(agent: AgentPrincipal): boolean
  entry: SkillEntry
  /** Its only file, which is a resource. */
  document: McpDocument
}

const skillsExtension = 'io.modelcontextprotocol/skills'

const anyParams = fromJsonSchema<{ uri?: unknown }>({ type: 'object' }, trusting)

/**
 * Registers the methods of the skills extension (SEP-2640) with the server of a request. The files of skills are resources.
 * `cache` is how long clients may keep the entries, which only the latest revision has. The SDK has a class for this that
 * answers the methods of resources too, without our pages.
 */
export function registerSkills(
  { server }: McpServer,
  skills: readonly McpSkill[],
  cache: { ttlMs: number; cacheScope: 'private' } | undefined,
): void {
  const entries = skills.map(({ entry }) => entry)
  server.registerCapabilities({ extensions: { [skillsExtension]: {} } })
  server.setRequestHandler('skills/list', { params: anyParams }, () => ({ skills: entries, ...cache }))
  server.setRequestHandler('skills/get', { params: anyParams }, ({ uri }) => {
    const skill = entries.find((entry) => entry.uri === uri)
    if (!skill) throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'There is no skill with this uri.')
    return { skill, ...cache }
  })
}
