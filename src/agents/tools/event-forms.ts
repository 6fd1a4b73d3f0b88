import type { Static } from '@sinclair/typebox'
import { seedIdOf } from '../../domain/events.ts'
import type { Event } from '../../areas/events/events.schemas.ts'
import type { AgentEvents } from './agent-tools.schemas.ts'

type Forms = Static<typeof AgentEvents>

/** The most names of those who did something in a digest. */
const digestNamesMax = 4

/** An event in one line. What is about no seed has an empty `seed`. */
export function toLine(event: Event): Forms['lines'][number] {
  const { createdAt, actorName, summary } = event
  return {
    time: `${createdAt.slice(0, 19)}Z`,
    actor: actorOf(event),
    type: event.type,
    seed: seedIdOf(event.data) ?? '',
    // Every sentence begins with the name of the actor, which is said already.
    sentence: summary.startsWith(`${actorName} `) ? summary.slice(actorName.length + 1) : summary,
  }
}

/** Which seeds of a digest are wanted: at most `limit`, after the first ones. */
interface DigestPart {
  skipped: number
  limit: number
}

/**
 * Events by seed, the latest first, and, with the first seeds, the numbers of those about no seed by type. `left` counts
 * the seeds that follow.
 */
export function toDigest(
  events: readonly Event[],
  { skipped, limit }: DigestPart,
): Pick<Forms, 'digest' | 'others' | 'note'> & { left: number } {
  const bySeed = groupBy(events, ({ data }) => seedIdOf(data))
  const others = skipped === 0 ? countTypes(bySeed.get(null) ?? []) : []
  bySeed.delete(null)
  const groups = [...bySeed].map(([id, ofSeed]) => toGroup(id ?? '', ofSeed))
  const shown = groups.slice(skipped, skipped + limit)
  const left = groups.slice(skipped + limit)
  const note =
    left.length === 0
      ? null
      : `${left.length} more seeds, with ${left.reduce((sum, { count }) => sum + count, 0)} events, follow: pass nextCursor as cursor.`
  return {
    digest: shown.map(({ group }) => group),
    others,
    note,
    left: left.length,
  }
}

/** The events of a seed, newest first. */
function toGroup(id: string, events: readonly Event[]) {
  const names = [...new Set(events.map(actorOf))]
  const more = names.length - digestNamesMax
  const [last] = events
  const title = events.map(({ data }) => data.title).find((text) => typeof text === 'string')
  const status = events
    .map(({ data }) => data.status)
    .find((change) => change !== null && change !== undefined)
  const group: Forms['digest'][number] = {
    id,
    title: title ?? '',
    last: String(last?.createdAt).slice(0, 10),
    by: [...names.slice(0, digestNamesMax), ...(more > 0 ? [`${more} more`] : [])].join(', '),
    events: [...countTypes(events), ...(isStatusChange(status) ? [`status now ${status.to}`] : [])],
  }
  return { group, count: events.length }
}

function isStatusChange(value: unknown): value is { to: string } {
  return typeof value === 'object' && value !== null && 'to' in value
}

/** Types with their numbers: `evidence.added 3`. */
function countTypes(events: readonly Event[]): string[] {
  const byType = groupBy(events, ({ type }) => type)
  return [...byType].map(([type, ofType]) => `${type} ${ofType.length}`)
}

/** Events by a key, in the order in which each was met first. */
function groupBy<Key>(events: readonly Event[], keyOf: (event: Event) => Key): Map<Key, Event[]> {
  const groups = new Map<Key, Event[]>()
  for (const event of events) {
    const group = groups.get(keyOf(event))
    if (group) group.push(event)
    else groups.set(keyOf(event), [event])
  }
  return groups
}

function actorOf({ actorType, actorName }: Event): string {
  return actorType === 'agent' ? `an agent for ${actorName}` : actorName
}
