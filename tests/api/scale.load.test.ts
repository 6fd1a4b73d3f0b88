import { sql } from 'drizzle-orm'
import pg from 'pg'
import { describe, expect, it, onTestFinished } from 'vitest'
import { readFollowed } from '../../src/agents/mcp/followed-resources.repository.ts'
import { findKeptSince } from '../../src/areas/events/event-retention.repository.ts'
import { readEventPositions } from '../../src/areas/events/event-feed.repository.ts'
import { openDatabase, workLimits } from '../../src/db/client.ts'
import { readStatements } from '../../scripts/statements.ts'
import { encodeFeedCursor } from '../../src/domain/event-cursors.ts'
import { createId } from '../../src/kernel/ids.ts'
import { createCompany, get, type TestCompany } from '../support/company.ts'
import { eventually } from '../support/eventually.ts'
import { recordStatements } from '../support/record-statements.ts'
import { clone, selectRows, startTestApp, type TestPerson } from '../support/test-app.ts'

/** Many people, and a workspace with a good part of them and a long history. */
const people = 100_000
const members = 10_000
const events = 1_000_000
const restrictedEvents = 100_000
const seeds = 1_000

const filledTables = [
  ...['users', 'memberships', 'events', 'seeds', 'evidence', 'comments', 'search_entries', 'teams', 'labels'],
  'saved_filters',
]

/** Agents with a tenth of the events and with few, and a seed with few. */
const [busyAgent, rareAgent, rareSeed] = [createId(), createId(), createId()]
/** Of few seeds with few events, and a team of few seeds with a tenth of the events. */
const [rareTeam, rareLabel, busyTeam] = [createId(), createId(), createId()]

const service = await startTestApp({
  environment: { BASE_URL: 'https://api.example.com', DATABASE_URL: await clone() },
})
const { as, db } = service
const [big, small, rest] = [
  await createCompany(service),
  await createCompany(service),
  await createCompany(service),
]
await fill(big)
const someSeeds = (await selectRows<{ id: string }>(db, sql`select id from seeds order by id limit 20`)).map(
  ({ id }) => id,
)

async function fill({ workspace, owner, admin }: TestCompany): Promise<void> {
  // UUIDv7 as far as the service looks at it, from a number.
  const uuidOf = (number: string) => {
    const id = sql.raw(`encode(int8send(1700000000000 + ${number}), 'hex')`)
    return sql`(substr(${id}, 5, 8) || '-' || substr(${id}, 13, 4) || '-7000-8000-' || lpad(to_hex(${sql.raw(number)}), 12, '0'))::uuid`
  }
  const uuid = uuidOf('i')
  const seedUuidOf = (number: string) => sql`overlay(${uuidOf(number)}::text placing 'a000' from 20)::uuid`
  // Given here, since the trigger gives positions one by one, which takes long for many in one transaction.
  const lastPosition = sql`(select last from event_positions where workspace_id = ${workspace.id})`
  // What no request may take, filling may.
  const patient = openDatabase({
    url: String(service.config.databaseUrl),
    poolMax: 1,
    limits: { ...workLimits, statementMs: 0 },
    onIdleError: () => undefined,
  })
  await patient.transaction(async (tx) => {
    await tx.execute(sql`
    insert into users (id, email, name, created_at)
    select ${uuid}, 'person-' || i || '@' || (i % 97) || '.example.com', 'Person ' || md5(i::text), now()
    from generate_series(1, ${people}) as i`)
    await tx.execute(sql`
    insert into memberships (workspace_id, user_id, role, joined_at, last_used_at)
    select ${workspace.id}, ${uuid}, 'member', now() + i * interval '1 second', now()
    from generate_series(1, ${members}) as i`)
    // Everybody else is somewhere else: a workspace is a small part of the table.
    await tx.execute(sql`
    insert into memberships (workspace_id, user_id, role, joined_at, last_used_at)
    select ${rest.workspace.id}, ${uuid}, 'member', now() + i * interval '1 second', now()
    from generate_series(${members}::int + 1, ${people}) as i`)
    await tx.execute(sql`
    insert into events (id, workspace_id, type, actor_type, actor_user_id, grant_id, seed_id, actor_name, source, summary,
      created_at, position)
    select ${uuid}, ${workspace.id}, case when i % 5000 = 0 then 'team.renamed' else 'seed.updated' end, 'user',
      case when i % 5000 = 1 then ${admin.id}::uuid else ${owner.id}::uuid end,
      case when i % 10 = 2 then ${busyAgent}::uuid when i % 5000 = 3 then ${rareAgent}::uuid end,
      case when i % 5000 = 4 then ${rareSeed}::uuid when i % 5000 = 5 then ${seedUuidOf('(100 + i / 5000 % 10 * 100)')}
        when i % 10 = 6 then ${seedUuidOf('(50 + i / 10 % 10 * 100)')} end, 'Olga', 'api', 'Olga did something',
      '2020-01-01'::timestamptz + i * interval '1 minute', ${lastPosition} + i
    from generate_series(1, ${events}) as i`)
    // Newer than all others: what members may not see.
    await tx.execute(sql`
    insert into events (id, workspace_id, type, actor_type, actor_user_id, actor_name, source, summary, created_at, position)
    select ${uuid}, ${workspace.id}, case when i % 2 = 0 then 'invite.created' else 'integration.granted' end, 'user',
      case when i % 4 = 1 then ${admin.id}::uuid else ${owner.id}::uuid end, 'Adam', 'api', 'Adam did something', '2024-01-01'::timestamptz + i * interval '1 minute',
      ${lastPosition} + i
    from generate_series(${events}::int + 1, ${events + restrictedEvents}::int) as i`)
    await tx.execute(sql`
    update event_positions set last = last + ${events + restrictedEvents}::int
    where workspace_id = ${workspace.id}`)
    await tx.execute(sql`
    insert into teams (id, workspace_id, name, created_at)
    values (${rareTeam}, ${workspace.id}, 'Design', now()), (${busyTeam}, ${workspace.id}, 'Research', now())`)
    await tx.execute(sql`
    insert into labels (id, workspace_id, name, created_at)
    select case when i = 1 then ${rareLabel}::uuid else gen_random_uuid() end, ${workspace.id}, 'Label ' || i, now()
    from generate_series(1, 100) as i`)
    // Of each member, and of nobody alone.
    await tx.execute(sql`
    insert into saved_filters (id, workspace_id, owner_user_id, name, filters, created_at, updated_at)
    select gen_random_uuid(), workspace_id, user_id, 'Filter ' || i, '{}'::jsonb, now(), now()
    from memberships, generate_series(1, 3) as i where workspace_id = ${workspace.id}
    union all
    select gen_random_uuid(), ${workspace.id}, null::uuid, 'Filter ' || i, '{}'::jsonb, now(), now() from generate_series(1, 50) as i`)
    await tx.execute(sql`
    insert into seeds (id, workspace_id, title, summary, decide_by, team_id, label_ids, status, created_at, updated_at)
    select ${seedUuidOf('i')}, ${workspace.id}, 'Seed ' || i, 'What it is about',
      case when i % 20 = 0 then '2020-01-01'::date + i end,
      case i % 100 when 0 then ${rareTeam}::uuid when 50 then ${busyTeam}::uuid end,
      case when i % 100 = 0 then array[${rareLabel}::uuid] else '{}' end, 'open', now(), now()
    from generate_series(1, ${seeds}) as i`)
    await tx.execute(sql`
    insert into evidence (id, seed_id, kind, verdict, summary, author_name, created_at)
    select gen_random_uuid(), id, 'interview', 'supports', 'What somebody said', 'Olga', now() + i * interval '1 second'
    from seeds, generate_series(1, 10) as i where workspace_id = ${workspace.id}`)
    // Agents write little, and little is edited.
    await tx.execute(sql`
    insert into comments (id, workspace_id, seed_id, body, author_name, agent_name, created_at, edited_at)
    select gen_random_uuid(), workspace_id, id, 'Who says so?', 'Olga', case when i = 1 then 'Robbie' end,
      '2024-01-01'::timestamptz + i * interval '1 day', case when i = 2 then '2024-03-01'::timestamptz end
    from seeds, generate_series(1, 40) as i where workspace_id = ${workspace.id}`)
  })
  for (const table of filledTables) {
    // A snapshot from before the commit, wherever it is held, keeps VACUUM from marking pages as visible to everybody:
    // what an index alone could answer would read the rows.
    await eventually(async () => {
      await patient.execute(sql.raw(`vacuum analyze ${table}`))
      const unmarked = sql`select from pg_class where oid = ${table}::regclass and relallvisible < relpages * 0.9`
      expect(await selectRows(patient, unmarked), table).toEqual([])
    })
  }
  await patient.$client.end()
}

interface Statement {
  text: string
  values: unknown[]
}

/** The statements that a request reads its list by. */
function statementsOf(
  company: TestCompany,
  path: string,
  reader: TestPerson = company.owner,
): Promise<Statement[]> {
  return statementsDuring(async () => {
    const answer = await as(reader, get(`${company.url}/${path}`))
    expect(answer.statusCode, answer.body).toBe(200)
  })
}

async function statementsDuring(run: () => Promise<unknown>): Promise<Statement[]> {
  const { texts, values } = await recordStatements(run)
  const sent = texts.map((text, place) => ({ text, values: values[place] ?? [] }))
  return sent.filter(({ text }) => /^\(?select/.test(text))
}

interface PlanNode {
  'Node Type': string
  'Relation Name'?: string
  'Shared Hit Blocks': number
  'Shared Read Blocks': number
  Plans?: PlanNode[]
}

interface Cost {
  /** Pages of the database that were looked at. */
  buffers: number
  /** The large tables that were read from end to end. */
  scanned: string[]
  plan: string
}

async function costOf({ text, values }: Statement): Promise<Cost> {
  const { rows } = await db.$client.query<{ 'QUERY PLAN': { Plan: PlanNode }[] }>(
    `explain (analyze, buffers, format json) ${text}`,
    values,
  )
  const root = rows[0]?.['QUERY PLAN'][0]?.Plan
  if (!root) throw new Error('there is no plan')
  const scanned = listNodes(root)
    .filter((node) => node['Node Type'] === 'Seq Scan')
    .map((node) => String(node['Relation Name']))
  return {
    buffers: root['Shared Hit Blocks'] + root['Shared Read Blocks'],
    scanned: scanned.filter((table) => ['users', 'memberships', 'events'].includes(table)),
    plan: JSON.stringify(root),
  }
}

function listNodes(node: PlanNode): PlanNode[] {
  return [node, ...(node.Plans ?? []).flatMap(listNodes)]
}

/** The cursor to the last page, made by asking the list for the page before it. */
async function lastPageOf(company: TestCompany, list: string, from: string): Promise<string> {
  let next = `${company.url}/${list}${from}`
  for (;;) {
    const answer = await as(company.owner, get(next))
    expect(answer.statusCode, answer.body).toBe(200)
    const link = /<https:\/\/api\.example\.com([^>]+)>/.exec(String(answer.headers.link))?.[1]
    if (link === undefined) return next.slice(company.url.length + 1)
    next = link
  }
}

/** What a page of 100 rows may cost, index pages and the rows themselves: far less than reading a table. */
const buffersMax = 1_000
/** What the key and the workspace may cost: a few rows, each found by an index. */
const keyBuffersMax = 100

async function expectCheap(
  path: string,
  indexes: RegExp,
  reader?: TestPerson,
  max = buffersMax,
): Promise<void> {
  const [key, statement] = await statementsOf(big, path, reader)
  if (!key || !statement) throw new Error('nothing was asked')
  const before = await costOf(key)
  expect(key.text).toContain('"api_keys"')
  expect(before.buffers, before.plan).toBeLessThan(keyBuffersMax)
  await expectStatementCheap(statement, indexes, max)
}

async function expectStatementCheap(statement: Statement, indexes: RegExp, max = buffersMax): Promise<void> {
  const { buffers, scanned, plan } = await costOf(statement)
  expect(buffers, plan).toBeLessThan(max)
  expect(plan).toMatch(indexes)
  expect(scanned, plan).toEqual([])
}

describe('with 100,000 users and 1,100,000 events', () => {
  it('the database has the rows that these tests need', async () => {
    const [counts] = await selectRows(
      db,
      sql`select (select count(*)::int from users) as users, (select count(*)::int from events) as events,
        (select count(*)::int from memberships where workspace_id = ${big.workspace.id}) as members`,
    )
    expect(counts).toEqual({
      // Three companies of four people, and somebody else of another workspace for each.
      users: people + 15,
      events: events + restrictedEvents + 3,
      members: members + 4,
    })
  })

  it.each([
    ['members.list, first page', 'members', /memberships_by_workspace_idx/],
    ['people.list, first page', 'people', /memberships_by_workspace_idx/],
    ['events.list, first page', 'events', /events_by_workspace_idx/],
    ['events.list by a rare type', 'events?type=team.renamed', /events_by_type_idx/],
    ['events.list by an unknown type', 'events?type=nothing.happened', /events_by_type_idx/],
    ['events.list by a common type', 'events?type=seed.updated', /events_(by|for)_/],
    ['events.list by an actor of many events', () => `events?actorUserId=${big.owner.id}`, /events_by_/],
    [
      'events.list by an actor of few events',
      () => `events?actorUserId=${big.admin.id}`,
      /events_by_actor_idx/,
    ],
    ['events.list by an unknown actor', () => `events?actorUserId=${createId()}`, /events_by_actor_idx/],
    ['events.list of an unknown target', () => `events?targetId=${createId()}`, /events_by_target_idx/],
    ['events.list by an agent of many events', `events?grantId=${busyAgent}`, /events_by_/],
    ['events.list by an agent of few events', `events?grantId=${rareAgent}`, /events_by_agent_idx/],
    ['events.list by an unknown agent', () => `events?grantId=${createId()}`, /events_by_agent_idx/],
    ['events.list of a seed of few events', `events?seedId=${rareSeed}`, /events_by_seed_idx/],
    ['events.list of an unknown seed', () => `events?seedId=${createId()}`, /events_by_seed_idx/],
    [
      'events.list of what an agent did to a seed that it never touched',
      `events?seedId=${rareSeed}&grantId=${busyAgent}`,
      /events_by_seed_idx/,
    ],
    ['events.list of a team with few events', () => `events?teamId=${rareTeam}`, /events_by_seed_idx/],
    ['events.list of a label of few events', () => `events?labelId=${rareLabel}`, /events_by_seed_idx/],
    ['events.list of a team with many events', () => `events?teamId=${busyTeam}`, /events_(by|for)_/],
    ['events.list of an unknown team', () => `events?teamId=${createId()}`, /events_(by|for)_/],
    ['events.list of an unknown label', () => `events?labelId=${createId()}`, /events_(by|for)_/],
    [
      'events.list of what an agent of few events did to the seeds of a team',
      () => `events?teamId=${busyTeam}&grantId=${rareAgent}`,
      /events_by_(agent|seed)_idx/,
    ],
    [
      'events.list of a rare type and a team',
      () => `events?teamId=${busyTeam}&type=team.renamed`,
      /events_by_type_idx/,
    ],
    [
      'events.list of a day long ago',
      'events?since=2020-06-01T00:00:00Z&until=2020-06-02T00:00:00Z',
      /events_by_workspace_idx/,
    ],
    ['events.changes, first page', 'events/changes', /events_position_key/],
    ['events.changes of a rare type', 'events/changes?types=team.renamed', /events_position_key/],
    [
      'events.changes by an agent of few events',
      `events/changes?grantId=${rareAgent}`,
      /events_position_key/,
    ],
    [
      'events.changes of a type without events',
      'events/changes?types=workspace.icon_removed',
      /events_position_key/,
    ],
    ['seeds.list, overdue', 'seeds?due=overdue', /seeds_(by|due)_/],
    ['seeds.list, overdue, by date', 'seeds?due=overdue&sort=decideBy', /seeds_due_idx/],
    ['seeds.list, without evidence for 30 days', 'seeds?due=silent', /seeds_(by|silent)_/],
    ['seeds.list, of a team with few seeds', () => `seeds?teamId=${rareTeam}`, /seeds_by_/],
    ['seeds.list, of an unknown team', () => `seeds?teamId=${createId()}`, /seeds_by_/],
    ['seeds.list, with a label of few seeds', () => `seeds?labelIds=${rareLabel}`, /seeds_by_/],
    ['seeds.list, with an unknown label', () => `seeds?labelIds=${createId()}`, /seeds_by_/],
    ['savedFilters.list, where each member has some', 'saved-filters', /saved_filters_/],
    ['seeds.list, by the date to decide by', 'seeds?sort=decideBy', /seeds/],
    ['comments.listOfWorkspace, first page', 'comments', /comments_by_workspace_idx/],
    ['comments.listOfWorkspace, by agents', 'comments?by=agents', /comments_of_agents_idx/],
    ['comments.listOfWorkspace, of recent days', 'comments?since=2024-02-09', /comments_edited_idx/],
    ['comments.listOfWorkspace, of a seed', () => `comments?seedIds=${someSeeds[0]}`, /comments_by_seed_idx/],
    [
      'comments.listOfWorkspace, of twenty seeds',
      () => `comments?seedIds=${someSeeds.join()}&limit=5`,
      /comments_by_seed_idx/,
    ],
    ['people.list, search that matches one person', 'people?q=person-7777@', /search_entries_words_idx/],
    ['people.list, search that matches no one', 'people?q=nobody-at-all', /search_entries_words_idx/],
  ])('%s: reads fewer than 1,000 buffers, by an index', async (_name, path, indexes) => {
    await expectCheap(typeof path === 'string' ? path : path(), indexes)
  })

  it('people.list, search that matches everyone: reads fewer than ten buffers for each row, by an index', async () => {
    const [{ version } = { version: 0 }] = await selectRows<{ version: number }>(
      db,
      sql`select current_setting('server_version_num')::int as version`,
    )
    // Before version 17, PostgreSQL descends an index once for each element of an array: three pages for each membership.
    const descents = version < 170_000 ? 3 * 101 : 0
    await expectCheap('people?q=example.com', /search_entries_newest_idx/, big.owner, buffersMax + descents)
  })

  it.each([
    ['common words and a team', () => `search?q=said&teamId=${rareTeam}`],
    ['common words and a status that no seed has', () => 'search?q=says&status=dropped'],
    ['rare words and a label', () => `search?q=100&labelId=${rareLabel}`],
  ])('workspaces.search with %s reads fewer than 12,000 buffers', async (_name, path) => {
    await expectCheap(path(), /search_entries_/, big.owner, 12 * buffersMax)
  })

  it.each([
    ['first page', 'events', /events_for_everybody_idx/],
    ['by an actor of many events', () => `events?actorUserId=${big.owner.id}`, /events_for_everybody_/],
    ['by an actor of hidden events', () => `events?actorUserId=${big.admin.id}`, /events_for_everybody_/],
    ['of an unknown target', () => `events?targetId=${createId()}`, /events_by_target_idx/],
    ['by an agent of many events', `events?grantId=${busyAgent}`, /events_(by|for)_/],
    ['by an agent of few events', `events?grantId=${rareAgent}`, /events_by_agent_idx/],
    ['by an unknown agent', () => `events?grantId=${createId()}`, /events_by_agent_idx/],
    ['of a seed of few events', `events?seedId=${rareSeed}`, /events_by_seed_idx/],
    // By the person's own grants: which of two indexes is cheaper depends on the sample of the statistics.
    ['of a type that may be hidden', 'events?type=integration.granted', /events_(by|for)_/],
    [
      'of a time in which all events are hidden',
      'events?since=2025-12-01T00:00:00Z&until=2025-12-20T00:00:00Z',
      /events_for_everybody_idx/,
    ],
  ])(
    'events.list for a member, %s: reads fewer than 1,000 buffers, however many events are hidden',
    async (_name, path, indexes) => {
      await expectCheap(typeof path === 'string' ? path : path(), indexes, big.member)
    },
  )

  it('events.changes for a member behind most events, all of which are hidden: reads fewer than 1,000 buffers', async () => {
    const [place] = await selectRows<{ position: string; id: string }>(
      db,
      sql`select position, id from events where workspace_id = ${big.workspace.id} and position = ${events + 1_000}`,
    )
    if (!place) throw new Error('the event is not there')
    const after = encodeFeedCursor(big.workspace.id, { position: Number(place.position), id: place.id })
    await expectCheap(`events/changes?after=${after}`, /events_position_key/, big.member)
  })

  it('detecting changes of workspaces reads fewer than 1,000 buffers', async () => {
    const ids = [big, small, rest].map(({ workspace }) => workspace.id)
    const [statement, ...others] = await statementsDuring(() => readEventPositions(db, ids))
    if (!statement) throw new Error('nothing was asked')
    expect(others).toEqual([])
    await expectStatementCheap(statement, /event_positions/)
  })

  it('since when events are kept reads fewer than 1,000 buffers', async () => {
    const position = sql`where workspace_id = ${big.workspace.id}`
    await db.execute(sql`update event_positions set deleted_until = 1 ${position}`)
    const of = { workspaceId: big.workspace.id, now: new Date() }
    const [statement, ...others] = await statementsDuring(() => findKeptSince(db, of))
    await db.execute(sql`update event_positions set deleted_until = 0 ${position}`)
    if (!statement) throw new Error('nothing was asked')
    expect(others).toEqual([])
    await expectStatementCheap(statement, /events_by_workspace_idx/)
  })

  it('what happened to followed seeds and inboxes reads fewer than 1,000 buffers', async () => {
    const query = {
      workspaceId: big.workspace.id,
      after: events + restrictedEvents - 500,
      seedIds: someSeeds,
      inboxes: [big.member, big.owner].map(({ id }) => ({ userId: id, grantId: busyAgent })),
    }
    const [statement, ...others] = await statementsDuring(() => readFollowed(db, query))
    if (!statement) throw new Error('nothing was asked')
    expect(others).toEqual([])
    await expectStatementCheap(statement, /events_position_key/)
  })

  it('the last page reads fewer than 1,000 buffers, by an index', async () => {
    for (const list of ['members', 'people']) {
      const path = await lastPageOf(big, list, '?limit=200')
      expect(path).toContain('cursor=')
      await expectCheap(path, /memberships_by_workspace_idx/)
    }
    // A walk through a million would take too long: through the first hours, to the very first.
    const early = await lastPageOf(big, 'events', '?limit=100&until=2020-01-01T10:00:00Z')
    expect(early).toContain('cursor=')
    await expectCheap(early, /events_by_workspace_idx/)
  })

  it('a page reads at most twice as many buffers, plus 12, as in a small workspace', async () => {
    const buffersOf = async (company: TestCompany, list: string) => {
      const [, statement = { text: '', values: [] }] = await statementsOf(company, `${list}?limit=3`)
      return (await costOf(statement)).buffers
    }
    for (const list of ['members', 'people', 'events']) {
      const [inBig, inSmall] = [await buffersOf(big, list), await buffersOf(small, list)]
      // An index of a million rows is a level or two deeper.
      expect(inBig, list).toBeLessThanOrEqual(inSmall * 2 + 12)
    }
  })

  it('a list takes one query after that of the key, and people.list with invites takes two', async () => {
    // The first is for the key and the workspace.
    expect(await statementsOf(big, 'members')).toHaveLength(2)
    expect(await statementsOf(big, 'events?type=team.renamed')).toHaveLength(2)
    expect(await statementsOf(big, 'events', big.member)).toHaveLength(2)
    // A full page of members needs no look at the invited.
    expect(await statementsOf(big, 'people')).toHaveLength(2)
    expect(await statementsOf(small, 'people')).toHaveLength(3)
  })

  it('no prepared statement is planned anew at each execution, in a workspace with much or with little', async () => {
    const statements = await readStatements()
    for (const { workspace } of [big, small])
      expect(await findReplanned(statements, workspace.id)).toEqual([])
  })
})

/** Which of some prepared statements PostgreSQL plans at each execution, with values of a workspace. */
async function findReplanned(statements: ReadonlyMap<string, string>, workspaceId: string) {
  const client = new pg.Client({ connectionString: service.config.databaseUrl })
  await client.connect()
  onTestFinished(() => client.end())
  for (const [name, text] of statements) {
    await client.query(`prepare ${name} as ${text}`)
    const { rows } = await client.query<{ types: string[] }>(
      'select parameter_types::text[] as types from pg_prepared_statements where name = $1',
      [name],
    )
    const values = rows[0]?.types.map((type) => pg.escapeLiteral(valueOf(type, workspaceId))).join(', ')
    // What is not accepted, such as the second row of a key, is planned all the same.
    const execute = `begin; execute ${name} ${values ? `(${values})` : ''}`
    for (let i = 0; i < 10; i++) {
      await client.query(execute).catch(() => undefined)
      await client.query('rollback')
    }
  }
  const { rows } = await client.query<{ name: string; plans: number; general: number }>(
    `select name, (custom_plans + generic_plans)::int as plans, generic_plans::int as general
      from pg_prepared_statements where name = any($1) order by name`,
    [[...statements.keys()]],
  )
  expect(rows.map(({ name }) => name)).toEqual([...statements.keys()].sort())
  // PostgreSQL compares the costs after five executions.
  return rows.filter(({ plans, general }) => plans !== 10 || general < 5)
}

/** A value of a type, with which statements that read find a workspace and its rows. */
function valueOf(type: string, workspaceId: string): string {
  const of = {
    uuid: workspaceId,
    text: 'x',
    bytea: '\\x00',
    integer: '100',
    bigint: '100',
    'double precision': '1',
    boolean: 'true',
    json: '{}',
    jsonb: '{}',
    'timestamp with time zone': '2026-01-01T00:00:00Z',
    date: '2026-01-01',
  }[type.replace(/\[\]$/, '')]
  if (of === undefined) throw new Error(`there is no value of the type ${type}`)
  return type.endsWith('[]') ? `{${of === '{}' ? '' : of}}` : of
}
