import { Type, type Static } from '@sinclair/typebox'
import { exampleFeedCursor, exampleIds, exampleTime } from '../../http/description/examples.ts'
import { listOperation, operation, pathParams, slugParams } from '../../http/description/operation.ts'
import {
  closed,
  exampleOf,
  named,
  nullableString,
  nullableTimestamp,
  ok,
  optionalLines,
  ref,
  stringEnum,
  timestamp,
  timestampOptions,
  nullableEnum,
} from '../../kernel/schemas.ts'
import { errors, workspaceErrors } from '../../kernel/errors.ts'
import {
  deliveryErrors,
  deliveryStatuses,
  webhookDescriptionLengthMax,
  webhookDisabledReasons,
  webhookFormats,
  webhookPauseReasons,
  webhookScopeMax,
  webhookStatuses,
  webhookUrlLengthMax,
  type DeliveryError,
  type WebhookDisabledReason,
  type WebhookFormat,
  type WebhookPauseReason,
} from '../../domain/webhooks.ts'
import { Event } from '../events/events.schemas.ts'

const exampleSecret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo='

const lastError = nullableEnum<DeliveryError>(
  deliveryErrors,
  'Why the last attempt failed: no connection (`refused`), no answer within 15 seconds, no valid certificate, an answer ' +
    'other than 2xx, or a secret that the service cannot read any more.',
)
const lastStatus = Type.Unsafe<number | null>({
  type: ['integer', 'null'],
  description: 'The status of the last answer.',
})

const Webhook = named(
  'Webhook',
  {
    id: Type.String({ description: 'The id of the webhook.' }),
    url: Type.String({ description: 'The URL that events are sent to.' }),
    description: nullableString({
      description: 'What the webhook is for, in words. Null: it has no description.',
    }),
    format: nullableEnum<WebhookFormat>(
      webhookFormats,
      'The chat that it sends messages to (`/docs/guides/webhooks`). Null: it sends events.',
    ),
    types: Type.Array(Type.String(), {
      description:
        'The types of events that it gets; empty: all, or with a format those that everybody in the workspace may see.',
    }),
    seedIds: Type.Array(Type.String(), {
      description:
        'The seeds whose events it gets; empty: all events, also those about no seed. When one is merged, the seed that it is ' +
        'merged into is added.',
    }),
    teamIds: Type.Array(Type.String(), {
      description:
        'The teams of whose seeds it gets the events; empty: as `seedIds`. A deleted one has none.',
    }),
    labelIds: Type.Array(Type.String(), {
      description:
        'The labels of which one is enough for a seed whose events it gets; empty: as `seedIds`. No seed has a deleted one.',
    }),
    status: stringEnum(webhookStatuses, {
      description: '`disabled`: nothing is sent, and `disabledReason` says why.',
    }),
    disabledReason: nullableEnum<WebhookDisabledReason>(
      webhookDisabledReasons,
      'Why it is disabled: by a person (`manual`), because its receiver answered 410 (`gone`), or because nothing could be ' +
        'delivered for three days (`failing`).',
    ),
    createdAt: timestamp('When the webhook was added.'),
    lastDeliveryAt: nullableTimestamp('When an event was last delivered. Null: never.'),
    lastFailureAt: nullableTimestamp('When an attempt last failed. Null: never.'),
    failingSince: nullableTimestamp(
      'When the first attempt since the last delivery failed. Null: none has failed since.',
    ),
    pausedUntil: nullableTimestamp('Nothing is sent until then. Null: it is not paused, or disabled.'),
    pauseReason: nullableEnum<WebhookPauseReason>(
      webhookPauseReasons,
      'Why it is paused: because the receiver sent `Retry-After`, or because it answered 429, 502 or 504 (`overloaded`).',
    ),
    secretCreatedAt: timestamp('When its secret was made.'),
    formerSecretsUntil: Type.Array(timestamp('A time.'), {
      description: 'Until when each former secret signs requests too, the last one first.',
    }),
  },
  {
    id: exampleIds.webhook,
    url: 'https://hooks.example.com/workspace',
    description: 'Announces new evidence',
    format: null,
    types: ['evidence.added'],
    seedIds: [],
    teamIds: [],
    labelIds: [],
    status: 'active',
    disabledReason: null,
    createdAt: exampleTime,
    lastDeliveryAt: null,
    lastFailureAt: null,
    failingSince: null,
    pausedUntil: null,
    pauseReason: null,
    secretCreatedAt: exampleTime,
    formerSecretsUntil: [],
  },
  'A webhook of a workspace.',
)
export type Webhook = Static<typeof Webhook>

const secret = Type.String({
  description: 'The secret that signs requests (Standard Webhooks). It is returned only here.',
})

const WebhookCreation = named(
  'WebhookCreation',
  { ok, webhook: ref(Webhook), secret },
  { ok: true, webhook: exampleOf(Webhook), secret: exampleSecret },
)

const WebhookRotation = named('WebhookRotation', { ok, secret }, { ok: true, secret: exampleSecret })

const WebhookTest = named(
  'WebhookTest',
  {
    ok,
    delivered: Type.Boolean({ description: 'Whether the receiver answered 2xx.' }),
    status: lastStatus,
    error: lastError,
  },
  { ok: true, delivered: true, status: 204, error: null },
)
export type WebhookTest = Omit<Static<typeof WebhookTest>, 'ok'>

const WebhookDelivery = named(
  'WebhookDelivery',
  {
    id: Type.String({ description: 'The header `webhook-id` of all its attempts.' }),
    eventId: Type.String({ description: 'The id of the event.' }),
    type: Type.String({ description: 'The type of the event.' }),
    status: stringEnum(deliveryStatuses, {
      description:
        '`pending`: an attempt is due. `delivered`: the receiver answered 2xx. `failed`: there are no more attempts.',
    }),
    attempts: Type.Integer({ description: 'The attempts so far.' }),
    lastStatus,
    lastError,
    nextAttemptAt: nullableTimestamp(
      'When the next attempt is due: not before the end of a pause. Null unless the delivery is pending.',
    ),
    createdAt: timestamp('When the event happened.'),
    deliveredAt: nullableTimestamp('When the receiver answered 2xx. Null: not yet.'),
  },
  {
    id: exampleIds.event,
    eventId: exampleIds.event,
    type: 'evidence.added',
    status: 'delivered',
    attempts: 1,
    lastStatus: 204,
    lastError: null,
    nextAttemptAt: null,
    createdAt: exampleTime,
    deliveredAt: exampleTime,
  },
)
export type WebhookDelivery = Static<typeof WebhookDelivery>

const WebhookRedelivery = named(
  'WebhookRedelivery',
  {
    ok,
    deliveries: Type.Integer({ description: 'The number of events.' }),
    keptSince: nullableTimestamp(
      'Since when the events of the workspace are kept, if that is later than `since`: earlier ones are gone. Null: none is.',
    ),
  },
  { ok: true, deliveries: 12, keptSince: null },
)

export const webhooksSchemas = [
  Webhook,
  WebhookCreation,
  WebhookRotation,
  WebhookTest,
  WebhookDelivery,
  WebhookRedelivery,
]

const webhookParams = pathParams('slug', 'webhookId')
const managerErrors = [...workspaceErrors, errors.roleInsufficient]

const url = Type.String({
  minLength: 1,
  maxLength: webhookUrlLengthMax,
  description: 'An https URL without a user name and password.',
})
const description = optionalLines(webhookDescriptionLengthMax)
const format = nullableEnum<WebhookFormat>(
  webhookFormats,
  'The chat that messages are sent to: what has happened since the last one, in sentences with links, at most once a minute ' +
    'and not signed. Null: events (Standard Webhooks).',
)
const types = Type.Array(Type.String({ maxLength: 64, 'x-text': 'query' }), {
  maxItems: 100,
  description:
    'The types of events to send (`/docs/guides/events`); empty: all, or with a format those that everybody in the workspace ' +
    'may see.',
})
const scope = (description: string) =>
  Type.Optional(
    Type.Array(Type.String({ maxLength: 64 }), { maxItems: webhookScopeMax, uniqueItems: true, description }),
  )
const filters = {
  format: Type.Optional(format),
  types: Type.Optional(types),
  seedIds: scope('The seeds whose events are sent; empty: all events.'),
  teamIds: scope(
    'Only events about seeds of these teams, as their team is when the event happens; empty: all events.',
  ),
  labelIds: scope(
    'Only events about seeds with one of these labels when the event happens; empty: all events. An event has to match each ' +
      'of these lists that is not empty.',
  ),
}

export const webhooksList = operation({
  id: 'webhooks.list',
  summary: 'List the webhooks of a workspace',
  description: 'For owners and admins. Oldest first.',
  params: slugParams,
  success: Type.Array(ref(Webhook)),
  returns: 'All webhooks of the workspace.',
  errors: managerErrors,
})

export const webhooksCreate = operation({
  id: 'webhooks.create',
  summary: 'Add a webhook',
  description:
    'For owners and admins. The events of the workspace are sent to the URL, signed with the secret, at least once and in ' +
    'no promised order (Standard Webhooks 1.0); with `format`, messages to a chat. Only this response contains the secret.',
  params: slugParams,
  body: closed(
    { url, ...filters, description: Type.Optional(description) },
    { examples: [{ url: 'https://hooks.example.com/workspace', types: ['evidence.added'] }] },
  ),
  success: ref(WebhookCreation),
  returns: 'The new webhook with its secret.',
  errors: [...managerErrors, errors.webhookUrlInvalid, errors.eventTypeUnknown, errors.webhookLimit],
})

export const webhooksGet = operation({
  id: 'webhooks.get',
  summary: 'Read a webhook',
  description: 'For owners and admins. `lastDeliveryAt` may be ten seconds behind.',
  params: webhookParams,
  success: ref(Webhook),
  returns: 'The webhook.',
  errors: managerErrors,
})

export const webhooksUpdate = operation({
  id: 'webhooks.update',
  summary: 'Change a webhook',
  description:
    'For owners and admins. Fields that are absent stay as they are; an empty `description` removes it. While a webhook is ' +
    'disabled, nothing is sent: pending deliveries wait until it is active again, and new events make none.',
  params: webhookParams,
  body: closed(
    {
      url: Type.Optional(url),
      ...filters,
      description: Type.Optional(description),
      status: Type.Optional(
        stringEnum(webhookStatuses, { description: 'Whether events are sent (`active`) or not.' }),
      ),
    },
    { examples: [{ status: 'active' }] },
  ),
  errors: [...managerErrors, errors.webhookUrlInvalid, errors.eventTypeUnknown],
})

export const webhooksResume = operation({
  id: 'webhooks.resume',
  summary: 'End the pause of a webhook',
  description:
    'For owners and admins. What is due is sent now. Nothing happens if the webhook is not paused. Sending again, and a test ' +
    'that is delivered, end a pause too.',
  params: webhookParams,
  errors: [...managerErrors, errors.webhookDisabled],
})

export const webhooksDelete = operation({
  id: 'webhooks.delete',
  summary: 'Delete a webhook',
  description: 'For owners and admins. Its deliveries are deleted too.',
  params: webhookParams,
  errors: managerErrors,
})

export const webhooksRotateSecret = operation({
  id: 'webhooks.rotateSecret',
  summary: 'Replace the secret of a webhook',
  description:
    'For owners and admins. Requests are signed with the new secret, and with each former one until its overlap ends: three at ' +
    'most. Only this response contains the new one. `If-Match` has the `ETag` of the webhook.',
  params: webhookParams,
  body: closed(
    {
      overlapSeconds: Type.Optional(
        Type.Integer({
          minimum: 0,
          maximum: 604_800,
          default: 86_400,
          description: 'How long the old secret signs too. By default a day. 0 ends all former secrets.',
        }),
      ),
    },
    { examples: [{ overlapSeconds: 3_600 }] },
  ),
  success: ref(WebhookRotation),
  returns: 'The new secret.',
  errors: [...managerErrors, errors.webhookRotated],
})

export const webhooksTest = operation({
  id: 'webhooks.test',
  summary: 'Send a test to a webhook',
  description:
    'For owners and admins. Sends one request of the type `webhook.test`, or a message to a chat, also if the webhook is ' +
    'disabled, and waits up to 15 seconds for the answer.',
  params: webhookParams,
  success: ref(WebhookTest),
  returns: 'What the receiver answered.',
  errors: [...managerErrors, errors.outgoingOff],
})

export const webhooksSample = operation({
  id: 'webhooks.sample',
  summary: 'Send a sample of an event to a webhook',
  description:
    'For owners and admins. Sends one request with an event of this type that has not happened, with the example data of its ' +
    'documentation, also if the webhook is disabled or does not want the type. Its `cursor` is null, and what it names does ' +
    'not exist. Waits up to 15 seconds for the answer.',
  params: webhookParams,
  body: closed(
    {
      type: Type.String({
        maxLength: 64,
        'x-text': 'query',
        description: 'A type of events (`/docs/guides/events`).',
      }),
    },
    { examples: [{ type: 'comment.added' }] },
  ),
  success: ref(WebhookTest),
  returns: 'What the receiver answered.',
  errors: [...managerErrors, errors.eventTypeUnknown, errors.outgoingOff],
})

export const webhooksListDeliveries = listOperation(
  {
    id: 'webhooks.listDeliveries',
    summary: 'List the deliveries of a webhook',
    description: 'For owners and admins. Newest first. Deliveries are kept for 30 days.',
    params: webhookParams,
    returns: 'A page of deliveries.',
    errors: managerErrors,
  },
  {
    item: WebhookDelivery,
    filters: {
      status: Type.Optional(
        stringEnum(deliveryStatuses, { description: 'Only deliveries with this status.' }),
      ),
    },
  },
)

export const webhooksRedeliver = operation({
  id: 'webhooks.redeliver',
  summary: 'Send a delivery again',
  description:
    'For owners and admins. The delivery becomes pending, with ten attempts from now on. `webhook-id` stays the same.',
  params: pathParams('slug', 'webhookId', 'deliveryId'),
  errors: [...managerErrors, errors.webhookDisabled],
})

export const webhooksRedeliverSince = operation({
  id: 'webhooks.redeliverSince',
  summary: 'Send the events since a time again',
  description:
    'For owners and admins. Sends the events since a time that the webhook gets, by the teams and labels that seeds have now: ' +
    'those that were delivered, those that failed, and those of the time while it was disabled. At most 10,000.',
  params: webhookParams,
  body: closed(
    {
      since: Type.String({ ...timestampOptions, description: 'Events at or after this time.' }),
      until: Type.Optional(
        Type.String({ ...timestampOptions, description: 'Events before this time. By default now.' }),
      ),
    },
    { examples: [{ since: exampleTime }] },
  ),
  success: ref(WebhookRedelivery),
  returns: 'How many events are sent again, and whether some are gone.',
  errors: [...managerErrors, errors.webhookDisabled, errors.tooManyDeliveries],
})

const header = (name: string, description: string, schema: object) => ({
  in: 'header',
  name,
  required: true,
  description,
  schema,
})

const closedObject = { type: 'object', additionalProperties: false }

interface Message {
  operationId: string
  summary: string
  description: string
  body: Record<'type' | 'timestamp' | 'data' | 'cursor', object>
  example: object
}

/** A request to a receiver, signed as Standard Webhooks 1.0 has it. */
function request({ operationId, summary, description, body, example }: Message) {
  return {
    post: {
      operationId,
      tags: ['webhooks'],
      // The signature takes the place of a credential.
      security: [],
      summary,
      description,
      parameters: [
        header('webhook-id', 'The id of the event, or of the test: the same in every attempt.', {
          type: 'string',
        }),
        header('webhook-timestamp', 'The time of the attempt, in seconds since 1970.', { type: 'string' }),
        header('webhook-signature', 'A signature by each valid secret, separated by spaces.', {
          type: 'string',
        }),
        header('webhook-endpoint-id', 'The id of the webhook: whose secret signs.', { type: 'string' }),
        header('webhook-workspace-id', 'The id of its workspace.', { type: 'string' }),
      ],
      requestBody: {
        required: true,
        content: {
          'application/json': {
            schema: { ...closedObject, required: Object.keys(body), properties: body },
            example,
          },
        },
      },
      responses: {
        '2XX': { description: 'The event was received.' },
        410: { description: 'No more events are wanted: the webhook is disabled.' },
        default: { description: 'The event is sent again later, up to ten times in all.' },
      },
    },
  }
}

/** The requests to a receiver, as the API description has them (OpenAPI 3.1, `webhooks`). */
export const webhookRequests = {
  event: request({
    operationId: 'webhooks.receive',
    summary: 'Receive an event of the workspace',
    description:
      'Sent to the URL of a webhook, signed as Standard Webhooks 1.0 has it, at least once and in no promised order.',
    body: {
      type: { type: 'string', description: 'The type of the event.' },
      timestamp: { type: 'string', format: 'date-time', description: 'The time of the event.' },
      data: { $ref: '#/components/schemas/Event' },
      cursor: {
        type: ['string', 'null'],
        description:
          'The place of the event in the feed: the `after` of `events.changes`. Null for a sample.',
      },
    },
    example: {
      type: exampleOf(Event).type,
      timestamp: exampleOf(Event).createdAt,
      data: exampleOf(Event),
      cursor: exampleFeedCursor,
    },
  }),
  test: request({
    operationId: 'webhooks.receiveTest',
    summary: 'Receive a test',
    description: 'What `webhooks.test` sends, once.',
    body: {
      type: { type: 'string', const: 'webhook.test' },
      timestamp: { type: 'string', format: 'date-time', description: 'The time of the test.' },
      data: {
        ...closedObject,
        required: ['webhookId', 'workspaceId'],
        properties: {
          webhookId: { type: 'string', description: 'The id of the webhook.' },
          workspaceId: { type: 'string', description: 'The id of its workspace.' },
        },
      },
      cursor: { type: 'null', description: 'A test has no place in the feed.' },
    },
    example: {
      type: 'webhook.test',
      timestamp: exampleTime,
      data: { webhookId: exampleIds.webhook, workspaceId: exampleIds.workspace },
      cursor: null,
    },
  }),
}
