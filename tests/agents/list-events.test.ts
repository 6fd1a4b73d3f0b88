import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { createId } from '../../src/kernel/ids.ts'
import { letAgentIn } from '../support/agent-caller.ts'
import { createComment } from '../support/comments.ts'
import { addPerson, createCompany, createTeam, patch } from '../support/company.ts'
import { addEvidence, createSeed } from '../support/seeds.ts'
import { startTestApp } from '../support/test-app.ts'
import { createTestClock } from '../support/test-clock.ts'

const clock = createTestClock()
const service = await startTestApp({ clock })
const { as, db } = service

interface Forms {
  lines: { time: string; actor: string; type: string; seed: string; sentence: string }[]
  digest: { id: string; title: string; last: string; by: string; events: string[] }[]
  others: string[]
  events: { id: string; type: string; data: object }[]
  note: string | null
  nextCursor: string | null
}

/** A workspace in which an owner and an agent did something to two seeds, a day after the other. */
async function createWorld() {
  const company = await createCompany(service)
  const { workspace, owner, member } = company
  const agent = await letAgentIn(service, workspace, member)
  const list = (input: object = {}) => agent.use<Forms>('list_events', input)
  const robots = await createSeed(service, owner, company, { title: 'Robots' })
  await addEvidence(service, owner, robots)
  const day = clock.now().toISOString().slice(0, 10)
  clock.advance(24 * 60 * 60_000)
  const lunch = await createSeed(service, owner, company, { title: 'Lunch' })
  await agent.use('join_seed', { seedId: robots.id })
  await agent.use('update_seed', { seedId: robots.id, status: 'validated' })
  await createComment(service, owner, robots)
  const nextDay = clock.now().toISOString().slice(0, 10)
  return { ...company, agent, list, robots, lunch, day, nextDay }
}

describe('list_events', async () => {
  const { owner, member, agent, list, robots, lunch, day, nextDay, url } = await createWorld()
  const typesOf = ({ lines }: Forms) => lines.map(({ type }) => type)

  it('returns a line for each event by default, without what is null', async () => {
    const { lines, note, nextCursor, ...rest } = await list({ seedId: robots.id })
    expect(lines.map(({ actor, type, sentence }) => [actor, type, sentence])).toEqual([
      [owner.name, 'comment.added', 'commented on the seed Robots'],
      [
        `an agent for ${member.name}`,
        'seed.updated',
        'changed the status of the seed Robots from open to validated',
      ],
      [`an agent for ${member.name}`, 'seed.joined', 'joined the seed Robots'],
      [owner.name, 'evidence.added', expect.stringMatching(/^added .*Robots/)],
      [owner.name, 'seed.created', 'created the seed Robots'],
    ])
    for (const line of lines) {
      expect(line.seed).toBe(robots.id)
      expect(line.time).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
    }
    expect({ note, nextCursor, ...rest }).toEqual({
      ...{ digest: [], others: [], events: [], note: null, nextCursor: null },
    })
    const { lines: all } = await list({ types: ['workspace.created'] })
    expect(all).toMatchObject([
      { seed: '', actor: owner.name, sentence: expect.stringMatching(/^created/) as string },
    ])
  })

  it('takes several types, also by their earlier name and with commas, and types that are left out', async () => {
    const both = ['seed.updated', 'evidence.added']
    expect(typesOf(await list({ types: both }))).toEqual(both)
    expect(typesOf(await list({ types: [both.join()] }))).toEqual(both)
    expect(typesOf(await list({ type: both.join() }))).toEqual(both)
    expect(typesOf(await list({ seedId: robots.id, notTypes: [...both, 'seed.joined'] }))).toEqual([
      ...['comment.added', 'seed.created'],
    ])
  })

  it.each([
    ['seed.status_changed', 'seed.updated'],
    ['evidence.created', 'evidence.added'],
    ['seed.created, seeds.created', 'seed.created'],
    ['', 'workspace.created'],
  ])('refuses an unknown type such as %j, and names the nearest, such as %s', async (type, nearest) => {
    const { isError, content, structuredContent } = await agent.call('list_events', { types: [type] })
    expect(isError).toBe(true)
    const unknown = JSON.stringify(type.split(', ').at(-1))
    const text = String(content[0]?.text)
    expect(text).toMatch(`There is no type of events ${unknown}. The nearest are `)
    expect(text.split('The nearest are ')[1]).toContain(nearest)
    expect(structuredContent).toMatchObject({ error: { code: 'event_type_unknown' } })
    const overHttp = await agent.send('events:list', { types: [type] })
    expect(overHttp.statusCode).toBe(400)
    expect(overHttp.json()).toMatchObject({ code: 'event_type_unknown', field: 'types' })
  })

  it('goes on taking unknown types in notTypes, and no types as all', async () => {
    expect(typesOf(await list({ seedId: lunch.id, notTypes: ['seed.eaten'], types: [] }))).toEqual([
      'seed.created',
    ])
  })

  it('takes an agent, such as itself', async () => {
    expect(typesOf(await list({ grantId: agent.grantId, seedId: robots.id }))).toEqual([
      ...['seed.updated', 'seed.joined'],
    ])
    expect(typesOf(await list({ grantId: createId() }))).toEqual([])
  })

  it('takes the team of seeds', async () => {
    const world = await createWorld()
    const team = await createTeam(service, world.owner, world)
    const ofTeam = { teamId: team.id }
    expect((await world.list(ofTeam)).lines).toEqual([])
    await as(world.owner, patch(`/v1/seeds/${world.lunch.id}`, ofTeam))
    expect(typesOf(await world.list(ofTeam))).toEqual(['seed.updated', 'seed.created'])
    expect((await world.list({ ...ofTeam, form: 'digest' })).digest).toMatchObject([{ title: 'Lunch' }])
  })

  it('takes dates', async () => {
    expect(typesOf(await list({ since: nextDay, types: ['seed.created'] }))).toEqual(['seed.created'])
    expect(typesOf(await list({ since: day, until: nextDay, seedId: robots.id }))).toEqual([
      ...['evidence.added', 'seed.created'],
    ])
  })

  it('pages through lines by a cursor', async () => {
    const seen: string[] = []
    let cursor: string | null = ''
    while (cursor !== null) {
      const page: Forms = await list({ seedId: robots.id, limit: 2, cursor })
      seen.push(...typesOf(page))
      cursor = page.nextCursor
    }
    expect(seen).toHaveLength(5)
  })

  it('sums up events by seed with the form digest, the latest first', async () => {
    const { digest, others, lines, note } = await list({ form: 'digest', since: day })
    expect(digest).toEqual([
      {
        ...{
          id: robots.id,
          title: 'Robots',
          last: nextDay,
          by: `${owner.name}, an agent for ${member.name}`,
        },
        events: [
          ...['comment.added 1', 'seed.updated 1', 'seed.joined 1', 'evidence.added 1', 'seed.created 1'],
          'status now validated',
        ],
      },
      { id: lunch.id, title: 'Lunch', last: nextDay, by: owner.name, events: ['seed.created 1'] },
    ])
    expect(others).toContain('integration.granted 1')
    expect({ lines, note }).toEqual({ lines: [], note: null })
  })

  it('returns events as the API does with the form full', async () => {
    const { events } = await list({ form: 'full', seedId: lunch.id })
    const path = `${url}/events?seedId=${lunch.id}`
    expect(events).toEqual((await as(member, { method: 'GET', url: path })).json())
    expect(events).toHaveLength(1)
  })

  it('pages through a digest of 1,100 events and 50 seeds', async () => {
    const company = await createCompany(service)
    const caller = await letAgentIn(
      service,
      company.workspace,
      await addPerson(service, company.workspace, 'member'),
    )
    const ids = Array.from({ length: 1100 }, createId)
    await db.execute(sql`
      insert into events (id, workspace_id, type, actor_type, actor_name, source, seed_id, summary, data, created_at)
      select ids.id::uuid, ${company.workspace.id}, 'seed.joined', 'user', 'Person ' || n % 7, 'api', seed.id, 'Somebody joined',
        jsonb_build_object('seedId', seed.id, 'title', 'Seed ' || n % 50), '2026-01-01'::timestamptz - n * interval '1 second'
      from rows from (jsonb_array_elements_text(${JSON.stringify(ids)}::jsonb), generate_series(0, 1099)) as ids (id, n) join lateral (select md5('seed ' || n % 50)::uuid as id) as seed on true`)
    const first = await caller.use<Forms>('list_events', { form: 'digest', types: ['seed.joined'] })
    expect(first.digest).toHaveLength(40)
    expect(first.digest[0]).toMatchObject({
      events: ['seed.joined 20'],
      by: expect.stringMatching(/, 3 more$/) as string,
    })
    // The oldest of the 1,000 is summed up with the older ones: no time is in two parts.
    expect(first.note).toBe('10 more seeds, with 199 events, follow: pass nextCursor as cursor.')
    await db.execute(sql`
      insert into events (id, workspace_id, type, actor_type, actor_name, source, seed_id, summary, data, created_at)
      values (${createId()}, ${company.workspace.id}, 'seed.joined', 'user', 'Somebody', 'api', md5('seed 3')::uuid, 'Later',
        jsonb_build_object('seedId', md5('seed 3')::uuid), '2026-01-02')`)
    const pages = [first]
    for (let cursor = first.nextCursor; cursor !== null; cursor = pages.at(-1)?.nextCursor ?? null)
      pages.push(await caller.use<Forms>('list_events', { form: 'digest', types: ['seed.joined'], cursor }))
    expect(pages.map(({ digest }) => digest.length)).toEqual([40, 10, 40, 10])
    const counts = pages.flatMap(({ digest }) => digest.map(({ events }) => Number(events[0]?.split(' ')[1])))
    // Without what happened since the first page.
    expect(counts.reduce((sum, count) => sum + count)).toBe(1100)
    expect(pages[2]?.digest[0]).toMatchObject({ title: 'Seed 49', events: ['seed.joined 3'] })
    const other = await caller.call('list_events', { form: 'digest', cursor: first.nextCursor })
    expect(other).toMatchObject({ isError: true, structuredContent: { error: { code: 'cursor_invalid' } } })
    const few = await caller.use<Forms>('list_events', { form: 'digest', types: ['seed.joined'], limit: 3 })
    expect(few.digest).toHaveLength(3)
  })

  it('has the same answer over HTTP', async () => {
    for (const form of ['short', 'digest', 'full']) {
      const input = { form, seedId: robots.id }
      expect((await agent.send('events:list', input)).json()).toEqual(await list(input))
    }
  })
})
