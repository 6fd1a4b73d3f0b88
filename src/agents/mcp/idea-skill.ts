import { createHash } from 'node:crypto'
import { agentScopes, type AgentPrincipal, type AgentScope } from '../../domain/agent.ts'
import type { McpSkill } from './mcp-skills.ts'

const name = 'validate-an-idea'

/** Those who read or change the workspace. With `validation-kit:read` alone an agent has one tool, and nothing to follow. */
const scopes: readonly AgentScope[] = agentScopes.filter(
  (scope) => scope === 'workspace:read' || scope === 'seeds:write',
)

/**
 * The skill of validating ideas (SEP-2640, https://agentskills.io/specification), made of the guide docs/validate-an-idea.md,
 * so that people and agents read the same. Its first paragraph is the description.
 */
export function ideaSkill(guide: string): McpSkill {
  const description = guide.split('\n\n')[1]?.trim() ?? ''
  const frontmatter = { name, description }
  const fields = Object.entries(frontmatter).map(([field, value]) => `${field}: ${JSON.stringify(value)}`)
  // A string of JSON is one of YAML.
  const text = ['---', ...fields, '---', '', guide].join('\n')
  const uri = `skill://${name}/SKILL.md`
  const digest = `sha256:${createHash('sha256').update(text).digest('hex')}`
  return {
    isFor: ({ grant }: AgentPrincipal) => scopes.some((scope) => grant.scopes.includes(scope)),
    entry: { uri, frontmatter, resources: [{ uri, digest, size: Buffer.byteLength(text) }] },
    document: { uri, name, title: 'Validating an idea', description, mimeType: 'text/markdown', text },
  }
}
