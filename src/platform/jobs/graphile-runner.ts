import { Logger as GraphileLogger, parseCronItems, run, type Runner, type TaskList } from 'graphile-worker'
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

const concurrency = 4
const troubles = new Set<string>(['error', 'warning'])

/** Runs jobs in this process, as soon as they are committed, until it is stopped: jobs that run then are waited for. */
export async function startJobRunner({ pool, log, handlers, cleanUp }: JobRunnerOptions): Promise<Runner> {
  const taskList: TaskList = { clean_up: cleanUp }
  for (const [name, handle] of Object.entries(handlers) as [
    string,
    (payload: unknown, job: { id: string }) => Promise<void>,
  ][]) {
    taskList[name] = (payload, { job }) => handle(payload, { id: job.id })
  }
  return run({
    pgPool: pool,
    taskList,
    concurrency,
    // The process has its own way of stopping.
    noHandleSignals: true,
    pollInterval: 2_000,
    parsedCronItems: parseCronItems([{ task: 'clean_up', match: '17 * * * *' }]),
    logger: new GraphileLogger(() => (level, message) => {
      // A failed attempt is worth a warning; the rest is for whoever looks for it.
      if (troubles.has(level)) log.warn({ job: message }, 'a job failed, and is tried again')
      else log.debug({ job: message }, 'job')
    }),
  })
}
