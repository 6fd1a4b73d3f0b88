import { Type, type Static } from '@sinclair/typebox'
import { exampleIds, exampleTime } from '../../http/description/examples.ts'
import { listOperation, operation } from '../../http/description/operation.ts'
import { pageLimitMax } from '../../kernel/pagination.ts'
import {
  closed,
  named,
  nullableString,
  nullableTimestamp,
  ref,
  stringEnum,
  timestamp,
} from '../../kernel/schemas.ts'
import { notificationKinds, unreadCountMax } from '../../domain/notifications.ts'

const Notification = named(
  'Notification',
  {
    id: Type.String({ description: 'The id of the notification.' }),
    kind: stringEnum(notificationKinds, { description: 'What it is about.' }),
    workspaceSlug: Type.String({ description: 'The slug of the workspace that it is from.' }),
    workspaceName: Type.String({ description: 'The name of that workspace.' }),
    seedId: nullableString({ description: 'The id of the seed; null if it is about none.' }),
    seedTitle: nullableString({ description: 'The title of the seed; null if it is about none.' }),
    actorName: Type.String({
      description: 'The name of who did it, at the time; of the service, if nobody did.',
    }),
    agentName: nullableString({
      description: 'The agent that did it for that person; null if no agent did.',
    }),
    text: Type.String({ description: 'What happened, as a sentence. It quotes no comment.' }),
    path: Type.String({ description: 'The path on the website of what it is about.' }),
    createdAt: timestamp('When it happened.'),
    readAt: nullableTimestamp('When the caller read it; null if they have not.'),
  },
  {
    id: exampleIds.event,
    kind: 'mention',
    workspaceSlug: 'acme',
    workspaceName: 'Acme',
    seedId: exampleIds.seed,
    seedTitle: 'Self-service onboarding',
    actorName: 'Grace Hopper',
    agentName: null,
    text: 'Grace Hopper mentioned you in Self-service onboarding',
    path: `/w/acme/seeds/${exampleIds.seed}`,
    createdAt: exampleTime,
    readAt: null,
  },
)
export type Notification = Static<typeof Notification>

const NotificationCount = named(
  'NotificationCount',
  {
    unread: Type.Integer({
      description: `The number of unread notifications. ${unreadCountMax} stands for ${unreadCountMax} or more.`,
    }),
  },
  { unread: 3 },
)

export const notificationsSchemas = [Notification, NotificationCount]

export const notificationsList = listOperation(
  {
    id: 'notifications.list',
    summary: "List the caller's notifications",
    description:
      'Newest first: mentions; comments, evidence and changes of status of seeds that the caller follows; accepted invites; ' +
      'changes of their role; and the access of their agents that others ended, or that ends soon. Nobody is notified of ' +
      'what they did themselves. They are kept for 90 days, and end with the membership. Those about deleted seeds are ' +
      'left out. For a key that is bound to workspaces, of these.',
    returns: 'A page of notifications.',
  },
  {
    item: Notification,
    filters: {
      unread: Type.Optional(
        Type.Boolean({ description: 'Only notifications that the caller has not read, or only those read.' }),
      ),
    },
  },
)

export const notificationsCount = operation({
  id: 'notifications.count',
  summary: "Count the caller's unread notifications",
  description: 'Cheap enough to ask often. For a key that is bound to workspaces, of these.',
  success: ref(NotificationCount),
  returns: 'The number of unread notifications.',
})

export const notificationsMarkRead = operation({
  id: 'notifications.markRead',
  summary: 'Mark notifications as read',
  description:
    "Either `ids`, or `until` for all that happened until a time. Ids that are none of the caller's notifications change " +
    'nothing. Idempotent. With a key that is bound to workspaces, only those of these workspaces.',
  body: {
    ...closed(
      {
        ids: Type.Optional(
          Type.Array(Type.String({ maxLength: 64 }), {
            minItems: 1,
            maxItems: pageLimitMax,
            description: 'The ids of the notifications.',
          }),
        ),
        until: Type.Optional(
          timestamp(
            'The `createdAt` of the newest notification that is to be marked: that one, and all older ones.',
          ),
        ),
      },
      { examples: [{ ids: [exampleIds.event] }] },
    ),
    minProperties: 1,
    maxProperties: 1,
  },
})
