import { Type, type TSchema } from '@sinclair/typebox'
import { toPrincipal, type AgentPrincipal } from '../../domain/agent.ts'
import { errors } from '../../kernel/errors.ts'
import { findNearestEventTypes, splitEventTypes } from '../../domain/event-types.ts'
import { eventKinds, isEventType } from '../../domain/events.ts'
import { parseJson, toJson } from '../../kernel/json-text.ts'
import { decodeCursor, encodeCursor } from '../../kernel/pagination.ts'
import { parseTime } from '../../kernel/times.ts'
import { Role } from '../../domain/roles.ts'
import { closed, described, ref, stringEnum, told } from '../../kernel/schemas.ts'
import { Event, EventData, eventsFilters } from '../../areas/events/events.schemas.ts'
import type { EventsRequest, EventsService, WorkspaceEvent } from '../../areas/events/events.service.ts'
import { peopleFilters, Person } from '../../areas/people/people.schemas.ts'
import type { PeopleService } from '../../areas/people/people.service.ts'
import { defineTool, readingHints, type AgentTool } from './agent-tool.ts'
import { AgentEvents, AgentPeople } from './agent-tools.schemas.ts'
import { toDigest, toLine } from './event-forms.ts'
import { limitDefault, pageAdvice, pageFields, toPageAnswer } from './tool-pages.ts'

/** The most events that a digest sums up, and its seeds in a page by default. */
const digestEventsMax = 1000
const digestSeedsDefault = 40
/** The most characters of an unknown type that its error repeats. */
const typeShownMax = 64

/** All types of events, each target once, which saves a fifth of the tokens: `team.created|renamed seed.created|…`. */
function listTypes(): string {
  const happened: Record<string, string[]> = {}
  for (const type of Object.keys(eventKinds)) {
    const [target = '', what = ''] = type.split('.')
    happened[target] = [...(happened[target] ?? []), what]
  }
  return Object.entries(happened)
    .map(([target, all]) => `${target}.${all.join('|')}`)
    .join(' ')
}

/** The tools with which an agent reads who is in a workspace and what happens there, with `workspace:read`. */
export function workspaceTools(people: PeopleService, events: EventsService): AgentTool[] {
  /**
   * A page of a digest. A cursor has the time before which its events are, so that they stay the same while others happen,
   * and how many seeds were before.
   */
  async function readDigest(
    agent: AgentPrincipal,
    { limit = digestSeedsDefault, cursor, ...filters }: EventsRequest,
  ) {
    const listId = `agent.listEvents digest ${agent.workspace.id} ${JSON.stringify(filters)}`
    const [until = filters.until, skippedText = '0'] = decodeCursor(listId, cursor, ['time', 'number']) ?? []
    const request = { ...filters, ...(until !== undefined && { until }), limit: digestEventsMax }
    const { items, nextCursor } = await events.list(toPrincipal(agent), agent.workspace.slug, request)
    const { read, before } = untilWholeTime(parseJson(items), nextCursor !== null)
    const skipped = Number(skippedText)
    const { left, ...page } = toDigest(read, { skipped, limit })
    const start = until === undefined ? timeAfter(read[0]?.createdAt) : parseTime(until).toISOString()
    if (left > 0) return { ...page, nextCursor: encodeCursor(listId, [start, String(skipped + limit)]) }
    return { ...page, nextCursor: before === null ? null : encodeCursor(listId, [before, '0']) }
  }

  return [
    defineTool({
      name: 'list_people',
      title: 'List people',
      description: 'People with their address, role and teams.',
      did: 'read the list of people',
      scope: 'workspace:read',
      action: 'people.list',
      http: { id: 'agent.listPeople', path: '/agent/v1/people::list', returns: 'A page of people.' },
      // Not every model provider accepts `allOf` (docs/design/tools.md#schemas-for-models).
      input: closed(
        {
          query: Type.Optional(described(peopleFilters.q, 'Part of a name or address.')),
          kind: described(bare(peopleFilters.kind), 'Only these.'),
          role: Type.Optional(told(ref(Role), 'Only these.')),
          teamId: described(bare(peopleFilters.teamId), 'Only of this team.'),
          ...pageFields,
        },
        { examples: [{ query: 'grace' }] },
      ),
      aliases: { q: 'query' },
      output: AgentPeople,
      parts: [Person, Role],
      hints: readingHints,
      async call(agent, { query, limit = limitDefault, ...input }) {
        const request = { ...input, limit, ...(query !== undefined && { q: query }) }
        const page = await people.list(toPrincipal(agent), agent.workspace.slug, request)
        return toPageAnswer('people', page)
      },
      errors: [errors.cursorInvalid],
      advice: pageAdvice,
    }),
    defineTool({
      name: 'list_events',
      title: 'List events',
      description:
        'What happened, newest first. short: a line each; digest: sums by seed; full: all data. ' +
        'seed.updated includes the status.',
      did: 'read the list of events',
      scope: 'workspace:read',
      action: 'events.list',
      http: { id: 'agent.listEvents', path: '/agent/v1/events::list', returns: 'A page of events.' },
      input: closed(
        {
          form: Type.Optional(stringEnum(['short', 'digest', 'full'], { description: 'Default short.' })),
          types: described(bare(eventsFilters.types), `Of ${listTypes()}.`),
          notTypes: described(bare(eventsFilters.notTypes), 'All but these.'),
          seedId: described(eventsFilters.seedId, 'About this seed, its evidence and comments.'),
          teamId: described(eventsFilters.teamId, 'Of its seeds.'),
          grantId: described(bare(eventsFilters.grantId), 'This agent; `grant.id` of a kit is you.'),
          actorUserId: described(bare(eventsFilters.actorUserId), 'This person or their agents.'),
          targetId: described(bare(eventsFilters.targetId), 'A seed, comment or person.'),
          since: described(eventsFilters.since, 'A date (UTC) or time.'),
          until: described(eventsFilters.until, 'Exclusive.'),
          ...pageFields,
        },
        { examples: [{ types: ['seed.created'] }] },
      ),
      aliases: { type: 'types' },
      output: AgentEvents,
      parts: [Event, EventData],
      hints: readingHints,
      async call(agent, { form = 'short', ...input }) {
        assertTypesExist(input.types)
        const none = { lines: [], digest: [], others: [], events: [], note: null }
        if (form === 'digest') return toJson({ ...none, ...(await readDigest(agent, input)) })
        const request = { limit: limitDefault, ...input }
        const { items, nextCursor } = await events.list(toPrincipal(agent), agent.workspace.slug, request)
        const read = parseJson(items)
        if (form === 'full') return toJson({ ...none, events: read, nextCursor })
        return toJson({ ...none, lines: read.map(toLine), nextCursor })
      },
      errors: [errors.cursorInvalid, errors.eventTypeUnknown],
      advice: pageAdvice,
    }),
  ]
}

/** The time a millisecond after another one. */
function timeAfter(time = startOfTime): string {
  return new Date(Date.parse(time) + 1).toISOString()
}

const startOfTime = '1970-01-01T00:00:00.000Z'

/**
 * Of events that are cut, newest first, those that are later than the last one, and the time before which the others are:
 * no time is in two parts. If all are of one time, they are the last.
 */
function untilWholeTime(events: WorkspaceEvent[], isCut: boolean) {
  const oldest = events.at(-1)?.createdAt
  const later = events.filter(({ createdAt }) => createdAt !== oldest)
  if (!isCut || later.length === 0) return { read: events, before: null }
  return { read: later, before: timeAfter(oldest) }
}

/** Throws `event_type_unknown` for the first type that does not exist, with the types that it may have meant. */
function assertTypesExist(types: readonly string[] = []): void {
  const unknown = splitEventTypes(types).find((type) => !isEventType(type))
  if (unknown === undefined) return
  const shown = JSON.stringify(unknown.slice(0, typeShownMax))
  const message = `There is no type of events ${shown}. The nearest are ${findNearestEventTypes(unknown).join(', ')}.`
  throw errors.eventTypeUnknown({ field: 'types', message })
}

/** A field without its description, where a model knows it by its name. */
function bare<Field extends TSchema>(field: Field): Field {
  const copy = { ...field }
  delete copy.$id
  delete copy.description
  return copy
}
