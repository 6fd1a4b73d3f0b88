import type { ShownNotification } from '../../areas/notifications/notifications.service.ts'
import { html, type Html } from '../components/html.ts'
import { excerptOf } from '../components/markdown.ts'
import { renderTime } from '../components/words.ts'
import { renderActorFace, renderAgent } from './author.views.ts'

/** The page of all notifications. */
export const inboxPath = '/notifications'

/** The most notifications that a link names: their ids are in its URL. */
const namedMax = 50

/**
 * The URL of a page from the inbox. public/site.js marks the notifications that it names as read, once the page is
 * visible: a GET changes nothing, since browsers fetch links before they are followed.
 */
export function linkFromInbox(path: string, ids: readonly string[]): string {
  const [page = '', hash] = path.split('#')
  const query = `${page.includes('?') ? '&' : '?'}notifications=${ids.slice(0, namedMax).join('.')}`
  return `${page}${query}${hash === undefined ? '' : `#${hash}`}`
}

/**
 * A notification in a list, inside of the form `.inbox`, which marks it as read or unread. With `isBelowTitle`, it does not
 * repeat the seed that it is about, nor the workspace.
 */
export function renderNotification(
  notification: ShownNotification,
  { isBelowTitle = false }: { isBelowTitle?: boolean } = {},
): Html {
  const {
    id,
    kind,
    path,
    agentName,
    workspaceName,
    workspaceSlug,
    seedId,
    seedTitle,
    createdAt,
    readAt,
    actorUserId,
    actorName,
    actorPicture,
    written,
  } = notification
  const isUnread = readAt === null
  const text = isBelowTitle ? notification.textBelowTitle : notification.text
  return html`<li class="told ${isUnread && 'unread'}">
    ${renderActorFace({ id: actorUserId, name: actorName, image: actorPicture }, agentName)}
    <div>
      <a class="title" href="${isUnread ? linkFromInbox(path, [id]) : path}">
        ${isUnread && html`<span class="visually-hidden">Unread: </span>`}<bdi>${text}</bdi>
      </a>
      ${written !== null && html`<p class="hint clip"><bdi>${excerptOf(written)}</bdi></p>`}
      <span class="hint"
        >${agentName !== null && html`${renderAgent(undefined)} `}${
          !isBelowTitle && html`<bdi>${workspaceName}</bdi>, `
        }${renderTime(createdAt)}</span
      >
      ${
        kind === 'asked_to_join' &&
        html`<button class="small quiet" formaction="/w/${workspaceSlug}/seeds/${seedId}/join">
          Join<span class="visually-hidden">: <bdi>${seedTitle}</bdi></span>
        </button>`
      }
      ${kind === 'keys_known' && html`<a class="button small quiet" href="${path}">Rotate</a>`}
      ${renderMark(isUnread, [id], notification.text)}
    </div>
  </li>`
}

/** The button that marks notifications as read, or one as unread. `of` tells it from the others to who hears it. */
export function renderMark(isUnread: boolean, ids: readonly string[], of: string): Html {
  const action = isUnread ? 'read' : 'unread'
  return html`<button class="mark" name="ids" value="${ids.join(' ')}" formaction="${inboxPath}/${action}">
    Mark as ${action}<span class="visually-hidden">: <bdi>${of}</bdi></span>
  </button>`
}
