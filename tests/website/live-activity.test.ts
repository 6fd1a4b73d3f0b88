import type { OutgoingHttpHeaders } from 'node:http'
import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { changeStreamsDefaults } from '../../src/website/plugins/change-streams.ts'
import { createCompany, createTeam, del, patch } from '../support/company.ts'
import { openEventStream, type ReceivedStream } from '../support/event-stream-client.ts'
import { eventually } from '../support/eventually.ts'
import { createSeed } from '../support/seeds.ts'
import { startTestApp, type TestApp, type TestPerson } from '../support/test-app.ts'
import { changesUrlOf, cookiesOf, createVisitor, signInAs, type Visitor } from './visitor.ts'

const website = await startTestApp()

function openStream(
  service: TestApp,
  visitor: Visitor,
  path: string,
  headers: OutgoingHttpHeaders = {},
): Promise<ReceivedStream> {
  return openEventStream(service, path, { cookie: cookiesOf(visitor), ...headers })
}

async function startCompany(service = website) {
  const company = await createCompany(service)
  return { ...company, changes: `/w/${company.workspace.slug}/activity/changes` }
}

async function openAs(person: TestPerson, path: string, service = website): Promise<ReceivedStream> {
  return openStream(service, await signInAs(service, person), path)
}

const aChange = /id: \d+\nevent: change\ndata:\n\n/

describe('the event stream of changes', () => {
  it('is uncompressed, and neither cached nor buffered', async () => {
    const company = await startCompany()
    const { status, headers, received } = await openAs(company.viewer, company.changes)
    expect(status).toBe(200)
    expect(headers['content-type']).toMatch(/^text\/event-stream/)
    expect(headers['cache-control']).toContain('no-store')
    expect(headers['x-accel-buffering']).toBe('no')
    expect(headers['content-encoding']).toBeUndefined()
    expect(headers['cross-origin-resource-policy']).toBe('same-origin')
    await received(/^retry: \d{4}\n\n/)
  })

  it('reports a change in the workspace by any replica, without its content', async () => {
    const [company, other] = [await startCompany(), await startCompany()]
    const stream = await openAs(company.viewer, company.changes)
    const streamOfOther = await openAs(other.viewer, other.changes)
    const replica = await startTestApp()
    await createTeam(replica, company.owner, company, 'Looms')
    await stream.received(aChange)
    expect(stream.text()).toMatch(/^retry: \d+\n\nid: \d+\nevent: change\ndata:\n\n$/)
    // Both are read by the same statement.
    expect(streamOfOther.text()).not.toMatch(aChange)
  })

  it('reports an event that is committed after newer events', async () => {
    const company = await startCompany()
    const stream = await openAs(company.member, company.changes)
    await website.db.execute(sql`
      insert into events (id, workspace_id, type, actor_type, actor_name, source, summary, created_at)
      values (gen_random_uuid(), ${company.workspace.id}, 'team.created', 'user', 'Olga', 'web', 'Olga was slow', '2020-01-01')`)
    await stream.received(aChange)
  })

  it.each(['', '/activity', '/seeds?view=board', '/seeds/:seed'])(
    'begins where the page %j was read, and goes on from the last change',
    async (path) => {
      const company = await startCompany()
      const seed = await createSeed(website, company.member, company)
      const visitor = await signInAs(website, company.viewer)
      const page = await visitor.get(`/w/${company.workspace.slug}${path.replace(':seed', seed.id)}`)
      const url = changesUrlOf(page.body)
      await createTeam(website, company.owner, company, 'Looms')
      const late = await openStream(website, visitor, url)
      await late.received(aChange)
      const [id] = /(?<=id: )\d+/.exec(late.text()) ?? []
      const again = await openStream(website, visitor, url, { 'last-event-id': String(id) })
      await createTeam(website, company.owner, company, 'Shuttles')
      await again.received(aChange)
      // One, of what has happened since.
      expect(again.text().match(new RegExp(aChange, 'g'))).toHaveLength(1)
      expect(again.text()).not.toContain(`id: ${id}\n`)
    },
  )

  it.each(['x', '-1', '1e3', '9'.repeat(400), ''])('begins now for the position %j', async (after) => {
    const company = await startCompany()
    const stream = await openAs(company.viewer, `${company.changes}?after=${after}`)
    expect(stream.status).toBe(200)
    await createTeam(website, company.owner, company, 'Looms')
    await stream.received(aChange)
    expect(stream.text().match(new RegExp(aChange, 'g'))).toHaveLength(1)
  })

  it('reports changes at a former slug of the workspace', async () => {
    const company = await startCompany()
    const slug = `${company.workspace.slug}-inc`
    expect((await website.as(company.owner, patch(company.url, { name: 'Acme', slug }))).statusCode).toBe(200)
    const stream = await openAs(company.member, company.changes)
    await createTeam(website, company.owner, { url: `/v1/workspaces/${slug}` }, 'Looms')
    await stream.received(aChange)
  })

  it('returns 401 without a session, 403 to non-members, and 404 for an unknown workspace', async () => {
    const company = await startCompany()
    const refusals: [Visitor, string, number][] = [
      [createVisitor(website), company.changes, 401],
      [await signInAs(website, await website.createPerson()), company.changes, 403],
      [await signInAs(website, company.owner), '/w/no-such-workspace/activity/changes', 404],
    ]
    for (const [visitor, path, status] of refusals) {
      const answer = await visitor.get(path, { accept: 'text/event-stream' })
      expect(answer.statusCode, path).toBe(status)
      expect(answer.headers['content-type']).toContain('application/json')
    }
    const visitor = await signInAs(website, company.member)
    expect((await openStream(website, visitor, company.changes)).status).toBe(200)
    await website.as(company.owner, del(`${company.url}/members/${company.member.id}`))
    expect((await openStream(website, visitor, company.changes)).status).toBe(403)
  })

  it('returns 404 for the method HEAD', async () => {
    const company = await startCompany()
    const cookie = `session=${String((await signInAs(website, company.owner)).cookies.get('session'))}`
    const answer = await website.app.inject({ method: 'HEAD', url: company.changes, headers: { cookie } })
    expect(answer.statusCode).toBe(404)
  })

  it('ends after its maximum lifetime, with heartbeats until then', async () => {
    const service = await startTestApp({
      changeStreams: { ...changeStreamsDefaults, lifetimeMs: 300, heartbeatMs: 20 },
      // A stream without news is not a client that reads nothing.
      slowReaders: { stalledMsMax: 10, waitingBytesMax: Infinity },
    })
    const company = await startCompany(service)
    const stream = await openAs(company.member, company.changes, service)
    await stream.ended
    expect(stream.text()).toMatch(/^retry: \d+\n\n(:\n\n)+$/)
    const lines = service.log.filter((line) => line.includes(':slug/activity/changes'))
    expect(lines).toHaveLength(1)
    expect(lines[0]).toContain('request completed')
  })

  it('ends when the person is removed or signs out', async () => {
    const company = await startCompany()
    const visitor = await signInAs(website, company.member)
    const stays = await openAs(company.owner, company.changes)
    const [removed, signedOut] = [
      await openAs(company.viewer, company.changes),
      await openStream(website, visitor, company.changes),
    ]
    await website.as(company.owner, del(`${company.url}/members/${company.viewer.id}`))
    await visitor.get('/onboarding')
    await visitor.submit('/sign-out')
    await Promise.all([removed.ended, signedOut.ended])
    await createTeam(website, company.owner, company, 'Looms')
    await stays.received(/event: change\ndata:\n\n$/)
  })

  it('ends when the service stops', async () => {
    const service = await startTestApp({ changeStreams: changeStreamsDefaults })
    const company = await startCompany(service)
    const stream = await openAs(company.member, company.changes, service)
    await Promise.all([service.close(), stream.ended])
  })

  it('does not count towards the limit of concurrent requests', async () => {
    const service = await startTestApp({
      environment: { REQUESTS_AT_ONCE_MAX: '1' },
      overload: { keepsUpMs: 0 },
    })
    const company = await startCompany(service)
    const visitor = await signInAs(service, company.member)
    const stream = await openStream(service, visitor, company.changes)
    for (let i = 0; i < 3; i++)
      expect((await visitor.get(`/w/${company.workspace.slug}/activity`)).statusCode).toBe(200)
    await createTeam(service, company.owner, company, 'Looms')
    await stream.received(aChange)
  })
})

describe('the limits of event streams', () => {
  it('return 503 with Retry-After: 15 when a process has too many, until one is closed', async () => {
    const service = await startTestApp({ changeStreams: { ...changeStreamsDefaults, streamsMax: 1 } })
    const company = await startCompany(service)
    const first = await openAs(company.member, company.changes, service)
    const visitor = await signInAs(service, company.owner)
    const refused = await openStream(service, visitor, company.changes)
    expect(refused.status).toBe(503)
    expect(refused.headers['retry-after']).toBe('15')
    first.disconnect()
    await eventually(async () =>
      expect((await openStream(service, visitor, company.changes)).status).toBe(200),
    )
    const [line, ...others] = service.log.filter((text) => text.includes('request broken off'))
    expect(line).toMatch(/"level":30.*:slug\/activity\/changes/)
    expect(others).toEqual([])
    expect(service.log.join('')).not.toContain('prematurely')
  })

  it('do not count streams that were refused with 403', async () => {
    const service = await startTestApp({ changeStreams: { ...changeStreamsDefaults, streamsMax: 1 } })
    const company = await startCompany(service)
    const stranger = await signInAs(service, await service.createPerson())
    expect((await openStream(service, stranger, company.changes)).status).toBe(403)
    expect((await openAs(company.member, company.changes, service)).status).toBe(200)
  })

  it('end the oldest stream of a person with too many, across their sessions', async () => {
    const service = await startTestApp({
      changeStreams: { ...changeStreamsDefaults, sessionStreamsMax: 2, personStreamsMax: 3 },
    })
    const company = await startCompany(service)
    const streams: ReceivedStream[] = []
    for (let i = 0; i < 4; i++) streams.push(await openAs(company.member, company.changes, service))
    const other = await openAs(company.viewer, company.changes, service)
    const [oldest, ...rest] = streams
    await oldest?.ended
    await createTeam(service, company.owner, company, 'Looms')
    for (const stream of [...rest, other]) await stream.received(aChange)
  })

  it('end the oldest stream of a session with too many, which reconnects after 30 seconds', async () => {
    const company = await startCompany()
    const visitor = await signInAs(website, company.member)
    const other = await openAs(company.member, company.changes)
    const streams: ReceivedStream[] = []
    for (let i = 0; i <= changeStreamsDefaults.sessionStreamsMax; i++)
      streams.push(await openStream(website, visitor, company.changes))
    const [oldest, ...rest] = streams
    await oldest?.ended
    expect(oldest?.text()).toMatch(/retry: 30000\n\n$/)
    await createTeam(website, company.owner, company, 'Looms')
    for (const stream of [...rest, other]) await stream.received(aChange)
  })
})
