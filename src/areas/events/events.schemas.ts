import { Type, type Static } from '@sinclair/typebox'
import { exampleFeedCursor, exampleIds, exampleTime } from '../../http/description/examples.ts'
import {
  listOperation,
  operation,
  pathParams,
  slugParams,
  streamOperation,
} from '../../http/description/operation.ts'
import {
  closed,
  dateOrTime,
  exampleOf,
  named,
  nullableString,
  ref,
  stringEnum,
  timestamp,
} from '../../kernel/schemas.ts'
import { errors, workspaceErrors } from '../../kernel/errors.ts'
import { pageLimitDefault, pageLimitMax } from '../../kernel/pagination.ts'
import { filtersOfSeeds } from '../seeds/seed-filters.schemas.ts'
import { exampleSeed } from '../seeds/seeds.schemas.ts'

/**
 * The one open object of the API: each type of events has fields of its own, and may gain more
 * (docs/design/events.md#types-and-data).
 */
export const EventData = Type.Unsafe<Record<string, unknown>>({
  $id: 'EventData',
  type: 'object',
  additionalProperties: true,
  description:
    'What happened, for programs: ids, names as they were, and values. The fields depend on the `type` and may become ' +
    'more. Empty for events from before there was `data`.',
})

/** What is stored of an event, as answers and exports have it. */
export const storedEventFields = {
  id: Type.String({ description: 'The id of the event.' }),
  type: Type.String({ description: 'What happened, such as `member.role_changed`.' }),
  actorType: stringEnum(['user', 'agent', 'service', 'system'], {
    description:
      'Who acted: a person (`user`), an agent on behalf of a person, a service account (`service`), or the service itself or ' +
      'its operator (`system`).',
  }),
  actorUserId: nullableString({
    description: 'The person or the service account that acted, or on whose behalf an agent acted.',
  }),
  actorName: Type.String({ description: 'Their name at the time.' }),
  grantId: nullableString({ description: 'The grant of the agent that acted.' }),
  apiKeyId: nullableString({ description: 'The API key that was used.' }),
  source: stringEnum(['web', 'api', 'mcp', 'system'], {
    description:
      'How it was done: on the website, through the API, by an agent, or on the server: by the service itself or by a ' +
      'command of its operator.',
  }),
  targetType: nullableString({
    description: 'The kind of what the event is about, such as `seed`. Null if there is none.',
  }),
  targetId: nullableString({ description: 'The id of what the event is about. Null if there is none.' }),
  summary: Type.String({ description: 'What happened, in words, made from `data`.' }),
  data: ref(EventData),
  createdAt: timestamp('When it happened.'),
}

export const Event = named(
  'Event',
  {
    ...storedEventFields,
    workspaceId: Type.String({ description: 'The id of its workspace.' }),
    url: nullableString({
      format: 'uri',
      description:
        'The URL of the seed, the evidence or the comment that the event is about, on the website. Null for anything else.',
    }),
  },
  {
    id: exampleIds.event,
    workspaceId: exampleIds.workspace,
    type: 'seed.created',
    actorType: 'user',
    actorUserId: exampleIds.user,
    actorName: 'Grace Hopper',
    grantId: null,
    apiKeyId: exampleIds.apiKey,
    source: 'api',
    targetType: 'seed',
    targetId: exampleIds.seed,
    url: `https://app.example.com/s/${exampleIds.seed}`,
    summary: `Grace Hopper created the seed ${exampleSeed.title}`,
    data: { seedId: exampleIds.seed, title: exampleSeed.title },
    createdAt: exampleTime,
  },
)
export type Event = Static<typeof Event>

export const EventChanges = named(
  'EventChanges',
  {
    events: Type.Array(ref(Event), { description: 'The events of this page, oldest first.' }),
    cursor: Type.String({
      description: 'Where the next page begins: the `after` of the next request. It never expires.',
    }),
    hasMore: Type.Boolean({
      description: 'Whether there are further events already. If not, ask again later.',
    }),
  },
  {
    events: [exampleOf(Event)],
    cursor: exampleFeedCursor,
    hasMore: false,
  },
)
export type EventChanges = Static<typeof EventChanges>

export const eventsSchemas = [Event, EventData, EventChanges]

const time = (description: string) =>
  Type.Optional(dateOrTime(`${description} A date without a time is its start in UTC.`))

/**
 * Several types of events. In a query the parameter may be repeated, or have several types, separated by commas:
 * `splitEventTypes` tells them apart.
 */
const types = (description: string) =>
  Type.Optional(
    Type.Array(Type.String({ maxLength: 400, 'x-text': 'query' }), {
      maxItems: 100,
      description,
    }),
  )

/** Filters of `events.list`, `events.changes` and `events.stream`. */
const sharedFilters = {
  types: types(
    'Only events of these types. Repeat the parameter, or separate them by commas. A type that does not exist is refused.',
  ),
  notTypes: types(
    'No events of these types. One that does not exist is ignored: it may be of a later version.',
  ),
  seedId: Type.Optional(
    Type.String({
      maxLength: 64,
      description: 'Only events about this seed, those of its evidence included.',
    }),
  ),
  grantId: Type.Optional(
    Type.String({
      maxLength: 64,
      description: 'Only events of this agent: with this `grantId`.',
    }),
  ),
}

/** The filters of `events.list`. */
export const eventsFilters = {
  type: Type.Optional(
    Type.String({
      maxLength: 64,
      'x-text': 'query',
      description: 'Only events of this type.',
    }),
  ),
  ...sharedFilters,
  actorUserId: Type.Optional(Type.String({ maxLength: 64, description: 'Only events of this person.' })),
  targetId: Type.Optional(
    Type.String({
      maxLength: 64,
      description: 'Only events with this `targetId`.',
    }),
  ),
  ...filtersOfSeeds('Only events about seeds, as they are now,'),
  since: time('Only events at or after this time.'),
  until: time('Only events before this time.'),
}

export const eventsList = listOperation(
  {
    id: 'events.list',
    summary: 'List the events of a workspace',
    description:
      'Newest first. Each change in the workspace creates one event. Members and viewers do not see events of invites ' +
      "that are not accepted, of webhooks, nor of other people's agents.",
    params: slugParams,
    returns: 'A page of events.',
    errors: [...workspaceErrors, errors.eventTypeUnknown],
  },
  {
    item: Event,
    filters: eventsFilters,
  },
)

const feedQuery = {
  after: Type.Optional(
    Type.String({
      maxLength: 1024,
      description:
        'Only events behind this cursor, from an earlier response; `now`: only those that happen from now on. By default from ' +
        'the first event of the workspace.',
    }),
  ),
  ...sharedFilters,
}

export const eventsChanges = operation({
  id: 'events.changes',
  summary: 'Follow the events of a workspace',
  description:
    'Oldest first, in the order in which they took effect, without gaps: a client that goes on with the `cursor` of the last ' +
    'response gets each event exactly once. Shows what `events.list` shows to the caller at this time. A page may have ' +
    'fewer events than `limit`, even none, while `hasMore` is true. After a backup was restored that is older than the ' +
    'cursor, returns 409 `cursor_unknown`, and `cursor_expired` if events behind it are no longer kept: begin again without ' +
    '`after`. Works like `events.list` otherwise.',
  params: slugParams,
  querystring: closed({
    ...feedQuery,
    limit: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: pageLimitMax,
        default: pageLimitDefault,
        description: 'The most events of a page. It has fewer where it would be larger than 1 MiB.',
      }),
    ),
  }),
  success: ref(EventChanges),
  returns: 'The events behind the cursor, and the cursor of the next page.',
  errors: [
    ...workspaceErrors,
    errors.eventTypeUnknown,
    errors.cursorInvalid,
    errors.cursorExpired,
    errors.cursorUnknown,
  ],
})

export const eventsStream = streamOperation(
  {
    id: 'events.stream',
    summary: 'Stream the events of a workspace',
    description:
      'Server-sent events, for clients that need each event within about a second. Sends what `events.changes` returns: the ' +
      'events behind `Last-Event-ID` or `after`, and then each new one. `data` is an `Event` as JSON, `id` its cursor, which ' +
      '`events.changes` takes as well. There is no `event` field. The stream ends after an hour, when the process stops, ' +
      'when the key is revoked and when the caller is no longer a member: connect again with `Last-Event-ID`, as ' +
      '`EventSource` does.',
    params: slugParams,
    querystring: closed(feedQuery),
    // Only described: the validator has the names of headers in lower case.
    headers: Type.Object({
      'Last-Event-ID': Type.Optional(
        Type.String({
          description: 'The `id` of the last event that was received. Takes precedence over `after`.',
        }),
      ),
    }),
    returns: 'A stream of events, with a comment every 15 seconds.',
    errors: [
      ...workspaceErrors,
      errors.eventTypeUnknown,
      errors.cursorInvalid,
      errors.cursorExpired,
      errors.cursorUnknown,
      errors.tooManyStreams,
    ],
  },
  { example: `retry: 1500\n\nid: ${exampleFeedCursor}\ndata: ${JSON.stringify(exampleOf(Event))}\n\n:\n\n` },
)

export const eventsGet = operation({
  id: 'events.get',
  summary: 'Read an event',
  description: 'Returns 404 for an event that `events.list` does not show to the caller.',
  params: pathParams('slug', 'eventId'),
  success: ref(Event),
  returns: 'The event.',
  errors: workspaceErrors,
})
