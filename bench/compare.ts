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
}

export const atLeast = (bound: number): Goal => ({ is: 'at least', bound })
export const atMost = (bound: number): Goal => ({ is: 'at most', bound })
export const below = (bound: number): Goal => ({ is: 'below', bound })

/** Measures servers in turn; with a baseline, the first two by `compareVersions`. */
export function compare(bench: Bench, scenario: Scenario): Trial {
  const { name } = scenario
  if (bench.baseline) return { name, run: () => compareVersions(bench, scenario) }
  return { name, run: async () => describe(scenario, await measure(bench, scenario)) }
}

const pairs = 10
const slowerFrom = 1.05

/**
 * Measures ten pairs of the processor time of two versions, in the order A B, B A. The first is slower, and misses the goal,
 * when the interval of the median of their ratios lies wholly above 1.05, twice. The value is where it begins.
 */
async function compareVersions(bench: Bench, scenario: Scenario): Promise<Row[]> {
  const [ours, theirs] = scenario.subjects
  if (!ours || !theirs) throw new Error(`${scenario.name} has nothing to compare`)
  const measurePairs = async (): Promise<Row> => {
    const measured = await measure(bench, { ...scenario, subjects: [ours, theirs], rounds: pairs })
    const ratio = describeRatio({ of: ours, to: theirs, by: 'processorMs' }, measured)
    const [from, to] = intervalOfMedian(ratio.values ?? [])
    const server = from > slowerFrom ? 'slower' : to <= slowerFrom ? 'no slower' : 'not decided'
    return { request: scenario.name, server, ...ratio, value: from, goal: atMost(slowerFrom) }
  }
  const row = await measurePairs()
  return [isMet(row) ? row : await measurePairs()]
}

/** Where the median of ten measurements lies, with a confidence of 0.979: between the second and the ninth of them. */
function intervalOfMedian(values: readonly number[]): [from: number, to: number] {
  const sorted = [...values].sort((a, b) => a - b)
  return [sorted[1] ?? NaN, sorted[8] ?? NaN]
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
