import type { TaskList } from 'graphile-worker'
import type { Pool } from 'pg'
import type { Logger } from 'pino'
import type { JobHandlers } from './jobs.port.ts'

export interface JobRunnerOptions {
  pool: Pool
  log: Logger
  handlers: JobHandlers
  /** What is deleted once an hour, in one of all processes: a job for each, so that a failing one stops no other. */
  cleanUps: Record<string, () => Promise<unknown>>
  /** What else is done once an hour, in one of all processes. */
  hourly: Record<string, () => Promise<unknown>>
}

export interface JobRunner {
  /** Starts no more jobs, and waits for running ones. */
  stop(): Promise<void>
}

const concurrencyMax = 4
const releaseEveryMs = 5_000
const orphanAfterMs = 50_000
const warningLevels = new Set<string>(['error', 'warning'])

/** Runs jobs in this process as soon as they are committed. */
export async function startJobRunner({
  pool,
  log,
  handlers,
  cleanUps,
  hourly,
}: JobRunnerOptions): Promise<JobRunner> {
  // Imported here, since the process listens before it runs jobs.
  const { Logger: GraphileLogger, parseCronItems, run } = await import('graphile-worker')
  const cleanUpTasks = Object.entries(cleanUps).map(([name, run]) => [`clean_up_${name}`, run] as const)
  const hourlyTasks = [...cleanUpTasks, ...Object.entries(hourly)]
  const taskList: TaskList = Object.fromEntries(
    hourlyTasks.map(([name, run]) => [
      name,
      async () => {
        await run()
      },
    ]),
  )
  for (const [name, handle] of Object.entries(handlers) as [
    string,
    (payload: unknown, job: { id: string }) => Promise<void>,
  ][]) {
    // Job ids of the queue start at one in each database. With the time they are globally unique.
    taskList[name] = (payload, { job }) =>
      handle(payload, { id: `${job.id}.${job.created_at.getTime().toString(36)}` })
  }
  const runner = await run({
    pgPool: pool,
    taskList,
    // Each running job may need a connection.
    concurrency: Math.min(concurrencyMax, pool.options.max),
    // The process handles signals itself.
    noHandleSignals: true,
    pollInterval: 2_000,
    parsedCronItems: parseCronItems(hourlyTasks.map(([task]) => ({ task, match: '17 * * * *' }))),
    logger: new GraphileLogger(() => (level, message) => {
      if (warningLevels.has(level)) log.warn({ jobs: message }, 'job failed; will retry')
      else log.debug({ jobs: message }, 'jobs')
    }),
  })
  const release = () => {
    releaseOrphans(pool).catch((error: unknown) =>
      log.warn({ err: error }, 'orphaned jobs could not be released'),
    )
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
 * Releases the jobs of dead workers, which graphile-worker itself releases only after four hours. All jobs take less
 * than `orphanAfterMs`, so older locks belong to dead workers.
 */
async function releaseOrphans(pool: Pool): Promise<void> {
  await pool.query(
    `select graphile_worker.force_unlock_workers(array_agg(distinct locked_by))
     from graphile_worker.jobs where locked_at < now() - $1::interval having count(*) > 0`,
    [`${orphanAfterMs} milliseconds`],
  )
}
