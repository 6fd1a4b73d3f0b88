import type { Logger } from 'pino'
import type { AgentAuthenticator } from '../areas/agent/agent.authenticator.ts'
import type { AgentCalls } from '../areas/agent/agent-calls.ts'
import { needsOfCalls } from '../areas/agent/tool-refusals.ts'
import type { KitService } from '../areas/agent/agent.service.ts'
import type { KitMcpHandler } from '../areas/agent/mcp/agent.mcp.ts'
import { kitResources } from '../areas/agent/mcp/kit-resources.mcp.ts'
import { mcpForm, readValidationKitTool } from '../areas/agent/read-validation-kit.mcp.ts'
import type { SeedLinks } from '../areas/agent/seed-links.ts'
import { evidenceTools } from '../areas/agent/tools/evidence.tools.ts'
import { invitesTools } from '../areas/agent/tools/invites.tools.ts'
import { searchTools } from '../areas/agent/tools/search.tools.ts'
import { seedsTools } from '../areas/agent/tools/seeds.tools.ts'
import { teamsTools } from '../areas/agent/tools/teams.tools.ts'
import { workspaceTools } from '../areas/agent/tools/workspace.tools.ts'
import type { CommentsService } from '../areas/comments/comments.service.ts'
import type { EventsService } from '../areas/events/events.service.ts'
import type { CorrectionsService } from '../areas/evidence/corrections.service.ts'
import type { EvidenceService } from '../areas/evidence/evidence.service.ts'
import type { InvitesService } from '../areas/invites/invites.service.ts'
import type { PeopleService } from '../areas/people/people.service.ts'
import type { SeedsService } from '../areas/seeds/seeds.service.ts'
import type { TeamsService } from '../areas/teams/teams.service.ts'
import type { SearchService } from '../areas/workspaces/search/search.service.ts'
import type { McpHandler } from '../http/requests/mcp.ts'
import type { Clock } from '../kernel/clock.ts'
import type { PersonStreams } from '../concurrency/person-streams.ts'

export interface AgentAccessOptions {
  /** What the tools call, as routes do. */
  services: {
    kit: KitService
    search: SearchService
    people: PeopleService
    events: EventsService
    seeds: SeedsService
    evidence: EvidenceService
    corrections: CorrectionsService
    comments: CommentsService
    teams: TeamsService
    invites: InvitesService
  }
  agentCalls: AgentCalls
  agents: AgentAuthenticator
  seedLinks: SeedLinks
  clock: Clock
  log: Logger
  baseUrl: string
  webUrl: string
  /** How agents are told of changes of their tools. */
  mcpStreams?: { pollEveryMs?: number; lifetimeMs?: number } | undefined
  personStreams: PersonStreams
}

/** Makes the tools of agents, and the MCP endpoint that offers them. The calls are counted. */
export function createAgentAccess(options: AgentAccessOptions) {
  const { services, agentCalls, agents, seedLinks, clock, log, baseUrl, webUrl, mcpStreams, personStreams } =
    options
  const { kit, search, people, events, seeds, evidence, corrections, comments, teams, invites } = services
  const agentTools = [
    readValidationKitTool(kit),
    ...searchTools({ kit, search }, seedLinks, mcpForm),
    ...workspaceTools(people, events),
    ...seedsTools(seeds, seedLinks),
    ...evidenceTools({ evidence, corrections, comments }, seedLinks),
    ...teamsTools(teams),
    ...invitesTools(invites),
  ].map((tool) => agentCalls.counted(tool))
  let mcpHandler: Promise<KitMcpHandler> | undefined
  // Loaded at the first MCP request, since the SDK is slow to load.
  const loadMcpHandler = async () => {
    const [{ createKitMcpHandler }, { areaIconUrls, readAsset }, { agentPrompts }] = await Promise.all([
      import('../areas/agent/mcp/agent.mcp.ts'),
      import('../assets/assets.ts'),
      import('../areas/agent/mcp/prompts.mcp.ts'),
    ])
    return createKitMcpHandler(
      { tools: agentTools, resources: kitResources(kit, agentCalls), prompts: agentPrompts(kit, clock) },
      {
        onError: (error) => log.error({ err: error }, 'a tool or resource of agents failed'),
        onRefusal: (error) => log.debug({ err: error }, 'an MCP message was refused'),
        webUrl,
        // At the origin of the endpoint, where clients accept icons from.
        iconUrl: `${baseUrl}${readAsset('icon', 'svg').url}`,
        areaIconUrls: areaIconUrls(baseUrl),
        readAgents: agents.read,
        onReadError: (error) =>
          log.warn(
            { err: error },
            'the scopes of agents that wait for changes could not be read; will retry',
          ),
        personStreams,
        ...mcpStreams,
      },
    )
  }
  const mcp: McpHandler = {
    needsOf: (agent, message) => needsOfCalls(agentTools, agent, message),
    answerCall: async (...call) => (await (mcpHandler ??= loadMcpHandler())).answerCall(...call),
    answer: async (...request) => (await (mcpHandler ??= loadMcpHandler())).answer(...request),
    close: async () => (await mcpHandler)?.close(),
  }
  return { agentTools, mcp }
}
