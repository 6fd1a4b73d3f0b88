import { Counter, Gauge, type Registry } from 'prom-client'

/** The connections of a pool. */
export interface PoolState {
  total: number
  idle: number
  /** The callers that wait for one. */
  waiting: number
  max: number
  /** Those that have broken. */
  lost: number
}

/** The jobs of the queue. */
export interface JobsState {
  /** Those that could run now. */
  ready: number
  running: number
  /** Those of which an attempt has failed, and another follows. */
  retrying: number
  /** Those that failed in all attempts. */
  failed: number
  /** How long the oldest ready one has waited, and how long ago the oldest retrying one was created, in seconds. */
  oldestReadySeconds: number
  oldestRetryingSeconds: number
}

/** What waits to be sent to webhooks. */
export interface DeliveriesState {
  /** Also for another attempt. */
  waiting: number
  /** The receivers of them whose last delivery succeeded, and those whose last one failed. */
  working: number
  failing: number
  /** How long the first one to a working receiver has been due, and how long a receiver has failed, in seconds. */
  oldestDueSeconds: number
  oldestFailingSeconds: number
}

export interface ObservedResources {
  /** By the name of each pool. */
  pools: Record<string, () => PoolState>
  /** Reads the jobs. Rejects when the database is unavailable. */
  readJobs: () => Promise<JobsState>
  /** Reads what waits to be sent to webhooks, as `readJobs`; undefined if nothing is sent. */
  readDeliveries?: (() => Promise<DeliveriesState>) | undefined
  /** Reads when the server of the database was started, as `readJobs`. */
  readDatabaseStart: () => Promise<Date>
  /** Whether Redis is connected; undefined if it is not used. */
  isRedisUp?: (() => boolean) | undefined
}

// However often somebody asks, the database is asked once in this time.
const answerKeptMs = 5_000

/** Adds metrics that are read when Prometheus asks for them. */
export function observeResources(registry: Registry, resources: ObservedResources): void {
  const { pools, isRedisUp } = resources
  const registers = [registry]
  const ofPools = (name: string, help: string, read: (state: PoolState) => number) =>
    new Gauge({
      name,
      help,
      labelNames: ['pool'],
      registers,
      collect() {
        for (const [pool, describe] of Object.entries(pools)) this.set({ pool }, read(describe()))
      },
    })
  ofPools('workspace_database_connections', 'Open database connections.', ({ total }) => total)
  ofPools('workspace_database_connections_idle', 'Unused database connections.', ({ idle }) => idle)
  ofPools(
    'workspace_database_connections_waiting',
    'Callers that wait for a database connection.',
    ({ waiting }) => waiting,
  )
  ofPools('workspace_database_connections_max', 'The most database connections.', ({ max }) => max)
  new Counter({
    name: 'workspace_database_connections_lost_total',
    help: 'Database connections that have broken.',
    labelNames: ['pool'],
    registers,
    collect() {
      this.reset()
      for (const [pool, describe] of Object.entries(pools)) this.inc({ pool }, describe().lost)
    },
  })
  observeJobs(registry, resources.readJobs)
  observeDatabaseStart(registry, resources.readDatabaseStart)
  if (resources.readDeliveries) observeDeliveries(registry, resources.readDeliveries)
  if (!isRedisUp) return
  new Gauge({
    name: 'workspace_redis_up',
    help: 'Whether this process is connected to Redis.',
    registers,
    collect() {
      this.set(isRedisUp() ? 1 : 0)
    },
  })
}

/** Asks the database at most once in a while. The answer is undefined while it does not answer. */
function keepAnswer<Answer>(ask: () => Promise<Answer>): () => Promise<Answer | undefined> {
  let answer: Promise<Answer | undefined> | undefined
  let askedAt = -Infinity
  return () => {
    if (answer && performance.now() - askedAt < answerKeptMs) return answer
    askedAt = performance.now()
    answer = ask().catch(() => undefined)
    return answer
  }
}

/** The last known one stays while the database does not answer: it is still true. */
function observeDatabaseStart(registry: Registry, readStart: ObservedResources['readDatabaseStart']): void {
  const read = keepAnswer(readStart)
  let known = Number.NaN
  new Gauge({
    name: 'workspace_database_start_time_seconds',
    help: 'When the server of the database was started, since 1970.',
    registers: [registry],
    async collect() {
      known = ((await read())?.getTime() ?? known * 1000) / 1000
      this.set(known)
    },
  })
}

/** Without the database they have no value, as the jobs. */
function observeDeliveries(
  registry: Registry,
  readDeliveries: NonNullable<ObservedResources['readDeliveries']>,
): void {
  const registers = [registry]
  const read = keepAnswer(readDeliveries)
  new Gauge({
    name: 'workspace_webhook_deliveries_waiting',
    help: 'Deliveries to webhooks that wait, also for another attempt; 10,000 at most. The same in all processes.',
    registers,
    async collect() {
      this.set((await read())?.waiting ?? Number.NaN)
    },
  })
  new Gauge({
    name: 'workspace_webhook_receivers',
    help: 'Receivers for which deliveries wait: working, or failing; 1,000 at most. The same in all processes.',
    labelNames: ['state'],
    registers,
    async collect() {
      const { working, failing } = (await read()) ?? {}
      for (const [state, count] of Object.entries({ working, failing }))
        this.set({ state }, count ?? Number.NaN)
    },
  })
  new Gauge({
    name: 'workspace_webhook_oldest_seconds',
    help: 'How long a delivery to a working receiver has been due, and how long a receiver has failed. The same in all processes.',
    labelNames: ['state'],
    registers,
    async collect() {
      const { oldestDueSeconds: due, oldestFailingSeconds: failing } = (await read()) ?? {}
      for (const [state, seconds] of Object.entries({ due, failing }))
        this.set({ state }, seconds ?? Number.NaN)
    },
  })
}

/** Without the database they have no value: the last one would look like an idle queue. */
function observeJobs(registry: Registry, readJobs: ObservedResources['readJobs']): void {
  const registers = [registry]
  const read = keepAnswer(readJobs)
  new Gauge({
    name: 'workspace_jobs',
    help: 'Jobs: ready, running, retrying after a failed attempt, or failed in all attempts. The same in all processes.',
    labelNames: ['state'],
    registers,
    async collect() {
      const { ready, running, retrying, failed } = (await read()) ?? {}
      for (const [label, count] of Object.entries({ ready, running, retrying, failed }))
        this.set({ state: label }, count ?? Number.NaN)
    },
  })
  new Gauge({
    name: 'workspace_jobs_oldest_seconds',
    help: 'How long the oldest ready job has waited, and how old the oldest retrying one is. The same in all processes.',
    labelNames: ['state'],
    registers,
    async collect() {
      const { oldestReadySeconds: ready, oldestRetryingSeconds: retrying } = (await read()) ?? {}
      for (const [state, seconds] of Object.entries({ ready, retrying }))
        this.set({ state }, seconds ?? Number.NaN)
    },
  })
  new Gauge({
    name: 'workspace_database_up',
    help: 'Whether the database has answered the question for the jobs.',
    registers,
    async collect() {
      this.set((await read()) ? 1 : 0)
    },
  })
}
