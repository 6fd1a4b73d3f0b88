import { Type, type Static } from '@sinclair/typebox'
import { exampleIds, exampleTime } from '../../http/description/examples.ts'
import { listOperation, operation, slugParams } from '../../http/description/operation.ts'
import {
  named,
  noControlCharacters,
  nullableString,
  ref,
  stringEnum,
  Timestamp,
} from '../../kernel/schemas.ts'
import { workspaceErrors } from '../../kernel/errors.ts'
import { exampleSeed } from '../seeds/seeds.schemas.ts'

export const Event = named(
  'Event',
  {
    id: Type.String(),
    type: Type.String({ description: 'What happened, such as `member.role_changed`.' }),
    actorType: stringEnum(['user', 'agent', 'system']),
    actorUserId: nullableString({ description: 'The person who acted, or on whose behalf an agent acted.' }),
    actorName: Type.String({ description: 'The name of that person at the time.' }),
    grantId: nullableString({ description: 'The grant of the agent that acted.' }),
    apiKeyId: nullableString({ description: 'The API key that was used.' }),
    source: stringEnum(['web', 'api', 'mcp', 'system'], {
      description:
        'How it was done: on the website, through the API, by an agent, or on the server: by the service itself or by a ' +
        'command of its operator.',
    }),
    targetType: nullableString(),
    targetId: nullableString(),
    summary: Type.String({ description: 'What happened, in words.' }),
    createdAt: Timestamp,
  },
  {
    id: exampleIds.event,
    type: 'seed.created',
    actorType: 'user',
    actorUserId: exampleIds.user,
    actorName: 'Grace Hopper',
    grantId: null,
    apiKeyId: exampleIds.apiKey,
    source: 'api',
    targetType: 'seed',
    targetId: exampleIds.seed,
    summary: `Grace Hopper created the seed ${exampleSeed.title}`,
    createdAt: exampleTime,
  },
)
export type Event = Static<typeof Event>

export const eventsSchemas = [Event]

const time = (description: string) =>
  Type.Optional(Type.String({ format: 'date-time', description, examples: [exampleTime] }))

/** The filters of `events.list`. */
export const eventsFilters = {
  type: Type.Optional(
    Type.String({
      maxLength: 64,
      pattern: noControlCharacters,
      description: 'Only events of this type.',
    }),
  ),
  actorUserId: Type.Optional(Type.String({ maxLength: 64, description: 'Only events of this person.' })),
  targetId: Type.Optional(
    Type.String({
      maxLength: 64,
      description: 'Only events with this `targetId`, such as the events of a seed.',
    }),
  ),
  since: time('Only events at or after this time.'),
  until: time('Only events before this time.'),
}

export const eventsList = listOperation(
  {
    id: 'events.list',
    summary: 'List the events of a workspace',
    description:
      'Newest first. Each change in the workspace creates one event. Members and viewers do not see events of invites ' +
      "that are not accepted, nor of other people's agents.",
    params: slugParams,
    returns: 'A page of events.',
    errors: workspaceErrors,
  },
  {
    item: Event,
    filters: eventsFilters,
  },
)

export const eventsGet = operation({
  id: 'events.get',
  summary: 'Read an event',
  description: 'Returns 404 for an event that `events.list` does not show to the caller.',
  params: Type.Object({ slug: Type.String(), eventId: Type.String() }),
  success: ref(Event),
  returns: 'The event.',
  errors: workspaceErrors,
})
