import type { FastifyRequest } from 'fastify'
import type { ShownNotification } from '../../areas/notifications/notifications.service.ts'
import type { App } from '../../http/app-types.ts'
import { countNews, groupBySeed } from '../../domain/notifications.ts'
import { errors } from '../../kernel/errors.ts'
import { parseJson } from '../../kernel/json-text.ts'
import type { Services } from '../../services/services.ts'
import { answerForm } from '../plugins/answer-form.ts'
import { renderForm } from '../components/forms.ts'
import { html, type Html } from '../components/html.ts'
import { readQuery } from '../components/lists.ts'
import { notice, renderDone } from '../components/notice.ts'
import { readListView, renderNotices, renderPager, resetNotice, type ListView } from '../components/pager.ts'
import { form, readField } from '../components/sent-form.ts'
import type { Page } from '../plugins/pages.ts'
import { findNewest, watchInbox } from './inbox-changes.ts'
import { inboxPath, linkFromInbox, renderMark, renderNotification } from '../views/notification.views.ts'

const path = inboxPath
const perPage = 30

/** What a person is told of, and the number that public/site.js shows at the bell. */
export function inboxPages(app: App, services: Pick<Services, 'events' | 'notifications'>): void {
  const { notifications } = services
  app.get(path, async (request, reply) => {
    const isUnreadOnly = readQuery(request, 'unread') === 'true'
    const newest = await findNewest(services, request.principal)
    const list = await readListView(request, (position) =>
      notifications.listShown(request.principal, { ...position, isUnreadOnly, limit: perPage }),
    )
    return reply.showPage(
      renderInbox(request, { list, isUnreadOnly, changesUrl: `${path}/changes?after=${newest}` }),
    )
  })

  app.get(`${path}/count`, async ({ principal }) => ({ unread: await notifications.count(principal) }))

  // HEAD would open a stream that nobody reads.
  app.get(`${path}/changes`, { exposeHeadRoute: false }, async (request, reply) =>
    reply.sendChanges((listener, after) => watchInbox(request, services, listener, after)),
  )

  // Some by their ids, or all that the page has.
  app.post(`${path}/read`, form, async (request, reply) =>
    answerForm(request, reply, path, async () => {
      const ids = readIds(request)
      await notifications.markRead(request.principal, ids ? { ids } : { until: readTime(request) })
      return ids ? leadBack(request) : { path, notice: notice`All are marked as read.` }
    }),
  )

  app.post(`${path}/unread`, form, async (request, reply) =>
    answerForm(request, reply, path, async () => {
      await notifications.markUnread(request.principal, { ids: readIds(request) ?? [] })
      return leadBack(request)
    }),
  )
}

function readIds(request: Pick<FastifyRequest, 'body'>): string[] | undefined {
  const ids = readField(request, 'ids')
  return ids === '' ? undefined : ids.split(' ')
}

/** The page that the form is on: the inbox, or the home of a workspace. */
function leadBack({ visit }: FastifyRequest): string {
  return visit.referringPage?.split('?')[0] ?? path
}

/** The time until which notifications are marked as read: that of the newest one on the page of the form. */
function readTime(request: Pick<FastifyRequest, 'body'>): string {
  const until = readField(request, 'until')
  if (Number.isNaN(Date.parse(until)))
    throw errors.textInvalid({ field: 'until', message: 'This is not a time.' })
  return until
}

interface Inbox {
  list: ListView<ShownNotification>
  isUnreadOnly: boolean
  changesUrl: string
}

function renderInbox(request: FastifyRequest, { list, isUnreadOnly, changesUrl }: Inbox): Page {
  const items = parseJson(list.items)
  const [newest] = items
  const hasUnread = items.some(({ readAt }) => readAt === null)
  return {
    title: 'Notifications',
    isLive: list.cursor === '',
    body: html`<div class="row">
        <h1 class="grow">Notifications</h1>
        <a href="/settings/notifications">Email settings</a>
      </div>
      ${renderDone(request)} ${renderNotices([list.isReset && resetNotice])}
      <nav class="segments" aria-label="Notifications shown">
        <a href="${path}" ${!isUnreadOnly && html`aria-current="true"`}>All</a>
        <a href="${path}?unread=true" ${isUnreadOnly && html`aria-current="true"`}>Unread</a>
      </nav>
      ${renderForm({
        request,
        action: `${path}/read`,
        className: 'inbox',
        // The list of a later page does not change. The token of the form does, so it is outside.
        body: html`<div class="stack" ${list.cursor === '' && html`data-live="${changesUrl}"`}>
          ${
            newest === undefined
              ? html`<div class="empty">
                  <p>${isUnreadOnly ? 'You have read everything.' : 'No notifications yet.'}</p>
                  <p>
                    You are notified when somebody mentions you, and when something happens to seeds that you
                    follow.
                  </p>
                </div>`
              : html`${
                    hasUnread &&
                    html`<p>
                      <input type="hidden" name="until" value="${newest.createdAt}" />
                      <button class="small quiet">Mark all as read</button>
                    </p>`
                  }
                  <ul class="rows">
                    ${groupBySeed(items).map(renderGroup)}
                  </ul>`
          }
        </div>`,
      })}
      ${renderPager(list, {
        path,
        parameters: { unread: isUnreadOnly ? 'true' : '' },
        labels: { first: 'Newest', previous: 'Newer', next: 'Older' },
      })}`,
  }
}

/** The notifications of a seed on one page of the inbox, below its title; a single one as it is. */
function renderGroup(news: [ShownNotification, ...ShownNotification[]]): Html {
  const [latest, ...others] = news
  if (others.length === 0) return renderNotification(latest)
  const { workspaceSlug, workspaceName, seedId, seedTitle } = latest
  const unread = news.filter(({ readAt }) => readAt === null).map(({ id }) => id)
  const path = `/w/${workspaceSlug}/seeds/${seedId}`
  return html`<li class="group">
    <h2>
      <a href="${unread.length > 0 ? linkFromInbox(path, unread) : path}"><bdi>${seedTitle}</bdi></a>
    </h2>
    <p class="hint">${countNews(news)}, <bdi>${workspaceName}</bdi></p>
    ${unread.length > 1 && renderMark(true, unread, seedTitle ?? '')}
    <ul>
      ${news.map((notification) => renderNotification(notification, { isBelowTitle: true }))}
    </ul>
  </li>`
}
