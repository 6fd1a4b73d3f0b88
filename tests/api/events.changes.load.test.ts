import { execFile, spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { sql } from 'drizzle-orm'
import pg from 'pg'
import { describe, expect, inject, it, onTestFinished } from 'vitest'
import { workLimits } from '../../src/db/client.ts'
import { errors } from '../../src/kernel/errors.ts'
import { createId } from '../../src/kernel/ids.ts'
import { createRandom } from '../fuzz/hostile.ts'
import { createCompany, createTeam, get, type TestCompany } from '../support/company.ts'
import { expectError } from '../support/expect-error.ts'
import {
  clone,
  createEmptyDatabase,
  selectRows,
  startTestApp,
  type TestApp,
  type TestPerson,
} from '../support/test-app.ts'

const databaseUrl = await clone()
// 50 writers wait for one position longer than a request of the service would.
const service = await startTestApp({ environment: { DATABASE_URL: databaseUrl }, limits: workLimits })

interface Changes {
  events: { id: string }[]
  cursor: string
  hasMore: boolean
}

async function readPage(
  { as }: TestApp,
  { owner, url }: TestCompany,
  query: Record<string, string>,
  reader = owner,
): Promise<Changes> {
  const answer = await as(reader, get(`${url}/events/changes?${new URLSearchParams(query).toString()}`))
  expect(answer.statusCode, answer.body).toBe(200)
  return answer.json<Changes>()
}

/** The insert of the version before positions. */
const insertOfBefore = `
  insert into events (id, workspace_id, type, actor_type, actor_name, source, summary, created_at)
  values ($1, $2, 'seed.updated', 'system', 'The service', 'system', 'Something happened', now())`

// Of a fixed seed: what fails, fails again.
const { below } = createRandom(1)

/**
 * Writes transactions of random length with up to three events, in one or two workspaces, of which every fifth is rolled
 * back. Returns the ids of the committed events by workspace.
 */
async function write(pool: pg.Pool, workspaceIds: string[], count: number): Promise<[string, string][]> {
  const committed: [string, string][] = []
  for (let i = 0; i < count; i++) {
    const client = await pool.connect()
    const added = Array.from({ length: 1 + below(3) }, (): [string, string] => [
      String(workspaceIds[below(workspaceIds.length)]),
      createId(),
    ])
    // As the service does.
    added.sort(([one], [other]) => (one < other ? -1 : 1))
    await client.query('begin')
    await client.query('select pg_sleep($1)', [below(20) / 1000])
    for (const [workspaceId, id] of added) await client.query(insertOfBefore, [id, workspaceId])
    if (below(4) === 0) await client.query('select pg_sleep($1)', [below(8) / 1000])
    const isKept = below(5) > 0
    await client.query(isKept ? 'commit' : 'rollback')
    client.release()
    if (isKept) committed.push(...added)
  }
  return committed
}

/** Follows a workspace with pages of random length until `isOver` and everything has been read. */
async function poll(
  company: TestCompany,
  reader: TestPerson,
  limitMax: number,
  isOver: () => boolean,
): Promise<string[]> {
  const ids: string[] = []
  for (let after: string | undefined; ;) {
    const wasOver = isOver()
    const limit = String(1 + below(limitMax))
    const page = await readPage(service, company, { limit, ...(after !== undefined && { after }) }, reader)
    expect(page.events.length).toBeLessThanOrEqual(Number(limit))
    ids.push(...page.events.map(({ id }) => id))
    after = page.cursor
    if (wasOver && !page.hasMore) return ids
  }
}

describe('50 writers and five readers', () => {
  it('each reader gets each event once, in one order, beside an open transaction and older writers', async () => {
    const companies = await Promise.all([1, 2, 3].map(() => createCompany(service)))
    const pool = new pg.Pool({ connectionString: databaseUrl, max: 50 })
    onTestFinished(() => pool.end())
    // Writing transactions that stay open: in another database of the server, and in this one.
    for (const url of [await clone(), databaseUrl]) {
      const client = new pg.Client({ connectionString: url })
      await client.connect()
      onTestFinished(() => client.end())
      await client.query('begin')
      await client.query('select pg_current_xact_id()')
    }

    const workspaceIds = companies.map(({ workspace }) => workspace.id)
    const state = { isOver: false }
    const writing = Promise.all([
      ...Array.from({ length: 50 }, () => write(pool, workspaceIds, 12)),
      // The service itself writes as well.
      ...companies.map(async (company) => {
        for (let i = 0; i < 10; i++) await createTeam(service, company.admin, company)
        return []
      }),
    ]).finally(() => (state.isOver = true))
    const readers = companies.map((company) => {
      const { owner, admin, member, viewer } = company
      // No person reads more than two pages at once: a third one would wait for its turn, and be refused on a slow machine.
      const limits: [TestPerson, number][] = [
        [owner, 1],
        [admin, 3],
        [member, 20],
        [viewer, 200],
        [owner, 200],
      ]
      return Promise.all(limits.map(([reader, max]) => poll(company, reader, max, () => state.isOver)))
    })
    const [committed, ...read] = await Promise.all([writing, ...readers])

    const added = committed.flat()
    expect(added.length).toBeGreaterThan(600)
    for (const [i, workspaceId] of workspaceIds.entries()) {
      const stored = await selectRows<{ id: string; position: string }>(
        service.db,
        sql`select id, position from events where workspace_id = ${workspaceId} order by position`,
      )
      const ids = stored.map(({ id }) => id)
      expect(stored.map(({ position }) => Number(position))).toEqual(stored.map((_, place) => place + 1))
      expect(ids).toHaveLength(added.filter(([of]) => of === workspaceId).length + 11)
      expect(ids).toEqual(
        expect.arrayContaining(added.filter(([of]) => of === workspaceId).map(([, id]) => id)),
      )
      for (const seen of read[i] ?? []) expect(seen).toEqual(ids)
    }
  })
})

/** Why a dump of the server cannot be made here; undefined if it can. */
async function findReasonAgainstDumps(): Promise<string | undefined> {
  const [row] = await selectRows<{ version: number }>(
    service.db,
    sql`select current_setting('server_version_num')::int / 10000 as version`,
  )
  const server = Number(row?.version)
  const { stdout, error } = spawnSync('pg_dump', ['--version'], { encoding: 'utf8' })
  if (error) return 'pg_dump is not on the PATH'
  const client = Number(/\d+/.exec(stdout)?.[0])
  return client < server ? `pg_dump ${client} cannot dump PostgreSQL ${server}` : undefined
}

describe('a backup that is restored into a new database', async () => {
  const reason = await findReasonAgainstDumps()

  it.skipIf(reason !== undefined)(
    `continues its positions, and refuses cursors that are newer than it${reason ? ` (skipped: ${reason})` : ''}`,
    async () => {
      const company = await createCompany(service)
      const { owner, url } = company
      for (const name of ['One', 'Two']) await createTeam(service, owner, company, name)
      const { cursor: known } = await readPage(service, company, {})
      const file = join(inject('scratchDirectory'), `${createId()}.dump`)
      const run = promisify(execFile)
      await run('pg_dump', ['--format=custom', `--file=${file}`, databaseUrl])
      await createTeam(service, owner, company, 'Lost')
      const { cursor: lost } = await readPage(service, company, {})

      const restoredUrl = await createEmptyDatabase()
      await run('pg_restore', ['--no-owner', `--dbname=${restoredUrl}`, file])
      const restored = await startTestApp({ environment: { DATABASE_URL: restoredUrl } })
      const follow = (after: string) => readPage(restored, company, { after })
      const refusal = () => restored.as(owner, get(`${url}/events/changes?after=${lost}`))

      expect(await follow(known)).toEqual({ events: [], cursor: known, hasMore: false })
      expectError(await refusal(), errors.cursorUnknown)
      await createTeam(restored, owner, company, 'Other')
      expectError(await refusal(), errors.cursorUnknown)
      expect((await follow(known)).events).toMatchObject([{ summary: 'Olga Owner created the team Other' }])
      const all = await readPage(restored, company, {})
      expect(all.events).toHaveLength(4)
    },
  )
})
