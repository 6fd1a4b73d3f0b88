/** What the value of a row has to be. */
export interface Goal {
  is: 'at least' | 'at most' | 'below'
  bound: number
}

/** What was measured of one server: a row of a table. */
export interface Row {
  request: string
  server: string
  requestsPerSecond?: number
  p50Ms?: number
  p99Ms?: number
  /** The processor time of the server for each request, and that of PostgreSQL. */
  serverMs?: number
  databaseMs?: number
  /** The highest memory of the process until then. */
  peakMb?: number
  /** What the goal is about, once for each round. */
  values?: readonly number[]
  /** What is held against the goal. Default: the median of the values. */
  value?: number
  /** What the values are, such as `of bare Fastify`. */
  unit?: string
  goal?: Goal
}

/** One measurement, which gives rows of a table. */
export interface Trial {
  name: string
  run: () => Promise<readonly Row[]>
}

/** The rows of an area. */
export interface Section {
  area: string
  title: string
  rows: readonly Row[]
}

/** What a row says of all its rounds. */
const valueOf = ({ values = [], value = median(values) }: Row): number => value

export function isMet(row: Row): boolean {
  const { values, goal } = row
  if (!goal || !values) return true
  const value = valueOf(row)
  // A value that could not be measured reaches no goal.
  if (goal.is === 'at least') return value >= goal.bound
  return goal.is === 'below' ? value < goal.bound : value <= goal.bound
}

const measures = ['req/s', 'p50 ms', 'p99 ms', 'server CPU ms', 'PostgreSQL CPU ms', 'peak MB']
const columns = ['request', 'server', ...measures, 'value', 'in each round', 'goal', 'is']
const numeric = new Set([...measures, 'value', 'goal'])

/** A section as Markdown, with its table as Prettier formats it. */
export function formatSection({ title, rows }: Section): string {
  const lines = rows.map((row, i) => formatRow(row, rows[i - 1]))
  const widths = columns.map((column, i) =>
    Math.max(3, column.length, ...lines.map((line) => line[i]?.length ?? 0)),
  )
  const isNumeric = columns.map((column) => numeric.has(column))
  const pad = (line: readonly string[]) =>
    line.map((cell, i) => (isNumeric[i] ? cell.padStart(widths[i] ?? 0) : cell.padEnd(widths[i] ?? 0)))
  const rule = widths.map((width, i) => (isNumeric[i] ? `${'-'.repeat(width - 1)}:` : '-'.repeat(width)))
  const table = [pad(columns), rule, ...lines.map(pad)].map((cells) => `| ${cells.join(' | ')} |`)
  return `## ${title}\n\n${table.join('\n')}\n`
}

function formatRow(row: Row, before: Row | undefined): string[] {
  const { request, server, requestsPerSecond, p50Ms, p99Ms, peakMb, values, unit = '', goal } = row
  const processor = [row.serverMs, row.databaseMs].map((ms) => (ms === undefined ? '' : ms.toFixed(3)))
  const round = (value: number | undefined) => (value === undefined ? '' : String(Math.round(value)))
  return [
    request === before?.request ? '' : request,
    server,
    round(requestsPerSecond),
    p50Ms?.toString() ?? '',
    p99Ms?.toString() ?? '',
    ...[...processor, round(peakMb)],
    values ? format(valueOf(row)) : '',
    values ? `${values.map(format).join(', ')} ${unit}`.trim() : '',
    goal ? formatGoal(goal) : '',
    goal ? (isMet(row) ? 'met' : 'missed') : '',
  ]
}

/** How many goals are met, and which are missed. */
export function formatSummary(sections: readonly Section[]): string {
  const judged = sections.flatMap(({ rows }) => rows.filter(({ goal }) => goal))
  const missed = judged.filter((row) => !isMet(row))
  const lines = missed.map((row) => {
    const { request, server, unit, goal } = row
    const measured = [format(valueOf(row)), unit].filter(Boolean).join(' ')
    return `- ${request}, ${server}: ${measured}${goal ? `, goal ${formatGoal(goal)}` : ''}`
  })
  const head = `Goals met: ${judged.length - missed.length} of ${judged.length}`
  return missed.length === 0 ? head : `${head}. Missed:\n\n${lines.join('\n')}`
}

/** The whole run as the document docs/performance-run.md, as Prettier formats it. */
export function formatRun(run: {
  commit: string
  at: Date
  machine: string
  sections: readonly Section[]
}): string {
  const { commit, at, machine, sections } = run
  const paragraphs = [
    '# The last whole run of the benchmarks',
    'Made by `npm run bench -- --write`. [performance.md](performance.md) says what is measured.',
    `At commit \`${commit}\`, on ${at.toISOString().slice(0, 10)}: ${machine}.`,
    formatSummary(sections),
    ...sections.map(formatSection),
  ]
  return `${paragraphs.map((paragraph) => paragraph.trim()).join('\n\n')}\n`
}

/** The whole run as one JSON document. */
export function toJson(machine: string, sections: readonly Section[]): string {
  const areas = sections.map(({ area, title, rows }) => ({
    area,
    title,
    rows: rows.map((row) => ({
      ...row,
      ...(row.values && { value: valueOf(row) }),
      ...(row.goal && { met: isMet(row) }),
    })),
  }))
  const judged = sections.flatMap(({ rows }) => rows.filter(({ goal }) => goal))
  return JSON.stringify(
    { machine, goals: judged.length, met: judged.filter(isMet).length, areas },
    undefined,
    2,
  )
}

const signs = { 'at least': '≥', 'at most': '≤', below: '<' }
const formatGoal = ({ is, bound }: Goal) => `${signs[is]} ${format(bound)}`

/** Two decimals for ratios, none for large numbers. */
function format(value: number): string {
  return Math.abs(value) >= 20 ? value.toFixed(0) : String(Math.round(value * 100) / 100)
}

export function median(values: readonly number[]): number {
  return percentile(values, 0.5)
}

/** The quantile of the values. */
export function percentile(values: readonly number[], share: number): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length * share)] ?? NaN
}

/** Milliseconds with one decimal. */
export const roundMs = (ms: number): number => Math.round(ms * 10) / 10
