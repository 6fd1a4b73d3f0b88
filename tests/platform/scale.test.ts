import pg from 'pg'
import { describe, expect, it } from 'vitest'
import { fillDatabase } from '../support/fill-database.ts'
import { recordStatements } from '../support/record-statements.ts'
import { clone, startTestApp, type TestPerson } from '../support/test-app.ts'
import { createWorkspace, randomSlug } from '../support/workspaces.ts'

const service = await startTestApp({ environment: { DATABASE_URL: await clone() } })
const { as, config, createPerson, db } = service
// What no request may take, filling may.
const patient = new pg.Pool({ connectionString: config.databaseUrl, max: 1 })
await fillDatabase(patient, 10_000)
await patient.end()

interface Statement {
  text: string
  values: unknown[]
}

interface PlanNode {
  'Node Type': string
  'Relation Name'?: string
  'Index Name'?: string
  Plans?: PlanNode[]
}

/** The statements that a request sends, as they reach the database. */
async function captureStatements(person: TestPerson, url: string): Promise<Statement[]> {
  const { texts, values } = await recordStatements(async () => {
    expect((await as(person, { url })).statusCode).toBe(200)
  })
  return texts.map((text, place) => ({ text, values: values[place] ?? [] }))
}

/** The tables that a statement reads, and how, in the plan for these values or in the one for any. */
async function explain({ text, values }: Statement, mode: 'custom' | 'generic'): Promise<string[]> {
  const client = await db.$client.connect()
  try {
    await client.query(`set plan_cache_mode = force_${mode}_plan`)
    await client.query(`prepare explained as ${text}`)
    const literals = values.map((value) => pg.escapeLiteral(toText(value))).join(', ')
    const given = literals === '' ? '' : `(${literals})`
    const { rows } = await client.query<{ 'QUERY PLAN': { Plan: PlanNode }[] }>(
      `explain (format json) execute explained ${given}`,
    )
    return rows[0]?.['QUERY PLAN'].flatMap(({ Plan }) => listReads(Plan)) ?? []
  } finally {
    client.release(true)
  }
}

function toText(value: unknown): string {
  if (Array.isArray(value)) return `{${value.map((item) => JSON.stringify(toText(item))).join(',')}}`
  return Buffer.isBuffer(value) ? `\\x${value.toString('hex')}` : String(value)
}

function listReads(node: PlanNode): string[] {
  const { 'Node Type': type, 'Relation Name': relation, Plans = [] } = node
  return [...(relation === undefined ? [] : [`${type} on ${relation}`]), ...Plans.flatMap(listReads)]
}

describe('with 10,000 workspaces and 100,000 memberships', () => {
  it('the database has that many rows', async () => {
    const { rows } = await db.$client.query(
      'select (select count(*)::int from workspaces) as workspaces, (select count(*)::int from memberships) as memberships',
    )
    expect(rows).toEqual([{ workspaces: 10_000, memberships: 100_000 }])
  })

  const cases = [
    ['GET /v1/workspaces', 'the key', () => '/v1/workspaces'],
    ['GET /v1/workspaces/{slug}', 'nothing', (slug: string) => `/v1/workspaces/${slug}`],
    ['GET /v1/me/home', 'the key', () => '/v1/me/home'],
    ['GET /v1/me/onboarding', 'the key', () => '/v1/me/onboarding'],
    ['GET /v1/slugs/{slug}', 'the key', (slug: string) => `/v1/slugs/${slug}`],
  ] as const

  it.each(cases)(
    '%s runs one statement of its own, and reads only by index (read before it: %s)',
    async (_name, before, urlOf) => {
      const person = await createPerson()
      const slugs: string[] = []
      for (let i = 0; i < 10; i++) slugs.push((await createWorkspace(service, person)).slug)
      const url = urlOf(slugs[9] ?? randomSlug())
      const statements = await captureStatements(person, url)
      expect(statements).toHaveLength(before === 'the key' ? 2 : 1)
      const own = statements.at(-1)
      for (const mode of ['custom', 'generic'] as const) {
        // There are few keys here.
        const reads = (own ? await explain(own, mode) : []).filter((read) => !read.endsWith(' api_keys'))
        expect(reads.length).toBeGreaterThanOrEqual(2)
        expect(reads.filter((read) => !/^(Index|Index Only|Bitmap Heap) Scan on /.test(read))).toEqual([])
      }
    },
  )

  it('the metrics of webhooks are read by index, however many deliveries wait', async () => {
    await db.$client.query(`
      with added as (
        insert into webhooks (id, workspace_id, url, sealed_secret, created_at)
        select gen_random_uuid(), id, 'https://hooks.example/', '', now() from workspaces limit 3000
        returning id
      )
      insert into webhook_deliveries (webhook_id, event_id, type, status, attempts, created_at, next_attempt_at)
      select id, gen_random_uuid(), 'seed.created', status, 1, now(), case status when 'pending' then now() end
      from added, unnest(array['delivered', 'delivered', 'pending', 'pending', 'pending', 'pending']) as status`)
    await db.$client.query('analyze webhooks, webhook_deliveries')
    const { texts } = await recordStatements(async () => {
      expect(await service.services.countDeliveries?.()).toMatchObject({ waiting: 10_000, working: 1_000 })
    })
    const reads = await explain({ text: texts[0] ?? '', values: [] }, 'generic')
    expect(reads.length).toBeGreaterThanOrEqual(4)
    expect(reads.filter((read) => !/^Index (Only )?Scan on /.test(read))).toEqual([])
  })
})
