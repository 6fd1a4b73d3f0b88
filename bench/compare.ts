import { peakMemoryMb, type Bench, type Subject } from './harness.ts'
import type { Load, Measurement } from './loads.ts'
import { isMet, median, type Goal, type Row, type Trial } from './report.ts'

/** A comparison of servers, which are measured alternately. */
export interface Scenario {
  name: string
  load: Load
  subjects: readonly Subject[]
  /** The number of measurements of each server, and their duration. */
  rounds: number
  roundSeconds: number
  /**
   * The ratios to report, at most one for each `of`; by default of the requests per second. `reached` is what was last
   * measured where that is less than the goal: the short form holds it instead.
   */
  ratios?: readonly {
    of: Subject
    to: Subject
    by?: keyof Measurement
    goal: Goal
    reached?: number | undefined
  }[]
  /** The requests per second that the first server should reach. */
  goalPerSecond?: number
}

export const atLeast = (bound: number): Goal => ({ is: 'at least', bound })
export const atMost = (bound: number): Goal => ({ is: 'at most', bound })
export const below = (bound: number): Goal => ({ is: 'below', bound })

// The short form notices what became much slower. It asks for less, since it measures for less time.
const short = { rounds: 3, secondsMin: 0.5, ofSeconds: 0.4, ofGoal: 0.7, tries: 3 }

/**
 * Measures servers in turn. The short form asks for 0.7 of the goals of ratios, or of what was reached, and measures again what does not reach
 * them, three times at most.
 */
export function compare(bench: Bench, scenario: Scenario): Trial {
  const { name, load, subjects, ratios = [] } = scenario
  if (!bench.isShort) return { name, run: async () => describe(scenario, await measure(scenario)) }
  const eased = {
    ...{ name, load, subjects },
    rounds: short.rounds,
    roundSeconds: Math.max(short.secondsMin, scenario.roundSeconds * short.ofSeconds),
    ratios: ratios.map(({ reached, ...ratio }) => ({
      ...ratio,
      goal: atLeast((reached ?? ratio.goal.bound) * short.ofGoal),
    })),
  }
  return {
    name,
    async run() {
      let rows: Row[] = []
      for (let attempt = 0; attempt < short.tries && (attempt === 0 || !rows.every(isMet)); attempt++)
        rows = describe(eased, await measure(eased))
      return rows
    },
  }
}

const warmUpSeconds = 1.5

type Measured = Map<Subject, Measurement[]>

async function measure({ load, rounds, roundSeconds, subjects }: Scenario): Promise<Measured> {
  const measured: Measured = new Map(subjects.map((subject) => [subject, []]))
  // The code that requests run is compiled meanwhile.
  for (const subject of subjects) await load(subject, warmUpSeconds)
  for (let round = 0; round < rounds; round++) {
    // Each server is measured first equally often.
    const first = round % subjects.length
    const inTurn = [...subjects.slice(first), ...subjects.slice(0, first)]
    for (const subject of inTurn) measured.get(subject)?.push(await load(subject, roundSeconds))
  }
  return measured
}

/** Returns a row for each server, with the medians of the rounds and the ratio to another server. */
function describe(
  {
    name,
    subjects,
    ratios = [],
    goalPerSecond,
  }: Omit<Scenario, 'goalPerSecond'> & {
    goalPerSecond?: number | undefined
  },
  measured: Measured,
): Row[] {
  const rows: Row[] = subjects.map((subject) => {
    const measurements = measured.get(subject) ?? []
    const medianOf = (field: keyof Measurement) => median(measurements.map((each) => each[field]))
    const ratio = ratios.find(({ of }) => of === subject)
    return {
      request: name,
      server: subject.name,
      requestsPerSecond: medianOf('requestsPerSecond'),
      p50Ms: medianOf('p50Ms'),
      p99Ms: medianOf('p99Ms'),
      peakMb: peakMemoryMb(subject),
      ...(ratio && {
        values: ratiosOf(measurements, measured.get(ratio.to) ?? [], ratio.by),
        unit: `of ${ratio.to.name}`,
        goal: ratio.goal,
      }),
    }
  })
  const [sole] = subjects
  if (goalPerSecond === undefined || !sole) return rows
  const values = (measured.get(sole) ?? []).map(({ requestsPerSecond }) => requestsPerSecond)
  return [...rows, { request: name, server: sole.name, values, unit: '/s', goal: atLeast(goalPerSecond) }]
}

function ratiosOf(
  of: readonly Measurement[],
  to: readonly Measurement[],
  by: keyof Measurement = 'requestsPerSecond',
): number[] {
  return of.map((measurement, i) => measurement[by] / (to[i]?.[by] ?? NaN))
}
