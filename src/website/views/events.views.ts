import type { EventTarget, EventType, WorkspaceEvent } from '../../areas/events/events.service.ts'
import type { AgentGrant } from '../../agents/grants/grants.service.ts'
import { changesOfAgents } from '../../domain/agent.ts'
import { sentenceOf, type NamedPart, type Sentence } from '../../domain/events.ts'
import type { Services } from '../../services/services.ts'
import { describeScope } from './scopes.views.ts'
import type { WorkspaceVisit } from '../plugins/workspace-visit.ts'
import { renderActorFace, renderAgent } from './author.views.ts'
import { html, type Content, type Html } from '../components/html.ts'

/** The types of events, as people choose from them. */
export const eventTypeNames: Readonly<Record<EventType, string>> = {
  'api_key.stopped': 'API key stopped',
  'seed.created': 'Seed created',
  'seed.updated': 'Seed changed',
  'seed.criterion_changed': 'State of a success criterion changed',
  'seed.joined': 'Seed joined',
  'seed.person_asked': 'Person asked to join a seed',
  'seed.left': 'Seed left',
  'seed.deleted': 'Seed deleted',
  'seed.restored': 'Seed restored',
  'seed.merged': 'Seed merged',
  'seed.unmerged': 'Merge undone',
  'evidence.added': 'Evidence added',
  'attachment.deleted': 'File deleted',
  'evidence.updated': 'Evidence corrected',
  'evidence.withdrawn': 'Evidence withdrawn',
  'evidence.seen': 'Evidence seen by others too',
  'evidence.unseen': 'No longer seen too',
  'comment.added': 'Comment added',
  'comment.updated': 'Comment edited',
  'comment.deleted': 'Comment deleted',
  'agent_request.created': 'Agent asked',
  'agent_request.answered': 'Agent answered',
  'agent_request.declined': 'Request declined',
  'agent_request.cancelled': 'Request cancelled',
  'agent_request.expired': 'Request not answered',
  'member.joined': 'Member joined',
  'member.updated': 'Profile changed',
  'member.role_changed': 'Role changed',
  'member.removed': 'Member removed',
  'member.left': 'Member left',
  'member.suspended': 'Member suspended',
  'member.unsuspended': 'Suspension ended',
  'person.erased': 'Person erased',
  'invite.created': 'Invite sent',
  'invite.resent': 'Invite sent again',
  'invite.role_changed': 'Role of an invite changed',
  'invite.revoked': 'Invite revoked',
  'invite.accepted': 'Invite accepted',
  'invite.declined': 'Invite declined',
  'invite.undeliverable': 'Invite not delivered',
  'team.created': 'Team created',
  'team.renamed': 'Team renamed',
  'team.deleted': 'Team deleted',
  'team.member_added': 'Team member added',
  'team.member_removed': 'Team member removed',
  'label.created': 'Label created',
  'label.updated': 'Label renamed',
  'label.deleted': 'Label deleted',
  'saved_filter.created': 'Saved filter shared',
  'saved_filter.updated': 'Saved filter changed',
  'saved_filter.deleted': 'Saved filter removed',
  'integration.granted': 'Agent connected',
  'integration.changed': 'Access of an agent changed',
  'integration.used': 'Agent used a tool',
  'integration.revoked': 'Access of an agent revoked',
  'service_account.created': 'Service account created',
  'service_account.updated': 'Service account changed',
  'service_account.deleted': 'Service account deleted',
  'service_account.key_created': 'Key of a service account created',
  'service_account.key_rotated': 'Key of a service account rotated',
  'service_account.key_revoked': 'Key of a service account revoked',
  'service_account.client_created': 'Client of a service account created',
  'service_account.client_prolonged': 'Access of a client of a service account prolonged',
  'service_account.client_rotated': 'Secret of a client of a service account rotated',
  'service_account.client_revoked': 'Client of a service account revoked',
  'service_account.keys_known': 'Former manager knows secrets',
  'webhook.created': 'Webhook added',
  'webhook.updated': 'Webhook changed',
  'webhook.resumed': 'Pause of a webhook ended',
  'webhook.deleted': 'Webhook deleted',
  'webhook.secret_rotated': 'Secret of a webhook rotated',
  'webhook.tested': 'Webhook tested',
  'webhook.redelivered': 'Webhook delivered again',
  'webhook.disabled': 'Webhook disabled after failures',
  'workspace.created': 'Workspace created',
  'workspace.updated': 'Workspace settings changed',
  'workspace.icon_changed': 'Workspace icon changed',
  'workspace.icon_removed': 'Workspace icon removed',
  'workspace.agent_policy_changed': 'Agents of the organization changed',
  'workspace.ownership_transferred': 'Ownership transferred',
  'workspace.deleted': 'Workspace deleted',
  'workspace.restored': 'Workspace restored',
  'workspace.exported': 'Workspace exported',
  'workspace.imported': 'Seeds imported',
  'workspace.import_undone': 'Import of seeds undone',
}

/** The path of the stream that reports new activity of a workspace. */
export const changesPath = '/activity/changes'

/**
 * The URL of the stream that reports what happens in a workspace from now on, for public/live.js: a part of the page has it as
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

/** An event in a list, or several that are shown as one, which then have a sentence of their own. */
export interface ShownEvent extends WorkspaceEvent {
  sentence?: Sentence
}

/** What a page shows of events beside themselves. */
export interface EventContext {
  base: string
  agentNames: AgentNames
  /** What the events name, as it is now. */
  targets: ReadonlyMap<string, EventTarget>
  /** The seed on whose page the events are. Its title is not repeated. */
  seedId?: string
}

/** Reads what a page shows of events beside themselves, in two statements; in one if it knows all agents. */
export async function readEventContext(
  { events, grants }: Pick<Services, 'events' | 'grants'>,
  { base, principal, workspace }: Pick<WorkspaceVisit, 'base' | 'principal' | 'workspace'>,
  shown: readonly ShownEvent[],
  known: readonly Pick<AgentGrant, 'id' | 'clientName'>[] = [],
): Promise<EventContext> {
  const names = known.map(({ id, clientName }) => [id, clientName] as const)
  const knownIds = new Set(known.map(({ id }) => id))
  const unknown = findGrants(shown).filter((id) => !knownIds.has(id))
  const [others, targets] = await Promise.all([
    grants.findClientNames(principal, workspace.slug, unknown),
    events.findTargets(principal, workspace.slug, findNamed(shown)),
  ])
  return { base, agentNames: new Map([...names, ...others]), targets }
}

/** The ids of who did what events tell, and of what they name. */
export function findNamed(events: readonly ShownEvent[]): string[] {
  const named = events.flatMap(tell).flatMap((part) => (typeof part === 'string' ? [] : (part.id ?? [])))
  return [...new Set([...events.flatMap(({ actorUserId }) => actorUserId ?? []), ...named])]
}

/**
 * The events without those that only repeat another one: uses of tools that are changes, and comments that ask an agent or
 * answer what was asked.
 */
export function withoutRepeated(events: readonly WorkspaceEvent[]): WorkspaceEvent[] {
  const ofRequests = new Set(
    events.map(({ type, data }) => {
      if (type === 'agent_request.created') return data.commentId
      return type === 'agent_request.answered' ? data.answerCommentId : undefined
    }),
  )
  return events.filter(({ type, data }) => {
    if (type === 'comment.added') return !ofRequests.has(data.commentId)
    return (
      type !== 'integration.used' ||
      typeof data.tool !== 'string' ||
      !Object.hasOwn(changesOfAgents, data.tool)
    )
  })
}

/**
 * An event with the face of who did it and its time, and with links to what it names, as far as that still exists. Marks what
 * agents did, with the agent if the reader may know it.
 */
export function renderEvent(event: ShownEvent, time: Html, context: EventContext): Html {
  return html`<p class="event">
    ${renderActor(event, context)}<bdi dir="ltr">${renderSentence(tell(event), context)}</bdi
    ><span class="hint">${time}${renderSource(event, context)}</span>${renderReason(event)}
  </p>`
}

/** The face of who did it. What the service did by itself has none. */
function renderActor(
  { actorUserId, actorName, source, grantId }: WorkspaceEvent,
  { agentNames, targets }: EventContext,
): Content {
  if (actorUserId === null) return html`<span class="picture s28"></span>`
  const person = { id: actorUserId, name: actorName, image: targets.get(actorUserId)?.image ?? null }
  return renderActorFace(person, source === 'mcp' ? (agentNames.get(grantId ?? '') ?? 'Agent') : null)
}

/** Why a status was changed or evidence withdrawn, if that was said. */
function renderReason({ type, data }: WorkspaceEvent): Content {
  const reason =
    type === 'seed.updated' ? data.statusReason : type === 'evidence.withdrawn' ? data.reason : null
  return typeof reason === 'string' && html`<span class="reason"><bdi>${reason}</bdi></span>`
}

/** The sentence of an event. Scopes are in the words of the consent page. */
function tell(event: ShownEvent): Sentence {
  const { sentence, type, data } = event
  if (sentence) return sentence
  if (type !== 'integration.changed') return sentenceOf(event)
  const describe = (scopes: unknown) =>
    Array.isArray(scopes) ? scopes.map((scope) => `“${describeScope(String(scope))}”`) : scopes
  return sentenceOf({ ...event, data: { ...data, from: describe(data.from), to: describe(data.to) } })
}

/** Names are isolated from the words around them: they may be right-to-left. */
function renderSentence(sentence: Sentence, context: EventContext): Content {
  const beforeSeed = ' the seed '
  return sentence.map((part, i) => {
    if (typeof part !== 'string') return renderNamed(part, sentence[i - 1], context)
    const next = sentence[i + 1]
    const isRepeated =
      part.endsWith(beforeSeed) && typeof next === 'object' && next.id !== null && next.id === context.seedId
    return isRepeated ? part.trimEnd() : part
  })
}
const folders = {
  seed: 'seeds',
  user: 'people',
  team: 'teams',
  integration: 'agents',
  webhook: 'settings/webhooks',
} as const

/** A name, with a link to what it names, if that still exists. */
function renderNamed(
  { name, id }: NamedPart,
  before: string | NamedPart | undefined,
  { base, targets, seedId }: EventContext,
): Content {
  const isOfPage = id !== null && id === seedId
  // On the page of a seed, “the seed” is enough.
  if (isOfPage && typeof before === 'string' && before.endsWith(' the seed ')) return false
  const target = id === null || isOfPage ? undefined : targets.get(id)
  const shown = html`<bdi>${name}</bdi>`
  return target ? html`<a href="${base}/${folders[target.kind]}/${target.id}">${shown}</a>` : shown
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
