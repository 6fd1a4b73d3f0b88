import type { OwnInvite } from '../../areas/invites/received-invites.service.ts'
import type { ShownNotification } from '../../areas/notifications/notifications.service.ts'
import type { DueSeed, IdleSeed } from '../../areas/workspaces/caller-activity.service.ts'
import { countNews, groupBySeed } from '../../domain/notifications.ts'
import { renderForm } from '../components/forms.ts'
import { html, type Content, type Html } from '../components/html.ts'
import { renderTime } from '../components/words.ts'
import type { WorkspaceVisit } from '../plugins/workspace-visit.ts'
import { renderDue, renderSilent, renderStatus } from '../seeds/seed-status.views.ts'
import { inboxPath, linkFromInbox, renderMark, renderNotification } from '../views/notification.views.ts'

/** What waits for a person on the home of a workspace. */
export interface ToDo {
  /** Unread, of this workspace, newest first. */
  notifications: ShownNotification[]
  hasMoreNotifications: boolean
  /** The invites of the person to other workspaces. */
  invited: OwnInvite[]
  dueSeeds: DueSeed[]
  idleSeeds: IdleSeed[]
}

/** What waits for a person, first what is about them: notifications, invites, seeds that changed, and those
 * that are due or idle. */
export function renderToDo({ base, request }: WorkspaceVisit, toDo: ToDo): Content {
  const { notifications, hasMoreNotifications, invited, dueSeeds, idleSeeds } = toDo
  // Mentions are about the person.
  const isDirect = ({ kind, seedId }: ShownNotification) => kind === 'mention' || seedId === null
  const direct = notifications.filter(isDirect)
  const changed = groupBySeed(notifications.filter((notification) => !isDirect(notification)))
  const rows = [
    ...direct.map((notification) => renderNotification(notification)),
    ...invited.map(renderInvite),
    ...changed.map((news) => renderChanged(base, news)),
    ...dueSeeds.map((seed) => renderDueSeed(base, seed)),
    ...idleSeeds
      .filter(({ id }) => !dueSeeds.some((seed) => seed.id === id))
      .map((seed) => renderIdle(base, seed)),
  ]
  if (rows.length === 0) return false
  return html`<section aria-labelledby="waiting">
    <h2 id="waiting">Waiting for you</h2>
    ${renderForm({
      request,
      action: `${inboxPath}/read`,
      className: 'inbox',
      body: html`<ul class="rows">
        ${rows}
      </ul>`,
    })}
    ${hasMoreNotifications && html`<p><a href="${inboxPath}?unread=true">All unread notifications</a></p>`}
  </section>`
}

/** A seed that changed: a link, whose page marks what is new as read. */
function renderChanged(base: string, news: [ShownNotification, ...ShownNotification[]]): Html {
  const [latest] = news
  const ids = news.map(({ id }) => id)
  return html`<li class="unread">
    <a class="title" href="${linkFromInbox(`${base}/seeds/${latest.seedId}`, ids)}">
      <span class="visually-hidden">Unread: </span><bdi>${latest.seedTitle}</bdi>
    </a>
    <span class="hint">${countNews(news)}, ${renderTime(latest.createdAt)}</span>
    ${renderMark(true, ids, latest.seedTitle ?? '')}
  </li>`
}

function renderInvite({ workspaceName, invitedByName, expiresAt }: OwnInvite): Html {
  return html`<li>
    <a class="title" href="/onboarding#invites"
      ><bdi>${invitedByName}</bdi> invited you to <bdi>${workspaceName}</bdi></a
    >
    <span class="hint">Until ${renderTime(expiresAt)}</span>
  </li>`
}

function renderDueSeed(base: string, { id, title, status, decideBy, due }: DueSeed): Html {
  return html`<li>
    <a class="title" href="${base}/seeds/${id}"><bdi>${title}</bdi></a>
    <span class="hint">${renderStatus(status)} ${renderDue(decideBy, due)}</span>
  </li>`
}

function renderIdle(base: string, { id, title, status, idleSince, hasEvidence, isSilent }: IdleSeed): Html {
  return html`<li>
    <a class="title" href="${base}/seeds/${id}"><bdi>${title}</bdi></a>
    <span class="hint"
      >${renderStatus(status)} ${isSilent && renderSilent()}
      ${hasEvidence ? html`Last evidence ${renderTime(idleSince)}` : html`No evidence yet, created ${renderTime(idleSince)}`}</span
    >
  </li>`
}
