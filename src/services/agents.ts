import type { Logger } from 'pino'
import { useChallenge } from '../accounts/passkeys/passkeys.repository.ts'
import type { AgentAuthenticator } from '../agents/grants/grants.authenticator.ts'
import { readFollowed } from '../agents/mcp/followed-resources.repository.ts'
import type { AgentTool } from '../agents/tools/agent-tool.ts'
import type { Database } from '../db/client.ts'
import type { AgentCalls } from '../agents/calls/agent-calls.ts'
import { needsOfCalls } from '../agents/tools/tool-refusals.ts'
import type { KitService } from '../agents/kit/kit.service.ts'
import type { KitMcpHandler } from '../agents/mcp/agent.mcp.ts'
import { kitResources } from '../agents/mcp/kit-resources.mcp.ts'
import { mcpForm, readValidationKitTool } from '../agents/tools/read-validation-kit.tools.ts'
import type { SeedLinks } from '../agents/kit/seed-links.ts'
import { commentsTools } from '../agents/tools/comments.tools.ts'
import { evidenceTools } from '../agents/tools/evidence.tools.ts'
import { inboxChangeTools, inboxTools } from '../agents/tools/inbox.tools.ts'
import { invitesTools } from '../agents/tools/invites.tools.ts'
import { searchTools } from '../agents/tools/search.tools.ts'
import { seedsTools } from '../agents/tools/seeds.tools.ts'
import { severalTools } from '../agents/tools/several.tools.ts'
import { teamsTools } from '../agents/tools/teams.tools.ts'
import { workspaceTools } from '../agents/tools/workspace.tools.ts'
import type { AttachmentsService } from '../areas/attachments/attachments.service.ts'
import type { AgentRequestsService } from '../areas/agentRequests/agentRequests.service.ts'
import type { CommentsService } from '../areas/comments/comments.service.ts'
import type { EventsService } from '../areas/events/events.service.ts'
import type { EvidenceEditsService } from '../areas/evidence/evidence-edits.service.ts'
import type { EvidenceService } from '../areas/evidence/evidence.service.ts'
import type { InvitesService } from '../areas/invites/invites.service.ts'
import type { NotificationsService } from '../areas/notifications/notifications.service.ts'
import type { PeopleService } from '../areas/people/people.service.ts'
import type { SeedsService } from '../areas/seeds/seeds.service.ts'
import type { TeamsService } from '../areas/teams/teams.service.ts'
import type { WorkspacesService } from '../areas/workspaces/workspaces.service.ts'
import type { SearchService } from '../areas/workspaces/search/search.service.ts'
import type { McpHandler } from '../http/requests/mcp.ts'
import type { AppSecret } from '../platform/secrets/app-secret.port.ts'
import type { Clock } from '../kernel/clock.ts'
import type { PersonStreams } from '../concurrency/person-streams.ts'

export interface AgentAccessOptions {
  /** What the tools call, as routes do. */
  services: {
    kit: KitService
    attachments: AttachmentsService
    search: SearchService
    people: PeopleService
    events: EventsService
    seeds: SeedsService
    evidence: EvidenceService
    evidenceEdits: EvidenceEditsService
    comments: CommentsService
    notifications: NotificationsService
    teams: TeamsService
    invites: InvitesService
    agentRequests: AgentRequestsService
    workspaces: WorkspacesService
  }
  db: Database
  appSecret: AppSecret
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
  const {
    db,
    appSecret,
    services,
    agentCalls,
    agents,
    seedLinks,
    clock,
    log,
    baseUrl,
    webUrl,
    mcpStreams,
    personStreams,
  } = options
  const { kit, attachments, search, people, events, seeds, evidence, evidenceEdits, comments } = services
  const { notifications, teams, invites, agentRequests, workspaces } = services
  const onError = (error: unknown) => log.error({ err: error }, 'a tool or resource of agents failed')
  const agentTools = [
    readValidationKitTool(kit),
    ...searchTools({ kit, search, attachments }, seedLinks, mcpForm),
    ...workspaceTools(people, events),
    ...inboxTools({ notifications, agentRequests, seeds, comments }, webUrl),
    ...seedsTools(seeds, seedLinks),
    ...evidenceTools({ evidence, evidenceEdits, seeds }, seedLinks),
    ...severalTools({ seeds, evidence }, onError),
    ...commentsTools({ comments, seeds }, seedLinks),
    ...inboxChangeTools({ notifications, agentRequests }),
    ...teamsTools(teams, people),
    ...invitesTools({ invites, people, workspaces }),
  ].map((tool) => agentCalls.counted(tool))
  const inbox = requireTool(agentTools, 'inbox')
  let mcpHandler: Promise<KitMcpHandler> | undefined
  // Loaded at the first MCP request, since the SDK is slow to load.
  const loadMcpHandler = async () => {
    const [
      { createKitMcpHandler },
      { areaIconUrls, readAsset },
      { readDocument },
      { agentPrompts },
      { ideaSkill },
      { seedCard },
    ] = await Promise.all([
      import('../agents/mcp/agent.mcp.ts'),
      import('../assets/assets.ts'),
      import('../assets/documents.ts'),
      import('../agents/mcp/prompts.mcp.ts'),
      import('../agents/mcp/idea-skill.ts'),
      import('../agents/mcp/seed-card.ts'),
    ])
    return createKitMcpHandler(
      {
        tools: agentTools,
        resources: kitResources(kit, agentCalls, inbox),
        prompts: agentPrompts(kit, clock),
        skills: [ideaSkill(readDocument('docs/validate-an-idea.md'))],
        card: seedCard({
          style: readAsset('seed-card', 'css').content.toString(),
          script: readAsset('seed-card', 'js').content.toString(),
        }),
      },
      {
        onError,
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
        clock,
        box: appSecret.boxOf('confirmations of calls'),
        useConfirmation: (used) => useChallenge(db, used),
        followPositions: (...following) => events.followPositions(...following),
        readChanges: (query) => readFollowed(db, query),
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

function requireTool(tools: readonly AgentTool[], name: string): AgentTool {
  const found = tools.find((tool) => tool.name === name)
  if (!found) throw new Error(`there is no tool ${name}`)
  return found
}
