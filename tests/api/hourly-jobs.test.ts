import { sql } from 'drizzle-orm'
import { expect, it } from 'vitest'
import { clone, selectRows, startTestApp } from '../support/test-app.ts'

it.each(['on', 'off'] as const)('schedules what is done once an hour: %s', async (hourlyJobs) => {
  const { db, services } = await startTestApp({ hourlyJobs, environment: { DATABASE_URL: await clone() } })
  await services.startJobs()
  await db.execute(sql`select graphile_worker.add_job('clean_up_flashes')`)
  const waiting = sql`select 1 from graphile_worker.jobs`
  await expect.poll(() => selectRows(db, waiting)).toEqual([])
  const tasks = ['clean_up_flashes', 'clean_up_pictures', 'enqueue_digests']
  const known = sql`
    select identifier from graphile_worker._private_known_crontabs
    where identifier in ${tasks} order by identifier`
  const expected = hourlyJobs === 'on' ? tasks.map((identifier) => ({ identifier })) : []
  await expect.poll(() => selectRows(db, known)).toEqual(expected)
})
