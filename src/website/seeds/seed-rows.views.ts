import type { Seed, SeedFace, SeedsService } from '../../areas/seeds/seeds.service.ts'
import { html, type Content, type Html } from '../components/html.ts'
import { renderFace } from '../components/layout.ts'
import { excerptOf } from '../components/markdown.ts'
import { countOf, renderTime } from '../components/words.ts'
import { renderAgent } from '../views/author.views.ts'
import { renderSmallBalance } from './evidence-balance.ts'
import { renderLabels } from './seed-sorting.views.ts'
import { renderDue, renderStatus } from './seed-status.views.ts'

/** Some participants of seeds, the lead first, by the id of the seed. */
export type SeedFaces = ReadonlyMap<string, readonly SeedFace[]>

/** Tells when a seed is due. */
export type DueOf = SeedsService['dueOf']

/** A seed in a list. */
export function renderSeedRow(
  base: string,
  seed: Seed,
  { dueOf, faces }: { dueOf: DueOf; faces?: SeedFaces },
): Html {
  return html`<div class="row seed-row">
    <div class="grow">
      <a class="title" href="${base}/seeds/${seed.id}"><bdi>${seed.title}</bdi></a>
      <p class="clip"><bdi>${excerptOf(seed.summary)}</bdi></p>
      <span class="hint">${describeSeed(seed)}</span>
      ${renderLabels(base, seed)}
    </div>
    ${renderFaces(faces?.get(seed.id))} ${renderDue(seed.decideBy, dueOf(seed))} ${renderStatus(seed.status)}
  </div>`
}

/** The pictures of some participants. */
export function renderFaces(faces: readonly SeedFace[] = []): Content {
  if (faces.length === 0) return false
  return html`<span class="stacked" title="${faces.map(({ name }) => name).join(', ')}"
    >${faces.map((face) => renderFace(face, 28))}</span
  >`
}

/** A seed in numbers. A card has the faces of participants in place of their number. */
export function describeSeed(seed: Seed, { isCard = false }: { isCard?: boolean } = {}): Content {
  const { participantCount, commentCount, joined, updatedAt, agentName, evidenceCounts, teamName } = seed
  const people = participantCount === 0 ? 'Nobody has joined' : countOf(participantCount, 'participant')
  const agent = agentName !== null && html`${renderAgent(agentName)} · `
  const balance = renderSmallBalance(evidenceCounts)
  const team = teamName !== null && html`<bdi>${teamName}</bdi> · `
  return html`${team}${agent}${balance && html`${balance} · `}${
    commentCount > 0 && `${countOf(commentCount, 'comment')} · `
  }${!isCard && html`${people}${joined && ' · you joined'} · `}changed
  ${renderTime(updatedAt)}`
}
