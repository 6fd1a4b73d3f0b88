import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { createServer, type AddressInfo } from 'node:net'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import autocannon from 'autocannon'
import pg from 'pg'
import { startEmbeddedDatabase } from '../src/db/embedded.ts'

const connections = 50
const person = 'bench@example.com'
const startLimitMs = 30_000
const stopLimitMs = 10_000

/** A database with a user. */
export interface BenchDatabase {
  url: string
  userId: string
  apiKey: string
}

/** A server under load. */
export interface Subject {
  name: string
  origin: string
  database: BenchDatabase
  process: ChildProcess
}

export interface Measurement {
  requestsPerSecond: number
  p50Ms: number
  p99Ms: number
}

/** Measures a server for a number of seconds. */
export type Load = (subject: Subject, seconds: number) => Promise<Measurement>

/** A comparison of servers, which are measured alternately. */
export interface Scenario {
  name: string
  load: Load
  subjects: readonly Subject[]
  /** The number of measurements of each server, and their duration. */
  rounds: number
  roundSeconds: number
  /**
   * The ratios to report, at most one for each `of`; by default of the requests per second. The median should reach the
   * goal; with `p99Ms` it should not exceed it.
   */
  ratios?: readonly { of: Subject; to: Subject; by?: keyof Measurement; goal?: number }[]
  /** The requests per second that the first server should reach. */
  goalPerSecond?: number
}

/** A group of scenarios. */
export interface Area {
  /** The name on the command line. */
  name: string
  title: string
  prepare: (bench: Bench) => Promise<readonly Scenario[]>
}

export interface Bench {
  /** Returns the database with a name. Creates and fills it at the first call. */
  database: (
    name: string,
    fill: (pool: pg.Pool, database: BenchDatabase) => Promise<void>,
  ) => Promise<BenchDatabase>
  /** Returns the server with a name on a database. Starts it at the first call. */
  start: (name: string, args: readonly string[], database: BenchDatabase) => Promise<Subject>
  measure: (area: Area) => Promise<void>
  /** Stops all servers, then PostgreSQL. */
  close: () => Promise<void>
}

/** Starts PostgreSQL in an empty folder, for one run. */
export async function openBench(): Promise<Bench> {
  const dataDir = await mkdtemp(join(tmpdir(), 'workspace-bench-'))
  const removeData = () => rm(dataDir, { recursive: true, force: true })
  const server = await startEmbeddedDatabase({ dataDir }).catch(async (error: unknown) => {
    await removeData()
    throw error
  })
  const databases = new Map<string, Promise<BenchDatabase>>()
  const subjects = new Map<string, Promise<Subject>>()
  const children: ChildProcess[] = []

  async function createDatabase(name: string): Promise<BenchDatabase> {
    await withPool(server.url, (pool) => pool.query(`create database ${name}`))
    const url = new URL(server.url)
    url.pathname = `/${name}`
    const env = { ...process.env, DATABASE_URL: url.href }
    const admin = async (...args: string[]) =>
      (await promisify(execFile)(process.execPath, ['dist/cli/admin.js', ...args], { env })).stdout.trim()
    await admin('create-user', '--email', person, '--name', 'Bench', '--verified')
    const apiKey = await admin('create-key', '--email', person, '--name', 'Bench')
    const { rows } = await withPool(url.href, (pool) =>
      pool.query<{ id: string }>('select id from users where email = $1', [person]),
    )
    return { url: url.href, userId: String(rows[0]?.id), apiKey }
  }

  async function startSubject(
    name: string,
    args: readonly string[],
    database: BenchDatabase,
  ): Promise<Subject> {
    const port = await findFreePort()
    const origin = `http://127.0.0.1:${port}`
    const child = spawn(process.execPath, args, {
      // As in production, with logging and rate limits.
      env: {
        ...process.env,
        ...environmentOf(database.url, origin),
        DATA_DIR: join(dataDir, String(port)),
        PORT: String(port),
      },
      stdio: ['ignore', 'ignore', 'inherit'],
    })
    children.push(child)
    const limit = Date.now() + startLimitMs
    while ((await fetch(origin).catch(() => undefined)) === undefined) {
      if (child.exitCode !== null || Date.now() > limit) throw new Error(`${name} did not start`)
      await new Promise((done) => setTimeout(done, 50))
    }
    return { name, origin, database, process: child }
  }

  const bench: Bench = {
    database: (name, fill) =>
      remember(databases, name, async () => {
        const database = await createDatabase(name)
        await withPool(database.url, (pool) => fill(pool, database))
        return database
      }),

    start: (name, args, database) =>
      remember(subjects, [name, ...args, database.url].join(' '), () => startSubject(name, args, database)),

    async measure(area) {
      const rows: string[][] = []
      for (const scenario of await area.prepare(bench)) {
        console.error(`${area.name}: ${scenario.name}`)
        rows.push(...(await describe(scenario, await measureScenario(scenario))))
      }
      console.log(`### ${area.title}\n\n${formatTable(rows)}\n`)
    },

    async close() {
      await Promise.all(children.map(stop))
      await server.stop()
      await removeData()
    },
  }
  return bench
}

/** The settings shared by the servers of a run, and by processes that create data for them. */
export function environmentOf(databaseUrl: string, origin: string): Record<string, string> {
  return {
    DATABASE_URL: databaseUrl,
    BASE_URL: origin,
    APP_SECRET: 'a secret of the servers of this run alone',
    RATE_LIMIT_PER_MINUTE: '1000000000',
    AGENT_LIMIT_PER_MINUTE: '1000000000',
  }
}

export async function withPool<T>(url: string, run: (pool: pg.Pool) => Promise<T>): Promise<T> {
  const pool = new pg.Pool({ connectionString: url, max: 2 })
  try {
    return await run(pool)
  } finally {
    await pool.end()
  }
}

/** Describes the machine in one line. */
export async function describeMachine(database: BenchDatabase): Promise<string> {
  const { rows } = await withPool(database.url, (pool) =>
    pool.query<{ server_version: string }>('show server_version'),
  )
  return (
    `${availableParallelism()} cores, Node.js ${process.versions.node}, PostgreSQL ${rows[0]?.server_version}, ` +
    `all on one machine, with the load (${connections} connections)`
  )
}

/** The request to repeat. */
export interface Request {
  method?: 'GET' | 'POST'
  path: string
  headers?: Record<string, string>
  body?: string
  /** Default: the API key of the user of the database. */
  token?: string
}

/** Creates a load that repeats one request on all connections. */
export function repeat(requestOf: (subject: Subject) => Request): Load {
  return async (subject, seconds) => {
    const { method = 'GET', path, headers, body, token = subject.database.apiKey } = requestOf(subject)
    const { errors, non2xx, duration, latency, ...result } = await autocannon({
      url: subject.origin + path,
      method,
      connections,
      duration: seconds,
      ...(body !== undefined && { body }),
      headers: { ...headers, authorization: `Bearer ${token}` },
    })
    if (non2xx > 0 || errors > 0) throw new Error(`${subject.name} answered ${path} with errors`)
    return { requestsPerSecond: result['2xx'] / duration, p50Ms: latency.p50, p99Ms: latency.p99 }
  }
}

async function measureScenario(scenario: Scenario): Promise<Map<Subject, Measurement[]>> {
  const { load, rounds, roundSeconds, subjects } = scenario
  const measured = new Map<Subject, Measurement[]>(subjects.map((subject) => [subject, []]))
  for (const subject of subjects) await load(subject, Math.min(roundSeconds, 2))
  for (let round = 0; round < rounds; round++) {
    // Each server is measured first equally often.
    const first = round % subjects.length
    const inTurn = [...subjects.slice(first), ...subjects.slice(0, first)]
    for (const subject of inTurn) measured.get(subject)?.push(await load(subject, roundSeconds))
  }
  return measured
}

const columns = [
  'request',
  'server',
  'req/s',
  'p50 ms',
  'p99 ms',
  'peak MiB',
  'ratio',
  'in each round',
  'goal',
]
const numeric = new Set(['req/s', 'p50 ms', 'p99 ms', 'peak MiB', 'ratio', 'goal'])

/** Returns a row for each server, with the medians of the rounds and the ratio to another server. */
function describe(scenario: Scenario, measured: Map<Subject, Measurement[]>): Promise<string[][]> {
  const { name, subjects, ratios = [], goalPerSecond } = scenario
  return Promise.all(
    [...measured].map(async ([subject, measurements], i) => {
      const medianOf = (field: keyof Measurement) =>
        median(measurements.map((measurement) => measurement[field]))
      const ratio = ratios.find(({ of }) => of === subject)
      const values = ratio ? ratiosOf(measurements, measured.get(ratio.to) ?? [], ratio.by) : []
      const isSole = subjects.length === 1
      const rates = measurements.map(({ requestsPerSecond }) => Math.round(requestsPerSecond))
      return [
        i === 0 ? name : '',
        subject.name,
        String(Math.round(medianOf('requestsPerSecond'))),
        String(medianOf('p50Ms')),
        String(medianOf('p99Ms')),
        (await peakMemoryMiB(subject)).toFixed(0),
        ratio ? median(values).toFixed(2) : '',
        ratio
          ? `${values.map((value) => value.toFixed(2)).join(', ')} to ${ratio.to.name}`
          : isSole
            ? rates.join(', ')
            : '',
        ratio?.goal !== undefined ? `${ratio.goal}` : i === 0 && goalPerSecond ? `${goalPerSecond}/s` : '',
      ]
    }),
  )
}

function ratiosOf(
  of: readonly Measurement[],
  to: readonly Measurement[],
  by: keyof Measurement = 'requestsPerSecond',
): number[] {
  return of.map((measurement, i) => measurement[by] / (to[i]?.[by] ?? NaN))
}

/** Formats a Markdown table like Prettier. */
function formatTable(rows: readonly string[][]): string {
  const widths = columns.map((column, i) => Math.max(3, ...[columns, ...rows].map((row) => lengthOf(row[i]))))
  const format = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  const pad = (row: readonly string[]) =>
    row.map((cell, i) => (isNumeric(i) ? cell.padStart(widths[i] ?? 0) : cell.padEnd(widths[i] ?? 0)))
  const rule = widths.map((width, i) => (isNumeric(i) ? `${'-'.repeat(width - 1)}:` : '-'.repeat(width)))
  return [format(pad(columns)), format(rule), ...rows.map((row) => format(pad(row)))].join('\n')
}

const lengthOf = (cell: string | undefined) => cell?.length ?? 0
const isNumeric = (i: number) => numeric.has(columns[i] ?? '')

/** The peak memory of a process (VmHWM of Linux). */
async function peakMemoryMiB({ process: { pid } }: Subject): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  return Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1]) / 1024
}

function median(values: readonly number[]): number {
  return percentile(values, 0.5)
}

/** The quantile of the values. */
export function percentile(values: readonly number[], share: number): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length * share)] ?? NaN
}

async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exit = once(child, 'exit')
  child.kill('SIGTERM')
  const impatience = setTimeout(() => child.kill('SIGKILL'), stopLimitMs)
  await exit
  clearTimeout(impatience)
}

function remember<T>(memory: Map<string, Promise<T>>, key: string, make: () => Promise<T>): Promise<T> {
  let made = memory.get(key)
  if (!made) {
    made = make()
    memory.set(key, made)
  }
  return made
}
