import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { errors } from '../../src/kernel/errors.ts'
import type { Happening } from '../../src/domain/events.ts'
import { createId } from '../../src/kernel/ids.ts'
import { insertEvent } from '../../src/access/event-log.repository.ts'
import {
  createCompany,
  createInvite,
  createTeam,
  del,
  get,
  patch,
  post,
  tokenOf,
} from '../support/company.ts'
import { countQueries } from '../support/count-queries.ts'
import { anyIssues, expectError, issuesOf } from '../support/expect-error.ts'
import { addEvidence, createLabel, createSeed, insertGrant, joinSeed } from '../support/seeds.ts'
import { createTestClock } from '../support/test-clock.ts'
import { selectRows, startTestApp, type TestPerson } from '../support/test-app.ts'
import { addMember, createWorkspace, randomSlug } from '../support/workspaces.ts'

const clock = createTestClock()
const service = await startTestApp({ clock })
const { app, as, createPerson, db } = service

interface Event {
  id: string
  actorUserId: string | null
  targetId: string | null
  type: string
  actorName: string
  summary: string
  data: Record<string, unknown>
  createdAt: string
}

async function listEvents(
  { url, owner }: Awaited<ReturnType<typeof createCompany>>,
  query: Record<string, string> = {},
): Promise<Event[]> {
  const answer = await as(owner, get(`${url}/events?${new URLSearchParams(query).toString()}`))
  expect(answer.statusCode, answer.body).toBe(200)
  return answer.json<Event[]>()
}

const principalOf = ({ id, name, email }: TestPerson) => ({
  user: { id, name, email, emailVerifiedAt: clock.now(), imageKey: null },
  source: 'web' as const,
  apiKeyId: null,
  sessionId: null,
  grantId: null,
})

/** Appends an event of an agent. */
async function actAs(
  person: TestPerson,
  grant: { id: string },
  workspace: { id: string },
  happening: Happening,
): Promise<void> {
  const principal = { ...principalOf(person), source: 'mcp' as const, grantId: grant.id }
  await db.transaction((tx) =>
    insertEvent(tx, principal, { workspaceId: workspace.id, ...happening, at: clock.now() }),
  )
}

/** A company in which one thing happens a minute: it is made, and then four teams. */
async function createBusyCompany() {
  const company = await createCompany(service)
  const times = [clock.now()]
  for (const [actor, name] of [
    [company.owner, 'One'],
    [company.admin, 'Two'],
    [company.owner, 'Three'],
    [company.admin, 'Four'],
  ] as const) {
    clock.advance(60_000)
    times.push(clock.now())
    await createTeam(service, actor, company, name)
  }
  return { company, times: times.map((time) => time.toISOString()) }
}

describe('200', () => {
  it('returns all events with every field, newest first, to every member', async () => {
    const company = await createCompany(service)
    const { url, workspace, owner, admin, member, viewer } = company
    const createdAt = clock.now().toISOString()
    clock.advance(1_000)
    const team = await createTeam(service, admin, company, 'Design')
    const rows = await selectRows<{ id: string }>(
      db,
      sql`select id from events where workspace_id = ${workspace.id} order by created_at desc`,
    )
    for (const person of [owner, admin, member, viewer]) {
      const answer = await as(person, get(`${url}/events`))
      expect(answer.statusCode).toBe(200)
      expect(answer.json()).toEqual([
        {
          id: rows[0]?.id,
          ...{ workspaceId: workspace.id, url: null },
          type: 'team.created',
          actorType: 'user',
          actorUserId: admin.id,
          actorName: 'Adam Admin',
          grantId: null,
          apiKeyId: admin.apiKeyId,
          source: 'api',
          targetType: 'team',
          targetId: team.id,
          summary: 'Adam Admin created the team Design',
          data: { teamId: team.id, teamName: 'Design' },
          createdAt: clock.now().toISOString(),
        },
        {
          id: rows[1]?.id,
          ...{ workspaceId: workspace.id, url: null },
          type: 'workspace.created',
          actorType: 'user',
          actorUserId: owner.id,
          actorName: 'Olga Owner',
          grantId: null,
          apiKeyId: owner.apiKeyId,
          source: 'api',
          targetType: 'workspace',
          targetId: workspace.id,
          summary: 'Olga Owner created the workspace Acme',
          data: { workspaceId: workspace.id, name: 'Acme', slug: workspace.slug },
          createdAt,
        },
      ])
    }
  })

  it("hides events of invites and of other users' grants from members and viewers", async () => {
    const company = await createCompany(service)
    const { url, workspace, owner, admin, member, viewer } = company
    const invited = await createPerson({ name: 'Ivy Invited' })
    const invite = await createInvite(service, admin, company, { email: invited.email })
    await as(admin, patch(`${url}/invites/${invite.id}`, { role: 'viewer' }))
    const open = await createInvite(service, owner, company, { email: 'secret.candidate@example.com' })
    await as(owner, post(`${url}/invites/${open.id}/revoke`))
    await addMember(service, workspace, invited, 'member')
    const again = await as(owner, post(`${url}/invites/${invite.id}/resend`))
    await as(invited, post(`/v1/invites/${tokenOf(again.json<{ inviteUrl: string }>().inviteUrl)}/accept`))
    const grants: Record<string, string> = {}
    for (const person of [owner, member, viewer]) {
      clock.advance(1_000)
      const { id: grantId } = await insertGrant(service, workspace, person)
      grants[person.id] = grantId
      await insertEvent(db, principalOf(person), {
        workspaceId: workspace.id,
        type: 'integration.granted',
        data: {
          ...{ grantId, clientName: 'Agent', userId: person.id },
          ...{ scopes: ['validation-kit:read'], workspaceName: workspace.name },
        },
        at: clock.now(),
      })
      await as(owner, post(`${url}/integrations/${grantId}/revoke`))
    }

    const read = async (person: { apiKey: string }, query = '') => {
      const answer = await as(person, get(`${url}/events${query}`))
      expect(answer.statusCode, answer.body).toBe(200)
      return answer.json<Event[]>()
    }
    const all = await read(owner)
    expect(await read(admin)).toEqual(all)
    const hiddenTypes = ['invite.created', 'invite.resent', 'invite.role_changed', 'invite.revoked']
    const types = new Set(all.map((event) => event.type))
    for (const type of [...hiddenTypes, 'invite.accepted', 'integration.granted', 'integration.revoked'])
      expect(types).toContain(type)

    for (const person of [member, viewer]) {
      const shown = all.filter(
        ({ type, targetId }) =>
          !hiddenTypes.includes(type) && (!type.startsWith('integration.') || targetId === grants[person.id]),
      )
      expect(shown).toHaveLength(4)
      expect(await read(person)).toEqual(shown)
      for (const secret of ['@', 'secret.candidate']) expect(JSON.stringify(shown)).not.toContain(secret)
      for (const type of types)
        expect(await read(person, `?type=${type}`), type).toEqual(
          shown.filter((event) => event.type === type),
        )
      for (const query of [`types=${[...types].join()}`, 'notTypes=nothing.happened'])
        expect(await read(person, `?${query}`), query).toEqual(shown)
      expect(await read(person, `?types=${hiddenTypes.join()}`)).toEqual([])
      expect(await read(person, '?types=invite.created,invite.accepted,integration.revoked')).toEqual(
        shown.filter(({ type }) => ['invite.accepted', 'integration.revoked'].includes(type)),
      )
      expect(await read(person, '?notTypes=integration.revoked,workspace.created')).toEqual(
        shown.filter(({ type }) => !['integration.revoked', 'workspace.created'].includes(type)),
      )
      for (const actor of [owner, admin, person])
        expect(await read(person, `?actorUserId=${actor.id}`)).toEqual(
          shown.filter(({ actorUserId }) => actorUserId === actor.id),
        )

      // Pages are full, and hold each event once.
      const paged: Event[] = []
      for (let path: string | undefined = `${url}/events?limit=3`; path !== undefined;) {
        const answer = await as(person, get(path))
        const page = answer.json<Event[]>()
        path = /<[^>]*(\/v1\/[^>]*)>/.exec(String(answer.headers.link))?.[1]
        if (path !== undefined) expect(page).toHaveLength(3)
        paged.push(...page)
      }
      expect(paged).toEqual(shown)
    }
  })

  it('runs two queries for an owner and for a viewer', async () => {
    const company = await createCompany(service)
    for (const person of [company.owner, company.viewer]) {
      await as(person, get(company.url))
      // The key with the workspace, and the events.
      expect(await countQueries(() => as(person, get(`${company.url}/events`)))).toBe(2)
    }
  })

  it('keeps the name that the actor had at the time of the event', async () => {
    const { company } = await createBusyCompany()
    await as(company.admin, patch('/v1/me', { name: 'Adam Otherwise' }))
    clock.advance(1_000)
    await createTeam(service, company.admin, company, 'Five')
    const names = (await listEvents(company, { actorUserId: company.admin.id })).map(
      (event) => event.actorName,
    )
    // The rename is an event of the former name.
    expect(names).toEqual(['Adam Otherwise', 'Adam Admin', 'Adam Admin', 'Adam Admin'])
  })

  it('filters by type, and returns no events for an unknown type', async () => {
    const { company } = await createBusyCompany()
    await createInvite(service, company.owner, company)
    const typesOf = async (type: string) => (await listEvents(company, { type })).map((event) => event.type)
    expect(await typesOf('team.created')).toEqual(Array(4).fill('team.created'))
    expect(await typesOf('invite.created')).toEqual(['invite.created'])
    for (const unknown of ['nothing.happened', 'team', 'TEAM.CREATED', '%', "' or 1=1 --"])
      expect(await typesOf(unknown)).toEqual([])
  })

  it('filters by several types, and by types that are left out', async () => {
    const { company } = await createBusyCompany()
    await createInvite(service, company.owner, company)
    const typesOf = async (query: Record<string, string>) =>
      (await listEvents(company, query)).map((event) => event.type)
    const two = { types: 'invite.created, workspace.created' }
    expect(await typesOf(two)).toEqual(['invite.created', 'workspace.created'])
    expect(await typesOf({ ...two, notTypes: 'workspace.created' })).toEqual(['invite.created'])
    expect(await typesOf({ notTypes: 'team.created,invite.created,nothing.happened' })).toEqual([
      'workspace.created',
    ])
    expect(await typesOf({ ...two, type: 'workspace.created' })).toEqual(['workspace.created'])
    expect(await typesOf({ ...two, type: 'team.created' })).toEqual([])
  })

  it('filters by seedId, with the events of evidence', async () => {
    const company = await createCompany(service)
    const { owner, viewer } = company
    const seed = await createSeed(service, owner, company)
    const other = await createSeed(service, owner, company)
    await joinSeed(service, owner, seed)
    await joinSeed(service, owner, other)
    clock.advance(1_000)
    await addEvidence(service, owner, seed)
    await addEvidence(service, owner, other)
    for (const person of [owner, viewer]) {
      const read = async (query: string) =>
        (await as(person, get(`${company.url}/events?${query}`)))
          .json<Event[]>()
          .map((event) => event.type)
          .sort()
      expect(await read(`seedId=${seed.id}`)).toEqual(['evidence.added', 'seed.created'])
      expect(await read(`seedId=${seed.id}&notTypes=seed.created`)).toEqual(['evidence.added'])
      for (const none of [createId(), 'x']) expect(await read(`seedId=${none}`)).toEqual([])
    }
  })

  it('filters by the team and the label that seeds have now', async () => {
    const [company, foreign] = [await createCompany(service), await createCompany(service)]
    const { owner, viewer } = company
    const [team, label] = [
      await createTeam(service, owner, company),
      await createLabel(service, owner, company, 'Pricing'),
    ]
    const foreignTeam = await createTeam(service, foreign.owner, foreign)
    const [ofTeam, ofBoth, other] = [
      await createSeed(service, owner, company, { title: 'One' }),
      await createSeed(service, owner, company, { title: 'Two' }),
      await createSeed(service, owner, company, { title: 'Three' }),
    ]
    clock.advance(1_000)
    await as(owner, patch(`/v1/seeds/${ofTeam.id}`, { teamId: team.id }))
    clock.advance(1_000)
    await as(owner, patch(`/v1/seeds/${ofBoth.id}`, { teamId: team.id, labelIds: [label.id] }))
    clock.advance(1_000)
    await as(owner, patch(`/v1/seeds/${other.id}`, { summary: 'Changed' }))
    await db.execute(sql`
      update seeds set lead_user_id = ${viewer.id}, contradicts_count = 1, decide_by = '2020-02-29' where id = ${ofBoth.id}`)
    await db.execute(sql`update seeds set lead_user_id = null where id = ${other.id}`)
    const read = async (query: string, person = owner) =>
      (await as(person, get(`${company.url}/events?${query}`)))
        .json<Event[]>()
        .map(({ data, type }) => `${type} ${String(data.title)}`)
    const ofTwo = ['seed.updated Two', 'seed.created Two']
    const ofOne = ['seed.updated One', 'seed.created One']
    const check = async () => {
      for (const person of [owner, viewer]) {
        expect(await read(`labelId=${label.id}`, person)).toEqual(ofTwo)
        expect(await read(`teamId=${team.id}&labelId=${label.id}`, person)).toEqual(ofTwo)
        expect(await read(`teamId=${team.id}&seedId=${ofTeam.id}`, person)).toEqual(ofOne)
        expect(await read(`labelId=${label.id}&seedId=${ofTeam.id}`, person)).toEqual([])
        expect(await read(`teamId=${team.id}&types=seed.updated`, person)).toEqual([ofTwo[0], ofOne[0]])
        const all = await read(`teamId=${team.id}`, person)
        expect([all.slice(0, 2), all.slice(2).sort()]).toEqual([
          [ofTwo[0], ofOne[0]],
          [ofOne[1], ofTwo[1]],
        ])
      }
      for (const none of [createId(), 'x', foreignTeam.id]) expect(await read(`teamId=${none}`)).toEqual([])
      expect(await read(`labelId=${createId()}`)).toEqual([])
      // By what the seed is now whose title is Two.
      for (const query of [`leadUserId=${viewer.id}`, 'balance=against', 'due=overdue'])
        expect(await read(query), query).toEqual(ofTwo)
      expect(await read('leadUserId=me', viewer)).toEqual(ofTwo)
      expect((await read('leadUserId=none')).toSorted()).toEqual(['seed.created Three', 'seed.updated Three'])
      expect(await read('leadUserId=me&due=week')).toEqual([])
      expect(await read('balance=none&due=overdue')).toEqual([])
      // A page after another.
      const first = await as(owner, get(`${company.url}/events?teamId=${team.id}&limit=3`))
      const next = /<[^>]*?(\/v1[^>]+)>/.exec(String(first.headers.link))?.[1] ?? ''
      expect(first.json()).toHaveLength(3)
      expect((await as(owner, get(next))).json()).toHaveLength(1)
    }
    await check()
    // Behind more events than are looked at.
    await db.execute(sql`
      insert into events (id, workspace_id, type, actor_type, actor_name, source, summary, data, created_at)
      select gen_random_uuid(), ${company.workspace.id}, 'seed.updated', 'user', 'Olga', 'api', 'Olga did something',
        '{"title": "Filler"}', ${clock.now().toISOString()}::timestamptz + i * interval '1 second'
      from generate_series(1, 1001) as i`)
    await check()
    await as(owner, patch(`/v1/seeds/${ofBoth.id}`, { labelIds: [], teamId: null }))
    expect(await read(`labelId=${label.id}`)).toEqual([])
    expect(await read(`teamId=${team.id}`)).toEqual(ofOne)
    expect((await as(owner, del(team.url))).statusCode).toBe(200)
    expect(await read(`teamId=${team.id}`)).toEqual([])
  })

  it('filters by grantId, without hidden events, and returns no events for an agent of another workspace', async () => {
    const [company, other] = [await createCompany(service), await createCompany(service)]
    const grant = await insertGrant(service, company.workspace, company.member)
    const foreign = await insertGrant(service, other.workspace, other.owner)
    const use = { tool: 'join_seed', did: 'joined a seed' }
    await actAs(company.member, grant, company.workspace, {
      type: 'integration.used',
      data: { grantId: grant.id, clientName: grant.clientName, userId: company.member.id, ...use },
    })
    clock.advance(1_000)
    const joined = { type: 'seed.joined', data: { seedId: createId(), title: 'Robots' } } as const
    await actAs(company.member, grant, company.workspace, joined)
    await actAs(other.owner, foreign, other.workspace, joined)
    await createTeam(service, company.admin, company, 'By a person')
    const typesFor = async (person: TestPerson, query: string) =>
      (await as(person, get(`${company.url}/events?${query}`))).json<Event[]>().map(({ type }) => type)
    for (const person of [company.owner, company.member])
      expect(await typesFor(person, `grantId=${grant.id}`)).toEqual(['seed.joined', 'integration.used'])
    expect(await typesFor(company.viewer, `grantId=${grant.id}`)).toEqual(['seed.joined'])
    const used = `grantId=${grant.id}&notTypes=seed.joined`
    expect(await typesFor(company.owner, used)).toEqual(['integration.used'])
    expect(await typesFor(company.viewer, used)).toEqual([])
    for (const none of [foreign.id, createId(), 'x', ''])
      expect(await typesFor(company.owner, `grantId=${none}`)).toEqual([])
  })

  it('takes a date as its start in UTC', async () => {
    const { company, times } = await createBusyCompany()
    const day = String(times[0]).slice(0, 10)
    const next = new Date(Date.parse(day) + 86_400_000).toISOString().slice(0, 10)
    const all = await listEvents(company, {})
    for (const [dates, instants] of [
      [{ since: day }, { since: `${day}T00:00:00Z` }],
      [{ until: day }, { until: `${day}T00:00:00Z` }],
      [
        { since: day, until: next },
        { since: `${day}T00:00:00Z`, until: `${next}T00:00:00Z` },
      ],
    ] as const)
      expect(await listEvents(company, dates)).toEqual(await listEvents(company, instants))
    expect((await listEvents(company, { since: day, until: next })).length).toBeGreaterThan(0)
    expect(await listEvents(company, { until: day })).toEqual([])
    expect(all.length).toBe(5)
  })

  it('filters by actorUserId, and returns no events for an unknown user', async () => {
    const { company } = await createBusyCompany()
    const by = async (actorUserId: string) =>
      (await listEvents(company, { actorUserId })).map((event) => event.summary.split(' ').at(-1))
    expect(await by(company.admin.id)).toEqual(['Four', 'Two'])
    expect(await by(company.owner.id)).toEqual(['Three', 'One', 'Acme'])
    for (const nobody of [company.viewer.id, createId(), 'x', 'not an id at all'])
      expect(await by(nobody)).toEqual([])
  })

  it('filters by targetId, and returns no events for an unknown target', async () => {
    const { company } = await createBusyCompany()
    const team = await createTeam(service, company.owner, company, 'Five')
    await as(company.owner, patch(team.url, { name: 'Six' }))
    const to = async (targetId: string) =>
      (await listEvents(company, { targetId })).map((event) => event.type)
    expect(await to(team.id)).toEqual(['team.renamed', 'team.created'])
    expect((await listEvents(company, { targetId: team.id, type: 'team.renamed' })).length).toBe(1)
    for (const nothing of [createId(), 'x', 'not an id at all']) expect(await to(nothing)).toEqual([])
  })

  it('does not show hidden events when filtered by targetId', async () => {
    const { company } = await createBusyCompany()
    const grant = await insertGrant(service, company.workspace, company.admin)
    await as(company.admin, post(`${company.url}/integrations/${grant.id}/revoke`))
    const seenBy = async (person: TestPerson) =>
      (await as(person, get(`${company.url}/events?targetId=${grant.id}`))).json<Event[]>().length
    expect(await seenBy(company.owner)).toBe(1)
    expect(await seenBy(company.member)).toBe(0)
  })

  it('filters by since (inclusive) and until (exclusive)', async () => {
    const { company, times } = await createBusyCompany()
    const [, one = '', two = '', three = ''] = times
    const names = async (query: Record<string, string>) =>
      (await listEvents(company, query)).map((event) => event.summary.split(' ').at(-1))
    expect(await names({ since: two })).toEqual(['Four', 'Three', 'Two'])
    expect(await names({ until: two })).toEqual(['One', 'Acme'])
    expect(await names({ since: one, until: three })).toEqual(['Two', 'One'])
    expect(await names({ since: three, until: one })).toEqual([])
    expect(await names({ since: two, until: two })).toEqual([])
    const later = new Date(Date.parse(two) + 1).toISOString()
    expect(await names({ since: later })).toEqual(['Four', 'Three'])
    // The same moment, written otherwise.
    const offset = new Date(Date.parse(two) + 7_200_000).toISOString().replace('Z', '+02:00')
    expect(await names({ since: offset })).toEqual(['Four', 'Three', 'Two'])
  })

  it('combines filters', async () => {
    const { company, times } = await createBusyCompany()
    const found = await listEvents(company, {
      type: 'team.created',
      actorUserId: company.admin.id,
      since: String(times[1]),
      until: String(times[4]),
    })
    expect(found.map((event) => event.summary)).toEqual(['Adam Admin created the team Two'])
  })

  it.each([
    '0000-01-01T00:00:00Z',
    '0001-01-01T00:00:00Z',
    '1969-12-31T23:59:59.999Z',
    '2016-12-31T23:59:60Z',
    '2016-12-31T23:59:60.5Z',
    '9999-12-31T23:59:59.999Z',
    '9999-12-31T23:59:59-12:00',
    '0000-01-01T00:00:00+23:59',
    '2026-01-01t00:00:00z',
    '2026-01-01 00:00:00Z',
    '2026-01-01T00:00:00.123456789Z',
    '2026-02-28T23:59:59-00:00',
    '2024-02-29T12:00:00+14:00',
  ])('accepts any RFC 3339 time as since and until: %s', async (time) => {
    const { url, owner } = await createCompany(service)
    const isPast = Number(time.slice(0, 4)) < 2026 || time.startsWith('2026-0')
    for (const [name, expected] of [
      ['since', isPast ? 1 : 0],
      ['until', isPast ? 0 : 1],
    ] as const) {
      const answer = await as(owner, get(`${url}/events?${name}=${encodeURIComponent(time)}`))
      expect(answer.statusCode, answer.body).toBe(200)
      expect(answer.json(), name).toHaveLength(expected)
    }
  })

  it('runs two queries with a filter: one for the key, one for the events', async () => {
    const { company } = await createBusyCompany()
    // The first use within a minute is noted, too.
    await listEvents(company)
    expect(await countQueries(() => listEvents(company, { type: 'team.created' }))).toBe(2)
  })

  it('returns the id of the API key that made each change', async () => {
    const person = await createPerson()
    const { slug } = await createWorkspace(service, person)
    const created = await as(person, post('/v1/api-keys', { name: 'Second' }))
    const key = created.json<{ id: string; secret: string }>()
    await as({ apiKey: key.secret }, post(`/v1/workspaces/${slug}/teams`, { name: 'x' }))
    const feed = await as(person, get(`/v1/workspaces/${slug}/events`))
    expect(feed.json()).toMatchObject([{ apiKeyId: key.id }, { apiKeyId: person.apiKeyId }])
  })
})

describe('400', () => {
  it.each([
    ['since', 'yesterday'],
    ['since', '2026-02-30'],
    ['types', 'x'.repeat(401), ['types', 0]],
    ['notTypes', 'a\0b', ['notTypes', 0]],
    ['seedId', 'x'.repeat(65)],
    ['since', '2026-01-01T00:00:00'],
    ['until', '2026-02-30T00:00:00Z'],
    ['until', '2026-01-01T24:00:01Z'],
    ['until', '1767225600'],
    ['since', ''],
    ['type', 'a\0b'],
    ['type', 'x'.repeat(65)],
    ['actorUserId', 'x'.repeat(65)],
    ['targetId', 'x'.repeat(65)],
    ['grantId', 'x'.repeat(65)],
    ['teamId', 'x'.repeat(65)],
    ['labelId', 'x'.repeat(65)],
  ])(
    'returns 400 for the query parameter %s with the value %j',
    async (name, value, path: (string | number)[] = [name]) => {
      const { url, owner } = await createCompany(service)
      const answer = await as(owner, get(`${url}/events?${name}=${encodeURIComponent(value)}`))
      expectError(answer, errors.decodeError, { issues: anyIssues })
      expect(issuesOf(answer)).toEqual([{ _tag: 'Refinement', path }])
    },
  )

  it('returns event_type_unknown for types of which one does not exist or is empty', async () => {
    const { url, owner } = await createCompany(service)
    for (const types of [
      '',
      ',',
      'nothing.happened',
      'team.created,',
      'team.created,TEAM.CREATED',
      'toString',
    ]) {
      const answer = await as(owner, get(`${url}/events?types=${types}`))
      expectError(answer, errors.eventTypeUnknown, { field: 'types' })
    }
    const repeated = await as(owner, get(`${url}/events?types=team.created&types=nothing.happened`))
    expectError(repeated, errors.eventTypeUnknown, { field: 'types' })
    expectError(await as(await createPerson(), get(`${url}/events?types=x`)), errors.notAMember)
  })

  it('returns 400 for an unknown filter', async () => {
    const { url, owner } = await createCompany(service)
    const answer = await as(owner, get(`${url}/events?actor=${owner.id}`))
    expectError(answer, errors.decodeError, { issues: anyIssues })
    expect(issuesOf(answer)).toEqual([{ _tag: 'Unexpected', path: ['actor'] }])
  })
})

describe('401, 403 and 404', () => {
  it('returns 401 without a key, 403 to a stranger, and 404 for an unknown workspace', async () => {
    const { url } = await createCompany(service)
    const stranger = await createPerson()
    expectError(await app.inject(`${url}/events`), errors.apiKeyRequired)
    expectError(await as(stranger, get(`${url}/events`)), errors.notAMember)
    expectError(await as(stranger, get(`/v1/workspaces/${randomSlug()}/events`)), errors.notFound)
  })

  it('returns 404 for every method that would change or delete an event', async () => {
    const company = await createCompany(service)
    const [event] = await listEvents(company)
    for (const method of ['PATCH', 'PUT', 'DELETE', 'POST'] as const) {
      for (const url of [`${company.url}/events`, `${company.url}/events/${event?.id}`])
        expectError(await as(company.owner, { method, url }), errors.routeNotFound)
    }
    expect(await listEvents(company)).toEqual([event])
  })
})
