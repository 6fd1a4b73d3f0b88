import { sql } from 'drizzle-orm'
import type { Executor } from '../../db/client.ts'

/** What waits to be sent to webhooks, for the metrics. Disabled and deleted webhooks are left out of the receivers. */
export interface DeliveryCounts {
  /** Deliveries that wait, also for another attempt. Counted up to 10,000. */
  waiting: number
  /** Receivers of them whose last delivery succeeded, and those whose last one failed. Counted up to 1,000. */
  working: number
  failing: number
  /** How long the first delivery to a working receiver has been due, and how long a receiver has failed, in seconds. */
  oldestDueSeconds: number
  oldestFailingSeconds: number
}

/**
 * Counts what waits, in bounded time: the receivers are found by skipping from one to the next in the index of what is due,
 * and what waits is counted in it.
 */
export async function countDeliveries(executor: Executor): Promise<DeliveryCounts> {
  const { rows } = await executor.execute(sql`
    with recursive first_of_each as (
      (
        select webhook_id, next_attempt_at, 1 as number from webhook_deliveries where status = 'pending'
        order by webhook_id, next_attempt_at limit 1
      )
      union all
      select next.webhook_id, next.next_attempt_at, number + 1
      from first_of_each, lateral (
        select webhook_id, next_attempt_at from webhook_deliveries
        where status = 'pending' and webhook_id > first_of_each.webhook_id
        order by webhook_id, next_attempt_at limit 1
      ) as next
      where number < 1000
    )
    select
      (
        select count(*) from (
          select from webhook_deliveries where status = 'pending' order by webhook_id, next_attempt_at limit 10000
        ) as pending
      )::int as waiting,
      (count(*) filter (where failing_since is null))::int as working,
      (count(failing_since))::int as failing,
      greatest(0, extract(epoch from now() - min(next_attempt_at) filter (where failing_since is null)))::float
        as "oldestDueSeconds",
      greatest(0, extract(epoch from now() - min(failing_since)))::float as "oldestFailingSeconds"
    from first_of_each, lateral (
      select failing_since from webhooks
      where id = webhook_id and disabled_reason is null and deleted_at is null
      limit 1
    ) as receiver`)
  const [row] = rows as unknown as DeliveryCounts[]
  if (!row) throw new Error('an aggregate returned no row')
  return row
}
