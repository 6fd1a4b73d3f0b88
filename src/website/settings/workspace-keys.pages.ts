import type { WorkspaceApiKey } from '../../areas/apiKeys/workspace-keys.service.ts'
import { parseJson } from '../../kernel/json-text.ts'
import type { Services } from '../../services/services.ts'
import { html, type Content, type Html } from '../components/html.ts'
import { renderRows } from '../components/lists.ts'
import { readListView, renderNotices, renderPager, resetNotice, type ListView } from '../components/pager.ts'
import { renderDate, renderTime } from '../components/words.ts'
import type { Page } from '../plugins/pages.ts'
import { sectionOf, type WorkspacePages, type WorkspaceVisit } from '../plugins/workspace-visit.ts'
import { roleNames } from '../views/roles.views.ts'

const path = '/settings/api-keys'

/** The API keys that act in a workspace, in its settings. */
export function workspaceKeysPages(
  { page }: WorkspacePages,
  { workspaceKeys }: Pick<Services, 'workspaceKeys'>,
): void {
  page(path, async (visit) => {
    const list = await readListView(visit.request, (position) =>
      workspaceKeys.list(visit.principal, visit.workspace.slug, { ...position, limit: 50 }),
    )
    return renderKeys(visit, { list, keys: parseJson(list.items) })
  })
}

function renderKeys(
  visit: WorkspaceVisit,
  { list, keys }: { list: ListView<WorkspaceApiKey>; keys: readonly WorkspaceApiKey[] },
): Page {
  return {
    title: 'API keys',
    section: sectionOf(visit, 'API keys'),
    body: html`<h1>API keys</h1>
      <p>
        The keys of members that are bound to this workspace, or changed something in it in the last 90 days.
        A key stops here when its owner leaves. Only its owner can change or revoke it; owners and admins do
        that for service accounts.
      </p>
      ${renderNotices([list.isReset && resetNotice])}
      ${renderRows(
        keys.map((key) => renderKey(visit, key)),
        html`<p>No API keys act here.</p>`,
      )}
      ${renderPager(list, {
        path: `${visit.base}${path}`,
        labels: { first: 'Newest', previous: 'Newer', next: 'Older' },
      })}`,
  }
}

function renderKey({ base }: WorkspaceVisit, key: WorkspaceApiKey): Html {
  const { ownerUserId, ownerName, tokenPrefix, lastFour, lastChangeAt, access, maxRole, expiresAt } = key
  const parts: Content[] = [
    lastChangeAt === null ? 'has changed nothing' : html`last change ${renderTime(lastChangeAt)}`,
    access === 'read' && 'only reads',
    maxRole !== null && `acts as ${roleNames[maxRole].toLowerCase()} at most`,
    expiresAt !== null && html`expires on ${renderDate(expiresAt)}`,
  ]
  return html`<div class="row">
    <div class="grow">
      <code>${tokenPrefix}…${lastFour}</code> of
      <a href="${base}/people/${ownerUserId}"><bdi>${ownerName}</bdi></a>
      <span class="hint">${parts.filter(Boolean).map((part, i) => html`${i > 0 && ' · '}${part}`)}</span>
    </div>
  </div>`
}
