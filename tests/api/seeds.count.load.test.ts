import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { createCompany, get } from '../support/company.ts'
import { expectAtMost } from '../support/expect-at-most.ts'
import { clone, startTestApp } from '../support/test-app.ts'

const seeds = 10_000
const filledAtOnce = 500
/** How often as long as a scan of their texts counting may take. */
const timesMax = 2

const service = await startTestApp({
  environment: { DATABASE_URL: await clone(), RATE_LIMIT_PER_MINUTE: '0' },
})
const { as, db } = service
const company = await createCompany(service)
await fill()

async function fill(): Promise<void> {
  for (let from = 1; from <= seeds; from += filledAtOnce)
    await db.execute(sql`
      insert into seeds (id, workspace_id, title, summary, problem, status, supports_count, created_at, updated_at)
      select gen_random_uuid(), ${company.workspace.id}, 'Onboarding ' || i, repeat('What it is about. ', 20), repeat('Nobody knows. ', 20),
        (array['open', 'validating', 'validated', 'dropped'])[1 + i % 4], i % 3, now(), now()
      from generate_series(${from}::int, ${from + filledAtOnce - 1}::int) as i`)
  for (const table of ['seeds', 'search_entries']) await db.execute(sql.raw(`vacuum analyze ${table}`))
}

/** Reads the texts of all seeds of the workspace, as a count without an index has to. */
const scan = () =>
  db.execute(sql`
    select count(*) from seeds where workspace_id = ${company.workspace.id} and title || summary || problem ilike '%nobody here%'`)

describe('with 10,000 seeds', () => {
  it.each([
    ['', seeds],
    ['status=open', seeds / 4],
    ['joined=false', seeds],
    ['due=silent', 0],
    ['q=onboarding', seeds],
    ['q=what about nobody', seeds],
  ])('counts those of ?%s about as fast as PostgreSQL reads them', async (query, expected) => {
    const count = () => as(company.viewer, get(`${company.url}/seeds/count?${query}`))
    expect((await count()).json()).toMatchObject({ count: expected })
    await expectAtMost(timesMax, count, scan)
  })
})
