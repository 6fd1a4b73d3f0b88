import { once } from 'node:events'
import { connect } from 'node:net'
import { sql } from 'drizzle-orm'
import { describe, expect, it, onTestFinished } from 'vitest'
import { streamEventsDefaults } from '../../src/http/answers/stream-events.ts'
import { errors } from '../../src/kernel/errors.ts'
import { encodeFeedCursor } from '../../src/domain/event-cursors.ts'
import { createId } from '../../src/kernel/ids.ts'
import { letAgentIn } from '../support/agent-caller.ts'
import { createKey, noRestrictions, pathOfKey } from '../support/api-keys.ts'
import {
  createCompany,
  createInvite,
  createTeam,
  del,
  get,
  patch,
  post,
  put,
  type TestCompany,
} from '../support/company.ts'
import { openEventStream, type ReceivedStream } from '../support/event-stream-client.ts'
import { eventually } from '../support/eventually.ts'
import { anyIssues, expectError, issuesOf } from '../support/expect-error.ts'
import { listen } from '../support/raw-http.ts'
import { createSeed } from '../support/seeds.ts'
import { startTestApp, type TestApp, type TestPerson } from '../support/test-app.ts'
import { randomSlug } from '../support/workspaces.ts'

const service = await startTestApp({ eventStreams: streamEventsDefaults })
const { as, createPerson } = service

interface Message {
  id: string
  event: { id: string; type: string; summary: string }
}

/** The events that a stream has received. */
function messagesOf(stream: ReceivedStream): Message[] {
  return Array.from(stream.text().matchAll(/^id: (\S+)\ndata: (.+)\n\n/gm), ([, id, data]) => ({
    id: String(id),
    event: JSON.parse(String(data)) as Message['event'],
  }))
}

const typesOf = (stream: ReceivedStream) => messagesOf(stream).map(({ event }) => event.type)

function open(
  person: Pick<TestPerson, 'apiKey'>,
  { url }: Pick<TestCompany, 'url'>,
  {
    query = '',
    lastEventId,
    from = service,
  }: { query?: string; lastEventId?: string; from?: Pick<TestApp, 'app'> } = {},
): Promise<ReceivedStream> {
  return openEventStream(from, `${url}/events/stream${query}`, {
    authorization: `Bearer ${person.apiKey}`,
    ...(lastEventId !== undefined && { 'last-event-id': lastEventId }),
  })
}

interface Changes {
  events: unknown[]
  cursor: string
}

async function readChanges(person: TestPerson, { url }: TestCompany, query = ''): Promise<Changes> {
  return (await as(person, get(`${url}/events/changes${query}`))).json<Changes>()
}

/** Adds events of 2 KB. With their positions: the trigger gives them one by one, which takes long for many. */
async function addEvents({ workspace: { id } }: TestCompany, count: number): Promise<void> {
  await service.db.execute(sql`
    insert into events (id, workspace_id, type, actor_type, actor_name, source, summary, created_at, position)
    select ('01936f2e-7c1a-7000-8000-' || lpad(to_hex((random() * 1e13)::bigint), 12, '0'))::uuid, ${id},
      'seed.updated', 'system', 'The service', 'system', repeat('Something happened. ', 100), now(),
      (select last from event_positions where workspace_id = ${id}) + i
    from generate_series(1, ${count}) as i`)
  await service.db.execute(sql`update event_positions set last = last + ${count} where workspace_id = ${id}`)
}

describe('200', () => {
  it('is uncompressed, and neither cached nor buffered', async () => {
    const company = await createCompany(service)
    const { status, headers, received } = await open(company.viewer, company)
    expect(status).toBe(200)
    expect(headers).toMatchObject({
      'content-type': 'text/event-stream',
      'cache-control': 'private, no-store',
      'x-accel-buffering': 'no',
    })
    expect(headers['content-encoding']).toBeUndefined()
    await received(/^retry: [12]\d{3}\n\n/)
  })

  it('sends what events.changes returns, with its cursors, and then each new event, of any replica', async () => {
    const company = await createCompany(service)
    await createTeam(service, company.admin, company, 'One')
    const stream = await open(company.viewer, company)
    await stream.received(/team One/)
    const replica = await startTestApp({ eventStreams: streamEventsDefaults })
    await createTeam(replica, company.admin, company, 'Two')
    await stream.received(/team Two/)
    await createTeam(service, company.admin, company, 'Three')
    await stream.received(/team Three/)

    const { events, cursor } = await readChanges(company.viewer, company)
    const messages = messagesOf(stream)
    expect(messages.map(({ event }) => event)).toEqual(events)
    expect(messages.at(-1)?.id).toBe(cursor)
    // Each id is a cursor of the feed.
    for (const [i, { id }] of messages.entries())
      expect((await readChanges(company.viewer, company, `?after=${id}`)).events).toEqual(events.slice(i + 1))
  })

  it('goes on behind after, and behind Last-Event-ID if there is one', async () => {
    const company = await createCompany(service)
    for (const name of ['One', 'Two', 'Three']) await createTeam(service, company.owner, company, name)
    const all = await open(company.owner, company)
    await all.received(/team Three/)
    const [created, one] = messagesOf(all).map(({ id }) => id)
    const behind = await open(company.owner, company, { query: `?after=${created}` })
    const further = await open(company.owner, company, {
      query: `?after=${created}`,
      lastEventId: String(one),
    })
    await Promise.all([behind.received(/team Three/), further.received(/team Three/)])
    const summariesOf = (stream: ReceivedStream) =>
      messagesOf(stream).map(({ event }) => event.summary.slice(-5))
    expect(summariesOf(behind)).toEqual(['m One', 'm Two', 'Three'])
    expect(summariesOf(further)).toEqual(['m Two', 'Three'])

    const fresh = await open(company.owner, company, { query: '?after=now' })
    await createTeam(service, company.owner, company, 'Four')
    await fresh.received(/team Four/)
    expect(messagesOf(fresh)).toHaveLength(1)
  })

  it('filters by types, and tells the cursor behind what was filtered out', async () => {
    const app = await startTestApp({ eventStreams: { ...streamEventsDefaults, heartbeatMs: 20 } })
    const company = await createCompany(app)
    const stream = await open(company.owner, company, {
      query: '?types=team.renamed,team.deleted',
      from: app,
    })
    const other = await open(company.owner, company, { query: '?after=now&notTypes=team.created', from: app })
    const team = await createTeam(app, company.owner, company)
    await as(company.owner, patch(team.url, { name: 'Renamed' }))
    await stream.received(/team\.renamed/)
    await createTeam(app, company.owner, company)
    const { cursor } = await readChanges(company.owner, company)
    await stream.received(new RegExp(`\\n:\\nid: ${cursor}\\n\\n`))
    expect(typesOf(stream)).toEqual(['team.renamed'])
    await other.received(new RegExp(`\\n:\\nid: ${cursor}\\n\\n`))
    expect(typesOf(other)).toEqual(['team.renamed'])
  })

  it('filters by seed and by agent, and shows nothing of those of another workspace', async () => {
    const [company, other] = [await createCompany(service), await createCompany(service)]
    const agent = await letAgentIn(service, company.workspace, company.member)
    const foreign = await letAgentIn(service, other.workspace, other.owner)
    const robots = await createSeed(service, company.owner, company, { title: 'Robots' })
    const openWith = (query: string) => open(company.owner, company, { query })
    const [ofSeed, byAgent, ofBoth, ofNone, ofForeign] = [
      await openWith(`?seedId=${robots.id}`),
      // The use of tools is recorded some time later.
      await openWith(`?grantId=${agent.grantId}&notTypes=integration.used`),
      await openWith(`?seedId=${robots.id}&grantId=${agent.grantId}`),
      await openWith('?seedId=x&grantId=x'),
      await openWith(`?grantId=${foreign.grantId}`),
    ]
    const all = await openWith('')
    await foreign.use('create_seed', { title: 'Elsewhere', summary: 'By a program.' })
    await agent.use('create_seed', { title: 'Lunch', summary: 'By a program.' })
    await agent.use('join_seed', { seedId: robots.id })
    await createTeam(service, company.owner, company, 'The end')
    for (const stream of [ofSeed, byAgent, ofBoth]) await stream.received(/joined the seed Robots/)
    await all.received(/The end/)
    expect(typesOf(ofSeed)).toEqual(['seed.created', 'seed.joined'])
    expect(typesOf(byAgent)).toEqual(['integration.granted', 'seed.created', 'seed.joined'])
    expect(typesOf(ofBoth)).toEqual(['seed.joined'])
    expect([ofNone, ofForeign].map(typesOf)).toEqual([[], []])
  })

  it('sends a long history in order', async () => {
    const company = await createCompany(service)
    await addEvents(company, 1_500)
    await createTeam(service, company.owner, company, 'Last')
    const stream = await open(company.owner, company)
    await stream.received(/team Last/)
    expect(messagesOf(stream)).toHaveLength(1_502)
    expect(messagesOf(stream).map(({ event }) => event)).toEqual(await readAll(company.owner, company))
  })

  it('shows what the role allows at the time, from the next batch on', async () => {
    const company = await createCompany(service)
    const { owner, member, url } = company
    const stream = await open(member, company)
    await createInvite(service, owner, company)
    await createTeam(service, owner, company, 'One')
    await stream.received(/team One/)
    await as(owner, patch(`${url}/members/${member.id}`, { role: 'admin' }))
    await stream.received(/member\.role_changed/)
    await createInvite(service, owner, company)
    await stream.received(/invite\.created/)
    expect(typesOf(stream)).toEqual([
      'workspace.created',
      'team.created',
      'member.role_changed',
      'invite.created',
    ])
  })

  it('shows to a key what its highest role allows at the time, and nothing more', async () => {
    const company = await createCompany(service)
    const { owner } = company
    const key = await createKey(service, owner, { maxRole: 'viewer' })
    const stream = await open(key, company)
    await createInvite(service, owner, company)
    await createTeam(service, owner, company, 'One')
    await stream.received(/team One/)
    const restricted = put(`${pathOfKey(key.id)}/restrictions`, { ...noRestrictions, maxRole: 'admin' })
    expect((await as(owner, restricted)).statusCode).toBe(200)
    await createInvite(service, owner, company)
    await stream.received(/invite\.created/)
    expect(typesOf(stream)).toEqual(['workspace.created', 'team.created', 'invite.created'])
  })

  it('does not count towards the limit of concurrent requests, nor as a slow reader', async () => {
    const app = await startTestApp({
      environment: { REQUESTS_AT_ONCE_MAX: '1' },
      overload: { keepsUpMs: 0 },
      slowReaders: { stalledMsMax: 10, waitingBytesMax: Infinity },
      eventStreams: { ...streamEventsDefaults, heartbeatMs: 20 },
    })
    const company = await createCompany(app)
    const stream = await open(company.member, company, { from: app })
    await stream.received(/(:\n\n){3}/)
    for (let i = 0; i < 3; i++) expect((await app.as(company.owner, get(company.url))).statusCode).toBe(200)
    await createTeam(app, company.owner, company, 'Looms')
    await stream.received(/team Looms/)
  })
})

async function readAll(person: TestPerson, company: TestCompany): Promise<unknown[]> {
  const events: unknown[] = []
  for (let query = ''; ;) {
    const page = await readChanges(person, company, query)
    if (page.events.length === 0) return events
    events.push(...page.events)
    query = `?after=${page.cursor}`
  }
}

describe('the end of a stream', () => {
  it('comes when the key is revoked or the membership ends, before a further event is sent', async () => {
    const company = await createCompany(service)
    const { owner, admin, member, viewer, url } = company
    const [revoked, removed, stays] = [
      await open(member, company, { query: '?after=now' }),
      await open(viewer, company, { query: '?after=now' }),
      await open(admin, company, { query: '?after=now' }),
    ]
    await as(member, post(`/v1/api-keys/${member.apiKeyId}/revoke`))
    await as(owner, del(`${url}/members/${viewer.id}`))
    await createTeam(service, owner, company, 'Secret')
    await Promise.all([revoked.ended, removed.ended, stays.received(/Secret/)])
    for (const { text } of [revoked, removed]) expect(text()).toMatch(/^retry: \d+\n\n$/)
  })

  it('comes after its lifetime, with a comment at intervals until then', async () => {
    const app = await startTestApp({
      eventStreams: { ...streamEventsDefaults, lifetimeMs: 300, heartbeatMs: 20 },
    })
    const company = await createCompany(app)
    const stream = await open(company.member, company, { query: '?after=now', from: app })
    await stream.ended
    // Comments do not wait until the database has said where the stream begins.
    expect(stream.text()).toMatch(/^retry: \d+\n\n(:\n\n)*:\nid: \S+\n\n(:\n\n)*$/)
    expect(stream.text().match(/^:$/gm)?.length).toBeGreaterThan(2)
  })

  it('comes when the service stops', async () => {
    const app = await startTestApp({ eventStreams: streamEventsDefaults })
    const company = await createCompany(app)
    const stream = await open(company.member, company, { from: app })
    await Promise.all([app.close(), stream.ended])
  })

  it('comes when a backup is restored while the service runs', async () => {
    const company = await createCompany(service)
    await addEvents(company, 3)
    const stream = await open(company.owner, company)
    await stream.received(/(Something[^]*){3}/)
    const { id } = company.workspace
    await service.db.execute(sql`delete from events where workspace_id = ${id} and position > 2`)
    await service.db.execute(sql`update event_positions set last = 2 where workspace_id = ${id}`)
    await stream.ended
    const lastEventId = String(messagesOf(stream).at(-1)?.id)
    expect((await open(company.owner, company, { lastEventId })).status).toBe(409)
  })

  it('is a broken connection for a client that does not read', async () => {
    const app = await startTestApp({
      eventStreams: { ...streamEventsDefaults, heartbeatMs: 20, stalledMsMax: 200 },
    })
    const company = await createCompany(app)
    const [socket] = [connect(await listen(app.app), '127.0.0.1')]
    onTestFinished(() => void socket.destroy())
    socket.pause()
    socket.write(
      `GET ${company.url}/events/stream HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${company.owner.apiKey}\r\n\r\n`,
    )
    // More than the buffers of the system take.
    await addEvents(company, 8_000)
    await eventually(() => expect(app.log.join('')).toContain('the client did not read its events'))
    const closed = once(socket, 'close')
    socket.on('error', () => undefined).resume()
    await closed
    expect(socket.bytesRead).toBeLessThan(16_000_000)
  })
})

describe('429 too_many_streams', () => {
  it('is returned when a key or the process has too many streams, until one is closed', async () => {
    const app = await startTestApp({
      eventStreams: { ...streamEventsDefaults, keyStreamsMax: 2, streamsMax: 3 },
    })
    const company = await createCompany(app)
    const { owner, admin, member } = company
    const first = await open(owner, company, { from: app })
    await open(owner, company, { from: app })
    const refused = await open(owner, company, { from: app })
    await refused.ended
    expect([refused.status, refused.headers['retry-after']]).toEqual([429, '15'])
    expect(JSON.parse(refused.text())).toMatchObject({ _tag: 'TooManyRequests', code: 'too_many_streams' })
    expect((await open(admin, company, { from: app })).status).toBe(200)
    expect((await open(member, company, { from: app })).status).toBe(429)
    first.disconnect()
    await eventually(async () => expect((await open(member, company, { from: app })).status).toBe(200))
  })

  it('does not count streams that were refused', async () => {
    const app = await startTestApp({ eventStreams: { ...streamEventsDefaults, streamsMax: 1 } })
    const company = await createCompany(app)
    const stranger = await app.createPerson()
    for (let i = 0; i < 3; i++) expect((await open(stranger, company, { from: app })).status).toBe(403)
    expect((await open(company.owner, company, { from: app })).status).toBe(200)
  })
})

describe('other errors', () => {
  it('are those of events.changes, before the stream begins', async () => {
    const [company, other] = [await createCompany(service), await createCompany(service)]
    const { owner, url, workspace } = company
    const path = `${url}/events/stream`
    const { cursor: foreign } = await readChanges(other.owner, other)
    const unknown = encodeFeedCursor(workspace.id, { position: 9, id: createId() })
    const ask = (query: string, headers = {}) => as(owner, { ...get(`${path}${query}`), headers })
    expectError(await ask(`?after=${foreign}`), errors.cursorInvalid, { field: 'after' })
    expectError(await ask('', { 'last-event-id': foreign }), errors.cursorInvalid, { field: 'Last-Event-ID' })
    expectError(await ask(`?after=${unknown}`), errors.cursorUnknown)
    for (const types of ['', 'team.created,later.version'])
      expectError(await ask(`?types=${types}`), errors.eventTypeUnknown, { field: 'types' })
    expectError(await service.app.inject(path), errors.apiKeyRequired)
    expectError(await as(await createPerson(), get(`${path}?types=x`)), errors.notAMember)
    expectError(await as(owner, get(`/v1/workspaces/${randomSlug()}/events/stream`)), errors.notFound)
    const limited = await ask('?limit=5')
    expectError(limited, errors.decodeError, { issues: anyIssues })
    expect(issuesOf(limited)).toEqual([{ _tag: 'Unexpected', path: ['limit'] }])
    for (const lastEventId of ['', 'x'.repeat(5_000)])
      expectError(await ask('', { 'last-event-id': lastEventId }), errors.cursorInvalid, {
        field: 'Last-Event-ID',
      })
  })

  it('HEAD opens no stream', async () => {
    const company = await createCompany(service)
    const answer = await as(company.owner, { method: 'HEAD', url: `${company.url}/events/stream` })
    expect(answer.statusCode).toBe(404)
  })
})
