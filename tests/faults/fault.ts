import type { LoadReport, Attempt } from './load.ts'
import type { Program } from './parts/programs.ts'
import type { Scope } from './parts/processes.ts'
import type { Stage, StageOptions, Templates } from './stage.ts'

/** How a run was asked for. */
export interface Settings {
  /** In less time, for CI. */
  isShort: boolean
  /** How long the soak takes. */
  minutes: number
}

/** Something that goes wrong, and what has to hold then. */
export interface Fault {
  name: string
  /** What it does, in a line. */
  does: string
  goal: string
  /** Whether CI does it, on the stage that the faults of CI share, which it leaves as it was. */
  isInCi?: boolean
  needs?: readonly Program[]
  /** What is started for it; where it depends on what is there, with the scope that ends it. */
  stage?: StageOptions | ((scope: Scope) => Promise<StageOptions>)
  run: (stage: Stage, settings: Settings, templates: Templates) => Promise<Outcome>
}

/** What came of a fault. Its goal is met when nothing is missed. */
export interface Outcome {
  requests?: number
  failed?: number
  slowestMs?: number
  gapMs?: number
  lost?: number
  doubled?: number
  recoveryMs?: number
  misses: string[]
  /** What else is worth knowing. */
  notes: string[]
}

/** The fault cannot be made here. */
export class Skipped extends Error {}

/**
 * What a load has to keep to. Nothing is ever to be lost, doubled or refused wrongly. What is late is a note: it says as much
 * of the machine as of the service.
 */
export interface Goals {
  /** Nothing fails at all. */
  allSucceed?: boolean
  /** What fails is answered by 503, or by 429 for want of a turn, with `Retry-After`. Later than this is late. */
  answerMsMax?: number
  recoveryMsMax?: number
  /** Requests that must not notice: they succeed. More than a second is late. */
  spared?: (attempt: Attempt) => boolean
}

/** Holds the record of a load against goals. */
export function judge(report: LoadReport, goals: Goals, ...notes: string[]): Outcome {
  const { attempts, failures, slowestMs, gapMs, lost, doubled, recoveryMs } = report
  const misses: string[] = []
  const check = (isMet: boolean, miss: string) => {
    if (!isMet) misses.push(miss)
  }
  const lates: string[] = []
  check(lost === 0, `${lost} acknowledged writes are lost`)
  check(doubled === 0, `${doubled} writes are there twice`)
  const refused = failures.filter(
    ({ status, code }) => status >= 400 && status < 500 && !isToBeRepeated(code) && !isExcess(code),
  )
  check(refused.length === 0, `${refused.length} were refused wrongly: ${summarize(refused)}`)
  if (goals.allSucceed) check(failures.length === 0, `${failures.length} failed: ${summarize(failures)}`)
  if (goals.answerMsMax !== undefined) {
    const bare = failures.filter(
      ({ status, code, retryAfterSeconds }) =>
        !isToBeRepeated(code) && !((status === 503 || isExcess(code)) && retryAfterSeconds !== undefined),
    )
    check(bare.length === 0, `${bare.length} were no 503 with Retry-After: ${summarize(bare)}`)
    const late = attempts.filter(({ ms }) => ms > (goals.answerMsMax ?? 0))
    if (late.length > 0)
      lates.push(`${late.length} took more than ${goals.answerMsMax} ms, up to ${slowestMs}`)
  }
  if (goals.recoveryMsMax !== undefined) {
    check(recoveryMs !== undefined, 'not back')
    if (Number(recoveryMs) > goals.recoveryMsMax) lates.push(`back only after ${recoveryMs} ms`)
  }
  if (goals.spared) {
    const spared = attempts.filter(goals.spared)
    const noticed = spared.filter(({ status }) => status < 200 || status > 299)
    const of = `of ${spared.length} that should not notice`
    check(
      noticed.length === 0,
      `${noticed.length} ${of} failed: ${summarize(noticed, { byOperation: true })}`,
    )
    const slow = spared.filter(({ ms }) => ms > 1_000)
    if (slow.length > 0) {
      const slowest = Math.round(Math.max(...slow.map(({ ms }) => ms)))
      lates.push(`${slow.length} ${of} took up to ${slowest} ms`)
    }
  }
  const outcome = { requests: attempts.length, failed: failures.length, slowestMs, gapMs, lost, doubled }
  const seen = failures.length > 0 ? [summarize(failures)] : []
  return {
    ...outcome,
    ...(recoveryMs !== undefined && { recoveryMs }),
    misses,
    notes: [...lates.map(toNote), ...seen, ...notes],
  }
}

const toNote = (late: string) => `late: ${late}`

// The first request with the same key still runs.
const isToBeRepeated = (code: string) => code === 'idempotency_in_flight'

/**
 * It has waited in vain for a turn of its caller, or of its workspace (docs/design/limits.md#changes-of-one-workspace).
 */
export const isExcess = (code: string) => code === 'too_many_at_once'

/** What failed how often, most first. */
export function summarize(
  attempts: readonly Attempt[],
  { byOperation = false }: { byOperation?: boolean } = {},
): string {
  const counts = new Map<string, number>()
  for (const { status, code, operation } of attempts) {
    const key = byOperation || status < 500 ? `${status || ''} ${code} (${operation})` : `${status} ${code}`
    counts.set(key.trim(), (counts.get(key.trim()) ?? 0) + 1)
  }
  return [...counts]
    .sort(([, a], [, b]) => b - a)
    .slice(0, 6)
    .map(([key, count]) => `${count} × ${key}`)
    .join(', ')
}

/** Something that took long. It is a note, and fails nothing. */
export interface Late {
  late: string
}

/** An outcome without a load. */
export function conclude(
  misses: readonly (string | Late | false | undefined)[],
  ...notes: string[]
): Outcome {
  const lates = misses.filter((miss) => typeof miss === 'object').map(({ late }) => toNote(late))
  return { misses: misses.filter((miss) => typeof miss === 'string'), notes: [...lates, ...notes] }
}

/** One outcome of several loads. Recovery is that of the last. */
export function combine(outcomes: readonly Outcome[]): Outcome {
  const valuesOf = (name: 'requests' | 'failed' | 'slowestMs' | 'gapMs' | 'lost' | 'doubled') =>
    outcomes.map((outcome) => outcome[name] ?? 0)
  const sum = (name: Parameters<typeof valuesOf>[0]) => valuesOf(name).reduce((all, value) => all + value, 0)
  const recoveryMs = outcomes.at(-1)?.recoveryMs
  return {
    ...{ requests: sum('requests'), failed: sum('failed'), lost: sum('lost'), doubled: sum('doubled') },
    ...{ slowestMs: Math.max(...valuesOf('slowestMs')), gapMs: Math.max(...valuesOf('gapMs')) },
    ...(recoveryMs !== undefined && { recoveryMs }),
    misses: outcomes.flatMap(({ misses }) => misses),
    notes: outcomes.flatMap(({ notes }) => notes),
  }
}

/** The value that a share of the values is below. */
export function percentile(values: readonly number[], share: number): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length * share)] ?? NaN
}
