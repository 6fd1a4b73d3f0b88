import { sql } from 'drizzle-orm'
import { prepared } from '../../db/sql/prepared.ts'
import type { JobQueue } from './jobs.port.ts'

// With the backoff of graphile-worker, the last attempt is after about four days.
const attemptsMax = 25

const { placeholder } = sql

const addJob = prepared((executor) =>
  executor
    .select({ id: sql`id` })
    .from(
      sql`graphile_worker.add_job(
        ${placeholder('name')}::text,
        ${placeholder('payload')}::json,
        run_at => now() + make_interval(secs => ${placeholder('delaySeconds')}),
        max_attempts => ${attemptsMax},
        job_key => ${placeholder('key')},
        job_key_mode => 'preserve_run_at'
      )`,
    )
    .prepare('jobs_add'),
)

/** Enqueues jobs with graphile-worker. A job is a row, so it is committed or rolled back with the change. */
export function createGraphileQueue(): JobQueue {
  return {
    async enqueue(transaction, name, payload, { requestId, key, delaySeconds = 0 }) {
      await addJob(transaction).execute({
        name,
        payload: JSON.stringify({ ...payload, requestId }),
        delaySeconds,
        key: key ?? null,
      })
    },
  }
}
