import type { Changes } from '../../access/change.ts'
import { isAllowed } from '../../access/permissions.ts'
import type { Database } from '../../db/client.ts'
import { toShownBody } from '../../domain/comments.ts'
import { errors } from '../../kernel/errors.ts'
import { isId } from '../../kernel/ids.ts'
import { parseJson, type Json } from '../../kernel/json-text.ts'
import {
  describeNotification,
  managerKinds,
  notificationKinds,
  toldKinds,
  type NotificationPreferences,
} from '../../domain/notifications.ts'
import {
  joinRows,
  noRows,
  readPage,
  rowsOf,
  startOf,
  type JsonRows,
  type Page,
  type PageRange,
  type PageRequest,
} from '../../kernel/pagination.ts'
import { roleWith } from '../../domain/key-restrictions.ts'
import type { ExpectingCall, Principal } from '../../domain/principal.ts'
import { parseTime } from '../../kernel/times.ts'
import { assertExpected, versionOfFields } from '../../kernel/versions.ts'
import {
  countUnread,
  listNotifications,
  listShown,
  markRead,
  markReadUntil,
  markUnread,
  type InboxOfCaller,
  type NotificationRow,
  type ShownNotificationRow,
  type WrittenRow,
} from './notifications.repository.ts'
import { listTold, type ToldRow } from './told.repository.ts'
import type { PictureStore } from '../../pictures/picture-store.ts'
import type { Notification } from './notifications.schemas.ts'
import { findPreferences, updatePreferences } from './preferences.repository.ts'
import { setWorkspaceActivity, findWorkspaceActivity } from './recipients.repository.ts'
import type { UnsubscribeLinks } from './unsubscribe-links.ts'

export type { Notification }

/** What is marked as read: some notifications, or all until a time. */
export interface ReadInput {
  ids?: string[]
  /** RFC 3339. */
  until?: string
}

/** A notification as pages show it. */
export interface ShownNotification extends Notification {
  /** The text below the title of the seed, without that. */
  textBelowTitle: string
  actorUserId: string | null
  /** The URL of the picture of who did it; null without one, and for who is not a member. */
  actorPicture: string | null
  /** The beginning of the comment, or of the summary of the evidence, if it is still there. */
  written: string | null
}

/** What an agent reads of a notification. */
export interface Told extends Pick<Notification, 'id' | 'text' | 'path' | 'createdAt' | 'readAt'> {
  kind: (typeof toldKinds)[number]
  seedId: string
  evidenceId: string | null
  commentId: string | null
  /** The comment, or the summary of the evidence, if it is still there. */
  body: string | null
  /** Of a mention: whether the person has commented since, in the same thread. */
  answered: boolean | null
}

/** The filters of the inbox. */
export interface NotificationsRequest extends PageRequest {
  /** Only those that are unread, or only those that are read. */
  unread?: boolean
  /** Only those of one workspace. */
  workspaceId?: string
}

/** The inbox of people: what they are told of. For a key that is bound to workspaces, only what is from these. */
export interface NotificationsService {
  /** The caller's, newest first. */
  list(principal: Principal, request: NotificationsRequest): Promise<Page<Notification>>
  /** As `list`, as pages show them: all, or only those that are unread. */
  listShown(
    principal: Principal,
    request: Omit<NotificationsRequest, 'unread'> & { isUnreadOnly: boolean },
  ): Promise<Page<ShownNotification>>
  /**
   * What the caller was told of the seeds of the workspaces that they reach, with what was written: those that are unread
   * first, and the newest first. It marks nothing.
   */
  listTold(principal: Principal, request: PageRequest): Promise<Page<Told>>
  /** The number of the caller's unread notifications, up to `unreadCountMax`. */
  count(principal: Principal): Promise<number>
  /** Idempotent. Ids that are none of the caller's notifications change nothing. */
  markRead(principal: Principal, input: ReadInput): Promise<void>
  /** Idempotent. Ids that are none of the caller's notifications change nothing. */
  markUnread(principal: Principal, input: { ids: string[] }): Promise<void>
  /** How the caller is told of what, while they get mails about their workspaces. */
  preferences(principal: Principal): Promise<NotificationPreferences>
  /** Changes the given ones. Throws `precondition_failed`. */
  updatePreferences(principal: ExpectingCall, changed: Partial<NotificationPreferences>): Promise<void>
  /**
   * Whether the person of an unsubscribe link gets mails about their workspaces; undefined for a link that is invalid, or
   * of a person who has been deleted.
   */
  isSubscribed(token: string): Promise<boolean | undefined>
  /** Turns off these mails for the person of an unsubscribe link. Idempotent. Throws `not_found`. */
  unsubscribe(token: string): Promise<void>
}

/** The version of how somebody is told of what. */
export const versionOfNotificationPreferences = (preferences: NotificationPreferences) =>
  versionOfFields(preferences)

export interface NotificationsServiceOptions {
  db: Database
  changes: Changes
  pictures: Pick<PictureStore, 'urlPrefix'>
  links: UnsubscribeLinks
}

export function createNotificationsService(options: NotificationsServiceOptions): NotificationsService {
  const { db, changes, pictures, links } = options
  return {
    async list(principal, { unread, workspaceId, ...page }) {
      const inbox = inboxOf(principal, workspaceId)
      return readPage<Notification>(page, {
        listId: `notifications.list ${inbox.userId} ${JSON.stringify([unread, inbox.workspaceIds])}`,
        order: 'newestFirst',
        read: async (range) =>
          withTexts(await listNotifications(db, { ...inbox, unread, ...range }), toNotification),
        positionOf: ({ createdAt, id }) => ({ at: createdAt, id }),
      })
    },

    async listShown(principal, { isUnreadOnly, workspaceId, ...page }) {
      const inbox = inboxOf(principal, workspaceId)
      const values = { ...inbox, isUnreadOnly, pictureUrlPrefix: pictures.urlPrefix }
      return readPage<ShownNotification>(page, {
        listId: `inbox ${inbox.userId} ${JSON.stringify([isUnreadOnly, inbox.workspaceIds])}`,
        order: 'newestFirst',
        read: async (range) => withTexts(await listShown(db, { ...values, ...range }), toShown),
        positionOf: ({ createdAt, id }) => ({ at: createdAt, id }),
      })
    },

    async listTold(principal, page) {
      const inbox = { ...inboxOf(principal), kinds: toldKinds }
      const readSome = async (isUnread: boolean, range: PageRange) =>
        withTexts(await listTold(db, { ...inbox, isUnread, ...range }), toTold)
      return readPage<Told, 'unread' | 'read'>(page, {
        listId: `notifications.listTold ${inbox.userId} ${JSON.stringify(inbox.workspaceIds)}`,
        order: 'newestFirst',
        parts: ['unread', 'read'],
        async read(range, part) {
          const unread = part === 'unread' ? await readSome(true, range) : noRows
          const left = range.limit - unread.count
          if (left === 0) return unread
          const start = part === 'read' ? range : startOf.newestFirst
          return joinRows([unread, await readSome(false, { ...start, limit: left })])
        },
        positionOf: ({ createdAt, id, readAt }) => ({
          part: readAt === null ? 'unread' : 'read',
          at: createdAt,
          id,
        }),
      })
    },

    count: (principal) => countUnread(db, inboxOf(principal)),

    async markRead(principal, { ids, until }) {
      const inbox = inboxOf(principal)
      await changes.makeAtOnce(principal, (executor, now) =>
        until === undefined
          ? markRead(executor, inbox, { ids: (ids ?? []).filter(isId), now })
          : markReadUntil(executor, inbox, { until: parseTime(until), now }),
      )
    },

    async markUnread(principal, { ids }) {
      const inbox = inboxOf(principal)
      await changes.makeAtOnce(principal, (executor) => markUnread(executor, inbox, ids.filter(isId)))
    },

    async preferences({ user }) {
      const preferences = await findPreferences(db, user.id)
      // The user was deleted after the credential was read.
      if (!preferences) throw errors.notFound()
      return preferences
    },

    updatePreferences: (principal, changed) =>
      changes.make(principal, async ({ tx, write }) => {
        const { id } = principal.user
        const before = await findPreferences(tx, id, { isLocked: true })
        if (before) {
          assertExpected(principal, versionOfNotificationPreferences(before))
          principal.onVersion?.(versionOfNotificationPreferences({ ...before, ...changed }))
        }
        write((executor) => updatePreferences(executor, id, changed))
      }),

    async isSubscribed(token) {
      const userId = links.userOf(token)
      return userId === undefined ? undefined : findWorkspaceActivity(db, userId)
    },

    async unsubscribe(token) {
      const userId = links.userOf(token)
      if (userId === undefined || !(await setWorkspaceActivity(db, userId, false))) throw errors.notFound()
    },
  }
}

/** What is told to people of every role. */
const kindsOfAll = notificationKinds.filter((kind) => !managerKinds.includes(kind))

/** The inbox of a caller, or what is in it of one workspace. An agent's is that of its workspace, with what it is told. */
function inboxOf(
  { user, restrictions, grantId, onlyWorkspaceId }: Principal,
  workspaceId?: string,
): InboxOfCaller {
  if (grantId !== null)
    return {
      userId: user.id,
      kinds: toldKinds,
      workspaceIds: onlyWorkspaceId === undefined ? [] : [onlyWorkspaceId],
    }
  const reached = restrictions?.workspaceIds ?? null
  const isManager = isAllowed(roleWith(restrictions, 'owner'), 'members.updateRole')
  const kinds = isManager ? notificationKinds : kindsOfAll
  const inbox = { userId: user.id, kinds }
  if (workspaceId === undefined) return { ...inbox, workspaceIds: reached }
  return { ...inbox, workspaceIds: [workspaceId].filter((id) => reached?.includes(id) ?? true) }
}

/** The items of a list: rows with the text and the path that are made of them. */
function withTexts(
  { text, count }: JsonRows,
  show:
    | ((row: NotificationRow) => Notification)
    | ((row: ShownNotificationRow) => ShownNotification)
    | ((row: ToldRow) => Told),
): JsonRows {
  const items = rowsOf(text).map((row) =>
    JSON.stringify(show(parseJson(row as Json<ShownNotificationRow & ToldRow>))),
  )
  return { text: items.join(',\n'), count }
}

function toNotification(row: NotificationRow): Notification {
  const { id, kind, workspaceSlug, workspaceName, seedId, seedTitle } = row
  const { actorName, agentName, createdAt, readAt } = row
  const { text, path } = describeNotification(row)
  return {
    ...{ id, kind, workspaceSlug, workspaceName, seedId, seedTitle, actorName, agentName },
    ...{ text, path, createdAt, readAt },
  }
}

function toTold(row: ToldRow): Told {
  const { id, kind, seedId, evidenceId, commentId, answered, createdAt, readAt } = row
  const { text, path } = describeNotification(row)
  return {
    id,
    kind,
    text,
    path,
    seedId,
    evidenceId,
    commentId,
    body: toWritten(row),
    answered,
    createdAt,
    readAt,
  }
}

function toShown(row: ShownNotificationRow): ShownNotification {
  const { actorUserId, actorPicture } = row
  const { textBelowTitle } = describeNotification(row)
  return { ...toNotification(row), textBelowTitle, actorUserId, actorPicture, written: toWritten(row) }
}

/** What was written, with the names that people have now. */
function toWritten({ body, mentions, summary }: WrittenRow): string | null {
  if (body === null) return summary
  return toShownBody(body, new Map(mentions.map(({ userId, name }) => [userId, name])))
}
