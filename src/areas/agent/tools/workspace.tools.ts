import { Type } from '@sinclair/typebox'
import { toPrincipal } from '../../../kernel/agent.ts'
import { errors } from '../../../kernel/errors.ts'
import type { Json } from '../../../kernel/json-text.ts'
import type { Page } from '../../../kernel/pagination.ts'
import { closed, ref, Role } from '../../../kernel/schemas.ts'
import { Event, EventData, eventsFilters } from '../../events/events.schemas.ts'
import type { EventsService } from '../../events/events.service.ts'
import { peopleFilters, Person } from '../../people/people.schemas.ts'
import type { PeopleService } from '../../people/people.service.ts'
import { defineTool, readingHints, type AgentTool } from '../agent-tool.ts'
import { AgentEvents, AgentPeople } from './agent-tools.schemas.ts'

const pageFields = {
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, description: 'Default: 50.' })),
  cursor: Type.Optional(
    Type.String({
      maxLength: 1024,
      description: 'The nextCursor of the previous response, with the same filters.',
    }),
  ),
}
const limitDefault = 50
const advice = { cursor_invalid: 'Call it again without cursor to start from the first page.' }

/** The tools with which an agent reads who is in a workspace and what happens there, with `workspace:read`. */
export function workspaceTools(people: PeopleService, events: EventsService): AgentTool[] {
  return [
    defineTool({
      name: 'list_people',
      title: 'List people',
      description:
        'Lists the people of the workspace with their email addresses, roles and teams; `q` searches names and ' +
        'addresses. Invited people are listed only for owners and admins.',
      did: 'read the list of people',
      scope: 'workspace:read',
      action: 'people.list',
      http: { id: 'agent.listPeople', path: '/agent/v1/people::list', returns: 'A page of people.' },
      // Not every model provider accepts `allOf` (decision 0107).
      input: closed(
        { ...peopleFilters, role: Type.Optional(ref(Role)), ...pageFields },
        { examples: [{ q: 'grace' }] },
      ),
      output: AgentPeople,
      parts: [Person, Role],
      hints: readingHints,
      async call(agent, input) {
        const page = await people.list(toPrincipal(agent), agent.workspace.slug, withLimit(input))
        return toAnswer('people', page)
      },
      errors: [errors.cursorInvalid],
      advice,
    }),
    defineTool({
      name: 'list_events',
      title: 'List events',
      description:
        'Lists the events of the workspace, newest first: who did what, when, and whether an agent did it. Filter by ' +
        'type (such as seed.updated), by person (actorUserId) and by time (since, until; RFC 3339).',
      did: 'read the list of events',
      scope: 'workspace:read',
      action: 'events.list',
      http: { id: 'agent.listEvents', path: '/agent/v1/events::list', returns: 'A page of events.' },
      input: closed({ ...eventsFilters, ...pageFields }, { examples: [{ type: 'seed.created' }] }),
      output: AgentEvents,
      parts: [Event, EventData],
      hints: readingHints,
      async call(agent, input) {
        const page = await events.list(toPrincipal(agent), agent.workspace.slug, withLimit(input))
        return toAnswer('events', page)
      },
      errors: [errors.cursorInvalid],
      advice,
    }),
  ]
}

function withLimit<Input extends { limit?: number }>(input: Input): Input & { limit: number } {
  return { ...input, limit: input.limit ?? limitDefault }
}

function toAnswer<Name extends string, Item>(
  name: Name,
  { items, nextCursor }: Page<Item>,
): Json<Record<Name, Item[]> & { nextCursor: string | null }> {
  return `{"${name}":${items},"nextCursor":${JSON.stringify(nextCursor)}}` as Json<
    Record<Name, Item[]> & { nextCursor: string | null }
  >
}
