import { errors, ignoreNotFound } from '../../kernel/errors.ts'
import { parseJson } from '../../kernel/json-text.ts'
import type { Services } from '../../services/services.ts'
import { readQuery, withQuery } from '../components/lists.ts'
import { notice } from '../components/notice.ts'
import { readField } from '../components/sent-form.ts'
import type { WhyMissing, WorkspacePages, WorkspaceVisit } from '../plugins/workspace-visit.ts'
import { readSearch } from '../views/search-form.views.ts'
import { explainDeletedSeed } from './seed-deletion.views.ts'
import { mayMerge, renderMergePage } from './seed-merging.views.ts'
import { toShownSimilar } from './similar-seeds.views.ts'

const foundMax = 20

/** The page and the forms that merge a seed into another one, and what similar seeds the form of a new one names. */
export function seedMergingPages(
  { page, action, data }: WorkspacePages,
  { seeds }: Pick<Services, 'seeds'>,
): void {
  data('/seeds/similar', async ({ principal, request, workspace, base }) =>
    toShownSimilar(await seeds.findSimilar(principal, workspace.slug, readQuery(request, 'title')), base),
  )

  page('/seeds/:id/merge', async (visit) => {
    const { principal, request, workspace } = visit
    const { slug } = workspace
    const seed = await seeds.getOfWorkspace(principal, { slug, seedId: request.params.id })
    if (!mayMerge(visit, [seed])) throw errors.roleInsufficient()
    const [q, into] = [readSearch(request), readQuery(request, 'into')]
    if (into !== '') {
      const chosen = await seeds.getOfWorkspace(principal, { slug, seedId: into })
      return renderMergePage(visit, { seed, q, targets: [], chosen })
    }
    // Who merges only what they lead is offered nothing else.
    const own = visit.may('seeds.mergeOthers') ? {} : { leadUserId: principal.user.id }
    const found =
      q === ''
        ? await seeds.findSimilar(principal, slug, seed.title)
        : parseJson((await seeds.list(principal, slug, { q, limit: foundMax, ...own })).items)
    const ids = found.map(({ id }) => id)
    const mayBe =
      q === '' && own.leadUserId !== undefined
        ? parseJson((await seeds.list(principal, slug, { ids, limit: foundMax, ...own })).items).map(
            ({ id }) => id,
          )
        : ids
    const targets = found.filter(({ id }) => id !== seed.id && mayBe.includes(id))
    return renderMergePage(visit, { seed, q, targets, chosen: undefined })
  })

  action('/seeds/:id/merge', '/seeds/:id/merge', async ({ principal, request, base }) => {
    const intoId = readField(request, 'into')
    const { title, into } = await seeds.merge(principal, request.params.id, { into: intoId })
    return { path: `${base}/seeds/${intoId}`, notice: notice`Merged ${title} into ${into}.` }
  })

  action('/seeds/:id/unmerge', '/seeds/:id', async ({ principal, request, base }) => {
    const title = await seeds.unmerge(principal, request.params.id)
    return {
      path: `${base}/seeds/${request.params.id}`,
      notice: notice`${title} is a seed of its own again.`,
    }
  })
}

/** Where a seed is that was merged, or who deleted it. Nothing if there was never one. */
export async function explainMissingSeed(
  visit: WorkspaceVisit,
  services: Pick<Services, 'events' | 'grants' | 'seeds'>,
): Promise<WhyMissing | undefined> {
  return (await findMerged(visit, services)) ?? explainDeletedSeed(visit, services)
}

async function findMerged(
  { base, principal, request, workspace }: WorkspaceVisit,
  { seeds }: Pick<Services, 'seeds'>,
): Promise<WhyMissing | undefined> {
  const { id } = request.params
  const route = request.routeOptions.url
  if (route?.startsWith('/w/:slug/seeds/:id') !== true) return undefined
  const now = await seeds
    .findMergedInto(principal, { slug: workspace.slug, seedId: id })
    .catch(ignoreNotFound)
  if (now === undefined) return undefined
  const path = `${base}/seeds/${now}`
  const { evidenceId } = request.params
  // The browser keeps the part behind `#`.
  const part = route.includes(':evidenceId') ? `/evidence/${evidenceId}` : ''
  const flash = readQuery(request, 'flash')
  return { title: 'This seed was merged', movedTo: withQuery(`${path}${part}`, { merged: id, flash }) }
}
