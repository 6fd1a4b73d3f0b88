import { sql, type SQL } from 'drizzle-orm'
import { describe, expect, it, onTestFinished } from 'vitest'
import { openDatabase, requestLimits, shareOf, type Database, type Limits } from '../../src/db/client.ts'
import { isDatabaseUnavailable } from '../../src/db/errors.ts'
import { clone } from '../support/test-app.ts'

async function open({ poolMax = 10, ...limits }: Partial<Limits> & { poolMax?: number } = {}) {
  const db = openDatabase({
    url: await clone(),
    poolMax,
    limits: { ...requestLimits, ...limits },
    onIdleError: () => undefined,
  })
  onTestFinished(() => db.$client.end())
  return db
}

const pid = sql`select pg_backend_pid() as pid`
const sleeping = (seconds: number) => sql`select pg_sleep(${seconds})`

/** Reads several times in one turn of the event loop. Returns the connections that were used. */
async function pidsOf(db: Pick<Database, 'execute'>, count: number): Promise<Set<number>> {
  const results = await Promise.all(Array.from({ length: count }, () => db.execute<{ pid: number }>(pid)))
  return new Set(results.flatMap(({ rows }) => rows.map((row) => row.pid)))
}

/** Reads, and counts the reads of a list that have ended. */
function readAll(db: Database, statements: readonly SQL[]) {
  const ended = { count: 0 }
  const all = statements.map(async (statement) => {
    await db.reads.execute(statement)
    ended.count += 1
  })
  return { ended, all: Promise.all(all) }
}

const times = <T>(count: number, value: T) => Array.from({ length: count }, () => value)

describe('short reads', () => {
  it('share three connections, which are free afterwards', async () => {
    const db = await open()
    expect((await pidsOf(db, 50)).size).toBe(10)
    expect((await pidsOf(db.reads, 50)).size).toBe(3)
    expect(db.$client.idleCount).toBe(10)
    const share = shareOf(db)
    expect((await pidsOf(share.reads, 50)).size).toBe(3)
    expect((await pidsOf(share, 50)).size).toBe(5)
  })

  it('are delayed by a slow read only when they were sent right behind it', async () => {
    const db = await open()
    const slow = readAll(db, [sleeping(1)])
    const behind = readAll(db, [pid])
    const others = readAll(db, times(40, pid))
    await others.all
    expect([slow.ended.count, behind.ended.count]).toEqual([0, 0])
    await Promise.all([slow.all, behind.all])
  })

  it('go around slow reads over further connections', async () => {
    const db = await open()
    const slow = readAll(db, times(6, sleeping(1)))
    await readAll(db, times(40, pid)).all
    expect(slow.ended.count).toBe(0)
    await slow.all
  })

  it('fail after 1.5 s without a connection, as other statements do', async () => {
    const db = await open({ poolMax: 1 })
    await db.reads.execute(pid)
    const slow = readAll(db, times(2, sleeping(1.9)))
    const begin = performance.now()
    const failure: unknown = await readAll(db, [pid]).all.catch((error: unknown) => error)
    expect(isDatabaseUnavailable(failure)).toBe(true)
    expect(performance.now() - begin).toBeGreaterThan(900)
    expect(performance.now() - begin).toBeLessThan(1_900)
    await slow.all
    expect((await pidsOf(db.reads, 1)).size).toBe(1)
  })

  it('have the time limit of a statement each, from when PostgreSQL begins with it', async () => {
    const db = await open({ statementMs: 700, poolMax: 1 })
    await readAll(db, [sleeping(0.5), sleeping(0.5)]).all
    await expect(readAll(db, [sleeping(0.9)]).all).rejects.toMatchObject({ cause: { code: '57014' } })
  })

  it('that fail leave those behind them alone', async () => {
    const db = await open({ poolMax: 1 })
    const [failing, behind] = await Promise.allSettled([
      db.reads.execute(sql`select 1 / 0`),
      db.reads.execute(sql`select 1 as one`),
    ])
    expect(failing).toMatchObject({ reason: { cause: { code: '22012' } } })
    expect(behind).toMatchObject({ value: { rows: [{ one: 1 }] } })
  })

  it('are sent once more when the connection was lost before their turn', async () => {
    const db = await open()
    const both = Promise.allSettled([
      db.reads.execute(sql`select pg_sleep(10), 'first' as name`),
      db.reads.execute(sql`select 1 as one`),
    ])
    const end = sql`select pg_terminate_backend(pid) as ended from pg_stat_activity where query like '%''first''%' and pid <> pg_backend_pid()`
    await expect.poll(async () => (await db.execute<{ ended: boolean }>(end)).rows).toEqual([{ ended: true }])
    const [first, behind] = await both
    expect(first.status === 'rejected' && isDatabaseUnavailable(first.reason)).toBe(true)
    expect(behind).toMatchObject({ value: { rows: [{ one: 1 }] } })
  })
})
