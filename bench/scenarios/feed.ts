import { setTimeout } from 'node:timers/promises'
import { readEventPositions } from '../../src/areas/events/event-feed.repository.ts'
import { createFollowedResources } from '../../src/agents/mcp/followed-resources.ts'
import { readFollowed } from '../../src/agents/mcp/followed-resources.repository.ts'
import type { AgentPrincipal } from '../../src/domain/agent.ts'
import { createId } from '../../src/kernel/ids.ts'
import { openDrizzle } from '../../src/db/transactions.ts'
import { atLeast, below, compare } from '../compare.ts'
import { memoryMb, withPool, type Area, type Bench, type Subject } from '../harness.ts'
import { sendNext } from '../loads.ts'
import { median, type Trial } from '../report.ts'
import { service, startService } from '../compared-servers.ts'
import { openWriteDatabase, type WriteDatabase } from '../write-database.ts'
import { writeRequests } from '../write-requests.ts'
import { keepJobs } from './writes.ts'

const streams = 1_000
const polledWorkspaces = 1_000

/** What the positions of events cost, and what reads by them (docs/design/events.md#positions). */
export const feed: Area = {
  name: 'feed',
  title: 'Positions of events, against the same service without them; the changes of one workspace; streams',
  async prepare(bench) {
    const original = await openWriteDatabase(bench)
    return [
      await withoutPositions(bench, original),
      await inOneWorkspace(bench, original),
      await polling(bench),
      await idleSubscribers(bench),
      idleStreams(bench, original),
    ]
  },
}

async function withoutPositions(bench: Bench, original: WriteDatabase): Promise<Trial> {
  const ours = await startService(bench, await bench.copy('feed_with', original, keepJobs))
  const before = await startService(
    bench,
    await bench.copy('feed_without', original, async (pool) => {
      await keepJobs(pool)
      // As it was before: the service itself does not write positions.
      await pool.query(`
        drop trigger events_position on events;
        drop index events_position_key;
        alter table events alter column position drop not null`)
    }),
    ', without positions',
  )
  const requestOf = writeRequests(original)['seeds.create']
  return compare(bench, {
    name: 'seeds.create',
    load: sendNext((place) => requestOf?.(place)),
    subjects: [ours, before],
    rounds: 5,
    roundSeconds: 2,
    ratios: [
      { of: ours, to: before, goal: atLeast(0.9) },
      { of: ours, to: before, by: 'processorMs' },
    ],
  })
}

async function inOneWorkspace(bench: Bench, original: WriteDatabase): Promise<Trial> {
  const [slug] = original.slugs
  const database = await bench.copy('feed_one', original, async (pool) => {
    await keepJobs(pool)
    await pool.query(
      `insert into memberships (workspace_id, user_id, role, joined_at, last_used_at)
        select one.id, other.user_id, 'member', now(), now()
        from workspaces as one, memberships as other
        where one.slug = $1 and other.role = 'admin'
        on conflict do nothing`,
      [slug],
    )
  })
  const requestOf = writeRequests({ ...original, slugs: [String(slug)] })['seeds.create']
  return compare(bench, {
    name: 'seeds.create in one workspace',
    load: sendNext((place) => requestOf?.(place)),
    subjects: [await startService(bench, database, ', one workspace')],
    rounds: 5,
    roundSeconds: 2,
    goalPerSecond: 300,
  })
}

/** The statement by which a process learns what is new. */
async function polling(bench: Bench): Promise<Trial> {
  const database = await bench.database('feed_polled', async (pool) => {
    await pool.query(`
      insert into workspaces (id, name, slug, created_at)
      select md5('w' || i)::uuid, 'w', 'w-' || i, now() from generate_series(1, ${polledWorkspaces * 5}) as i`)
    await pool.query(`insert into event_positions select id, 250 from workspaces`)
    await pool.query('vacuum analyze')
    return []
  })
  return {
    name: `positions of ${polledWorkspaces} workspaces`,
    run: () =>
      withPool(database.url, async (pool) => {
        const { rows } = await pool.query<{ id: string }>('select id from workspaces limit $1', [
          polledWorkspaces,
        ])
        const ids = rows.map(({ id }) => id)
        const db = openDrizzle(pool)
        const values: number[] = []
        for (let i = 0; i < 50; i++) {
          const at = performance.now()
          await readEventPositions(db, ids)
          values.push(performance.now() - at)
        }
        const row = {
          request: `positions of ${polledWorkspaces} workspaces`,
          server: 'one statement',
          unit: 'ms',
        }
        return [{ ...row, values: [median(values)], goal: below(10) }]
      }),
  }
}

/**
 * The processor time of the process for each subscriber to resources of agents and each poll in which nothing happened: each
 * is in a workspace of its own, and follows the inbox and 49 seeds. PostgreSQL is not in it.
 */
async function idleSubscribers(bench: Bench): Promise<Trial> {
  const database = await bench.database('feed_followed', async (pool) => {
    await pool.query(`
      insert into workspaces (id, name, slug, created_at)
      select md5('w' || i)::uuid, 'w', 'w-' || i, now() from generate_series(1, ${polledWorkspaces}) as i`)
    await pool.query(`insert into event_positions select id, 250 from workspaces`)
    await pool.query('vacuum analyze')
    return []
  })
  return {
    name: `${polledWorkspaces} idle subscribers`,
    run: () =>
      withPool(database.url, async (pool) => {
        const { rows } = await pool.query<{ id: string }>('select id from workspaces')
        const db = openDrizzle(pool)
        const positions = new Map<string, (last: number) => void>()
        const followed = createFollowedResources({
          followPositions(workspaceId, onPosition) {
            positions.set(workspaceId, onPosition)
            return () => void positions.delete(workspaceId)
          },
          readChanges: (query) => readFollowed(db, query),
          readAgents: () => Promise.reject(new Error('nothing happened')),
          targetOf: (_agent, uri) => (uri === 'inbox' ? { kind: 'inbox' } : { kind: 'seed', seedId: uri }),
          onReadError: (error) => {
            throw error
          },
        })
        for (const { id } of rows) {
          const agent = { grant: { id: createId() }, user: { id: createId() }, workspace: { id } }
          const uris = ['inbox', ...Array.from({ length: 49 }, () => createId())]
          await followed.follow(agent as AgentPrincipal, uris, () => undefined)
        }
        const ids = [...positions.keys()]
        const poll = async () => {
          const last = await readEventPositions(db, ids)
          for (const [id, onPosition] of positions) onPosition(last.get(id) ?? 0)
        }
        const polls = 200
        for (let i = 0; i < polls; i++) await poll()
        const before = process.cpuUsage()
        for (let i = 0; i < polls; i++) await poll()
        const { user, system } = process.cpuUsage(before)
        const row = { request: `${polledWorkspaces} idle subscribers`, server: 'each of them, each poll' }
        return [{ ...row, unit: 'µs', values: [(user + system) / polls / ids.length], goal: below(10) }]
      }),
  }
}

/** The memory of streams that wait for events, those of one key each ten. */
function idleStreams(bench: Bench, original: WriteDatabase): Trial {
  return {
    name: `${streams} idle streams`,
    async run() {
      const database = await bench.copy('feed_streams', original, keepJobs)
      const subject = await bench.startAnew('this service', service, database, { path: '/ready', everyMs: 5 })
      await openStreams(subject, original, 20)
      await setTimeout(3_000)
      const beforeMb = memoryMb(subject)
      const opened = await openStreams(subject, original, streams - 20)
      // Several polls.
      await setTimeout(5_000)
      const afterMb = memoryMb(subject)
      for (const controller of opened) controller.abort()
      await bench.stop(subject)
      return [
        {
          request: `${streams} idle streams`,
          server: 'this service',
          values: [afterMb - beforeMb],
          unit: 'MB more than with 20',
          goal: below(50),
        },
      ]
    },
  }
}

async function openStreams(subject: Subject, { callers, slugs }: WriteDatabase, count: number) {
  const opened: AbortController[] = []
  for (let i = 0; i < count; i++) {
    const controller = new AbortController()
    const place = i % callers.length
    const answer = await fetch(`${subject.origin}/v1/workspaces/${slugs[place]}/events/stream?after=now`, {
      headers: { authorization: `Bearer ${callers[place]}` },
      signal: controller.signal,
    })
    if (answer.status !== 200) throw new Error(`a stream was answered with ${answer.status}`)
    opened.push(controller)
  }
  return opened
}
