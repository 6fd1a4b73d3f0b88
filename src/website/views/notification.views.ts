import type { Notification } from '../../areas/notifications/notifications.service.ts'
import { html, type Html } from '../components/html.ts'
import { renderTime } from '../components/words.ts'
import { renderAgent } from './author.views.ts'

/** The page of all notifications. */
export const inboxPath = '/notifications'

/** A notification in a list: a button of the form around the list, which opens it. */
export function renderNotification({
  id,
  text,
  agentName,
  workspaceName,
  createdAt,
  readAt,
}: Notification): Html {
  const isUnread = readAt === null
  return html`<li ${isUnread && html`class="unread"`}>
    <button class="title" formaction="${inboxPath}/${id}/open">
      ${isUnread && html`<span class="visually-hidden">Unread: </span>`}<bdi>${text}</bdi>
    </button>
    <span class="hint"
      >${agentName !== null && html`${renderAgent(undefined)} `}<bdi>${workspaceName}</bdi>,
      ${renderTime(createdAt)}</span
    >
  </li>`
}
