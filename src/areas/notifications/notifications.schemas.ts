import { Type, type Static } from '@sinclair/typebox'
import { exampleIds, exampleTime } from '../../http/description/examples.ts'
import { listOperation, operation } from '../../http/description/operation.ts'
import { errors } from '../../kernel/errors.ts'
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
import {
  notificationKinds,
  noticeChoices,
  personalChoices,
  unreadCountMax,
} from '../../domain/notifications.ts'

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

const preferenceFields = {
  mentions: stringEnum(personalChoices, { description: 'A comment mentions the caller.' }),
  digest: Type.Boolean({
    description:
      'Whether to send a mail a day about what the caller has not read and no other mail was about: comments, evidence ' +
      'and changes of status of seeds that they follow.',
  }),
  roleChanges: stringEnum(personalChoices, { description: "The caller's role in a workspace was changed." }),
  acceptedInvites: stringEnum(noticeChoices, {
    description: "People accepted the caller's invites. One mail an hour at most.",
  }),
  agents: stringEnum(noticeChoices, {
    description:
      "The access of the caller's agents was revoked by others, or ends soon. What is about security is always told.",
  }),
  agentRequests: stringEnum(noticeChoices, {
    description: "Others ask the caller's agents in comments. With `mail`, they are in the daily mail.",
  }),
  decisions: stringEnum(noticeChoices, {
    description: 'A seed that the caller leads or follows is to be decided within three days.',
  }),
}
const examplePreferences = {
  mentions: 'mail',
  digest: true,
  roleChanges: 'mail',
  acceptedInvites: 'inbox',
  agents: 'mail',
  agentRequests: 'inbox',
  decisions: 'mail',
} as const

const NotificationPreferences = named('NotificationPreferences', preferenceFields, examplePreferences)

export const notificationsSchemas = [Notification, NotificationCount, NotificationPreferences]

export const notificationsList = listOperation(
  {
    id: 'notifications.list',
    summary: "List the caller's notifications",
    description:
      'Newest first: mentions; requests to join seeds; comments, evidence and changes of status of seeds that the caller follows; accepted invites; ' +
      'changes of their role; reminders that seeds which they lead or follow are to be decided within three days; what others ask their agents, and what became of what they asked agents; and the access of their agents that others ended, or that ends soon. Nobody is notified of ' +
      'what they did themselves. They are kept for 90 days, and end with the membership. Those about deleted seeds are ' +
      'left out. A key that is bound to workspaces gets only those of its workspaces.',
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
  description:
    'Suitable for frequent polling. A key that is bound to workspaces counts only those of its workspaces.',
  success: ref(NotificationCount),
  returns: 'The number of unread notifications.',
})

const ids = Type.Array(Type.String({ maxLength: 64 }), {
  minItems: 1,
  maxItems: pageLimitMax,
  description: 'The ids of the notifications.',
})

/** What is marked as read: one of these. */
export const readFields = {
  ids,
  until: timestamp(
    'The `createdAt` of the newest notification that is to be marked: that one, and all older ones.',
  ),
}

export const notificationsMarkRead = operation({
  id: 'notifications.markRead',
  summary: 'Mark notifications as read',
  description:
    "Either `ids`, or `until` for all that happened until a time. Ids that are none of the caller's notifications change " +
    'nothing. Idempotent. A key that is bound to workspaces changes only notifications of its workspaces.',
  body: {
    ...closed(
      {
        ids: Type.Optional(readFields.ids),
        until: Type.Optional(readFields.until),
      },
      { examples: [{ ids: [exampleIds.event] }] },
    ),
    minProperties: 1,
    maxProperties: 1,
  },
})

export const notificationsMarkUnread = operation({
  id: 'notifications.markUnread',
  summary: 'Mark notifications as unread',
  description:
    "Ids that are none of the caller's notifications change nothing. Idempotent. A key that is bound to workspaces " +
    'changes only notifications of its workspaces.',
  body: closed({ ids }, { examples: [{ ids: [exampleIds.event] }] }),
})

export const notificationsPreferences = operation({
  id: 'notifications.preferences',
  summary: 'Read how the caller is notified of what',
  description:
    '`mail`: in the inbox and by mail. `inbox`: without a mail. `off`: not at all. No mail is sent while ' +
    '`workspaceActivity` of `me.preferences` is off.',
  success: ref(NotificationPreferences),
  returns: 'The preferences of the caller.',
  errors: [errors.notFound],
})

export const notificationsUpdatePreferences = operation({
  id: 'notifications.updatePreferences',
  summary: 'Change how the caller is notified of what',
  description:
    'Any of the fields; the others stay as they are. What was notified before is not notified again. Security notices ' +
    'cannot be turned off.',
  body: {
    ...closed(Type.Partial(Type.Object(preferenceFields)).properties, {
      examples: [{ acceptedInvites: 'inbox' }],
    }),
    minProperties: 1,
  },
})
