import { Gauge, type Registry } from 'prom-client'

/** The connections of a pool. */
export interface PoolState {
  total: number
  idle: number
  /** The callers that wait for one. */
  waiting: number
  max: number
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

export interface ObservedResources {
  /** By the name of each pool. */
  pools: Record<string, () => PoolState>
  /** Reads the jobs. Rejects when the database is unavailable. */
  readJobs: () => Promise<JobsState>
  /** Whether Redis is connected; undefined if it is not used. */
  isRedisUp?: (() => boolean) | undefined
}

// However often somebody asks, the database is asked once in this time.
const jobsKeptMs = 5_000

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
  observeJobs(registry, resources.readJobs)
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

/** Without the database they have no value: the last one would look like an idle queue. */
function observeJobs(registry: Registry, readJobs: ObservedResources['readJobs']): void {
  const registers = [registry]
  let state: Promise<JobsState | undefined> | undefined
  let readAt = 0
  const read = () => {
    if (state && Date.now() - readAt < jobsKeptMs) return state
    readAt = Date.now()
    state = readJobs().catch(() => undefined)
    return state
  }
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
