import { sql } from 'drizzle-orm'
import type { TestApp } from './test-app.ts'

/**
 * Lets jobs run now that would run later: those of a task, or all. The runner is told, as it is of a new job: otherwise it
 * would look after two seconds.
 */
export async function runJobsNow({ db }: Pick<TestApp, 'db'>, task?: string): Promise<void> {
  const isOfTask = task === undefined ? sql`true` : sql`task_identifier = ${task}`
  await db.execute(sql`
    select graphile_worker.reschedule_jobs(
      array(select id from graphile_worker.jobs where ${isOfTask}), run_at => now() - interval '1 second')`)
  await db.execute(sql`select pg_notify('jobs:insert', '{"count":1}')`)
}
