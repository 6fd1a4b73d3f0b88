import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { judge, type Fault, type Goals, type Settings } from '../fault.ts'
import { underLoad, type Attempt, type LoadOptions } from '../load.ts'
import { copyAsStandby, startPostgres, type Postgres } from '../parts/postgres.ts'
import { until } from '../parts/processes.ts'
import { startForwarder } from '../parts/proxies.ts'
import type { Replica, Stage } from '../stage.ts'

const meanwhile = 'success or 503 with Retry-After within 6 s; back within 3 s'
const goals: Goals = { answerMsMax: 6_000, recoveryMsMax: 3_000 }

interface PostgresFault extends Pick<Fault, 'name' | 'does' | 'isInCi'> {
  /** What goes wrong, for how long, until it is as before. */
  breaks: (stage: Stage, settings: Settings) => Promise<unknown>
  more?: { goal?: string; goals?: (stage: Stage) => Goals; stage?: Fault['stage']; load?: LoadOptions }
}

function postgresFault({ name, does, isInCi = false, breaks, more = {} }: PostgresFault): Fault {
  return {
    ...{ name, does, isInCi },
    goal: more.goal === undefined ? meanwhile : `${meanwhile}; ${more.goal}`,
    ...(more.stage && { stage: more.stage }),
    async run(stage, settings) {
      const report = await underLoad(
        stage,
        async (load) => {
          await breaks(stage, settings)
          load.isOver()
        },
        { afterMs: 6_000, ...more.load },
      )
      return judge(report, { ...goals, ...more.goals?.(stage) })
    },
  }
}

/** Does something on a connection that stays open for a while. */
async function holding(postgres: Postgres, statements: string, ms: number): Promise<void> {
  const client = new pg.Client({ connectionString: postgres.url })
  client.on('error', () => undefined)
  await client.connect()
  await client.query(statements)
  await pause(ms)
  await client.end()
}

const terminateOthers =
  "select pg_terminate_backend(pid) from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid()"

/** Takes every connection that the server gives, also those that the service has. */
async function takeAllConnections({ url, query }: Postgres, ms: number): Promise<void> {
  const held = new Set<pg.Client>()
  const until = Date.now() + ms
  await query(terminateOthers)
  await Promise.all(
    Array.from({ length: 60 }, async () => {
      while (Date.now() < until) {
        const client = new pg.Client({ connectionString: url })
        client.on('error', () => undefined)
        const isConnected = await client.connect().then(
          () => true,
          () => false,
        )
        if (!isConnected) {
          await pause(10)
          continue
        }
        held.add(client)
        await pause(Math.max(0, until - Date.now()))
      }
    }),
  )
  await Promise.all([...held].map((client) => client.end()))
}

const isReading = ({ operation }: Attempt) => /^(me|seed|workspaces?|list .*)$/.test(operation)
const needsSeeds = /seed|evidence|events/

let leadTo: (port: number) => void

export const postgresFaults: Fault[] = [
  postgresFault({
    name: 'postgres-restart',
    does: 'a fast restart',
    async breaks({ postgres }) {
      await postgres.stop()
      await postgres.start()
    },
  }),
  postgresFault({
    name: 'postgres-crash',
    does: 'all of its processes are killed; it recovers from its log',
    async breaks({ postgres }) {
      await postgres.crash()
      await postgres.start()
    },
  }),
  postgresFault({
    name: 'postgres-away',
    does: 'stopped for 20 s',
    async breaks({ postgres }, { isShort }) {
      await postgres.stop()
      await pause(isShort ? 8_000 : 20_000)
      await postgres.start()
    },
  }),
  postgresFault({
    name: 'database-away-at-start',
    does: 'all of its processes are killed; all replicas are stopped and started before it recovers from its log',
    isInCi: true,
    async breaks({ postgres, replicas }) {
      await postgres.crash()
      await Promise.all(replicas.map((replica) => replica.stop()))
      const areReady = Promise.all(replicas.map((replica) => replica.start()))
      const isAlive = ({ origin }: Replica) =>
        fetch(`${origin}/health`).then(
          ({ ok }) => ok,
          () => false,
        )
      await Promise.all(replicas.map((replica) => until(() => isAlive(replica), 'a replica to be alive')))
      await postgres.start()
      await areReady
    },
  }),
  postgresFault({
    name: 'postgres-terminated',
    does: 'every connection is terminated',
    breaks: ({ postgres }) => postgres.query(terminateOthers),
  }),
  postgresFault({
    name: 'postgres-frozen',
    does: 'all of its processes are stopped (SIGSTOP) for 30 s',
    isInCi: true,
    async breaks({ postgres }, { isShort }) {
      await postgres.process().freeze()
      await pause(isShort ? 12_000 : 30_000)
      await postgres.process().thaw()
    },
  }),
  postgresFault({
    name: 'postgres-full',
    does: 'others have all of max_connections for 10 s',
    breaks: ({ postgres }) => takeAllConnections(postgres, 10_000),
    more: { stage: { settings: { max_connections: '45' } } },
  }),
  postgresFault({
    name: 'postgres-read-only',
    does: 'default_transaction_read_only for 10 s',
    async breaks({ postgres }) {
      await postgres.query('alter system set default_transaction_read_only = on')
      await postgres.query('select pg_reload_conf()')
      await pause(10_000)
      await postgres.query('alter system reset default_transaction_read_only')
      await postgres.query('select pg_reload_conf()')
    },
    more: { goal: 'reading goes on', goals: () => ({ spared: isReading }) },
  }),
  postgresFault({
    name: 'postgres-failover',
    does: 'the primary is killed; the same name leads to its standby, which is read-only for 10 s, then promoted',
    async breaks({ scope, postgres, folder }) {
      const copy = join(folder, 'standby')
      await postgres.query("alter system set synchronous_standby_names = '*'")
      await copyAsStandby(postgres, copy)
      const standby = await startPostgres(scope, copy, { settings: { synchronous_standby_names: '' } })
      await postgres.query('select pg_reload_conf()')
      const isInStep = async () =>
        (await postgres.query("select 1 from pg_stat_replication where sync_state = 'sync'")).length === 1
      await until(isInStep, 'the standby to be in step')
      await pause(2_000)
      await postgres.crash()
      leadTo(standby.port)
      await pause(10_000)
      await standby.query('select pg_promote()')
      // From here on the ledger is held against the new primary.
      postgres.query = standby.query
    },
    more: {
      stage: {
        async databaseUrlOf(scope, postgres) {
          const forwarder = await startForwarder(scope, postgres.port)
          leadTo = forwarder.leadTo
          const url = new URL(postgres.url)
          url.port = String(forwarder.port)
          return url.href
        },
      },
    },
  }),
  postgresFault({
    name: 'table-locked',
    does: 'the table of seeds is locked (access exclusive) for 30 s',
    breaks: ({ postgres }, { isShort }) =>
      holding(postgres, 'begin; lock table seeds in access exclusive mode', isShort ? 10_000 : 30_000),
    more: {
      goal: 'what needs no seeds does not notice',
      goals: () => ({ spared: ({ operation }) => !needsSeeds.test(operation) }),
      load: { workers: 36 },
    },
  }),
  postgresFault({
    name: 'row-locked',
    does: 'the row of one workspace is locked for 30 s while 40 connections write there',
    breaks: ({ postgres, callers }, { isShort }) =>
      holding(
        postgres,
        `begin; select from workspaces where id = '${callers[0]?.workspaceId}' for update`,
        isShort ? 12_000 : 30_000,
      ),
    more: {
      goal: 'other workspaces do not notice',
      goals: ({ callers }) => ({ spared: ({ apiKey }) => apiKey !== callers[0]?.apiKey }),
      load: { workers: 51, callerOf: (worker) => (worker < 40 ? 0 : worker - 40 + 1) },
    },
  }),
]
