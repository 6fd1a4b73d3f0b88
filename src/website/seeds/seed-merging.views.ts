import type { MergedSeed, Seed, SeedDetails } from '../../areas/seeds/seeds.service.ts'
import type { SeedStatus } from '../../domain/seeds.ts'
import { renderAction } from '../components/forms.ts'
import { html, type Content, type Html } from '../components/html.ts'
import { readQuery, renderRows, withQuery } from '../components/lists.ts'
import { countOf, renderTime } from '../components/words.ts'
import type { Page } from '../plugins/pages.ts'
import { sectionOf, type WorkspaceVisit } from '../plugins/workspace-visit.ts'
import { renderSearchForm } from '../views/search-form.views.ts'
import { renderStatus } from './seed-status.views.ts'

/** Whether the reader may merge a seed into others that they lead, or into all. */
export function mayMerge(
  { may, principal }: WorkspaceVisit,
  seeds: readonly Pick<Seed, 'leadUserId'>[],
): boolean {
  if (may('seeds.mergeOthers')) return true
  return may('seeds.merge') && seeds.every(({ leadUserId }) => leadUserId === principal.user.id)
}

/** The link of a menu to the page that merges a seed, for those who may. */
export function renderMergeLink(visit: WorkspaceVisit, seed: Seed): Content {
  return (
    mayMerge(visit, [seed]) &&
    html`<a href="${visit.base}/seeds/${seed.id}/merge">Merge into another seed</a>`
  )
}

/** What was merged into a seed lately, and what led here by its former address, with the buttons that undo it. */
export function renderMerged(
  visit: WorkspaceVisit,
  { seed, merged, unmergeableSince }: SeedDetails,
): Content {
  const { base, request } = visit
  const openedId = readQuery(request, 'merged')
  const shown = merged.filter(({ id, mergedAt }) => id === openedId || mergedAt >= unmergeableSince)
  return shown.map((source) => {
    const mayUndo = source.mergedAt >= unmergeableSince && mayMerge(visit, [seed, source])
    return html`<div class="notice">
      <p>${describeMerge(source)}${source.id === openedId && ' You opened it by its former address.'}</p>
      ${
        mayUndo &&
        renderAction(request, {
          action: `${base}/seeds/${source.id}/unmerge`,
          label: 'Undo',
          description: html`the merge of <bdi>${source.title}</bdi>`,
        })
      }
    </div>`
  })
}

function describeMerge({ title, mergedAt, mergedByName }: MergedSeed): Html {
  return html`<bdi>${title}</bdi> was merged into this seed
    ${mergedByName !== null && html`by <bdi>${mergedByName}</bdi>`} ${renderTime(mergedAt.toISOString())}.`
}

/** A seed that another one can be merged into. */
export interface MergeTarget {
  id: string
  title: string
  status: SeedStatus
}

/** The page on which somebody chooses what a seed is merged into, and then confirms it. */
export function renderMergePage(
  visit: WorkspaceVisit,
  {
    seed,
    q,
    targets,
    chosen,
  }: { seed: Seed; q: string; targets: readonly MergeTarget[]; chosen: Seed | undefined },
): Page {
  const path = `${visit.base}/seeds/${seed.id}`
  const title = 'Merge into another seed'
  return {
    title: `${title}: ${seed.title}`,
    section: sectionOf(visit, 'Seeds'),
    body: html`<p>
        <a href="${path}"><bdi>${seed.title}</bdi></a>
      </p>
      <h1>${title}</h1>
      ${chosen ? renderConfirmation(visit, seed, chosen) : renderChoice(`${path}/merge`, { q, targets })}`,
  }
}

function renderChoice(path: string, { q, targets }: { q: string; targets: readonly MergeTarget[] }): Html {
  return html`<p class="lead">Choose the seed that stays. All evidence, comments and people move there.</p>
    ${renderSearchForm({ path, label: 'Search seeds', value: q })}
    <h2>${q === '' ? 'Similar seeds' : 'Found'}</h2>
    ${renderRows(
      targets.map(
        ({ id, title, status }) =>
          html`<div class="row">
            <div class="grow">
              <a href="${withQuery(path, { into: id })}"><bdi>${title}</bdi></a>
            </div>
            ${renderStatus(status)}
          </div>`,
      ),
      q === ''
        ? html`<p>No seed has a similar title. Search for the one that stays.</p>`
        : html`<p>No other seed has these words that you may merge this one into.</p>`,
    )}`
}

function renderConfirmation({ base, request }: WorkspaceVisit, seed: Seed, chosen: Seed): Html {
  const { supports, contradicts, neutral } = seed.evidenceCounts
  const path = `${base}/seeds/${seed.id}/merge`
  const counts = [
    countOf(supports + contradicts + neutral, 'piece of evidence', 'pieces of evidence'),
    countOf(seed.commentCount, 'comment'),
    countOf(seed.participantCount, 'participant'),
  ]
  return html`<p class="lead">
      Merge <bdi>${seed.title}</bdi> into <a href="${base}/seeds/${chosen.id}"><bdi>${chosen.title}</bdi></a
      >?
    </p>
    <ul class="bullets">
      <li>
        ${new Intl.ListFormat('en-GB').format(counts)} and all followers move there. Each keeps its author and
        time.
      </li>
      <li>The texts, question and status of <bdi>${seed.title}</bdi> do not. Nobody sees them then.</li>
      <li>Links to it lead to <bdi>${chosen.title}</bdi>.</li>
      <li>It can be undone for 14 days.</li>
    </ul>
    <div class="line">
      ${renderAction(request, { action: path, label: 'Merge', fields: { into: chosen.id }, isDangerous: true })}
      <a class="button quiet" href="${path}">Choose another</a>
    </div>`
}
