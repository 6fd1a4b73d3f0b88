import { sql, type SQL } from 'drizzle-orm'
import type { Executor } from '../../db/client.ts'
import { subjectsOf } from './job-subjects.ts'

const isReady = sql`locked_at is null and attempts < max_attempts and run_at <= now()`
const hasFailed = sql`locked_at is null and attempts >= max_attempts`
/** An attempt has failed, and another follows or runs. */
const isRetrying = sql`last_error is not null and attempts > 0 and not (${hasFailed})`

/** A job that has not succeeded, as operators see it. */
export interface ListedJob {
  id: string
  task: string
  state: 'ready' | 'scheduled' | 'running' | 'failed'
  attempts: number
  attemptsMax: number
  /** When it runs next, or was to run. */
  runAt: string
  lastError: string | null
  /** Whom or what it is about: ids, by the names that they have in its payload, such as `inviteId`. */
  subjects: Record<string, string>
}

/** The numbers of jobs, each in one state, and for how many seconds the oldest have waited. */
export interface JobCounts {
  ready: number
  running: number
  /** Those of which an attempt has failed, and another follows or runs. */
  retrying: number
  failed: number
  /** Since the oldest ready one could run. */
  oldestReadySeconds: number
  /** Since the oldest retrying one was created, however its pauses grow. */
  oldestRetryingSeconds: number
}

export async function countJobs(executor: Executor): Promise<JobCounts> {
  const isFirst = sql`not (${isRetrying})`
  const [row] = await readRows<JobCounts>(
    executor,
    sql`select (count(*) filter (where ${isReady} and ${isFirst}))::int as ready,
      (count(*) filter (where locked_at is not null and ${isFirst}))::int as running,
      (count(*) filter (where ${isRetrying}))::int as retrying,
      (count(*) filter (where ${hasFailed}))::int as failed,
      coalesce(extract(epoch from now() - min(run_at) filter (where ${isReady})), 0)::float as "oldestReadySeconds",
      coalesce(extract(epoch from now() - min(created_at) filter (where ${isRetrying})), 0)::float as "oldestRetryingSeconds"
      from graphile_worker.jobs`,
  )
  if (!row) throw new Error('an aggregate returned no row')
  return row
}

/** Lists jobs, those that run first at the top, with their total number. */
export async function listJobs(
  executor: Executor,
  { isFailed = false, limit }: { isFailed?: boolean; limit?: number },
): Promise<{ items: ListedJob[]; total: number }> {
  const rows = await readRows<Omit<ListedJob, 'subjects'> & { payload: unknown; total: number }>(
    executor,
    sql`select id::text, task_identifier as task, attempts, max_attempts as "attemptsMax", last_error as "lastError",
      to_char(run_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "runAt",
      case when locked_at is not null then 'running' when ${hasFailed} then 'failed'
        when ${isReady} then 'ready' else 'scheduled' end as state,
      (select payload from graphile_worker._private_jobs where _private_jobs.id = jobs.id) as payload,
      (count(*) over ())::int as total
      from graphile_worker.jobs where ${isFailed ? hasFailed : sql`true`}
      order by run_at, id limit ${limit ?? null}`,
  )
  const items = rows.map(({ id, task, state, attempts, attemptsMax, runAt, lastError, payload }) => ({
    id,
    task,
    state,
    attempts,
    attemptsMax,
    runAt,
    lastError,
    subjects: subjectsOf(payload),
  }))
  return { items, total: rows[0]?.total ?? 0 }
}

/** Has the jobs that failed in all attempts run again, or those of them with some ids. Returns their ids. */
export async function retryFailedJobs(executor: Executor, ids?: readonly string[]): Promise<string[]> {
  const chosen = ids === undefined ? sql`true` : sql`id = any(${`{${ids.join()}}`}::bigint[])`
  const rows = await readRows<{ id: string }>(
    executor,
    sql`select id::text from graphile_worker.reschedule_jobs(
      array(select id from graphile_worker.jobs where ${hasFailed} and ${chosen}), run_at => now(), attempts => 0)`,
  )
  return rows.map(({ id }) => id)
}

/** Has the jobs that wait for another attempt run now, with the attempts that they have left. Returns their ids. */
export async function retryWaitingJobs(executor: Executor): Promise<string[]> {
  const rows = await readRows<{ id: string }>(
    executor,
    sql`select id::text from graphile_worker.reschedule_jobs(
      array(select id from graphile_worker.jobs where locked_at is null and ${isRetrying}), run_at => now())`,
  )
  return rows.map(({ id }) => id)
}

async function readRows<Row>(executor: Executor, query: SQL): Promise<Row[]> {
  const { rows } = await executor.execute(query)
  return rows as Row[]
}

const isMail = sql`task_identifier like 'send\\_%'`

/**
 * Deletes the jobs that send mails, also those that failed, and those that a process of the original ran at the time of the
 * dump, which would run again after four hours. Returns their number.
 */
export async function dropMailJobs(executor: Executor): Promise<number> {
  await executor.execute(sql`
    select graphile_worker.force_unlock_workers(
      array(select distinct locked_by from graphile_worker.jobs where ${isMail} and locked_by is not null))`)
  const rows = await readRows(
    executor,
    sql`select id from graphile_worker.complete_jobs(array(select id from graphile_worker.jobs where ${isMail}))`,
  )
  return rows.length
}

/** The numbers of jobs that have not failed for good, those that send mails and others. */
export async function countWaitingJobs(executor: Executor): Promise<{ mails: number; others: number }> {
  const [row] = await readRows<{ mails: number; others: number }>(
    executor,
    sql`select (count(*) filter (where ${isMail}))::int as mails, (count(*) filter (where not (${isMail})))::int as others
      from graphile_worker.jobs where not (${hasFailed})`,
  )
  if (!row) throw new Error('an aggregate returned no row')
  return row
}
