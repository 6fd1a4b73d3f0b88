import type { SeedByTitle } from '../../areas/seeds/seeds.service.ts'
import { html, type Html } from '../components/html.ts'
import { statusNames } from './seed-status.views.ts'

/** Where public/similar.js names seeds with a title similar to that of the form. */
export function renderSimilarPlace(base: string): Html {
  return html`<div class="similar" data-similar="${base}/seeds/similar" data-of="title">
    <p class="hint" role="status"></p>
    <ul class="bullets" hidden></ul>
  </div>`
}

/** Similar seeds, as public/similar.js reads them. */
export function toShownSimilar(seeds: readonly SeedByTitle[], base: string) {
  const similar = seeds.map(({ id, title, status }) => ({
    id,
    title,
    status: statusNames[status],
    href: `${base}/seeds/${id}`,
  }))
  return { similar }
}
