import type { App } from '../../http/app-types.ts'
import { toOk } from '../../http/requests/idempotency.ts'
import { notificationsCount, notificationsList, notificationsMarkRead } from './notifications.schemas.ts'
import type { NotificationsService } from './notifications.service.ts'

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
}
