import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import autocannon from 'autocannon'
import { startEmbeddedDatabase } from '../src/db/embedded.ts'

const rounds = 5
const roundSeconds = 4
const connections = 50

interface Subject {
  name: string
  url: string
  process: ChildProcess
}

interface Measurement {
  requestsPerSecond: number
  p50Ms: number
  p99Ms: number
}

await main()

/**
 * Measures GET /v1/me of this service against a bare server in the same run, on one database, in turns: machines differ
 * and drift, so only the ratio of neighbours means anything.
 */
async function main(): Promise<void> {
  const dataDir = await mkdtemp(join(tmpdir(), 'workspace-bench-'))
  const database = await startEmbeddedDatabase({ dataDir })
  const subjects: Subject[] = []
  try {
    const apiKey = await createKey(database.url)
    subjects.push(await start('this service', ['dist/server.js'], database.url))
    subjects.push(await start('bare Fastify', ['--import', 'tsx', 'bench/bare-server.ts'], database.url))
    const measured = new Map<Subject, Measurement[]>(subjects.map((subject) => [subject, []]))
    for (const subject of subjects) await load(subject, apiKey, 2)
    for (let round = 0; round < rounds; round++) {
      // Each goes first as often as the other.
      const inTurn = round % 2 === 0 ? subjects : [...subjects].reverse()
      for (const subject of inTurn) measured.get(subject)?.push(await load(subject, apiKey, roundSeconds))
    }
    await report(measured)
  } finally {
    for (const subject of subjects) await stop(subject)
    await database.stop()
    await rm(dataDir, { recursive: true, force: true })
  }
}

async function createKey(databaseUrl: string): Promise<string> {
  const admin = async (...args: string[]) => {
    const env = { ...process.env, DATABASE_URL: databaseUrl }
    return (
      await promisify(execFile)(process.execPath, ['dist/cli/admin.js', ...args], { env })
    ).stdout.trim()
  }
  await admin('create-user', '--email', 'bench@example.com', '--name', 'Bench', '--verified')
  return admin('create-key', '--email', 'bench@example.com', '--name', 'Bench')
}

async function start(name: string, args: string[], databaseUrl: string): Promise<Subject> {
  const port = await findFreePort()
  const child = spawn(process.execPath, args, {
    // As in production: the log is written, the limiter counts.
    env: {
      ...process.env,
      DATABASE_URL: databaseUrl,
      PORT: String(port),
      RATE_LIMIT_PER_MINUTE: '1000000000',
    },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const url = `http://127.0.0.1:${port}/v1/me`
  while ((await fetch(url).catch(() => undefined)) === undefined) {
    if (child.exitCode !== null) throw new Error(`${name} did not start`)
    await new Promise((done) => setTimeout(done, 50))
  }
  return { name, url, process: child }
}

async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

async function load({ name, url }: Subject, apiKey: string, duration: number): Promise<Measurement> {
  const result = await autocannon({
    url,
    connections,
    duration,
    headers: { authorization: `Bearer ${apiKey}` },
  })
  if (result.non2xx > 0 || result.errors > 0) throw new Error(`${name} answered with errors`)
  return { requestsPerSecond: result.requests.average, p50Ms: result.latency.p50, p99Ms: result.latency.p99 }
}

async function report(measured: Map<Subject, Measurement[]>): Promise<void> {
  const rows = await Promise.all(
    [...measured].map(async ([subject, measurements]) => ({
      name: subject.name,
      requestsPerSecond: median(measurements.map((measurement) => measurement.requestsPerSecond)),
      p50Ms: median(measurements.map((measurement) => measurement.p50Ms)),
      p99Ms: median(measurements.map((measurement) => measurement.p99Ms)),
      peakMemoryMiB: await peakMemoryMiB(subject),
    })),
  )
  const [ours, bare] = [...measured.values()]
  const ratios =
    ours?.map(({ requestsPerSecond }, i) => requestsPerSecond / (bare?.[i]?.requestsPerSecond ?? NaN)) ?? []
  const lines = [
    `GET /v1/me, ${connections} connections, ${rounds} rounds of ${roundSeconds} s each in turns, medians`,
    '',
    '| server | req/s | p50 ms | p99 ms | peak memory MiB |',
    '| --- | ---: | ---: | ---: | ---: |',
    ...rows.map((row) =>
      [
        '',
        row.name,
        Math.round(row.requestsPerSecond),
        row.p50Ms,
        row.p99Ms,
        row.peakMemoryMiB.toFixed(0),
        '',
      ]
        .join(' | ')
        .trim(),
    ),
    '',
    `Ratio of requests per second, round by round: ${ratios.map((ratio) => ratio.toFixed(2)).join(', ')}; median ${median(ratios).toFixed(2)}`,
  ]
  console.log(lines.join('\n'))
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
