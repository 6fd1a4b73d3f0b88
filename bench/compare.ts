import { peakMemoryMb, readServerMs, type Bench, type Subject } from './harness.ts'
import type { Load, LoadResult } from './loads.ts'
import { isMet, median, percentile, type Goal, type Row, type Trial } from './report.ts'

/** A comparison of servers, which are measured alternately. */
export interface Scenario {
  name: string
  load: Load
  subjects: readonly Subject[]
  /** The number of measurements of each server, and their duration. */
  rounds: number
  roundSeconds: number
  /** How long each server is under load before it is measured. */
  warmUpSeconds?: number
  ratios?: readonly Ratio[]
  /** The requests per second that the first server should reach. */
  goalPerSecond?: number
}

/** What is compared of two servers. */
export interface Ratio {
  of: Subject
  to: Subject
  /** Default: the requests per second. */
  by?: keyof Measurement
  /** Without one, the ratio is only reported. */
  goal?: Goal
  /**
   * What was last measured where it misses the goal, where there is none, or on a busy machine: the short form holds it
   * instead.
   */
  reached?: number | undefined
}

export const atLeast = (bound: number): Goal => ({ is: 'at least', bound })
export const atMost = (bound: number): Goal => ({ is: 'at most', bound })
export const below = (bound: number): Goal => ({ is: 'below', bound })

// The short form notices what became much worse. It asks for less, since it measures for less time.
const short = { rounds: 3, secondsMin: 0.5, ofSeconds: 0.4, worseBy: 0.2, tries: 5 }

/**
 * Measures servers in turn. The short form lets each value be a fifth worse than its goal, or than what was reached. What
 * is worse is measured again, up to five times, and all rounds count: a few on a busy machine vary.
 * Of servers that are compared by processor time and by requests per second it holds the processor time, which varies less.
 */
export function compare(bench: Bench, scenario: Scenario): Trial {
  const { name, load, subjects, warmUpSeconds, ratios = [] } = scenario
  if (!bench.isShort) return { name, run: async () => describe(scenario, await measure(bench, scenario)) }
  const eased = {
    name,
    load,
    subjects,
    rounds: short.rounds,
    roundSeconds: Math.max(short.secondsMin, scenario.roundSeconds * short.ofSeconds),
    ...(warmUpSeconds !== undefined && { warmUpSeconds }),
    ratios: ratios
      .filter(
        ({ of, to, by }) =>
          by === 'processorMs' ||
          !ratios.some((other) => other.of === of && other.to === to && other.by === 'processorMs'),
      )
      .map(ease),
  }
  return {
    name,
    async run() {
      const measured: Measured = new Map()
      let rows: Row[] = []
      for (let attempt = 0; attempt < short.tries && (attempt === 0 || !rows.every(isMet)); attempt++) {
        for (const [subject, rounds] of await measure(bench, eased))
          measured.set(subject, [...(measured.get(subject) ?? []), ...rounds])
        rows = describe(eased, measured)
      }
      return rows
    },
  }
}

function ease({ reached, goal, ...ratio }: Ratio): Ratio {
  const bound = reached ?? goal?.bound
  if (bound === undefined) return ratio
  const isMore = (ratio.by ?? 'requestsPerSecond') === 'requestsPerSecond'
  const { worseBy } = short
  return { ...ratio, goal: isMore ? atLeast(bound * (1 - worseBy)) : atMost(bound * (1 + worseBy)) }
}

/** What was measured in a round. Processor times are for each request. */
interface Measurement extends Omit<LoadResult, 'requests'> {
  serverMs: number
  databaseMs: number
  /** Of both. */
  processorMs: number
}

type Measured = Map<Subject, Measurement[]>

async function measure(
  bench: Bench,
  { load, rounds, roundSeconds, warmUpSeconds = 1.5, subjects }: Scenario,
): Promise<Measured> {
  const measured: Measured = new Map(subjects.map((subject) => [subject, []]))
  // The code that requests run is compiled meanwhile.
  for (const subject of subjects) await load(subject, warmUpSeconds)
  for (let round = 0; round < rounds; round++) {
    // Each server is measured first equally often.
    const first = round % subjects.length
    const inTurn = [...subjects.slice(first), ...subjects.slice(0, first)]
    for (const subject of inTurn)
      measured.get(subject)?.push(await measureOnce(bench, subject, () => load(subject, roundSeconds)))
  }
  return measured
}

async function measureOnce(
  bench: Bench,
  subject: Subject,
  work: () => Promise<LoadResult>,
): Promise<Measurement> {
  const readBoth = async () => ({ serverMs: readServerMs(subject), databaseMs: await bench.readDatabaseMs() })
  const before = await readBoth()
  const { requests = NaN, ...result } = await work()
  const after = await readBoth()
  const serverMs = (after.serverMs - before.serverMs) / requests
  const databaseMs = (after.databaseMs - before.databaseMs) / requests
  return { ...result, serverMs, databaseMs, processorMs: serverMs + databaseMs }
}

/** Returns a row for each server, with the medians of the rounds and its ratios to other servers. */
function describe({ name, subjects, ratios = [], goalPerSecond }: Scenario, measured: Measured): Row[] {
  const rows = subjects.flatMap((subject): Row[] => {
    const measurements = measured.get(subject) ?? []
    const medianOf = (field: keyof Measurement) => median(measurements.map((each) => each[field]))
    const [first, ...further] = ratios
      .filter(({ of }) => of === subject)
      .map((ratio) => describeRatio(ratio, measured))
    const row = { request: name, server: subject.name }
    return [
      {
        ...row,
        requestsPerSecond: medianOf('requestsPerSecond'),
        p50Ms: medianOf('p50Ms'),
        p99Ms: medianOf('p99Ms'),
        ...(!Number.isNaN(medianOf('processorMs')) && {
          serverMs: medianOf('serverMs'),
          databaseMs: medianOf('databaseMs'),
        }),
        peakMb: peakMemoryMb(subject),
        ...first,
      },
      ...further.map((ratio) => ({ ...row, ...ratio })),
    ]
  })
  const [sole] = subjects
  if (goalPerSecond === undefined || !sole) return rows
  const values = (measured.get(sole) ?? []).map(({ requestsPerSecond }) => requestsPerSecond)
  return [...rows, { request: name, server: sole.name, values, unit: '/s', goal: atLeast(goalPerSecond) }]
}

const labels: Partial<Record<keyof Measurement, string>> = {
  processorMs: 'the CPU time of',
  p50Ms: 'the p50 of',
  p99Ms: 'the p99 of',
}

/**
 * The lower quartile of processor times. What else runs on a machine only adds to them, by the caches and the threads of a
 * processor that it shares, and to each server in other rounds.
 */
const quietest = (times: readonly number[]): number => percentile(times, 0.25)

function describeRatio(
  { of, to, by = 'requestsPerSecond', goal }: Ratio,
  measured: Measured,
): Pick<Row, 'values' | 'value' | 'unit' | 'goal'> {
  const [ours, theirs] = [of, to].map((subject) => (measured.get(subject) ?? []).map((each) => each[by]))
  return {
    values: (ours ?? []).map((value, i) => value / (theirs?.[i] ?? NaN)),
    ...(by === 'processorMs' && { value: quietest(ours ?? []) / quietest(theirs ?? []) }),
    unit: `of ${labels[by] ?? 'the req/s of'} ${to.name}`,
    ...(goal && { goal }),
  }
}
