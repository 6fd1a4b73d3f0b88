import { encodeCursor, type Position } from '../../src/kernel/pagination.ts'
import { company, crowd, openBigDatabase, openSmallDatabase, rareName, rareType } from '../databases.ts'
import { repeat, withPool, type Area, type BenchDatabase, type Scenario, type Subject } from '../harness.ts'
import { startService } from '../subjects.ts'

/** The number of rows of the last pages. */
const lastPageRows = 50

export const people: Area = {
  name: 'people',
  title: 'People working together, a small database against 10,000 members, 1,000,000 events, 100,000 people',
  async prepare(bench) {
    const [small, big] = [await openSmallDatabase(bench), await openBigDatabase(bench)]
    const ours = await startService(bench, small)
    const oursBig = await startService(bench, big, ', big')
    const read = async (name: string, path: string | ((database: BenchDatabase) => Promise<string>)) => {
      const paths = new Map<Subject, string>()
      for (const subject of [ours, oursBig])
        paths.set(subject, typeof path === 'string' ? path : await path(subject.database))
      await assertSameLength(paths)
      const scenario: Scenario = {
        name,
        load: repeat((subject) => ({ path: String(paths.get(subject)) })),
        subjects: [ours, oursBig],
        rounds: 5,
        roundSeconds: 1,
        ratios: [{ of: oursBig, to: ours, goal: 0.5 }],
      }
      return scenario
    }
    const ofCompany = `/v1/workspaces/${company.slug}`
    const ofCrowd = `/v1/workspaces/${crowd.slug}`
    return [
      await read('members, first page', `${ofCompany}/members`),
      await read('members, last page', async (database) => {
        const position = await findPosition(
          database,
          `select joined_at as at, user_id as id from memberships where workspace_id = $1
            order by joined_at desc, user_id desc offset ${lastPageRows} limit 1`,
        )
        return `${ofCompany}/members?cursor=${encodeCursor(`members.list ${company.id}`, position)}`
      }),
      await read('events, first page', `${ofCompany}/events`),
      await read('events, last page', async (database) => {
        const position = await findPosition(
          database,
          `select created_at as at, id from events where workspace_id = $1
            order by created_at, id offset ${lastPageRows} limit 1`,
        )
        const listId = `events.list ${company.id} ${JSON.stringify([undefined, undefined, undefined, undefined])}`
        return `${ofCompany}/events?cursor=${encodeCursor(listId, position)}`
      }),
      await read('events of a rare type', `${ofCompany}/events?type=${rareType}`),
      await read('people, first page', `${ofCrowd}/people`),
      await read('people, q that few have', `${ofCrowd}/people?q=${rareName}`),
      await read('people, q that nearly all have', `${ofCrowd}/people?q=person`),
    ]
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

/** Checks that compared pages are equally long, so that only the size of the database differs. */
async function assertSameLength(paths: ReadonlyMap<Subject, string>): Promise<void> {
  const lengths = new Set<number>()
  for (const [{ origin, database }, path] of paths) {
    const answer = await fetch(origin + path, { headers: { authorization: `Bearer ${database.apiKey}` } })
    if (!answer.ok) throw new Error(`${path} is answered with ${answer.status}`)
    const items: unknown = await answer.json()
    if (Array.isArray(items)) lengths.add(items.length)
  }
  if (lengths.size !== 1 || lengths.has(0)) throw new Error(`${[...paths.values()].join(' and ')} differ`)
}
