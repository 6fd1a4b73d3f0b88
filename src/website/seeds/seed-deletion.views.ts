import type { Seed } from '../../areas/seeds/seeds.service.ts'
import type { FastifyRequest } from 'fastify'
import { deletedSeedsKeptMs } from '../../domain/seeds.ts'
import { parseJson } from '../../kernel/json-text.ts'
import type { Services } from '../../services/services.ts'
import { renderAction } from '../components/forms.ts'
import { html, type Content } from '../components/html.ts'
import { renderConfirmed, renderRows } from '../components/lists.ts'
import { renderNotices, renderPager, resetNotice, type ListView } from '../components/pager.ts'
import { renderTime } from '../components/words.ts'
import { readEventContext, renderEvent } from '../views/events.views.ts'
import type { Page } from '../plugins/pages.ts'
import { sectionOf, type WhyMissing, type WorkspaceVisit } from '../plugins/workspace-visit.ts'

/** The button of a menu that deletes a seed, for those who may. */
export function renderDeletion({ base, may, principal, request }: WorkspaceVisit, seed: Seed): Content {
  const isCreator = seed.createdByUserId === principal.user.id
  if (!may('seeds.deleteOthers') && !(isCreator && may('seeds.delete'))) return false
  return renderConfirmed({
    isInMenu: true,
    label: 'Delete',
    description: 'this seed',
    question: 'Nobody sees it then. It can be restored for 14 days.',
    action: renderAction(request, {
      action: `${base}/seeds/${seed.id}/delete`,
      label: 'Delete seed',
      isDangerous: true,
    }),
  })
}

/** What a page shows once of a seed that was just deleted. */
export interface DeletedSeed {
  deletedId: string
  deletedTitle: string
}

/** The notice that a seed was deleted, with the form that restores it. */
export function renderUndo(request: FastifyRequest, base: string): Content {
  const { deletedId, deletedTitle } = request.flash.shown
  if (deletedId === undefined) return false
  return html`<div class="notice" role="status">
    <p>Deleted <bdi>${deletedTitle}</bdi>.</p>
    ${renderRestoration(request, base, deletedId)}
  </div>`
}

function renderRestoration(request: FastifyRequest, base: string, id: string, title?: string): Content {
  return renderAction(request, {
    action: `${base}/seeds/${id}/restore`,
    label: title === undefined ? 'Undo' : 'Restore',
    description: title === undefined ? 'the deletion' : html`<bdi>${title}</bdi>`,
  })
}

/** Says who deleted the seed of a page, with the form that restores it. Nothing if the seed was never there. */
export async function explainDeletedSeed(
  visit: WorkspaceVisit,
  services: Pick<Services, 'events' | 'grants'>,
): Promise<WhyMissing | undefined> {
  const { base, may, principal, request, workspace } = visit
  const { id } = request.params
  if (request.routeOptions.url?.startsWith('/w/:slug/seeds/:id') !== true) return undefined
  const filter = { targetId: id, types: ['seed.deleted', 'seed.restored'], limit: 1 } as const
  const { items } = await services.events.list(principal, workspace.slug, filter)
  const [event] = parseJson(items)
  if (event?.type !== 'seed.deleted') return undefined
  const isRestorable = Date.now() - Date.parse(event.createdAt) < deletedSeedsKeptMs
  const isTheirs = may('seeds.deleteOthers') || event.actorUserId === principal.user.id
  const context = await readEventContext(services, visit, [event])
  return {
    title: 'This seed was deleted',
    body: html`${renderEvent(event, renderTime(event.createdAt), context)}
    ${isRestorable && isTheirs && renderRestoration(request, base, id, 'this seed')}`,
  }
}

/** The deleted seeds that the reader can restore. */
export function renderDeletedSeeds(visit: WorkspaceVisit, list: ListView<Seed>): Page {
  const { base, request } = visit
  return {
    title: 'Deleted seeds',
    section: sectionOf(visit, 'Seeds'),
    body: html`<p><a href="${base}/seeds">All seeds</a></p>
      <h1>Deleted seeds</h1>
      <p class="hint">You can restore these until 14 days after they were deleted. Then they are erased.</p>
      ${renderNotices([list.isReset && resetNotice])}
      ${renderRows(
        parseJson(list.items).map(
          ({ id, title, updatedAt }) =>
            html`<div class="row">
              <div class="grow">
                <strong><bdi>${title}</bdi></strong>
                <p class="hint">Deleted ${renderTime(updatedAt)}</p>
              </div>
              ${renderRestoration(request, base, id, title)}
            </div>`,
        ),
        html`<p>No deleted seeds.</p>`,
      )}
      ${renderPager(list, { path: `${base}/seeds/deleted` })}`,
  }
}
