import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import autocannon from 'autocannon'
import pg from 'pg'
import { startEmbeddedDatabase } from '../src/db/embedded.ts'
import { fillDatabase } from '../tests/support/fill-database.ts'

const connections = 50
const warmUpSeconds = 2
const person = 'bench@example.com'

/** A server under load, with a key to its database. */
interface Subject {
  name: string
  origin: string
  apiKey: string
  process: ChildProcess
}

/** A request that servers are compared at, in turns. */
interface Scenario {
  name: string
  method: 'GET'
  path: string
  headers?: Record<string, string>
  /** How often each server has its turn, for how long. */
  rounds: number
  roundSeconds: number
  subjects: Subject[]
  /** The pairs of which the ratio of requests per second is told. */
  ratios: [of: Subject, to: Subject][]
}

interface Measurement {
  requestsPerSecond: number
  p50Ms: number
  p99Ms: number
}

await main()

/**
 * Measures this service against a bare server, and against itself on a big database, in the same run, in turns: machines
 * differ and drift, so only the ratio of neighbours means anything.
 */
async function main(): Promise<void> {
  const dataDir = await mkdtemp(join(tmpdir(), 'workspace-bench-'))
  const database = await startEmbeddedDatabase({ dataDir })
  const subjects: Subject[] = []
  try {
    const small = await prepareDatabase(database.url, 'small', 10)
    const big = await prepareDatabase(database.url, 'big', 10_000)
    const startSubject = async (name: string, args: string[], target: PreparedDatabase) => {
      const subject = await start(name, args, target)
      subjects.push(subject)
      return subject
    }
    const ours = await startSubject('this service', ['dist/server.js'], small)
    const bare = await startSubject('bare Fastify', ['--import', 'tsx', 'bench/bare-server.ts'], small)
    const oursBig = await startSubject('this service, 10,000 workspaces', ['dist/server.js'], big)

    const againstBigger = {
      method: 'GET' as const,
      rounds: 5,
      roundSeconds: 2,
      subjects: [ours, bare, oursBig],
      ratios: [
        [oursBig, ours],
        [ours, bare],
      ] as [Subject, Subject][],
    }
    const scenarios: Scenario[] = [
      {
        name: 'GET /v1/me',
        method: 'GET',
        path: '/v1/me',
        rounds: 5,
        roundSeconds: 4,
        subjects: [ours, bare],
        ratios: [[ours, bare]],
      },
      { name: 'GET /v1/workspaces', path: '/v1/workspaces', ...againstBigger },
      { name: 'GET /v1/workspaces/{slug}', path: '/v1/workspaces/filler-7', ...againstBigger },
    ]
    for (const scenario of scenarios) await report(scenario, await measure(scenario))
  } finally {
    for (const subject of subjects) await stop(subject)
    await database.stop()
    await rm(dataDir, { recursive: true, force: true })
  }
}

interface PreparedDatabase {
  url: string
  apiKey: string
}

/** Makes a database of so many workspaces, ten times as many memberships, and a person who is in ten of them. */
async function prepareDatabase(
  serverUrl: string,
  name: string,
  workspaces: number,
): Promise<PreparedDatabase> {
  await execute(serverUrl, (pool) => pool.query(`create database ${name}`))
  const url = new URL(serverUrl)
  url.pathname = `/${name}`
  const apiKey = await createKey(url.href)
  await execute(url.href, async (pool) => {
    await fillDatabase(pool, workspaces)
    await pool.query(`
      insert into memberships (workspace_id, user_id, role, joined_at, last_used_at)
      select md5('filler-workspace-' || i)::uuid, users.id, 'member', now(), now() - i * interval '1 hour'
      from users, generate_series(1, 10) as i where users.email = '${person}'`)
  })
  return { url: url.href, apiKey }
}

async function execute(url: string, run: (pool: pg.Pool) => Promise<unknown>): Promise<void> {
  const pool = new pg.Pool({ connectionString: url, max: 1 })
  await run(pool)
  await pool.end()
}

async function createKey(databaseUrl: string): Promise<string> {
  const admin = async (...args: string[]) => {
    const env = { ...process.env, DATABASE_URL: databaseUrl }
    return (
      await promisify(execFile)(process.execPath, ['dist/cli/admin.js', ...args], { env })
    ).stdout.trim()
  }
  await admin('create-user', '--email', person, '--name', 'Bench', '--verified')
  return admin('create-key', '--email', person, '--name', 'Bench')
}

async function start(name: string, args: string[], { url, apiKey }: PreparedDatabase): Promise<Subject> {
  const port = await findFreePort()
  const child = spawn(process.execPath, args, {
    // As in production: the log is written, the limiter counts.
    env: {
      ...process.env,
      DATABASE_URL: url,
      PORT: String(port),
      RATE_LIMIT_PER_MINUTE: '1000000000',
    },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const origin = `http://127.0.0.1:${port}`
  while ((await fetch(`${origin}/v1/me`).catch(() => undefined)) === undefined) {
    if (child.exitCode !== null) throw new Error(`${name} did not start`)
    await new Promise((done) => setTimeout(done, 50))
  }
  return { name, origin, apiKey, process: child }
}

async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

async function measure(scenario: Scenario): Promise<Map<Subject, Measurement[]>> {
  const { rounds, roundSeconds, subjects } = scenario
  const measured = new Map<Subject, Measurement[]>(subjects.map((subject) => [subject, []]))
  for (const subject of subjects) await load(subject, scenario, warmUpSeconds)
  for (let round = 0; round < rounds; round++) {
    // Each goes first as often as the others.
    const first = round % subjects.length
    const inTurn = [...subjects.slice(first), ...subjects.slice(0, first)]
    for (const subject of inTurn) measured.get(subject)?.push(await load(subject, scenario, roundSeconds))
  }
  return measured
}

async function load(subject: Subject, scenario: Scenario, duration: number): Promise<Measurement> {
  const { method, path, headers } = scenario
  const result = await autocannon({
    url: subject.origin + path,
    method,
    connections,
    duration,
    headers: { ...headers, authorization: `Bearer ${subject.apiKey}` },
  })
  if (result.non2xx > 0 || result.errors > 0) throw new Error(`${subject.name} answered with errors`)
  return { requestsPerSecond: result.requests.average, p50Ms: result.latency.p50, p99Ms: result.latency.p99 }
}

async function report(scenario: Scenario, measured: Map<Subject, Measurement[]>): Promise<void> {
  const { name, rounds, roundSeconds, ratios } = scenario
  const rows = await Promise.all(
    [...measured].map(async ([subject, measurements]) => {
      const medianOf = (field: keyof Measurement) =>
        median(measurements.map((measurement) => measurement[field]))
      const cells = [
        subject.name,
        Math.round(medianOf('requestsPerSecond')),
        medianOf('p50Ms'),
        medianOf('p99Ms'),
        (await peakMemoryMiB(subject)).toFixed(0),
      ]
      return `| ${cells.join(' | ')} |`
    }),
  )
  const lines = [
    `${name}, ${connections} connections, ${rounds} rounds of ${roundSeconds} s each in turns, medians`,
    '',
    '| server | req/s | p50 ms | p99 ms | peak memory MiB |',
    '| --- | ---: | ---: | ---: | ---: |',
    ...rows,
    '',
    ...ratios.map(([of, to]) => describeRatio(of, to, measured)),
    '',
  ]
  console.log(lines.join('\n'))
}

function describeRatio(of: Subject, to: Subject, measured: Map<Subject, Measurement[]>): string {
  const ratios = (measured.get(of) ?? []).map(
    ({ requestsPerSecond }, i) => requestsPerSecond / (measured.get(to)?.[i]?.requestsPerSecond ?? NaN),
  )
  const roundByRound = ratios.map((ratio) => ratio.toFixed(2)).join(', ')
  return (
    `Ratio of requests per second, ${of.name} to ${to.name}, round by round: ${roundByRound}; ` +
    `median ${median(ratios).toFixed(2)}`
  )
}

/** The most memory that a process ever held (Linux: VmHWM). */
async function peakMemoryMiB({ process: { pid } }: Subject): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  return Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1]) / 1024
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? NaN
}

async function stop({ process: child }: Subject): Promise<void> {
  const exit = once(child, 'exit')
  child.kill('SIGTERM')
  await exit
}
