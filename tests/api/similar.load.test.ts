import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { findSimilarSeeds } from '../../src/areas/seeds/similar-seeds.ts'
import { createCompany } from '../support/company.ts'
import { expectAtMost } from '../support/expect-at-most.ts'
import { clone, startTestApp } from '../support/test-app.ts'

const seeds = 10_000
const filledAtOnce = 500
/** How often as long as a scan of their titles a search may take. */
const timesMax = 2

const service = await startTestApp({ environment: { DATABASE_URL: await clone() } })
const { db } = service
const { workspace } = await createCompany(service)
await fill()

/** Seeds whose titles are all made of a few words, which is the worst for a search by words, and some of other scripts. */
async function fill(): Promise<void> {
  const word = (words: string[], place: string) =>
    sql`(${sql.raw(`array[${words.map((one) => `'${one}'`).join()}]`)})[1 + ${sql.raw(place)} % ${sql.raw(String(words.length))}]`
  const title = sql`concat_ws(' ',
    ${word(['Self-service', 'Cheaper', 'Faster', 'Better', 'Automatic', 'Weekly', 'Shared', 'Digital', 'Mobile', 'Simple'], 'i * 7')},
    ${word(['onboarding', 'invoices', 'reports', 'parking', 'coffee', 'meetings', 'tickets', 'payments', 'surveys'], 'i * 13')}, 'for',
    ${word(['customers', 'teams', 'partners', 'suppliers', 'students', 'nurses', 'drivers'], 'i')}, 'in',
    ${word(['Berlin', 'Paris', 'Oslo', 'Rome', 'Tokyo', 'Lima', 'Cairo', 'Delhi', 'Quito'], 'i / 3')},
    case when i % 4 = 0 then substr(md5(i::text), 1, 6) end)`
  for (let from = 1; from <= seeds; from += filledAtOnce)
    await db.execute(sql`
      insert into seeds (id, workspace_id, title, summary, status, created_at, updated_at)
      select gen_random_uuid(), ${workspace.id}, ${title}, 'What it is about', 'open', now(), now()
      from generate_series(${from}::int, ${from + filledAtOnce - 1}::int) as i`)
  await db.execute(sql`
    insert into seeds (id, workspace_id, title, summary, status, created_at, updated_at)
    select gen_random_uuid(), ${workspace.id}, title, 'What it is about', 'open', now(), now()
    from unnest(array['新規顧客のオンボーディングを自動化する', 'تسجيل العملاء الجدد بدون مكالمة', 'Lending library for tools', 'AI']) as title`)
  for (const table of ['seeds', 'search_entries']) await db.execute(sql.raw(`vacuum analyze ${table}`))
}

/** Compares the titles of all seeds of the workspace, as a search without an index has to. */
const scan = () =>
  db.execute(
    sql`select count(*) from seeds where workspace_id = ${workspace.id} and similarity(title, 'Lending library') > 0.9`,
  )

describe('with 10,000 seeds', () => {
  it.each([
    ['Self-service onboarding for customers in Berlin', /^Self-service onboarding for .* in /],
    [
      'Cheaper coffee for nurses in Oslo and everything else that there is to say',
      /^Cheaper coffee for nurses/,
    ],
    ['Selfservice onbording', /^Self-service onboarding/],
    ['Lending libary', /^Lending library for tools$/],
    ['オンボーディングの自動化', /^新規顧客のオンボーディングを自動化する$/],
    ['العملاء الجدد', /^تسجيل العملاء الجدد بدون مكالمة$/],
    ['AI', /^AI$/],
    ['for', /./],
  ])('finds what is similar to %s faster than PostgreSQL compares them all', async (title, first) => {
    const find = () => findSimilarSeeds(db, { workspaceId: workspace.id, title, seedUrlPrefix: '/s/' })
    expect((await find())[0]?.title).toMatch(first)
    await expectAtMost(timesMax, find, scan)
  })
})
