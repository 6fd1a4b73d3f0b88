import { eventsListId } from '../../src/areas/events/events.service.ts'
import { encodeCursor, type Position } from '../../src/kernel/pagination.ts'
import { atLeast, atMost, compare, type Ratio, type Scenario } from '../compare.ts'
import type { Trial } from '../report.ts'
import {
  company,
  crowd,
  openBigDatabase,
  openSmallDatabase,
  rareName,
  rareType,
  seedWithEvidence,
} from '../databases.ts'
import { withPool, type Area, type BenchDatabase, type Subject } from '../harness.ts'
import { repeat } from '../loads.ts'
import { assertSame, assertSameAnswer, send } from '../same-answer.ts'
import { startBare, startService } from '../compared-servers.ts'

/** The number of rows of the last pages. */
const lastPageRows = 50

const ofCompany = `/v1/workspaces/${company.slug}`
const ofCrowd = `/v1/workspaces/${crowd.slug}`

const firstPages = {
  'members, first page': `${ofCompany}/members`,
  'events, first page': `${ofCompany}/events`,
  'people, first page': `${ofCrowd}/people`,
  'seeds, first page': `${ofCrowd}/seeds`,
  'evidence, first page': `/v1/seeds/${seedWithEvidence}/evidence`,
}

export const lists: Area = {
  name: 'lists',
  title:
    'Lists, 100 rows for each first page, against a bare server, and a small database against 10,000 members, ' +
    '1,000,000 events, 100,000 people',
  isOfVersions: true,
  isAwake: true,
  async prepare(bench) {
    const small = await openSmallDatabase(bench)
    const ours = await startService(bench, small)
    const bare = await startBare(bench, small)
    const trials: Trial[] = []
    const big = bench.baseline ? undefined : await startService(bench, await openBigDatabase(bench), ', big')

    for (const [name, path] of Object.entries(firstPages)) {
      if (!bench.baseline) await assertSameAnswer([ours, bare], () => ({ path }))
      if (big) await assertSameLength([ours, big], () => path)
      const ratios: Ratio[] = [
        { of: ours, to: bare, by: 'processorMs', goal: atMost(1) },
        { of: ours, to: bare, goal: atLeast(0.95) },
      ]
      if (big) ratios.push({ of: big, to: ours, goal: atLeast(0.9) })
      const scenario: Scenario = {
        name,
        load: repeat(() => ({ path })),
        subjects: [ours, bare, ...(big ? [big] : [])],
        rounds: 5,
        roundSeconds: 0.8,
        ratios,
      }
      trials.push(compare(bench, scenario))
    }
    if (!big) return trials

    const other = async (name: string, pathOf: (database: BenchDatabase) => string | Promise<string>) => {
      const paths = new Map<Subject, string>()
      for (const subject of [ours, big]) paths.set(subject, await pathOf(subject.database))
      const find = (subject: Subject) => String(paths.get(subject))
      await assertSameLength([ours, big], find)
      const scenario = {
        name,
        load: repeat((subject) => ({ path: find(subject) })),
        subjects: [ours, big],
        rounds: 3,
        roundSeconds: 0.8,
        ratios: [{ of: big, to: ours, goal: atLeast(0.9) }],
      }
      trials.push(compare(bench, scenario))
    }
    await other('members, last page', async (database) => {
      const position = await findPosition(
        database,
        `select joined_at as at, user_id as id from memberships where workspace_id = $1
          order by joined_at desc, user_id desc offset ${lastPageRows} limit 1`,
      )
      return `${ofCompany}/members?cursor=${encodeCursor(`members.list ${company.id}`, position)}`
    })
    await other('events, last page', async (database) => {
      const position = await findPosition(
        database,
        `select created_at as at, id from events where workspace_id = $1
          order by created_at, id offset ${lastPageRows} limit 1`,
      )
      return `${ofCompany}/events?cursor=${encodeCursor(eventsListId(company.id, {}), position)}`
    })
    await other('events of a rare type', () => `${ofCompany}/events?type=${rareType}`)
    await other('people, q that few have', () => `${ofCrowd}/people?q=${rareName}`)
    await other('people, q that nearly all have', () => `${ofCrowd}/people?q=person`)
    return trials
  },
}

async function findPosition(database: BenchDatabase, statement: string): Promise<Position> {
  const { rows } = await withPool(database.url, (pool) =>
    pool.query<{ at: Date; id: string }>(statement, [company.id]),
  )
  const [row] = rows
  if (!row) throw new Error('there is no such row')
  return [row.at.toISOString(), row.id]
}

/** Throws unless compared pages are equally long, so that only the size of the database differs. */
async function assertSameLength(
  subjects: readonly Subject[],
  pathOf: (subject: Subject) => string,
): Promise<void> {
  const lengths: number[] = []
  for (const subject of subjects) {
    const items = JSON.parse(await send(subject, { path: pathOf(subject) })) as unknown[]
    if (items.length === 0) throw new Error(`${pathOf(subject)} is empty`)
    lengths.push(items.length)
  }
  assertSame(lengths, 'the length of a page')
}
