import type { OwnInvite } from '../../areas/invites/received-invites.service.ts'
import type { Notification } from '../../areas/notifications/notifications.service.ts'
import type { IdleSeed } from '../../areas/workspaces/ownership/own-work.service.ts'
import type { NotificationKind } from '../../domain/notifications.ts'
import { renderForm } from '../components/forms.ts'
import { html, type Content, type Html } from '../components/html.ts'
import { countOf, renderTime } from '../components/words.ts'
import type { WorkspaceVisit } from '../plugins/workspace-visit.ts'
import { renderStatus } from '../seeds/seed-status.views.ts'
import { inboxPath, renderNotification } from '../views/notification.views.ts'

/** What waits for a person on the home of a workspace. */
export interface Waiting {
  /** Unread, of this workspace, newest first. */
  notifications: Notification[]
  hasMoreNotifications: boolean
  /** The invites of the person to other workspaces. */
  invited: OwnInvite[]
  idleSeeds: IdleSeed[]
}

/** What is new in a seed that the person follows: notifications of it, newest first. */
interface ChangedSeed {
  seedId: string
  news: [Notification, ...Notification[]]
}

/** What waits for a person, first what is about them: notifications, invites, seeds that changed, and idle seeds. */
export function renderWaiting({ base, request }: WorkspaceVisit, waiting: Waiting): Content {
  const { notifications, hasMoreNotifications, invited, idleSeeds } = waiting
  const { direct, changed } = groupNotifications(notifications)
  const rows = [
    ...direct.map(renderNotification),
    ...invited.map(renderInvite),
    ...changed.map((seed) => renderChanged(base, seed)),
    ...idleSeeds.map((seed) => renderIdle(base, seed)),
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

/** The notifications of each seed together, except mentions, which are about the person. */
function groupNotifications(notifications: readonly Notification[]): {
  direct: Notification[]
  changed: ChangedSeed[]
} {
  const direct: Notification[] = []
  const changed = new Map<string, ChangedSeed>()
  for (const notification of notifications) {
    const { kind, seedId } = notification
    const known = changed.get(seedId ?? '')
    if (kind === 'mention' || seedId === null) direct.push(notification)
    else if (known) known.news.push(notification)
    else changed.set(seedId, { seedId, news: [notification] })
  }
  return { direct, changed: [...changed.values()] }
}

const newsWords: Partial<Record<NotificationKind, [one: string, many: string]>> = {
  comment: ['new comment', 'new comments'],
  evidence: ['new piece of evidence', 'new pieces of evidence'],
  status: ['change of status', 'changes of status'],
}

const list = new Intl.ListFormat('en-GB')

/** A seed that changed: a button, which opens it and marks what is new as read. */
function renderChanged(base: string, { seedId, news }: ChangedSeed): Html {
  const [latest] = news
  const counts = Object.entries(newsWords).flatMap(([kind, [one, many]]) => {
    const count = news.filter((one) => one.kind === kind).length
    return count === 0 ? [] : [countOf(count, one, many)]
  })
  const ids = news.map(({ id }) => id).join(' ')
  return html`<li class="unread">
    <button class="title" name="ids" value="${ids}" formaction="${base}/waiting/${seedId}">
      <span class="visually-hidden">Unread: </span><bdi>${latest.seedTitle}</bdi>
    </button>
    <span class="hint">${list.format(counts)}, ${renderTime(latest.createdAt)}</span>
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

function renderIdle(base: string, { id, title, status, idleSince, hasEvidence }: IdleSeed): Html {
  return html`<li>
    <a class="title" href="${base}/seeds/${id}"><bdi>${title}</bdi></a>
    <span class="hint"
      >${renderStatus(status)}
      ${hasEvidence ? html`Last evidence ${renderTime(idleSince)}` : html`No evidence yet, created ${renderTime(idleSince)}`}</span
    >
  </li>`
}
