import type { EvidenceCount } from '../../../areas/seeds/seeds.service.ts'
import { verdicts, type Verdict } from '../../../domain/seeds.ts'
import { html, type Content, type Html } from '../../components/html.ts'
import { renderDate } from '../../components/words.ts'

export const verdictNames: Record<Verdict, string> = {
  supports: 'Supports',
  contradicts: 'Contradicts',
  neutral: 'Neutral',
}

type Counts = Record<Verdict, number>

const width = 480
const halfHeight = 44
const periodsMax = 24
const barWidthMax = 28
const dayMs = 24 * 60 * 60 * 1000

/**
 * How the evidence of a seed is balanced, as a bar with a legend; and, once there is evidence of several days, how it came
 * together over time. `counts` begin with the earliest day.
 */
export function renderBalance(counts: readonly EvidenceCount[]): Content {
  const [first, last] = [counts[0]?.day, counts.at(-1)?.day]
  if (first === undefined || last === undefined) return false
  const total = sum(counts)
  return html`<figure class="balance">
    <figcaption>
      <ul>
        ${verdicts.map(
          (verdict) =>
            html`<li>
              <svg width="16" height="16" viewBox="0 0 16 16" aria-hidden="true">
                ${renderSymbol(verdict)}
              </svg>
              ${describe(verdict, total[verdict])}
            </li>`,
        )}
      </ul>
    </figcaption>
    ${renderHatch()} ${renderBar(total)} ${first !== last && renderOverTime(counts, { first, last })}
  </figure>`
}

/** The balance of a seed in a list: a bar and the numbers. Nothing without evidence. */
export function renderSmallBalance(counts: Counts): Content {
  const { supports, contradicts, neutral } = counts
  if (supports + contradicts + neutral === 0) return false
  return html`<span class="small-balance">${renderBar(counts)} ${supports} for, ${contradicts} against</span>`
}

/** What supports, then what contradicts; between them what is neutral. Decorative: the numbers stand beside it. */
function renderBar({ supports, contradicts, neutral }: Counts): Html {
  const total = supports + contradicts + neutral
  const [supportsWidth, contradictsWidth] = [supports, contradicts].map((count) =>
    round((count / total) * 100),
  )
  return html`<svg class="balance-bar" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">
    <rect class="rest" width="100" height="8" />
    <rect class="supports" width="${supportsWidth}" height="8" />
    <rect
      class="contradicts"
      x="${round(100 - (contradictsWidth ?? 0))}"
      width="${contradictsWidth}"
      height="8"
    />
  </svg>`
}

/** Bars above the line support the seed, hatched bars below contradict it, and rings on the line are neutral. */
function renderOverTime(
  counts: readonly EvidenceCount[],
  { first, last }: { first: string; last: string },
): Html {
  const periods = toPeriods(counts)
  const highest = Math.max(...periods.flatMap(({ supports, contradicts }) => [supports, contradicts]), 1)
  return html`<svg
      class="over-time"
      viewBox="0 0 ${width} ${2 * halfHeight + 8}"
      width="${width}"
      height="${2 * halfHeight + 8}"
      role="img"
      aria-label="Evidence over time"
    >
      <line class="axis" x1="0" x2="${width}" y1="${halfHeight + 4}" y2="${halfHeight + 4}" />
      ${periods.map((period, i) => renderPeriod(period, { place: i, of: periods.length, highest }))}
    </svg>
    <p class="hint dates"><span>${renderDate(first)}</span><span>${renderDate(last)}</span></p>`
}

/** The counts of each of up to 24 periods of equal length. */
function toPeriods(counts: readonly EvidenceCount[]): Counts[] {
  const days = counts.map(({ day }) => Date.parse(day) / dayMs)
  const [start = 0, end = 0] = [days[0], days.at(-1)]
  const length = Math.max(1, Math.ceil((end - start + 1) / periodsMax))
  const periods = Math.floor((end - start) / length) + 1
  return Array.from({ length: periods }, (_, period) =>
    sum(counts.filter((_count, i) => Math.floor(((days[i] ?? 0) - start) / length) === period)),
  )
}

function sum(counts: readonly EvidenceCount[]): Counts {
  const sums = { supports: 0, contradicts: 0, neutral: 0 }
  for (const { verdict, count } of counts) sums[verdict] += count
  return sums
}

function renderPeriod(
  { supports, contradicts, neutral }: Counts,
  { place, of, highest }: { place: number; of: number; highest: number },
): Html {
  const step = width / of
  const barWidth = Math.min(barWidthMax, step * 0.7)
  const middle = step * (place + 0.5)
  const x = round(middle - barWidth / 2)
  const line = halfHeight + 4
  // The least height keeps a single piece beside hundreds visible.
  const heightOf = (count: number) => round(Math.max(4, (count / highest) * halfHeight))
  return html`${
    supports > 0 &&
    html`<rect
      class="supports"
      x="${x}"
      y="${round(line - heightOf(supports))}"
      width="${round(barWidth)}"
      height="${heightOf(supports)}"
    />`
  }${
    contradicts > 0 &&
    html`<rect
      class="contradicts"
      x="${x}"
      y="${line}"
      width="${round(barWidth)}"
      height="${heightOf(contradicts)}"
      fill="url(#hatch)"
    />`
  }${neutral > 0 && html`<circle class="neutral" cx="${round(middle)}" cy="${line}" r="5" />`}`
}

function renderSymbol(verdict: Verdict): Html {
  if (verdict === 'neutral') return html`<circle class="neutral" cx="8" cy="8" r="5" />`
  if (verdict === 'supports') return html`<rect class="supports" x="3" y="1" width="10" height="14" />`
  return html`<rect class="contradicts" x="3" y="1" width="10" height="14" fill="url(#hatch)" />`
}

/** The pattern of bars that contradict, so that they differ from others by more than their colour. */
function renderHatch(): Html {
  return html`<svg class="hatch" width="0" height="0" aria-hidden="true">
    <pattern id="hatch" width="5" height="5" patternUnits="userSpaceOnUse">
      <path class="stroke" d="M0 5 L5 0" />
    </pattern>
  </svg>`
}

function describe(verdict: Verdict, count: number): string {
  if (verdict === 'neutral') return `${count} neutral`
  return `${count} ${count === 1 ? verdict : verdict.slice(0, -1)} it`
}

function round(number: number): number {
  return Math.round(number * 10) / 10
}
