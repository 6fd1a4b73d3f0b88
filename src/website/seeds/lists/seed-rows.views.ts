import type { Seed, SeedFace, SeedsService } from '../../../areas/seeds/seeds.service.ts'
import { html, type Content, type Html } from '../../components/html.ts'
import { renderFace } from '../../components/layout.ts'
import { countOf, renderTime } from '../../components/words.ts'
import { renderAgent } from '../../views/author.views.ts'
import { renderSmallBalance } from '../thread/evidence-balance.ts'
import { renderLabels } from './seed-sorting.views.ts'
import { renderDue, renderStatus } from '../seed-status.views.ts'

/** Some participants of seeds, the lead first, by the id of the seed. */
export type SeedFaces = ReadonlyMap<string, readonly SeedFace[]>

/** Tells when a seed is due. */
export type DueOf = SeedsService['dueOf']

/** A seed in a list: a line, where there is room. */
export function renderSeedRow(
  base: string,
  seed: Seed,
  { dueOf, faces }: { dueOf: DueOf; faces?: SeedFaces },
): Html {
  const { id, title, status, teamName, agentName, labels, evidenceCounts, updatedAt } = seed
  const hasSorting = teamName !== null || agentName !== null || labels.length > 0
  return html`<div class="seed-row" id="seed-${id}">
    <span class="status">${renderStatus(status)}</span>
    <a class="title" href="${base}/seeds/${id}" title="${title}"><bdi>${title}</bdi></a>
    ${
      hasSorting &&
      html`<span class="hint sorting"
        >${agentName !== null && renderAgent(agentName)} ${teamName !== null && html`<bdi>${teamName}</bdi>`}
        ${renderLabels(base, seed)}</span
      >`
    }
    ${renderDue(seed.decideBy, dueOf(seed))}
    <span class="hint weighed">${renderSmallBalance(evidenceCounts)}</span>
    ${renderFaces(faces?.get(id))}
    <span class="hint when">${renderTime(updatedAt)}</span>
  </div>`
}

/** The pictures of some participants. */
export function renderFaces(faces: readonly SeedFace[] = []): Content {
  if (faces.length === 0) return false
  return html`<span class="stacked" title="${faces.map(({ name }) => name).join(', ')}"
    >${faces.map((face) => renderFace(face, 28))}</span
  >`
}

/** A seed in numbers, on a card. */
export function describeSeed(seed: Seed): Content {
  const { commentCount, updatedAt, agentName, evidenceCounts, teamName } = seed
  const agent = agentName !== null && html`${renderAgent(agentName)} · `
  const balance = renderSmallBalance(evidenceCounts)
  const team = teamName !== null && html`<bdi>${teamName}</bdi> · `
  return html`${team}${agent}${balance && html`${balance} · `}${
      commentCount > 0 && html`<span class="unbroken">${countOf(commentCount, 'comment')} · </span>`
    }<span class="unbroken">${renderTime(updatedAt)}</span>`
}
