import type { Job, TaskList } from 'graphile-worker'
import type { Pool } from 'pg'
import type { Logger } from 'pino'
import type { Meter, Outcomes } from '../../kernel/meter.ts'
import { JobEndsError, type JobHandlers, type JobName, type RunningJob } from './jobs.port.ts'
import { subjectsOf } from './job-subjects.ts'

export interface JobRunnerOptions {
  pool: Pool
  log: Logger
  meter: Meter
  handlers: JobHandlers
  /** What is deleted once an hour, in one of all processes: a job for each, so that a failing one stops no other. */
  cleanUps: Record<string, () => Promise<unknown>>
  /** What else is done once an hour, in one of all processes. */
  hourly: Record<string, () => Promise<unknown>>
  /** `off`: that is done only when somebody adds the jobs. Default: on. */
  hourlyJobs: 'on' | 'off' | undefined
}

export interface JobRunner {
  /** Starts no more jobs, and waits for running ones. */
  stop(): Promise<void>
}

const concurrencyMax = 4
const releaseEveryMs = 5_000
const orphanAfterMs = 50_000
const clockDifferenceMsMax = 5 * 60_000
const warningLevels = new Set<string>(['error', 'warning'])

/** Runs jobs in this process as soon as they are committed. */
export async function startJobRunner({
  pool,
  log,
  meter,
  handlers,
  cleanUps,
  hourly,
  hourlyJobs,
}: JobRunnerOptions): Promise<JobRunner> {
  // Imported here, since the process listens before it runs jobs.
  const { Logger: GraphileLogger, parseCronItems, run } = await import('graphile-worker')
  const cleanUpTasks = Object.entries(cleanUps).map(([name, run]) => [`clean_up_${name}`, run] as const)
  const hourlyTasks = [...cleanUpTasks, ...Object.entries(hourly)]
  const taskList: TaskList = Object.fromEntries(
    hourlyTasks.map(([name, run]) => [
      name,
      async (_payload: unknown, { job }: { job: Job }) => {
        assertClockIsRight(job)
        await run()
      },
    ]),
  )
  for (const [name, handle] of Object.entries(handlers) as [
    JobName,
    (payload: unknown, job: RunningJob) => Promise<void>,
  ][]) {
    taskList[name] = (payload, { job }) =>
      handle(payload, { ...toRunningJob(name, job), ...requestOf(payload) })
  }
  const runner = await run({
    pgPool: pool,
    taskList,
    // Each running job may need a connection.
    concurrency: Math.min(concurrencyMax, pool.options.max),
    // The process handles signals itself.
    noHandleSignals: true,
    pollInterval: 2_000,
    parsedCronItems: parseCronItems(
      hourlyJobs === 'off' ? [] : hourlyTasks.map(([task]) => ({ task, match: '17 * * * *' })),
    ),
    logger: new GraphileLogger(() => (level, message, meta) => {
      if (meta?.failure === true && isFailure(meta)) logFailure(log, meta)
      else if (warningLevels.has(level)) log.warn({ jobs: message }, 'the job queue failed; will retry')
      else log.debug({ jobs: message }, 'jobs')
    }),
  })
  const ending = new Set<Promise<void>>()
  // By now the job is unlocked, as the function requires. If the process dies before, the job is tried once more.
  runner.events.on('job:complete', ({ job, error }) => {
    meter.count('jobs', outcomeOf(job, error))
    if (!(error instanceof JobEndsError)) return
    const work = endJob(pool, job.id, error)
      .catch((cause: unknown) => log.warn({ err: cause, jobId: job.id }, 'a job could not be ended'))
      .finally(() => ending.delete(work))
    ending.add(work)
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
      await Promise.all(ending)
    },
  }
}

/**
 * Throws when the clock of this process is far from the database's, so that a wrong clock deletes nothing. The job is
 * tried again, perhaps by another process.
 */
function assertClockIsRight({ locked_at: lockedAt }: Job): void {
  const aheadMs = lockedAt ? Date.now() - lockedAt.getTime() : 0
  if (Math.abs(aheadMs) > clockDifferenceMsMax)
    throw new Error(
      `the clock of this process differs by ${Math.round(aheadMs / 1000)} s from the database's`,
    )
}

function toRunningJob(name: JobName, job: Job): RunningJob {
  const { id, created_at: createdAt, attempts, max_attempts: attemptsMax } = job
  return {
    // Job ids of the queue start at one in each database. With the time they are globally unique.
    id: `${id}.${createdAt.getTime().toString(36)}`,
    number: id,
    name,
    attempt: attempts,
    isLastAttempt: attempts >= attemptsMax,
  }
}

/** The request that caused a job, by its payload. Jobs of the version before have none. */
function requestOf(payload: unknown): { requestId?: string } {
  const { requestId } = (payload ?? {}) as { requestId?: unknown }
  return typeof requestId === 'string' ? { requestId } : {}
}

function outcomeOf({ attempts, max_attempts: attemptsMax }: Job, error: unknown): Outcomes['jobs'] {
  if (!error) return 'succeeded'
  return error instanceof JobEndsError || attempts >= attemptsMax ? 'failed' : 'retrying'
}

interface Failure {
  job: Job
  error: unknown
}

function isFailure(meta: object): meta is Failure {
  return 'job' in meta && 'error' in meta
}

/** Logs a failed attempt as fields. The text of a mail error has no stack: it is about the server, not about the code. */
function logFailure(log: Logger, { job, error }: Failure): void {
  const isOver = error instanceof JobEndsError || job.attempts >= job.max_attempts
  const fields = {
    jobId: job.id,
    job: job.task_identifier,
    attempt: job.attempts,
    attemptsMax: job.max_attempts,
    ...subjectsOf(job.payload),
    ...requestOf(job.payload),
    err: error,
  }
  log.warn(fields, isOver ? 'job failed for good' : 'job failed; will retry')
}

async function endJob(pool: Pool, id: string, { message }: Error): Promise<void> {
  await pool.query('select from graphile_worker.permanently_fail_jobs(array[$1::bigint], $2)', [id, message])
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
