import { createHash, randomUUID } from 'node:crypto'
import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { errors } from '../../src/kernel/errors.ts'
import { changeCharacter } from '../support/change-character.ts'
import { createCompany, createTeam, get, post, type TestCompany } from '../support/company.ts'
import { anyIssues, expectError, issuesOf } from '../support/expect-error.ts'
import { inviteRows, memberRows, type Rows } from '../support/list-rows.ts'
import { findOperation, operations, type Operation } from '../support/operations.ts'
import { addQuery, idsIn, makeValues, pathOf, type Values } from '../support/prepare-request.ts'
import { listen, sendRaw } from '../support/raw-http.ts'
import { selectRows, startTestApp } from '../support/test-app.ts'

const baseUrl = 'https://api.example.com'
const service = await startTestApp({ environment: { BASE_URL: baseUrl } })
const { app, as, createPerson, db } = service

/** A company, and what the requests of its lists are about. */
interface FilledCompany extends TestCompany {
  values: Values
}

/** A list that comes in pages, and how its rows come and go. */
interface List {
  id: string
  name: string
  operation: Operation
  rows: Rows
}

const lists: List[] = Object.entries(operations).flatMap(([id, operation]) =>
  operation.list ? [{ id, name: id, operation, rows: operation.list }] : [],
)

/** Odd seconds are the invited, who come after all members. */
const personRows: Rows = {
  key: 'id',
  insert: (app, values, at) => (at.getSeconds() % 2 === 0 ? memberRows : inviteRows).insert(app, values, at),
  async remove(app, values, id) {
    await memberRows.remove(app, values, id)
    await inviteRows.remove(app, values, id)
  },
}
lists.push({
  id: 'people.list',
  name: 'people.list, of members and the invited',
  operation: findOperation('people.list'),
  rows: personRows,
})

const ids = lists.flatMap(({ operation }) => idsIn(operation))

const urlOf = ({ operation }: List, { values }: FilledCompany) => pathOf(operation, values)

async function createFilled(list: List, count: number) {
  start = currentSecond()
  const company = await createCompany(service)
  const filled = { ...company, values: await makeValues(service, ids, { company }) }
  const keys: string[] = []
  // Several at one moment: then ids decide.
  for (let i = 0; i < count; i++)
    keys.push(await insert(list, filled, secondsFromNow(10 + Math.floor(i / 3))))
  return { company: filled, keys }
}

/** Adds a row made at a time; returns its key. */
const insert = ({ rows }: List, { values }: FilledCompany, at: Date) => rows.insert(service, values, at)

const currentSecond = () => Math.floor(Date.now() / 1000) * 1000

/** When the last company was made: its members join then, and rows are placed before and after them. */
let start = currentSecond()
const secondsFromNow = (seconds: number) => new Date(start + seconds * 1000)

interface FetchedPage {
  keys: string[]
  next: string | undefined
}

async function fetchPage(list: List, company: TestCompany, url: string): Promise<FetchedPage> {
  const answer = await as(company.owner, get(url))
  expect(answer.statusCode, answer.body).toBe(200)
  const keys = answer.json<Record<string, unknown>[]>().map((row) => String(row[list.rows.key]))
  return { keys, next: nextOf(answer) }
}

/** The path that the `Link` of an answer leads to. */
function nextOf({ headers }: { headers: Record<string, unknown> }): string | undefined {
  const link = headers.link as string | undefined
  if (link === undefined) return undefined
  const [, path] = /^<https:\/\/api\.example\.com(\/[^>]+)>; rel="next"$/.exec(link) ?? []
  expect(path, link).toBeDefined()
  return path
}

/** Follows the links to the end; `between` happens after each page. */
async function walk(
  list: List,
  company: FilledCompany,
  limit: number,
  between: (seen: string[]) => Promise<unknown> = async () => undefined,
): Promise<string[]> {
  const seen: string[] = []
  let next: string | undefined = addQuery(urlOf(list, company), `limit=${limit}`)
  while (next !== undefined) {
    const page: FetchedPage = await fetchPage(list, company, next)
    expect(page.keys.length).toBeLessThanOrEqual(limit)
    // A link that leads to nothing is one round trip too many.
    expect(page.keys.length).toBeGreaterThan(0)
    seen.push(...page.keys)
    next = page.next
    await between(seen)
  }
  return seen
}

async function refused(company: TestCompany, url: string, cursor: string): Promise<void> {
  const withCursor = addQuery(url, `cursor=${encodeURIComponent(cursor)}`)
  const answer = await as(company.owner, get(withCursor))
  expect(answer.statusCode, `${cursor}: ${answer.body}`).toBe(400)
  expectError(answer, errors.cursorInvalid, { field: 'cursor' })
}

describe.each(lists)('$name', (list) => {
  let filled: ReturnType<typeof createFilled> | undefined
  /** One company for all tests of the list that change nothing. */
  const findFilled = () => (filled ??= createFilled(list, 7))

  it.each([1, 2, 3])('returns each row once and in order in pages of %i', async (limit) => {
    const { company, keys } = await findFilled()
    const whole = await fetchPage(list, company, urlOf(list, company))
    expect(whole.next).toBeUndefined()
    expect(whole.keys).toEqual(expect.arrayContaining(keys))
    expect(await walk(list, company, limit)).toEqual(whole.keys)
  })

  it('returns no link to a next page when the last page is full', async () => {
    const { company } = await findFilled()
    const { keys } = await fetchPage(list, company, urlOf(list, company))
    const full = await fetchPage(list, company, addQuery(urlOf(list, company), `limit=${keys.length}`))
    expect(full).toEqual({ keys, next: undefined })
    const short = await fetchPage(list, company, addQuery(urlOf(list, company), `limit=${keys.length - 1}`))
    expect(short.keys).toEqual(keys.slice(0, -1))
    expect(short.next).toBeDefined()
  })

  it('returns no row twice and skips no row that stays, while rows are added and removed', async () => {
    const { company, keys } = await createFilled(list, 12)
    const before = (await fetchPage(list, company, urlOf(list, company))).keys
    const gone = new Set<string>()
    let moment = 0
    const seen = await walk(list, company, 2, async (soFar) => {
      // One at either end and one in between; and the row that the cursor stands on goes.
      if (moment++ > 4) return
      for (const seconds of [-100 + moment, 11, 1000 + moment])
        await insert(list, company, secondsFromNow(seconds))
      for (const key of [soFar.at(-1), before.at(-moment)]) {
        if (key === undefined || !keys.includes(key)) continue
        await list.rows.remove(service, company.values, key)
        gone.add(key)
      }
    })
    expect(gone.size).toBeGreaterThan(3)
    expect(new Set(seen).size).toBe(seen.length)
    const stayed = before.filter((key) => !gone.has(key))
    expect(seen.filter((key) => stayed.includes(key))).toEqual(stayed)
  })

  it('returns 100 rows per page by default, and at most 200', async () => {
    const { company } = await createFilled(list, 0)
    await Promise.all(Array.from({ length: 203 }, () => insert(list, company, secondsFromNow(10))))
    expect((await fetchPage(list, company, urlOf(list, company))).keys).toHaveLength(100)
    expect((await fetchPage(list, company, addQuery(urlOf(list, company), 'limit=200'))).keys).toHaveLength(
      200,
    )
  })

  it('returns 400 for an invalid limit', async () => {
    const { company } = await findFilled()
    for (const limit of [
      '0',
      '-1',
      '201',
      '1.5',
      'abc',
      '',
      '1e9',
      'Infinity',
      '-Infinity',
      '1e309',
      'NaN',
      '1&limit=2',
    ]) {
      const answer = await as(company.owner, get(addQuery(urlOf(list, company), `limit=${limit}`)))
      expectError(answer, errors.decodeError, { issues: anyIssues })
      expect(
        issuesOf(answer).map(({ path }) => path),
        limit,
      ).toEqual([['limit']])
    }
  })

  it('returns 400 for an unknown query parameter', async () => {
    const { company } = await findFilled()
    const answer = await as(company.owner, get(addQuery(urlOf(list, company), 'offset=5')))
    expectError(answer, errors.decodeError, { issues: anyIssues })
    expect(issuesOf(answer)).toEqual([{ _tag: 'Unexpected', path: ['offset'] }])
  })

  it('returns 400 cursor_invalid for a cursor of another workspace', async () => {
    const { company } = await createFilled(list, 2)
    const { company: elsewhere } = await createFilled(list, 2)
    await refused(company, urlOf(list, company), await cursorOf(list, elsewhere))
    await refused(elsewhere, urlOf(list, elsewhere), await cursorOf(list, company))
  })

  it('returns 400 cursor_invalid for a cursor with a character changed, removed or added', async () => {
    const { company } = await findFilled()
    const cursor = await cursorOf(list, company)
    // tests/unit/pagination.test.ts changes each of them.
    for (const changed of [
      changeCharacter(cursor, 0),
      changeCharacter(cursor, cursor.length - 1),
      cursor.slice(1),
      cursor.slice(0, -1),
      `${cursor}A`,
      `${cursor}=`,
      ` ${cursor}`,
    ]) {
      await refused(company, urlOf(list, company), changed)
    }
  })

  it('returns 400 cursor_invalid for text that is not a cursor', async () => {
    const { company } = await findFilled()
    for (const garbage of ['', ' ', 'null', '0', '%', '../..', 'A'.repeat(1024), '💣', '{"a":1}', '\0'])
      await refused(company, urlOf(list, company), garbage)
  })

  it('returns 400 for a cursor of more than 1,024 characters', async () => {
    const { company } = await findFilled()
    const answer = await as(company.owner, get(addQuery(urlOf(list, company), `cursor=${'A'.repeat(1025)}`)))
    expectError(answer, errors.decodeError, { issues: anyIssues })
  })

  it('returns 400 cursor_invalid for a forged position with a correct digest', async () => {
    const { company } = await findFilled()
    const [kind, time, id] = placeOf(await cursorOf(list, company))
    const forge = (...position: unknown[]) => forgeCursor(listIdOf(list, company), position)
    const place = (...values: unknown[]) => (kind === undefined ? values : [kind, ...values])
    // The forgery itself is no fault, or the rest would prove nothing.
    const known = await as(
      company.owner,
      get(addQuery(urlOf(list, company), `cursor=${forge(...place(time, id))}`)),
    )
    expect(known.statusCode, known.body).toBe(200)

    const times: unknown[] = [
      ...[
        '',
        'now',
        'infinity',
        '-infinity',
        'epoch',
        '2026',
        '2026-02-30T00:00:00.000Z',
        '2026-13-01T00:00:00.000Z',
      ],
      ...['0000-01-01T00:00:00.000Z', '+010000-01-01T00:00:00.000Z', '-000001-01-01T00:00:00.000Z'],
      ...[
        '2026-01-01T00:00:00+99:99',
        '2026-01-01T25:00:00.000Z',
        '2026-01-01T24:00:00.000Z',
        '2026-01-01T1:1:1Z',
      ],
      ...[`2026-01-01T00:00:00.${'0'.repeat(300)}Z`, `'; drop table events; --`],
      ...[0, 1e300, null, true, {}, [], [time], [[time]], { toString: time }],
    ]
    const ids: unknown[] = [
      ...['', '0', randomUUID(), id.toUpperCase(), `{${id}}`, id.replaceAll('-', ''), `${id} `, `${id}\0`],
      ...['00000000-0000-0000-0000-000000000000', 0, null, true, {}, [], [id], [[id]]],
    ]
    for (const value of times) await refused(company, urlOf(list, company), forge(...place(value, id)))
    for (const value of ids) await refused(company, urlOf(list, company), forge(...place(time, value)))
    for (const position of [[], [time], place(time), [...place(time, id), id], ['member'], [id, time]])
      await refused(company, urlOf(list, company), forge(...position))
    for (const value of [null, 5, 'text', {}, { 0: time, 1: id, length: 2 }])
      await refused(company, urlOf(list, company), forgeCursor(listIdOf(list, company), value))
    for (const text of ['', '[', 'undefined', `["${time}","${id}"`, '[NaN,1]'])
      await refused(company, urlOf(list, company), forgeText(listIdOf(list, company), text))
    if (kind === undefined) return
    for (const value of ['', 'start', 'owner', 'MEMBER', 'constructor', 5, null, [kind]])
      await refused(company, urlOf(list, company), forge(value, time, id))
  })

  it('links to BASE_URL, whatever host the client sends', async () => {
    const { company } = await findFilled()
    const answer = await as(company.owner, {
      ...get(addQuery(urlOf(list, company), 'limit=1')),
      headers: {
        host: 'evil.example',
        'x-forwarded-host': 'evil.example',
        'x-forwarded-proto': 'http',
        forwarded: 'host=evil.example',
      },
    })
    expect(nextOf(answer)).toBeDefined()
    expect(answer.headers.link).not.toContain('evil')
  })

  it('links to the next pages for a former slug', async () => {
    const { company } = await createFilled(list, 2)
    const slug = `renamed-${randomUUID().slice(0, 8)}`
    await as(company.owner, { method: 'PATCH', url: company.url, payload: { name: 'Acme', slug } })
    const present = { ...company, values: { ...company.values, slug } }
    const whole = await fetchPage(list, company, urlOf(list, present))
    expect(await walk(list, company, 2)).toEqual(whole.keys)
  })
})

describe('a cursor of another list', () => {
  it('returns 400 cursor_invalid in every list', async () => {
    start = currentSecond()
    const company = await createCompany(service)
    const whole = { ...company, values: await makeValues(service, ids, { company }) }
    for (const list of lists) for (let i = 0; i < 2; i++) await insert(list, whole, secondsFromNow(20 + i))
    for (const other of lists) {
      const cursor = await cursorOf(other, whole)
      for (const list of lists) if (list.id !== other.id) await refused(whole, urlOf(list, whole), cursor)
    }
  })
})

async function cursorOf(list: List, company: FilledCompany): Promise<string> {
  const { next } = await fetchPage(list, company, addQuery(urlOf(list, company), 'limit=1'))
  return String(new URL(String(next), baseUrl).searchParams.get('cursor'))
}

/** What a cursor is bound to: the operation, the last id of its path, and the filters. */
function listIdOf({ id, operation }: List, { values }: FilledCompany): string {
  // A list that is of no workspace is of the caller.
  const [last = 'actorId'] = idsIn(operation).toReversed()
  return `${id} ${values[last === 'slug' ? 'workspaceId' : last]}${filtersOf[id] ?? ''}`
}

/** How no filters are written. */
const filtersOf: Record<string, string> = {
  'events.list': ' []',
  'people.list': ' undefined',
  'seeds.list': ' [null,null,null,null,"createdAt"]',
  'comments.list': ' ',
  'agentRequests.list': ' {}',
  'comments.listOfWorkspace': ' {}',
  'integrations.list': ' ',
  'webhooks.listDeliveries': ' ',
  'notifications.list': ' [null,null]',
  'workspaces.search': ' ["filler",["seed","evidence","comment","person","team"]]',
}

/** The place that a cursor stands for, with a kind before it where the list has kinds. */
function placeOf(cursor: string): [kind: string | undefined, time: string, id: string] {
  const values = JSON.parse(Buffer.from(cursor, 'base64url').subarray(8).toString()) as string[]
  const [id = '', time = '', kind] = values.toReversed()
  return [kind, time, id]
}

const forgeCursor = (listId: string, position: unknown) => forgeText(listId, JSON.stringify(position))

function forgeText(listId: string, text: string): string {
  const payload = Buffer.from(text)
  const digest = createHash('sha256').update(listId).update('\0').update(payload).digest().subarray(0, 8)
  return Buffer.concat([digest, payload]).toString('base64url')
}

describe('the link to the next page', () => {
  it('keeps the other query parameters, with all their characters', async () => {
    const company = await createCompany(service)
    for (let i = 0; i < 2; i++) await createPersonNamed(company, 'Añna & Co <x> "y" + 50%')
    const q = 'ñna & Co <x> "y" + 50%'
    const url = `${company.url}/people?q=${encodeURIComponent(q)}&limit=1`
    const first = await as(company.owner, get(url))
    const next = new URL(String(nextOf(first)), baseUrl)
    expect(next.pathname).toBe(`${company.url}/people`)
    expect([...next.searchParams.keys()]).toEqual(['q', 'limit', 'cursor'])
    expect(next.searchParams.get('q')).toBe(q)
    const second = await as(company.owner, get(String(nextOf(first))))
    expect(second.json()).toHaveLength(1)
    expect(second.json<{ id: string }[]>()[0]?.id).not.toBe(first.json<{ id: string }[]>()[0]?.id)
    expect(second.headers.link).toBeUndefined()
  })

  it('returns 400 cursor_invalid when the filters change, and accepts another limit', async () => {
    const company = await createCompany(service)
    for (let i = 0; i < 3; i++) await createTeam(service, company.owner, company)
    const first = await as(company.owner, get(`${company.url}/events?type=team.created&limit=1`))
    const cursor = String(new URL(String(nextOf(first)), baseUrl).searchParams.get('cursor'))
    const since = new Date(start - 60_000).toISOString()
    for (const query of [
      '',
      'type=team.renamed&',
      `type=team.created&actorUserId=${company.owner.id}&`,
      `type=team.created&since=${since}&`,
      `type=team.created&until=${since}&`,
    ]) {
      const answer = await as(company.owner, get(`${company.url}/events?${query}cursor=${cursor}`))
      expectError(answer, errors.cursorInvalid, { field: 'cursor' })
    }
    // How many there are to be is no filter.
    const rest = await as(
      company.owner,
      get(`${company.url}/events?type=team.created&limit=7&cursor=${cursor}`),
    )
    expect(rest.json()).toHaveLength(2)

    const people = await as(company.owner, get(`${company.url}/people?q=example&limit=1`))
    const peopleCursor = String(new URL(String(nextOf(people)), baseUrl).searchParams.get('cursor'))
    for (const query of ['', 'q=exampl&', 'q=&']) {
      const answer = await as(company.owner, get(`${company.url}/people?${query}cursor=${peopleCursor}`))
      expectError(answer, errors.cursorInvalid, { field: 'cursor' })
    }
    // The same search, written otherwise.
    const same = await as(company.owner, get(`${company.url}/people?q=%20EXAMPLE&cursor=${peopleCursor}`))
    expect(same.json()).toHaveLength(3)
  })

  it('points to BASE_URL when the request line names another host', async () => {
    const port = await listen(app)
    const company = await createCompany(service)
    const answer = await sendRaw(
      port,
      [
        `GET http://evil.example${company.url}/members?limit=1 HTTP/1.1`,
        'Host: evil.example',
        `Authorization: Bearer ${company.owner.apiKey}`,
        'Connection: close',
        '',
        '',
      ].join('\r\n'),
    )
    expect(answer.statusCode).toBe(200)
    expect(answer.headers.link).toMatch(`<${baseUrl}${company.url}/members?limit=1&cursor=`)
  })

  it('does not return invites to a caller who may no longer see them', async () => {
    const company = await createCompany(service)
    for (let i = 0; i < 2; i++)
      await as(
        company.owner,
        post(`${company.url}/invites`, { email: `${randomUUID()}@example.com`, role: 'viewer' }),
      )
    const page = await as(company.admin, get(`${company.url}/people?limit=5`))
    expect(page.json<{ kind: string }[]>().map(({ kind }) => kind)).toEqual([
      ...Array<string>(4).fill('member'),
      'invited',
    ])
    await db.execute(sql`update memberships set role = 'member' where user_id = ${company.admin.id}`)
    const next = await as(company.admin, get(String(nextOf(page))))
    expect(next.json()).toEqual([])
    expect(next.headers.link).toBeUndefined()
  })
})

async function createPersonNamed({ workspace }: TestCompany, name: string): Promise<void> {
  const { id } = await createPerson({ name })
  await db.execute(sql`
    insert into memberships (workspace_id, user_id, role, joined_at, last_used_at)
    values (${workspace.id}, ${id}, 'viewer', now(), now())`)
  expect(await selectRows(db, sql`select name from users where id = ${id}`)).toEqual([{ name }])
}
