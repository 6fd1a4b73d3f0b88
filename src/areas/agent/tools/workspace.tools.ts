import { Type, type TSchema } from '@sinclair/typebox'
import { toPrincipal } from '../../../domain/agent.ts'
import { errors } from '../../../kernel/errors.ts'
import { findNearestEventTypes, splitEventTypes } from '../../../domain/event-types.ts'
import { isEventType } from '../../../domain/events.ts'
import { parseJson, toJson } from '../../../kernel/json-text.ts'
import { Role } from '../../../domain/roles.ts'
import { closed, described, ref, stringEnum } from '../../../kernel/schemas.ts'
import { Event, EventData, eventsFilters } from '../../events/events.schemas.ts'
import type { EventsService } from '../../events/events.service.ts'
import { peopleFilters, Person } from '../../people/people.schemas.ts'
import type { PeopleService } from '../../people/people.service.ts'
import { defineTool, readingHints, type AgentTool } from '../agent-tool.ts'
import { AgentEvents, AgentPeople } from './agent-tools.schemas.ts'
import { toDigest, toLine } from './event-forms.ts'
import { limitDefault, pageAdvice, pageFields, toPageAnswer } from './tool-pages.ts'

const digestEventsMax = 1000
/** The most characters of an unknown type that its error repeats. */
const typeShownMax = 64

/** The tools with which an agent reads who is in a workspace and what happens there, with `workspace:read`. */
export function workspaceTools(people: PeopleService, events: EventsService): AgentTool[] {
  return [
    defineTool({
      name: 'list_people',
      title: 'List people',
      description:
        'The people of the workspace with email address, role and teams. Only owners and admins see invited people.',
      did: 'read the list of people',
      scope: 'workspace:read',
      action: 'people.list',
      http: { id: 'agent.listPeople', path: '/agent/v1/people::list', returns: 'A page of people.' },
      // Not every model provider accepts `allOf` (docs/design/tools.md#schemas-for-models).
      input: closed(
        {
          query: Type.Optional(described(peopleFilters.q, 'A part of a name or an email address.')),
          kind: bare(peopleFilters.kind),
          role: Type.Optional(ref(Role)),
          teamId: bare(peopleFilters.teamId),
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
        'What happened, newest first. form: short (default) has a line for each event; digest sums up the newest ' +
        `${digestEventsMax} by seed, for questions such as what happened this week; full has all data. Types are such as ` +
        'seed.created, seed.updated (also of the status), evidence.added, comment.added, member.joined.',
      did: 'read the list of events',
      scope: 'workspace:read',
      action: 'events.list',
      http: { id: 'agent.listEvents', path: '/agent/v1/events::list', returns: 'A page of events.' },
      input: closed(
        {
          form: Type.Optional(stringEnum(['short', 'digest', 'full'])),
          types: bare(eventsFilters.types),
          notTypes: bare(eventsFilters.notTypes),
          seedId: described(eventsFilters.seedId, 'Only about this seed, its evidence and comments.'),
          grantId: bare(eventsFilters.grantId),
          actorUserId: bare(eventsFilters.actorUserId),
          targetId: bare(eventsFilters.targetId),
          since: described(eventsFilters.since, 'A date (UTC) or time (RFC 3339).'),
          until: described(eventsFilters.until, 'Exclusive.'),
          ...pageFields,
        },
        { examples: [{ types: ['seed.created'] }] },
      ),
      aliases: { type: 'types' },
      output: AgentEvents,
      parts: [Event, EventData],
      hints: readingHints,
      async call(agent, { form = 'short', limit = limitDefault, ...input }) {
        assertTypesExist(input.types)
        const request = { ...input, limit: form === 'digest' ? digestEventsMax : limit }
        const { items, nextCursor } = await events.list(toPrincipal(agent), agent.workspace.slug, request)
        const read = parseJson(items)
        const none = { lines: [], digest: [], others: [], events: [], note: null }
        if (form === 'full') return toJson({ ...none, events: read, nextCursor })
        if (form === 'digest') return toJson({ ...none, ...toDigest(read), nextCursor })
        return toJson({ ...none, lines: read.map(toLine), nextCursor })
      },
      errors: [errors.cursorInvalid, errors.eventTypeUnknown],
      advice: pageAdvice,
    }),
  ]
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
