import { hasPgbouncer, startPgbouncer } from '../../tests/support/pgbouncer.ts'
import { createAgentAccess, type AgentAccess } from '../agent-access.ts'
import { company, crowd, seedWithEvidence } from '../databases.ts'
import {
  peakMemoryMb,
  readServerMs,
  withPool,
  type Area,
  type Bench,
  type BenchDatabase,
} from '../harness.ts'
import { pick, sendRequestsAtRate, type Request } from '../loads.ts'
import type { Row, Trial } from '../report.ts'
import { service } from '../compared-servers.ts'
import { openWriteDatabase, type WriteDatabase } from '../write-database.ts'
import { writeRequests } from '../write-requests.ts'
import { kitRequests } from './kit.ts'

const warmUpSeconds = 4
const seconds = 12

/** How many processes serve how many requests a second: what one machine of two cores can do with PostgreSQL and the load. */
const cases = [
  { processes: 2, perSecond: 100 },
  { processes: 1, perSecond: 500 },
  { processes: 2, perSecond: 500 },
  { processes: 4, perSecond: 500 },
  { processes: 1, perSecond: 1000 },
  { processes: 2, perSecond: 1000 },
]
const pooled = { processes: 2, perSecond: 500 }

/** The name by which all processes are called, as behind a load balancer. */
const baseUrl = 'http://service.example'

export const replicas: Area = {
  name: 'replicas',
  title: 'The mix of requests of docs/scale.md, by the number of processes and of requests a second',
  async prepare(bench) {
    const original = await openWriteDatabase(bench)
    const database = await bench.copy('replicas', original)
    const trials = cases.map((each): Trial => {
      const name = `${each.perSecond} a second`
      const server = each.processes === 1 ? 'one process' : `${each.processes} processes`
      return {
        name: `${name}, ${server}`,
        run: () => measure(bench, original, { ...each, database, name, server }),
      }
    })
    if (hasPgbouncer)
      trials.push({ name: 'behind PgBouncer', run: () => measurePooled(bench, original, database) })
    return trials
  },
}

interface Case {
  processes: number
  perSecond: number
  database: BenchDatabase
  name: string
  server: string
  environment?: Record<string, string>
}

async function measurePooled(bench: Bench, original: WriteDatabase, database: BenchDatabase): Promise<Row[]> {
  const pooler = await startPgbouncer(database.url, 'transaction')
  try {
    return await measure(bench, original, {
      ...pooled,
      database,
      name: `${pooled.perSecond} a second`,
      server: `${pooled.processes} processes behind PgBouncer in transaction mode`,
      environment: {
        DATABASE_URL: pooler.url,
        DATABASE_POOLER: 'transaction',
        DATABASE_DIRECT_URL: database.url,
      },
    })
  } finally {
    await pooler.stop()
  }
}

/** Starts the processes, measures them together and stops them. */
async function measure(
  bench: Bench,
  original: WriteDatabase,
  { processes, perSecond, database, name, server, environment }: Case,
): Promise<Row[]> {
  const subjects = await Promise.all(
    Array.from({ length: processes }, () =>
      bench.startAnew('this service', service, database, {
        path: '/ready',
        environment: { BASE_URL: baseUrl, ...environment },
      }),
    ),
  )
  try {
    const [first] = subjects
    const [agent] = first ? await createAgentAccess({ ...first, origin: baseUrl }, 1) : []
    if (!agent) throw new Error('there is no agent')
    const requestOf = mixOf(original, agent)
    const send = (load: { perSecond: number; seconds: number }) =>
      sendRequestsAtRate({
        origins: subjects.map(({ origin }) => origin),
        host: new URL(baseUrl).host,
        ...{ ...load, requestOf },
      })
    // The code that requests run is compiled meanwhile, by several processes on two cores: slowly at first.
    await send({ perSecond: perSecond / 5, seconds: warmUpSeconds })
    await send({ perSecond, seconds: warmUpSeconds })
    const readServersMs = () => subjects.reduce((sum, subject) => sum + readServerMs(subject), 0)
    const before = { serverMs: readServersMs(), databaseMs: await bench.readDatabaseMs() }
    const { requests = NaN, ...result } = await send({ perSecond, seconds })
    const connections = await countConnections(database)
    return [
      {
        request: name,
        server,
        ...result,
        serverMs: (readServersMs() - before.serverMs) / requests,
        databaseMs: ((await bench.readDatabaseMs()) - before.databaseMs) / requests,
        peakMb: Math.max(...subjects.map(peakMemoryMb)),
        values: [connections],
        unit: 'connections of PostgreSQL',
      },
    ]
  } finally {
    await Promise.all(subjects.map(bench.stop))
  }
}

/** A hundred requests as docs/scale.md counts them, in an order in which like ones are apart, again and again. */
function mixOf(original: WriteDatabase, agent: AgentAccess): (place: number) => Request {
  const { readers } = original
  const get = (path: string) => (place: number) => ({ path, token: pick(readers, place) })
  const mcp = kitRequests(agent).oneSeedOverMcp
  const writes = writeRequests(original)
  const write = (name: string) => (place: number) => {
    const request = writes[name]?.(place)
    if (!request) throw new Error(`there is no request ${name}`)
    return request
  }
  const parts: [number, (place: number) => Request][] = [
    [14, get('/v1/me')],
    [13, get('/v1/workspaces')],
    [13, get(`/v1/workspaces/${company.slug}`)],
    [8, get(`/v1/workspaces/${company.slug}/members`)],
    [8, get(`/v1/workspaces/${company.slug}/events`)],
    [7, get(`/v1/workspaces/${crowd.slug}/people`)],
    [7, get(`/v1/seeds/${seedWithEvidence}/evidence`)],
    [10, get(`/v1/workspaces/${crowd.slug}/seeds`)],
    [10, () => mcp],
    [4, write('PATCH /v1/me')],
    [3, write('seeds.create')],
    [3, write('seeds.addEvidence')],
  ]
  const hundred = parts.flatMap(([times, request]) => Array.from({ length: times }, () => request))
  // 37 and 100 have no divisor in common, so each is chosen once in a hundred.
  return (place) => pick(hundred, place * 37)(place)
}

/** The connections to a database, but the one that counts. */
function countConnections({ url }: BenchDatabase): Promise<number> {
  return withPool(url, async (pool) => {
    const { rows } = await pool.query<{ count: number }>(
      `select count(*)::int from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`,
    )
    return Number(rows[0]?.count)
  })
}
