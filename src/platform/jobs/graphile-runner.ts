import type { TaskList } from 'graphile-worker'
import type { Pool } from 'pg'
import type { Logger } from 'pino'
import type { JobHandlers } from './jobs.port.ts'

export interface JobRunnerOptions {
  pool: Pool
  log: Logger
  handlers: JobHandlers
  /** Done once an hour, by one process of all. */
  cleanUp: () => Promise<void>
}

/** What does jobs, until it is stopped: jobs that run then are waited for. */
export interface JobRunner {
  stop(): Promise<void>
}

const concurrencyMax = 4
const releaseEveryMs = 5_000
const orphanAfterMs = 50_000
const troubles = new Set<string>(['error', 'warning'])

/** Runs jobs in this process, as soon as they are committed. */
export async function startJobRunner({ pool, log, handlers, cleanUp }: JobRunnerOptions): Promise<JobRunner> {
  // Here, because a process listens before it does jobs.
  const { Logger: GraphileLogger, parseCronItems, run } = await import('graphile-worker')
  const taskList: TaskList = { clean_up: cleanUp }
  for (const [name, handle] of Object.entries(handlers) as [
    string,
    (payload: unknown, job: { id: string }) => Promise<void>,
  ][]) {
    // The queue counts its jobs from one; with the time they are told apart everywhere.
    taskList[name] = (payload, { job }) =>
      handle(payload, { id: `${job.id}.${job.created_at.getTime().toString(36)}` })
  }
  const runner = await run({
    pgPool: pool,
    taskList,
    // A job needs a connection now and then.
    concurrency: Math.min(concurrencyMax, pool.options.max),
    // The process has its own way of stopping.
    noHandleSignals: true,
    pollInterval: 2_000,
    parsedCronItems: parseCronItems([{ task: 'clean_up', match: '17 * * * *' }]),
    logger: new GraphileLogger(() => (level, message) => {
      // Trouble is worth a warning; the rest is for whoever looks for it.
      if (troubles.has(level))
        log.warn({ jobs: message }, 'there is trouble with jobs; what failed is tried again')
      else log.debug({ jobs: message }, 'jobs')
    }),
  })
  const release = () => {
    releaseOrphans(pool).catch((error: unknown) => log.warn({ err: error }, 'jobs could not be looked after'))
  }
  const timer = setInterval(release, releaseEveryMs).unref()
  release()
  return {
    async stop() {
      clearInterval(timer)
      await runner.stop()
    },
  }
}

/**
 * Frees the jobs of workers that were killed: by itself the queue waits four hours for them. No job of ours may take as
 * long as this, so whoever holds one for longer is no more.
 */
async function releaseOrphans(pool: Pool): Promise<void> {
  await pool.query(
    `select graphile_worker.force_unlock_workers(array_agg(distinct locked_by))
     from graphile_worker.jobs where locked_at < now() - $1::interval having count(*) > 0`,
    [`${orphanAfterMs} milliseconds`],
  )
}
