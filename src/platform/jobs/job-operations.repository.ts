import { sql, type SQL } from 'drizzle-orm'
import type { Executor } from '../../db/client.ts'

const isReady = sql`locked_at is null and attempts < max_attempts and run_at <= now()`
const hasFailed = sql`locked_at is null and attempts >= max_attempts`

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
}

/** The numbers of jobs, and for how many seconds the oldest ready one has waited. */
export async function countJobs(
  executor: Executor,
): Promise<Record<'ready' | 'running' | 'failed' | 'oldestSeconds', number>> {
  const [row] = await readRows<Record<'ready' | 'running' | 'failed' | 'oldestSeconds', number>>(
    executor,
    sql`select (count(*) filter (where ${isReady}))::int as ready,
      (count(*) filter (where locked_at is not null))::int as running,
      (count(*) filter (where ${hasFailed}))::int as failed,
      coalesce(extract(epoch from now() - min(run_at) filter (where ${isReady})), 0)::float as "oldestSeconds"
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
  const rows = await readRows<ListedJob & { total: number }>(
    executor,
    sql`select id::text, task_identifier as task, attempts, max_attempts as "attemptsMax", last_error as "lastError",
      to_char(run_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "runAt",
      case when locked_at is not null then 'running' when ${hasFailed} then 'failed'
        when ${isReady} then 'ready' else 'scheduled' end as state,
      (count(*) over ())::int as total
      from graphile_worker.jobs where ${isFailed ? hasFailed : sql`true`}
      order by run_at, id limit ${limit ?? null}`,
  )
  const items = rows.map(({ id, task, state, attempts, attemptsMax, runAt, lastError }) => ({
    id,
    task,
    state,
    attempts,
    attemptsMax,
    runAt,
    lastError,
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

async function readRows<Row>(executor: Executor, query: SQL): Promise<Row[]> {
  const { rows } = await executor.execute(query)
  return rows as Row[]
}
