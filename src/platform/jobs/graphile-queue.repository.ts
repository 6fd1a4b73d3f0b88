import { sql } from 'drizzle-orm'
import type { JobQueue } from './jobs.port.ts'

// With the backoff of graphile-worker, the last attempt is after about four days.
const attemptsMax = 25

/** Enqueues jobs with graphile-worker. A job is a row, so it is committed or rolled back with the change. */
export function createGraphileQueue(): JobQueue {
  return {
    async enqueue(transaction, name, payload, { key, delaySeconds = 0 } = {}) {
      await transaction.execute(
        sql`select from graphile_worker.add_job(
          ${name}::text,
          ${JSON.stringify(payload)}::json,
          run_at => now() + make_interval(secs => ${delaySeconds}),
          max_attempts => ${attemptsMax},
          job_key => ${key ?? null},
          job_key_mode => 'preserve_run_at'
        )`,
      )
    },
  }
}
