import { validationKitScope, type AgentPrincipal } from '../../domain/agent.ts'
import { errors } from '../../kernel/errors.ts'
import { isId } from '../../kernel/ids.ts'
import { parseJson } from '../../kernel/json-text.ts'
import type { AgentCalls } from '../calls/agent-calls.ts'
import type { KitOutlineItem } from '../kit/kit.schemas.ts'
import type { KitService } from '../kit/kit.service.ts'
import { mayCall, type AgentTool } from '../tools/agent-tool.ts'
import type { McpResource, McpResources } from './mcp-resources.ts'
import { suggestSeeds } from './suggest-seeds.ts'
import { listForm, mcpForm, readValidationKit } from '../tools/read-validation-kit.tools.ts'

/**
 * The validation kit, and each of its seeds, as the tool `read_validation_kit` returns them, and the inbox as its tool
 * returns it; counted as calls of these.
 */
export function kitResources(
  kit: KitService,
  calls: Pick<AgentCalls, 'count'>,
  inbox: AgentTool,
): McpResources {
  return {
    scope: validationKitScope,
    action: 'seeds.list',

    async list(agent, cursor) {
      const input = { detail: 'outline' as const, ...(cursor !== undefined && { cursor }) }
      const { outline, nextCursor } = parseJson(await kit.read(agent, input, listForm))
      const seeds = outline.map((item) => toResource(agent, item))
      const first = [kitResource(agent), ...(mayCall(agent, inbox) ? [inboxResource(agent)] : [])]
      return { resources: cursor === undefined ? [...first, ...seeds] : seeds, nextCursor }
    },

    templates: (agent) => [
      {
        uriTemplate: seedTemplate(agent),
        name: 'seed',
        title: 'Seed',
        description: 'A seed (an early idea) by its id, with its evidence.',
      },
    ],

    completed: (agent) => ({ uriTemplate: seedTemplate(agent), variable: 'id', suggest: suggestSeeds(kit) }),

    async read(agent, uri) {
      if (uri === inboxUri(agent) && mayCall(agent, inbox)) return inbox.call(agent, {})
      const input = toInput(agent, uri)
      return calls.count(agent, readValidationKit, input, () => kit.read(agent, input, mcpForm))
    },

    targetOf(agent, uri) {
      if (uri === inboxUri(agent)) return mayCall(agent, inbox) ? { kind: 'inbox' } : undefined
      const prefix = seedUriPrefix(agent)
      const seedId = uri.slice(prefix.length)
      return uri.startsWith(prefix) && isId(seedId) ? { kind: 'seed', seedId } : undefined
    },
  }
}

function toInput(agent: AgentPrincipal, uri: string): { seedId?: string } {
  if (uri === kitUri(agent)) return {}
  const prefix = seedUriPrefix(agent)
  if (!uri.startsWith(prefix)) throw errors.notFound()
  return { seedId: uri.slice(prefix.length) }
}

function kitUri({ workspace }: AgentPrincipal): string {
  return `workspace://${workspace.slug}/validation-kit`
}

function inboxUri({ workspace }: AgentPrincipal): string {
  return `workspace://${workspace.slug}/inbox`
}

function seedUriPrefix({ workspace }: AgentPrincipal): string {
  return `workspace://${workspace.slug}/seeds/`
}

function seedTemplate(agent: AgentPrincipal): string {
  return `${seedUriPrefix(agent)}{id}`
}

function kitResource(agent: AgentPrincipal): McpResource {
  return {
    uri: kitUri(agent),
    name: 'validation-kit',
    title: 'Validation kit',
    description: `The seeds (early ideas) of the workspace ${agent.workspace.name} with their evidence, as many as fit.`,
  }
}

function inboxResource(agent: AgentPrincipal): McpResource {
  return {
    uri: inboxUri(agent),
    name: 'inbox',
    title: 'Inbox',
    description: `What you were asked, and what ${agent.user.name} was told in the workspace ${agent.workspace.name}.`,
  }
}

function toResource(agent: AgentPrincipal, item: KitOutlineItem): McpResource {
  const { id, title, status, evidenceCounts, updatedAt } = item
  const { supports, contradicts, neutral } = evidenceCounts
  return {
    uri: `${seedUriPrefix(agent)}${id}`,
    name: title,
    title,
    description: `${status}; evidence: ${supports} for it, ${contradicts} against it, ${neutral} neutral`,
    lastModified: updatedAt,
  }
}
