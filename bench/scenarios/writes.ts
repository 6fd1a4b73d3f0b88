import type pg from 'pg'
import { atMost, compare } from '../compare.ts'
import type { Trial } from '../report.ts'
import { withPool, type Area, type Subject } from '../harness.ts'
import { sendNext, type Request } from '../loads.ts'
import { assertSame, assertSameAnswer } from '../same-answer.ts'
import { startBareWrites, startService } from '../compared-servers.ts'
import { openWriteDatabase } from '../write-database.ts'
import { writeRequests } from '../write-requests.ts'

/** What an answer has of its own each time, and what is similar, which the bare server looks for by whole titles only. */
const volatile = ['similar', 'id', 'url', 'inviteUrl', 'createdAt', 'updatedAt', 'activityAt', 'expiresAt']

export const writes: Area = {
  name: 'writes',
  title: 'Writes, against a bare server that makes the same rows, event and job in one statement',
  isOfVersions: true,
  async prepare(bench) {
    const original = await openWriteDatabase(bench)
    // A database for each, so that neither finds what the other has written.
    const subjects = [
      await startService(bench, await bench.copy('writes_service', original, keepJobs)),
      await startBareWrites(bench, await bench.copy('writes_bare', original, keepJobs)),
    ] as const
    const [ours, bare] = subjects
    const trials: Trial[] = []
    for (const [name, requestOf] of Object.entries(writeRequests(original))) {
      if (!bench.baseline) {
        await assertSameAnswer(subjects, () => firstOf(name, requestOf), volatile)
        assertSame(await Promise.all(subjects.map(findLastTraces)), `what ${name} leaves`)
      }
      trials.push(
        compare(bench, {
          name,
          load: sendNext((place) => requestOf(place + 1)),
          subjects,
          rounds: 5,
          roundSeconds: 0.8,
          ratios: [{ of: ours, to: bare, by: 'processorMs', goal: atMost(1.4) }],
        }),
      )
    }
    return trials
  },
}

function firstOf(name: string, requestOf: (place: number) => Request | undefined): Request {
  const first = requestOf(0)
  if (!first) throw new Error(`there is nothing to send for ${name}`)
  return first
}

/**
 * Has jobs wait for a day, and no worker told of them: the bare server runs none, so the service does not run them during
 * the measurement either. It still polls for jobs.
 */
export async function keepJobs(pool: pg.Pool): Promise<void> {
  await pool.query(`
    create function keep_job() returns trigger language plpgsql as
      $$ begin new.run_at := now() + interval '1 day'; return new; end $$;
    alter table graphile_worker._private_jobs disable trigger user;
    create trigger keep_job before insert on graphile_worker._private_jobs for each row execute function keep_job()`)
}

/** The newest event and the newest job of a database, without ids and times. */
async function findLastTraces({ database }: Subject): Promise<unknown> {
  return withPool(database.url, async (pool) => {
    const { rows: events } = await pool.query<Record<string, unknown>>(
      `select type, actor_type, actor_user_id, actor_name, grant_id, api_key_id, source, target_type, workspace_id,
          summary, target_id is null as is_without_target
        from events order by created_at desc limit 1`,
    )
    const { rows: jobs } = await pool.query<{ payload: object }>(
      `select identifier, payload, queue_name, priority, max_attempts, flags, key
        from graphile_worker._private_jobs as jobs
        join graphile_worker._private_tasks as tasks on tasks.id = jobs.task_id
        left join graphile_worker._private_job_queues as queues on queues.id = jobs.job_queue_id
        order by jobs.id desc limit 1`,
    )
    const { rows: counts } = await pool.query(
      `select (select count(*) from seeds) as seeds, (select count(*) from evidence) as evidence,
        (select count(*) from invites) as invites, (select count(*) from invite_tokens) as tokens,
        (select count(*) from invites where state = 'accepted') as accepted,
        (select count(*) from memberships) as members, (select count(*) from events) as events,
        (select count(*) from graphile_worker._private_jobs) as jobs`,
    )
    return [events, jobs.map((job) => ({ ...job, payload: withoutIds(job.payload) })), counts]
  })
}

/** The payload of a job without the ids that it has of its own each time. */
const withoutIds = (payload: object) =>
  Object.entries(payload).map(([name, value]) =>
    name === 'inviteId' || name === 'requestId' ? name : [name, value as unknown],
  )
