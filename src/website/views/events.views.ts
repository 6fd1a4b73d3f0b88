import type { EventPlace, EventType, WorkspaceEvent } from '../../areas/events/events.service.ts'
import type { AgentGrant } from '../../areas/integrations/integrations.service.ts'
import { changesOfAgents } from '../../domain/agent.ts'
import { seedIdOf } from '../../domain/events.ts'
import type { Services } from '../../services/services.ts'
import { describeScope } from './scopes.views.ts'
import type { WorkspaceVisit } from '../plugins/workspace-visit.ts'
import { renderAgent } from './author.views.ts'
import { html, type Content, type Html } from '../components/html.ts'

/** The types of events, as people choose from them. */
export const eventTypeNames: Readonly<Record<EventType, string>> = {
  'seed.created': 'Seed created',
  'seed.updated': 'Seed changed',
  'seed.joined': 'Seed joined',
  'seed.left': 'Seed left',
  'seed.deleted': 'Seed deleted',
  'seed.restored': 'Seed restored',
  'evidence.added': 'Evidence added',
  'evidence.updated': 'Evidence corrected',
  'evidence.withdrawn': 'Evidence withdrawn',
  'comment.added': 'Comment added',
  'comment.updated': 'Comment edited',
  'comment.deleted': 'Comment deleted',
  'member.joined': 'Member joined',
  'member.role_changed': 'Role changed',
  'member.removed': 'Member removed',
  'member.left': 'Member left',
  'invite.created': 'Invite sent',
  'invite.resent': 'Invite sent again',
  'invite.role_changed': 'Role of an invite changed',
  'invite.revoked': 'Invite revoked',
  'invite.accepted': 'Invite accepted',
  'invite.declined': 'Invite declined',
  'team.created': 'Team created',
  'team.renamed': 'Team renamed',
  'team.deleted': 'Team deleted',
  'team.member_added': 'Team member added',
  'team.member_removed': 'Team member removed',
  'integration.granted': 'Agent connected',
  'integration.changed': 'Access of an agent changed',
  'integration.used': 'Agent used a tool',
  'integration.revoked': 'Access of an agent revoked',
  'webhook.created': 'Webhook added',
  'webhook.updated': 'Webhook changed',
  'webhook.deleted': 'Webhook deleted',
  'webhook.secret_rotated': 'Secret of a webhook rotated',
  'webhook.tested': 'Webhook tested',
  'webhook.redelivered': 'Webhook delivered again',
  'webhook.disabled': 'Webhook disabled after failures',
  'workspace.created': 'Workspace created',
  'workspace.updated': 'Workspace settings changed',
  'workspace.icon_changed': 'Workspace icon changed',
  'workspace.icon_removed': 'Workspace icon removed',
  'workspace.ownership_transferred': 'Ownership transferred',
  'workspace.deleted': 'Workspace deleted',
  'workspace.restored': 'Workspace restored',
}

/** The path of the stream that reports new activity of a workspace. */
export const changesPath = '/activity/changes'

/**
 * The URL of the stream that reports what happens in a workspace from now on, for public/site.js: a list has it as
 * `data-live`. It is read before what the list shows (docs/design/events.md#live-pages).
 */
export async function readChangesUrl(
  { events }: Pick<Services, 'events'>,
  { base, principal, workspace }: Pick<WorkspaceVisit, 'base' | 'principal' | 'workspace'>,
): Promise<string> {
  return `${base}${changesPath}?after=${await events.getPosition(principal, workspace.slug)}`
}

/** The names of agents by their grants. */
type AgentNames = ReadonlyMap<string, string>

/** The grants of the agents that caused some of these events. */
function findGrants(events: readonly WorkspaceEvent[]): string[] {
  return [...new Set(events.flatMap(({ source, grantId }) => (source === 'mcp' ? (grantId ?? []) : [])))]
}

/** What a page shows of events beside themselves. */
export interface EventContext {
  base: string
  agentNames: AgentNames
  /** What the events name, as it is now. */
  places: ReadonlyMap<string, EventPlace>
  /** The title of the seed on whose page the events are. It is not repeated. */
  seedTitle?: string
}

/** Reads what a page shows of events beside themselves, in two statements; in one if it knows all agents. */
export async function readEventContext(
  { events, integrations }: Pick<Services, 'events' | 'integrations'>,
  { base, principal, workspace }: Pick<WorkspaceVisit, 'base' | 'principal' | 'workspace'>,
  shown: readonly WorkspaceEvent[],
  known: readonly Pick<AgentGrant, 'id' | 'clientName'>[] = [],
): Promise<EventContext> {
  const names = known.map(({ id, clientName }) => [id, clientName] as const)
  const knownIds = new Set(known.map(({ id }) => id))
  const unknown = findGrants(shown).filter((id) => !knownIds.has(id))
  const [others, places] = await Promise.all([
    integrations.findClientNames(principal, workspace.slug, unknown),
    events.findPlaces(principal, workspace.slug, shown),
  ])
  return { base, agentNames: new Map([...names, ...others]), places }
}

const changesByAgents = Object.values(changesOfAgents)

/** The events without the uses of tools that only repeat a change, which is an event of its own. */
export function withoutRepeated(events: readonly WorkspaceEvent[]): WorkspaceEvent[] {
  return events.filter(
    ({ type, summary }) =>
      type !== 'integration.used' || !changesByAgents.some((did) => summary.endsWith(`, ${did}`)),
  )
}

/**
 * An event with its time, and with links to what it names, as far as that still exists. Marks what agents did, with the
 * agent if the reader may know it.
 */
export function renderEvent(event: WorkspaceEvent, time: Html, context: EventContext): Html {
  return html`<p class="event">
    <bdi dir="ltr">${renderSummary(event, context)}</bdi
    ><span class="hint">${time}${renderSource(event, context)}</span>${renderReason(event)}
  </p>`
}

/** Why a status was changed or evidence withdrawn, if that was said. */
function renderReason({ type, data }: WorkspaceEvent): Content {
  const reason =
    type === 'seed.updated' ? data.statusReason : type === 'evidence.withdrawn' ? data.reason : null
  return typeof reason === 'string' && html`<span class="reason"><bdi>${reason}</bdi></span>`
}

/** The summary with links to the actor, who is at its beginning, and to the target, whose name is nearest to its end. */
function renderSummary(event: WorkspaceEvent, { base, places, seedTitle }: EventContext): Content {
  const text = shortenSummary(describeAccess(event), seedTitle)
  const actor = places.get(event.actorUserId ?? '')
  // Evidence and comments are on the page of their seed.
  const target = places.get(event.targetId ?? '') ?? places.get(seedIdOf(event.data) ?? '')
  const begin = actor && text.startsWith(`${event.actorName} `) ? event.actorName.length : 0
  const rest = text.slice(begin)
  const at = target ? findName(rest, target) : -1
  const linked = begin > 0 && actor && renderPlace(base, actor, text.slice(0, begin))
  // Isolated from the names beside it, which may be right-to-left.
  const plain = (part: string) => part !== '' && html`<bdi dir="ltr">${part}</bdi>`
  if (!target || at === -1 || (target.kind === 'seed' && target.name === seedTitle))
    return linked ? html`${linked}${plain(rest)}` : text
  const end = at + target.name.length
  return html`${linked}${plain(rest.slice(0, at))}${renderPlace(base, target, rest.slice(at, end))}${plain(rest.slice(end))}`
}

/** Where a summary names a target: a seed after these words, others as whole words, nearest to the end. */
function findName(text: string, { kind, name }: EventPlace): number {
  const before = kind === 'seed' ? ' the seed ' : ' '
  for (
    let at = text.lastIndexOf(`${before}${name}`);
    at !== -1;
    at = text.lastIndexOf(`${before}${name}`, at - 1)
  ) {
    const begin = at + before.length
    if (/^(?:[ ,]|$)/.test(text.slice(begin + name.length))) return begin
    if (at === 0) break
  }
  return -1
}

const folders = {
  seed: 'seeds',
  user: 'people',
  team: 'teams',
  integration: 'agents',
  webhook: 'settings/webhooks',
} as const

function renderPlace(base: string, { kind, id }: EventPlace, text: string): Html {
  return html`<a href="${base}/${folders[kind]}/${id}"><bdi>${text}</bdi></a>`
}

/** On the page of a seed, “the seed” is enough. */
function shortenSummary(summary: string, seedTitle: string | undefined): string {
  return seedTitle === undefined ? summary : summary.replace(` the seed ${seedTitle}`, () => ' the seed')
}

/** The summary of a change of access, with the words of the consent page instead of the names of the scopes. */
function describeAccess({ type, summary }: WorkspaceEvent): string {
  if (type !== 'integration.changed') return summary
  return summary.replace(/(?<= to )[\w:-]+(?:, [\w:-]+)*$/, (scopes) =>
    scopes
      .split(', ')
      .map((scope) => `“${describeScope(scope)}”`)
      .join(', '),
  )
}

function renderSource(event: WorkspaceEvent, { base, agentNames }: EventContext): Content {
  const { source, grantId, actorUserId, type } = event
  if (source === 'mcp') {
    const id = grantId ?? ''
    return html` · ${renderAgent(agentNames.get(id), `${base}/agents/${id}`)}`
  }
  if (source === 'api') return ' · via the API'
  if (source !== 'system') return false
  if (actorUserId === null) return ' · by the service'
  // Commands act in the name of a person, but only the first start makes seeds.
  return !/^(seed|evidence)\./.test(type) && ' · on the server'
}
