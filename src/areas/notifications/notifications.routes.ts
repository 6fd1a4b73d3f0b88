import type { App } from '../../http/app-types.ts'
import { toOk } from '../../http/requests/idempotency.ts'
import {
  notificationsCount,
  notificationsList,
  notificationsMarkRead,
  notificationsMarkUnread,
  notificationsPreferences,
  notificationsUpdatePreferences,
} from './notifications.schemas.ts'
import { versionOfNotificationPreferences, type NotificationsService } from './notifications.service.ts'

// A key that is bound to workspaces gets only their notifications.
const config = { forBoundKeys: true }

export function notificationsRoutes(app: App, notifications: NotificationsService): void {
  app.get('/v1/me/notifications', { schema: notificationsList, config }, ({ principal, query }, reply) =>
    reply.sendPage(notifications.list(principal, query)),
  )

  app.get('/v1/me/notifications/count', { schema: notificationsCount, config }, async ({ principal }) => ({
    unread: await notifications.count(principal),
  }))

  app.post('/v1/me/notifications/read', { schema: notificationsMarkRead, config }, async ({ body }, reply) =>
    reply.answerChange((principal) => notifications.markRead(principal, body), toOk),
  )

  app.post(
    '/v1/me/notifications/unread',
    { schema: notificationsMarkUnread, config },
    async ({ body }, reply) =>
      reply.answerChange((principal) => notifications.markUnread(principal, body), toOk),
  )

  // Of the person, so not for keys that are bound to workspaces, as `me.preferences`.
  app.get(
    '/v1/me/notifications/preferences',
    { schema: notificationsPreferences, config: { forKeysBelowOwner: true, isVersioned: true } },
    ({ principal }, reply) =>
      reply.sendVersioned(notifications.preferences(principal), versionOfNotificationPreferences),
  )

  app.patch(
    '/v1/me/notifications/preferences',
    { schema: notificationsUpdatePreferences, config: { isVersioned: true } },
    ({ principal, body }) => notifications.updatePreferences(principal, body).then(toOk),
  )
}
