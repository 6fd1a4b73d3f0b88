import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import pg from 'pg'
import { startEmbeddedDatabase } from '../src/db/embedded.ts'
import { findClosedPort } from '../tests/support/raw-http.ts'
import { readFamilyMs, readProcess } from './processor-time.ts'
import type { Section, Trial } from './report.ts'
import { startSpinners } from './spinners.ts'

const person = 'bench@example.com'
const startLimitMs = 30_000
const stopLimitMs = 10_000

/** A database with a user. */
export interface BenchDatabase {
  url: string
  userId: string
  apiKey: string
  /** The API keys of the users whose requests are the load. */
  callers: readonly string[]
}

/** A server under load. */
export interface Subject {
  name: string
  origin: string
  database: BenchDatabase
  process: ChildProcess
  /** A folder for files of the run, which is removed at its end. */
  folder: string
}

/** A group of measurements. */
export interface Area {
  /** The name on the command line. */
  name: string
  title: string
  /** Whether versions of the service are compared by it. */
  isOfVersions?: boolean
  /** Whether the processors are kept awake: `startSpinners` says for which requests that helps. */
  isAwake?: boolean
  /** Says why it cannot be measured here, if so. */
  findObstacle?: () => string | undefined
  prepare: (bench: Bench) => Promise<readonly Trial[]>
}

/** Fills a new database, and returns the API keys of its callers. */
type Fill = (pool: pg.Pool, database: BenchDatabase) => Promise<readonly string[]>

interface StartOptions {
  /** What is answered with 200 once the server is there, by default `/`, and how often it is asked for. */
  path?: string
  everyMs?: number
  /** Further settings. */
  environment?: Record<string, string>
}

/** The built service of another commit. */
export interface Baseline {
  name: string
  /** What Node.js is started with. */
  args: readonly string[]
}

export interface Bench {
  /** The service of another commit. If there is one, it takes the place of the bare servers. */
  baseline?: Baseline | undefined
  /** Returns the database with a name. Creates and fills it at the first call. */
  database: (name: string, fill: Fill) => Promise<BenchDatabase>
  /** Returns the copy of a database with a name. Creates it at the first call. No server may use the original. */
  copy: (name: string, of: BenchDatabase, change?: (pool: pg.Pool) => Promise<void>) => Promise<BenchDatabase>
  /** Returns the server with a name on a database. Starts it at the first call. */
  start: (name: string, args: readonly string[], database: BenchDatabase) => Promise<Subject>
  /** Starts a server whatever runs already, and waits until it answers. */
  startAnew: (
    name: string,
    args: readonly string[],
    database: BenchDatabase,
    options?: StartOptions,
  ) => Promise<Subject & { startMs: number }>
  stop: (subject: Subject) => Promise<void>
  /** The processor time that PostgreSQL has taken until now, in milliseconds, with all its processes. */
  readDatabaseMs: () => Promise<number>
  measure: (area: Area) => Promise<Section>
  /** Stops all servers, then PostgreSQL. */
  close: () => Promise<void>
}

/** Starts PostgreSQL in an empty folder, for one run. */
export async function openBench({ baseline }: Pick<Bench, 'baseline'> = {}): Promise<Bench> {
  const dataDir = await mkdtemp(join(tmpdir(), 'workspace-bench-'))
  const removeData = () => rm(dataDir, { recursive: true, force: true })
  const server = await startEmbeddedDatabase({ dataDir }).catch(async (error: unknown) => {
    await removeData()
    throw error
  })
  let postmasterPid: Promise<number> | undefined
  const databases = new Map<string, Promise<BenchDatabase>>()
  const subjects = new Map<string, Promise<Subject>>()
  const children = new Set<ChildProcess>()

  const urlOf = (name: string) => Object.assign(new URL(server.url), { pathname: `/${name}` }).href

  async function createDatabase(name: string): Promise<BenchDatabase> {
    await withPool(server.url, (pool) => pool.query(`create database ${name}`))
    const url = urlOf(name)
    const env = { ...process.env, DATABASE_URL: url }
    const admin = async (...args: string[]) =>
      (await promisify(execFile)(process.execPath, ['dist/cli/admin.js', ...args], { env })).stdout.trim()
    await admin('create-user', '--email', person, '--name', 'Bench', '--verified')
    const apiKey = await admin('create-key', '--email', person, '--name', 'Bench')
    const { rows } = await withPool(url, (pool) =>
      pool.query<{ id: string }>('select id from users where email = $1', [person]),
    )
    return { url, userId: String(rows[0]?.id), apiKey, callers: [apiKey] }
  }

  async function startAnew(
    name: string,
    args: readonly string[],
    database: BenchDatabase,
    { path = '/', everyMs = 50, environment = {} }: StartOptions = {},
  ) {
    const port = await findClosedPort()
    const origin = `http://127.0.0.1:${port}`
    const at = performance.now()
    const child = spawn(process.execPath, args, {
      // As in production, with logging and rate limits.
      env: {
        ...process.env,
        ...environmentOf(database.url, origin),
        DATA_DIR: join(dataDir, String(port)),
        PORT: String(port),
        ...environment,
      },
      stdio: ['ignore', 'ignore', 'inherit'],
    })
    children.add(child)
    // Any answer of a bare server will do: it has no page at `/`.
    const isThere = (answer: Response | undefined) => answer && (path === '/' || answer.ok)
    while (!isThere(await fetch(origin + path).catch(() => undefined))) {
      if (child.exitCode !== null || performance.now() - at > startLimitMs)
        throw new Error(`${name} did not start`)
      await new Promise((done) => setTimeout(done, everyMs))
    }
    return { name, origin, database, process: child, folder: dataDir, startMs: performance.now() - at }
  }

  const bench: Bench = {
    baseline,

    database: (name, fill) =>
      remember(databases, name, async () => {
        const database = await createDatabase(name)
        return { ...database, callers: await withPool(database.url, (pool) => fill(pool, database)) }
      }),

    copy: (name, of, change) =>
      remember(databases, name, async () => {
        const original = new URL(of.url).pathname.slice(1)
        await withPool(server.url, (pool) => pool.query(`create database ${name} template ${original}`))
        if (change) await withPool(urlOf(name), change)
        return { ...of, url: urlOf(name) }
      }),

    start: (name, args, database) =>
      remember(subjects, [name, ...args, database.url].join(' '), () => startAnew(name, args, database)),

    startAnew,

    async stop(subject) {
      await stop(subject.process)
      children.delete(subject.process)
    },

    readDatabaseMs: async () => readFamilyMs(await (postmasterPid ??= findPostmaster(server.url))),

    async measure({ name, title, isAwake, prepare }) {
      const rows = []
      // Databases are filled before the processors are kept awake, as that writes.
      const trials = await prepare(bench)
      const spinners = isAwake ? await startSpinners() : undefined
      try {
        for (const trial of trials) {
          console.error(`${Math.round(process.uptime())} s, ${name}: ${trial.name}`)
          rows.push(...(await trial.run()))
        }
      } finally {
        spinners?.stop()
      }
      const compared = baseline ? `${name}, against ${baseline.name}` : title
      return { area: name, title: spinners ? `${compared}, on processors kept awake` : compared, rows }
    },

    async close() {
      await Promise.all([...children].map(stop))
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
    // Not 0, with which the service would not count at all.
    // A high limit would count all invites of the last hour, which are few with the default.
    INVITE_LIMIT_PER_HOUR: '0',
    REFRESH_LIMIT_PER_HOUR: '0',
    REFUSED_TOKEN_LIMIT_PER_MINUTE: '0',
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

/** The process of PostgreSQL that starts all others. */
function findPostmaster(url: string): Promise<number> {
  return withPool(url, async (pool) => {
    const { rows } = await pool.query<{ pid: number }>('select pg_backend_pid() as pid')
    return readProcess(Number(rows[0]?.pid)).parentPid
  })
}

/** Describes the machine and the load in one line. */
export async function describeMachine(database: BenchDatabase, load: string): Promise<string> {
  const { rows } = await withPool(database.url, (pool) =>
    pool.query<{ server_version: string }>('show server_version'),
  )
  return (
    `${availableParallelism()} cores, Node.js ${process.versions.node}, PostgreSQL ${rows[0]?.server_version}, ` +
    `all on one machine, with the load (${load})`
  )
}

/** The processor time that a server has taken until now, in milliseconds. */
export const readServerMs = ({ process: { pid = NaN } }: Subject): number => readProcess(pid).ownMs

/** The peak memory of a process until now, in MB of 10^6 bytes. */
export const peakMemoryMb = (subject: Subject): number => readMemoryMb(subject, 'VmHWM')

/** The memory of a process (RSS), in MB of 10^6 bytes. */
export const memoryMb = (subject: Subject): number => readMemoryMb(subject, 'VmRSS')

function readMemoryMb({ process: { pid } }: Subject, field: string): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  return (Number(new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(status)?.[1]) * 1024) / 1e6
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
