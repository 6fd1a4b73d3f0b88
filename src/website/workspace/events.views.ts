import type { EventType, WorkspaceEvent } from '../../areas/events/events.service.ts'
import { renderAgent } from './author.views.ts'
import { html, type Content, type Html } from '../shared/html.ts'

/** The types of events, as people choose from them. */
export const eventTypeNames: Readonly<Record<EventType, string>> = {
  'seed.created': 'Seed created',
  'seed.updated': 'Seed changed',
  'seed.joined': 'Seed joined',
  'seed.left': 'Seed left',
  'seed.deleted': 'Seed deleted',
  'evidence.added': 'Evidence added',
  'member.joined': 'Member joined',
  'member.role_changed': 'Role changed',
  'member.removed': 'Member removed',
  'member.left': 'Member left',
  'invite.created': 'Invite sent',
  'invite.resent': 'Invite sent again',
  'invite.role_changed': 'Role of an invite changed',
  'invite.revoked': 'Invite revoked',
  'invite.accepted': 'Invite accepted',
  'team.created': 'Team created',
  'team.renamed': 'Team renamed',
  'team.deleted': 'Team deleted',
  'team.member_added': 'Team member added',
  'team.member_removed': 'Team member removed',
  'integration.granted': 'Agent connected',
  'integration.changed': 'Access of an agent changed',
  'integration.used': 'Agent used a tool',
  'integration.revoked': 'Access of an agent revoked',
  'workspace.created': 'Workspace created',
  'workspace.updated': 'Workspace settings changed',
  'workspace.icon_changed': 'Workspace icon changed',
}

/** The stream that reports new activity of a workspace. A list names it in `data-live`, for public/site.js. */
export const changesPath = '/activity/changes'

/** The names of agents by their grants. */
export type AgentNames = ReadonlyMap<string, string>

/** The grants of the agents that caused some of these events. */
export function findGrants(events: readonly WorkspaceEvent[]): string[] {
  return [...new Set(events.flatMap(({ source, grantId }) => (source === 'mcp' ? (grantId ?? []) : [])))]
}

/** An event with its time. Marks what agents did, with the name of the agent if it is known. */
export function renderEvent(event: WorkspaceEvent, time: Html, agentNames: AgentNames): Html {
  return html`<p class="event">
    <bdi dir="ltr">${event.summary}</bdi><span class="hint">${time}${renderSource(event, agentNames)}</span>
  </p>`
}

function renderSource(event: WorkspaceEvent, agentNames: AgentNames): Content {
  const { source, grantId, actorUserId, type } = event
  if (source === 'mcp') return html` · ${renderAgent(agentNames.get(grantId ?? ''))}`
  if (source === 'api') return ' · via the API'
  if (source !== 'system') return false
  if (actorUserId === null) return ' · by the service'
  // Commands act in the name of a person, but only the first start makes seeds.
  return !/^(seed|evidence)\./.test(type) && ' · on the server'
}
