import type { Changes } from '../../access/change.ts'
import type { Database } from '../../db/client.ts'
import type { Clock } from '../../kernel/clock.ts'
import { errors } from '../../kernel/errors.ts'
import { isId } from '../../kernel/ids.ts'
import { parseJson, type Json } from '../../kernel/json-text.ts'
import { describeNotification } from '../../domain/notifications.ts'
import { readPage, rowsOf, type JsonRows, type Page, type PageRequest } from '../../kernel/pagination.ts'
import type { Principal } from '../../domain/principal.ts'
import { parseTime } from '../../kernel/times.ts'
import {
  countUnread,
  findNotification,
  listNotifications,
  markRead,
  markReadUntil,
  type InboxOfCaller,
  type NotificationRow,
} from './notifications.repository.ts'
import type { Notification } from './notifications.schemas.ts'
import { setWorkspaceActivity, findWorkspaceActivity } from './recipients.repository.ts'
import type { UnsubscribeLinks } from './unsubscribe-links.ts'

export type { Notification }

/** What is marked as read: some notifications, or all until a time. */
export interface ReadInput {
  ids?: string[]
  /** RFC 3339. */
  until?: string
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
  /** The number of the caller's unread notifications, up to `unreadCountMax`. */
  count(principal: Principal): Promise<number>
  /** Idempotent. Ids that are none of the caller's notifications change nothing. */
  markRead(principal: Principal, input: ReadInput): Promise<void>
  /** Marks a notification of the caller as read. Returns the path of what it is about. Throws `not_found`. */
  open(principal: Principal, id: string): Promise<string>
  /**
   * Whether the person of an unsubscribe link gets mails about their workspaces; undefined for a link that is invalid, or
   * of a person who has been deleted.
   */
  isSubscribed(token: string): Promise<boolean | undefined>
  /** Turns off these mails for the person of an unsubscribe link. Idempotent. Throws `not_found`. */
  unsubscribe(token: string): Promise<void>
}

export interface NotificationsServiceOptions {
  db: Database
  clock: Clock
  changes: Changes
  links: UnsubscribeLinks
}

export function createNotificationsService(options: NotificationsServiceOptions): NotificationsService {
  const { db, clock, changes, links } = options
  return {
    async list(principal, { unread, workspaceId, ...page }) {
      const inbox = inboxOf(principal, workspaceId)
      return readPage<Notification>(page, {
        listId: `notifications.list ${inbox.userId} ${JSON.stringify([unread, inbox.workspaceIds])}`,
        order: 'newestFirst',
        read: async (range) => withTexts(await listNotifications(db, { ...inbox, unread, ...range })),
        positionOf: ({ createdAt, id }) => ({ at: createdAt, id }),
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

    async open(principal, id) {
      const inbox = inboxOf(principal)
      const found = isId(id) ? await findNotification(db, inbox, id) : undefined
      if (!found) throw errors.notFound()
      await markRead(db, inbox, { ids: [id], now: clock.now() })
      return describeNotification(found).path
    },

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

/** The inbox of a caller, or what is in it of one workspace. */
function inboxOf({ user, restrictions }: Principal, workspaceId?: string): InboxOfCaller {
  const reached = restrictions?.workspaceIds ?? null
  if (workspaceId === undefined) return { userId: user.id, workspaceIds: reached }
  return { userId: user.id, workspaceIds: [workspaceId].filter((id) => reached?.includes(id) ?? true) }
}

/** The items of a list: rows with the text and the path that are made of them. */
function withTexts({ text, count }: JsonRows): JsonRows {
  const items = rowsOf(text).map((row) =>
    JSON.stringify(toNotification(parseJson(row as Json<NotificationRow>))),
  )
  return { text: items.join(',\n'), count }
}

function toNotification(row: NotificationRow): Notification {
  const {
    id,
    kind,
    workspaceSlug,
    workspaceName,
    seedId,
    seedTitle,
    actorName,
    agentName,
    createdAt,
    readAt,
  } = row
  return {
    id,
    kind,
    workspaceSlug,
    workspaceName,
    seedId,
    seedTitle,
    actorName,
    agentName,
    ...describeNotification(row),
    createdAt,
    readAt,
  }
}
