import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { errors } from '../../src/kernel/errors.ts'
import { createId } from '../../src/kernel/ids.ts'
import { encodeFeedCursor, startOfFeed } from '../../src/domain/event-cursors.ts'
import { letAgentIn } from '../support/agent-caller.ts'
import { checkEach } from '../support/check-each.ts'
import {
  createCompany,
  createInvite,
  createTeam,
  get,
  patch,
  post,
  type TestCompany,
} from '../support/company.ts'
import { countQueries } from '../support/count-queries.ts'
import { anyIssues, expectError, issuesOf } from '../support/expect-error.ts'
import { addEvidence, createSeed, insertGrant, joinSeed } from '../support/seeds.ts'
import { startTestApp, type TestPerson } from '../support/test-app.ts'
import { randomSlug } from '../support/workspaces.ts'

const service = await startTestApp()
const { app, as, createPerson, db } = service

interface Event {
  id: string
  type: string
  summary: string
}

interface Changes {
  events: Event[]
  cursor: string
  hasMore: boolean
}

async function readChanges(
  person: TestPerson,
  { url }: Pick<TestCompany, 'url'>,
  query: Record<string, string> = {},
): Promise<Changes> {
  const answer = await as(person, get(`${url}/events/changes?${new URLSearchParams(query).toString()}`))
  expect(answer.statusCode, answer.body).toBe(200)
  return answer.json<Changes>()
}

/** Reads all pages. */
async function follow(
  person: TestPerson,
  company: TestCompany,
  query: Record<string, string> = {},
): Promise<{ pages: Event[][]; cursor: string }> {
  const pages: Event[][] = []
  for (let after = query.after; ;) {
    const page = await readChanges(person, company, { ...query, ...(after !== undefined && { after }) })
    pages.push(page.events)
    after = page.cursor
    if (!page.hasMore) return { pages, cursor: after }
  }
}

async function listOldestFirst(person: TestPerson, { url }: TestCompany): Promise<Event[]> {
  const answer = await as(person, get(`${url}/events?limit=200`))
  return answer.json<Event[]>().reverse()
}

/** Adds events without any other change. */
async function addEvents({ workspace }: TestCompany, count: number, type = 'seed.updated'): Promise<void> {
  await db.execute(sql`
    insert into events (id, workspace_id, type, actor_type, actor_name, source, summary, created_at)
    select ('01936f2e-7c1a-7' || substr(md5(random()::text), 1, 3) || '-8' || substr(md5(random()::text), 1, 3) || '-' ||
      substr(md5(random()::text), 1, 12))::uuid, ${workspace.id}, ${type}, 'system', 'The service', 'system',
      'Something happened', now() from generate_series(1, ${count})`)
}

describe('200', () => {
  it('returns the events of events.list, oldest first, with a cursor behind the last one', async () => {
    const company = await createCompany(service)
    for (const name of ['One', 'Two', 'Three']) await createTeam(service, company.admin, company, name)
    const { events, cursor, hasMore } = await readChanges(company.viewer, company)
    expect(events).toEqual(await listOldestFirst(company.viewer, company))
    expect(events.map(({ type }) => type)).toEqual([
      'workspace.created',
      'team.created',
      'team.created',
      'team.created',
    ])
    expect(hasMore).toBe(false)

    // The cursor of an empty page goes on as well.
    const empty = await readChanges(company.viewer, company, { after: cursor })
    expect(empty).toEqual({ events: [], cursor, hasMore: false })
    await createTeam(service, company.admin, company, 'Four')
    const next = await readChanges(company.viewer, company, { after: empty.cursor })
    expect(next.events.map(({ summary }) => summary)).toEqual(['Adam Admin created the team Four'])
    expect(next.cursor).not.toBe(cursor)
  })

  it('returns each event once, whatever the limit', async () => {
    const company = await createCompany(service)
    for (let i = 0; i < 6; i++) await createTeam(service, company.admin, company)
    const all = await listOldestFirst(company.owner, company)
    for (const limit of [1, 2, 3, 7, 8, 200]) {
      const { pages } = await follow(company.owner, company, { limit: String(limit) })
      expect(pages.flat()).toEqual(all)
      for (const page of pages.slice(0, -1)) expect(page).toHaveLength(limit)
    }
  })

  it('returns only what happens from now on after the cursor of after=now', async () => {
    const company = await createCompany(service)
    const { cursor, ...rest } = await readChanges(company.owner, company, { after: 'now' })
    expect(rest).toEqual({ events: [], hasMore: false })
    await createTeam(service, company.owner, company, 'New')
    const { events } = await readChanges(company.owner, company, { after: cursor })
    expect(events.map(({ summary }) => summary)).toEqual(['Olga Owner created the team New'])
  })

  it('filters by several types, repeated or separated by commas, and ignores unknown ones in notTypes', async () => {
    const company = await createCompany(service)
    const team = await createTeam(service, company.owner, company, 'One')
    await as(company.owner, patch(team.url, { name: 'Two' }))
    await createInvite(service, company.owner, company)
    const typesOf = async (query: string) => {
      const answer = await as(company.owner, get(`${company.url}/events/changes?${query}`))
      expect(answer.statusCode, answer.body).toBe(200)
      return answer.json<Changes>().events.map(({ type }) => type)
    }
    const both = ['team.created', 'team.renamed']
    expect(await typesOf('types=team.renamed')).toEqual(['team.renamed'])
    expect(await typesOf('types=team.renamed,team.created')).toEqual(both)
    expect(await typesOf('types=team.renamed&types=team.created')).toEqual(both)
    expect(await typesOf('types=team.renamed,%20team.created&types=team.created')).toEqual(both)
    expect(await typesOf('notTypes=workspace.created,team.created,later.version,&notTypes=')).toEqual([
      'team.renamed',
      'invite.created',
    ])
    expect(await typesOf('types=team.renamed,team.created&notTypes=team.created')).toEqual(['team.renamed'])
  })

  it('filters by seedId, with the events of evidence, and goes on behind the others', async () => {
    const company = await createCompany(service)
    const seed = await createSeed(service, company.owner, company)
    const other = await createSeed(service, company.owner, company)
    await joinSeed(service, company.owner, seed)
    await addEvidence(service, company.owner, seed)
    await joinSeed(service, company.owner, other)
    const { events, cursor } = await readChanges(company.viewer, company, { seedId: seed.id })
    expect(events.map(({ type }) => type)).toEqual(['seed.created', 'evidence.added'])
    expect(await readChanges(company.viewer, company, { after: cursor })).toMatchObject({ events: [] })
    for (const none of [createId(), 'x'])
      expect((await readChanges(company.owner, company, { seedId: none })).events).toEqual([])
  })

  it('filters by grantId, and shows nothing of an agent of another workspace', async () => {
    const [company, other] = [await createCompany(service), await createCompany(service)]
    const [ours, theirs] = [
      await letAgentIn(service, company.workspace, company.member),
      await letAgentIn(service, other.workspace, other.owner),
    ]
    for (const agent of [ours, theirs])
      await agent.use('create_seed', { title: 'A', summary: 'By a program.' })
    await createSeed(service, company.owner, company)
    const typesFor = async (grantId: string) =>
      (await readChanges(company.viewer, company, { grantId })).events.map(({ type }) => type)
    expect(await typesFor(ours.grantId)).toEqual(['seed.created'])
    for (const none of [theirs.grantId, createId(), 'x', '']) expect(await typesFor(none)).toEqual([])
  })

  it('goes on behind events that are filtered out, so that nobody reads them again', async () => {
    const company = await createCompany(service)
    await addEvents(company, 2_500)
    await createTeam(service, company.owner, company, 'Rare')
    const types = 'team.created'
    const first = await readChanges(company.owner, company, { types })
    expect(first).toMatchObject({ events: [], hasMore: true })
    const { pages, cursor } = await follow(company.owner, company, { types })
    expect(pages.map((page) => page.length)).toEqual([0, 0, 1])
    expect(await readChanges(company.owner, company, { after: cursor })).toMatchObject({ events: [] })
    await addEvents(company, 5)
    const later = await readChanges(company.owner, company, { types, after: cursor })
    expect(later).toMatchObject({ events: [], hasMore: false })
    expect(later.cursor).not.toBe(cursor)
  })

  it('shows what events.list shows to each role, and does not deliver later what was hidden', async () => {
    const company = await createCompany(service)
    const { url, workspace, owner, member, viewer } = company
    const invite = await createInvite(service, owner, company)
    await as(owner, post(`${url}/invites/${invite.id}/revoke`))
    for (const person of [owner, member, viewer]) {
      const { id } = await insertGrant(service, workspace, person)
      await as(person, post(`${url}/integrations/${id}/revoke`))
    }
    const shown = await listOldestFirst(owner, company)
    expect(shown.map(({ type }) => type)).toEqual([
      'workspace.created',
      'invite.created',
      'invite.revoked',
      ...Array<string>(3).fill('integration.revoked'),
    ])
    for (const person of [owner, company.admin, member, viewer]) {
      for (const limit of ['1', '2', '100']) {
        const { pages } = await follow(person, company, { limit })
        expect(pages.flat()).toEqual(await listOldestFirst(person, company))
      }
    }
    expect((await follow(member, company)).pages.flat()).toHaveLength(2)

    const { cursor } = await readChanges(member, company)
    await as(owner, patch(`${url}/members/${member.id}`, { role: 'admin' }))
    const after = await readChanges(member, company, { after: cursor })
    expect(after.events.map(({ type }) => type)).toEqual(['member.role_changed'])
    // Who is an admin now may read all of it from the beginning.
    expect((await follow(member, company)).pages.flat()).toEqual(await listOldestFirst(owner, company))
  })

  it('runs two queries: one for the key and the workspace, one for the events', async () => {
    const company = await createCompany(service)
    for (const person of [company.owner, company.viewer]) {
      await as(person, get(company.url))
      expect(await countQueries(() => readChanges(person, company, { types: 'team.created' }))).toBe(2)
    }
  })

  it('accepts a cursor of before the slug was changed', async () => {
    const company = await createCompany(service)
    const { cursor } = await readChanges(company.owner, company)
    const slug = randomSlug()
    await as(company.owner, patch(company.url, { name: 'Acme', slug, allowedDomains: '' }))
    const { events } = await readChanges(company.owner, { url: `/v1/workspaces/${slug}` }, { after: cursor })
    expect(events.map(({ type }) => type)).toEqual(['workspace.updated'])
  })

  it('returns an empty page with a cursor for a workspace without events', async () => {
    const company = await createCompany(service)
    await db.execute(sql`delete from events where workspace_id = ${company.workspace.id}`)
    await db.execute(sql`delete from event_positions where workspace_id = ${company.workspace.id}`)
    for (const query of [{}, { after: 'now' }]) {
      const { events, cursor, hasMore } = await readChanges(company.owner, company, query)
      expect({ events, hasMore }).toEqual({ events: [], hasMore: false })
      await readChanges(company.owner, company, { after: cursor })
    }
    const { cursor } = await readChanges(company.owner, company)
    await addEvents(company, 1)
    expect((await readChanges(company.owner, company, { after: cursor })).events).toHaveLength(1)
  })
})

describe('400', () => {
  it('returns cursor_invalid for a cursor of another workspace, a changed one, and one of another list', async () => {
    const [ours, theirs] = [await createCompany(service), await createCompany(service)]
    const { cursor } = await readChanges(ours.owner, ours)
    const foreign = (await readChanges(theirs.owner, theirs)).cursor
    await createTeam(service, ours.owner, ours)
    const list = await as(ours.owner, get(`${ours.url}/events?limit=1`))
    const ofList = /cursor=([\w-]+)/.exec(String(list.headers.link))?.[1] ?? ''
    const invented = (position: string) =>
      encodeFeedCursor(ours.workspace.id, { position: position as unknown as number, id: createId() })
    const rows: [name: string, cursor: string][] = [
      ['of another workspace', foreign],
      ['of the list of events', ofList],
      ['empty', ''],
      ['a word', 'NOW'],
      ['cut', cursor.slice(0, -1)],
      ['longer', `${cursor}A`],
      ['padded', `${cursor}=`],
      ['changed', `${cursor.slice(0, 20)}${cursor[20] === 'A' ? 'B' : 'A'}${cursor.slice(21)}`],
      ...['-1', '1.5', '01', '1e3', 'NaN', '9'.repeat(20), ''].map((position): [string, string] => [
        `with the position ${position}`,
        invented(position),
      ]),
    ]
    await checkEach(
      rows,
      ([name]) => name,
      async ([, after]) => {
        const query = new URLSearchParams({ after }).toString()
        const answer = await as(ours.owner, get(`${ours.url}/events/changes?${query}`))
        expectError(answer, errors.cursorInvalid, { field: 'after' })
      },
    )
  })

  it('returns event_type_unknown for types of which one does not exist or is empty', async () => {
    const { url, owner } = await createCompany(service)
    for (const types of ['', 'invite.created,later.version', 'TEAM.CREATED', '%25', 'team.created&types=']) {
      const answer = await as(owner, get(`${url}/events/changes?types=${types}`))
      expectError(answer, errors.eventTypeUnknown, { field: 'types' })
    }
    const stranger = await createPerson()
    expectError(await as(stranger, get(`${url}/events/changes?types=x`)), errors.notAMember)
  })

  it.each([
    ['limit', '0', ['limit']],
    ['limit', '201', ['limit']],
    ['types', 'a\0b', ['types', 0]],
    ['after', 'x'.repeat(1_025), ['after']],
  ])('returns decode_error for the query parameter %s with the value %j', async (name, value, path) => {
    const { url, owner } = await createCompany(service)
    const answer = await as(owner, get(`${url}/events/changes?${name}=${encodeURIComponent(value)}`))
    expectError(answer, errors.decodeError, { issues: anyIssues })
    expect(issuesOf(answer)).toEqual([{ _tag: 'Refinement', path }])
  })

  it('returns decode_error for an unknown parameter, such as the cursor of lists', async () => {
    const { url, owner } = await createCompany(service)
    const answer = await as(owner, get(`${url}/events/changes?cursor=x`))
    expectError(answer, errors.decodeError, { issues: anyIssues })
    expect(issuesOf(answer)).toEqual([{ _tag: 'Unexpected', path: ['cursor'] }])
  })
})

describe('401, 403 and 404', () => {
  it('returns 401 without a key, 403 to a stranger, and 404 for an unknown workspace', async () => {
    const { url, owner } = await createCompany(service)
    const stranger = await createPerson()
    expectError(await app.inject(`${url}/events/changes`), errors.apiKeyRequired)
    expectError(await as(stranger, get(`${url}/events/changes`)), errors.notAMember)
    expectError(await as(owner, get(`/v1/workspaces/${randomSlug()}/events/changes`)), errors.notFound)
  })
})

describe('409 cursor_unknown', () => {
  it('is returned when a backup that is older than the cursor was restored, and stays so', async () => {
    const company = await createCompany(service)
    const { owner, url, workspace } = company
    await addEvents(company, 3)
    const { cursor } = await readChanges(owner, company)
    const expectUnknown = async () =>
      expectError(await as(owner, get(`${url}/events/changes?after=${cursor}`)), errors.cursorUnknown)
    // What a restored backup is like: the last two events have not happened.
    await db.execute(sql`delete from events where workspace_id = ${workspace.id} and position > 2`)
    await db.execute(sql`update event_positions set last = 2 where workspace_id = ${workspace.id}`)
    await expectUnknown()
    await addEvents(company, 1)
    await expectUnknown()
    // Now another event has the position of the cursor.
    await addEvents(company, 1)
    await expectUnknown()
    await addEvents(company, 10)
    await expectUnknown()
    expect((await readChanges(owner, company)).events).toHaveLength(14)
  })

  it('is not returned for the beginning of the feed', async () => {
    const company = await createCompany(service)
    const { id } = company.workspace
    const start = encodeFeedCursor(id, startOfFeed(id))
    const { events } = await readChanges(company.owner, company, { after: start })
    expect(events.map(({ type }) => type)).toEqual(['workspace.created'])
    const other = encodeFeedCursor(id, { position: 0, id: createId() })
    const answer = await as(company.owner, get(`${company.url}/events/changes?after=${other}`))
    expectError(answer, errors.cursorUnknown)
  })
})
