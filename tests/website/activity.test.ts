import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { createId } from '../../src/kernel/ids.ts'
import {
  addPerson,
  createCompany,
  createInvite,
  createTeam,
  del,
  type TestCompany,
} from '../support/company.ts'
import { recordStatements } from '../support/record-statements.ts'
import { createLabel, createSeed } from '../support/seeds.ts'
import { startTestApp, type TestPerson } from '../support/test-app.ts'
import { signInAs, withoutLinks } from './visitor.ts'

const website = await startTestApp()

async function startCompany() {
  const company = await createCompany(website)
  return { ...company, activity: `/w/${company.workspace.slug}/activity` }
}

/** Appends an event. */
async function addEvent(
  { workspace }: TestCompany,
  actor: TestPerson | { id: null; name: string },
  event: { summary: string; at: string; type?: string; source?: 'web' | 'mcp' | 'system'; grantId?: string },
): Promise<void> {
  const { summary, at, type = 'seed.created', source = 'web', grantId = null } = event
  await website.db.execute(sql`
    insert into events (id, workspace_id, type, actor_type, actor_user_id, actor_name, grant_id, source, summary, created_at)
    values (${createId()}, ${workspace.id}, ${type}, ${{ web: 'user', mcp: 'agent', system: 'system' }[source]}, ${actor.id}, ${actor.name},
      ${grantId}, ${source}, ${summary}, ${at})`)
}

/** Gives an agent access on behalf of a person. Returns the id of the grant. */
async function addGrant(
  { workspace }: TestCompany,
  person: TestPerson,
  clientName: string,
  { isRevoked = false } = {},
): Promise<string> {
  const id = createId()
  const now = new Date().toISOString()
  await website.db.execute(sql`
    insert into agent_grants (id, workspace_id, user_id, client_id, client_name, scopes, created_at, expires_at, revoked_at)
    values (${id}, ${workspace.id}, ${person.id}, ${`client-${id}`}, ${clientName}, '{validation-kit:read}', ${now},
      ${new Date(Date.now() + 86_400_000).toISOString()}, ${isRevoked ? now : null})`)
  return id
}

const summariesOn = (page: string) =>
  [...page.matchAll(/<p class="event">.*?<bdi dir="ltr">(.*?)<\/bdi\s*><span/gs)].map(([, text = '']) =>
    withoutLinks(text),
  )
const linkOf = (page: string, text: string) =>
  new RegExp(`<a[^>]*href="([^"]*)"[^>]*>\\s*${text}\\s*</a`).exec(page)?.[1]?.replaceAll('&amp;', '&') ?? ''

describe('the activity page', () => {
  it('shows events newest first, under a heading for each day, with times for people and for programs', async () => {
    const company = await startCompany()
    await addEvent(company, company.owner, { summary: 'Olga did one', at: '2031-03-01T23:59:00.000Z' })
    await addEvent(company, company.owner, { summary: 'Olga did two', at: '2031-03-02T00:01:00.000Z' })
    await addEvent(company, company.owner, { summary: 'Olga did three', at: '2031-03-02T09:30:00.000Z' })
    const { body } = await (
      await signInAs(website, company.viewer)
    ).get(`${company.activity}?from=2031-03-01`)
    expect(summariesOn(body)).toEqual(['Olga did three', 'Olga did two', 'Olga did one'])
    // Versions of ICU differ in the comma.
    const days = [...body.matchAll(/<h2>([^<]*)</g)].map(([, day]) => day?.replace(',', ''))
    expect(days).toEqual(['Sunday 2 March 2031', 'Saturday 1 March 2031'])
    expect(body).toMatch(/<time datetime="2031-03-02T09:30:00.000Z" data-format="clock"\s*>09:30 UTC</)
  })

  it('hides invites and the agents of other people from members and viewers, and returns 403 to non-members', async () => {
    const company = await startCompany()
    const { email } = await createInvite(website, company.owner, company)
    const grantId = await addGrant(company, company.owner, 'Secret agent')
    await addEvent(company, company.owner, {
      summary: 'Olga made a seed',
      at: '2031-01-01T00:00:00Z',
      source: 'mcp',
      grantId,
    })
    const pages = new Map<string, string>()
    for (const role of ['owner', 'admin', 'member', 'viewer'] as const)
      pages.set(role, (await (await signInAs(website, company[role])).get(company.activity)).body)
    for (const [role, page] of pages) {
      const seesAll = role === 'owner' || role === 'admin'
      expect(page, role).toContain('Olga made a seed')
      expect(page, role).toContain('>Agent<')
      expect(page.includes('Secret agent'), role).toBe(seesAll)
      expect(page.includes(email), role).toBe(seesAll)
      expect(page.includes('Invite revoked'), role).toBe(seesAll)
    }
    const hidden = await (
      await signInAs(website, company.viewer)
    ).get(`${company.activity}?type=invite.created`)
    expect(hidden.body).toContain('No activity matches the filter.')
    expect(
      (await (await signInAs(website, await website.createPerson())).get(company.activity)).statusCode,
    ).toBe(403)
  })

  it('shows the face of the person, or of the agent who did it, and none where nobody did', async () => {
    const company = await startCompany()
    const { member, owner } = company
    const grantId = await addGrant(company, member, 'Robbie')
    await website.db.execute(sql`update users set image_key = 'photos/mary.webp' where id = ${member.id}`)
    const at = (day: number) => `2031-01-0${day}T00:00:00Z`
    await addEvent(company, { id: null, name: '' }, { summary: 'One was done', at: at(4), source: 'system' })
    await addEvent(company, member, { summary: 'Mary did two', at: at(3) })
    await addEvent(company, member, { summary: 'Robbie did three', at: at(2), source: 'mcp', grantId })
    await addEvent(company, owner, { summary: 'Olga did four', at: at(1) })
    const { body } = await (await signInAs(website, owner)).get(`${company.activity}?from=2031-01-01`)
    const faces = [...body.matchAll(/<p class="event">(.*?)<bdi dir="ltr">/gs)].map(([, face = '']) =>
      face.replaceAll(/\s+/g, ' ').trim(),
    )
    expect(faces).toEqual([
      '<span class="picture s28"></span>',
      expect.stringMatching(/^<img class="picture round s28" src="[^"]*photos\/mary\.webp"/),
      '<span class="picture agent s28" aria-hidden="true">R</span>',
      expect.stringMatching(/^<span class="picture round s28 hue-\d" aria-hidden="true">O<\/span>$/),
    ])
  })

  it('names the agent of the reader, even after its access was revoked', async () => {
    const company = await startCompany()
    const grantId = await addGrant(company, company.member, 'Claude <3', { isRevoked: true })
    await addEvent(company, company.member, {
      summary: 'Mary made a seed',
      at: '2031-01-01T00:00:00Z',
      source: 'mcp',
      grantId,
    })
    const { body } = await (await signInAs(website, company.member)).get(company.activity)
    expect(body).toContain('<bdi>Claude &lt;3</bdi>')
  })

  it('marks events without a person as “by the service”, and members added by an operator as “on the server”', async () => {
    const company = await startCompany()
    const [at, source] = ['2031-01-01T00:00:00Z', 'system'] as const
    await addEvent(company, company.owner, { summary: 'Olga was added', at, source, type: 'member.joined' })
    // The examples of the first start look like any other seeds.
    await addEvent(company, company.owner, { summary: 'Olga made a seed', at, source, type: 'seed.created' })
    const read = async () => (await (await signInAs(website, company.owner)).get(company.activity)).body
    expect((await read()).match(/ · on the server/g)).toHaveLength(1)
    expect(await read()).not.toContain('by the service')
    await addEvent(company, { id: null, name: 'The service' }, { summary: 'Access ended', at, source })
    expect(await read()).toContain(' · by the service')
  })

  it('filters events by type, person and days', async () => {
    const company = await startCompany()
    const { owner, member } = company
    await addEvent(company, owner, { summary: 'Olga one', at: '2031-03-01T00:00:00Z' })
    await addEvent(company, member, { summary: 'Mary two', at: '2031-03-02T23:59:59Z' })
    await addEvent(company, member, {
      summary: 'Mary three',
      at: '2031-03-03T00:00:00Z',
      type: 'team.created',
    })
    const visitor = await signInAs(website, owner)
    const find = async (query: string) =>
      summariesOn((await visitor.get(`${company.activity}?${query}`)).body)
    expect(await find('from=2031-01-01&type=team.created')).toEqual(['Mary three'])
    expect(await find('from=2031-03-02&to=2031-03-02')).toEqual(['Mary two'])
    expect(await find(`actor=${owner.id}&from=2031-01-01`)).toEqual(['Olga one'])
    expect(await find('person=mary&from=2031-01-01')).toEqual(['Mary three', 'Mary two'])
    expect(await find('type=&person=&from=&to=2031-03-01&actor=').then((all) => all[0])).toBe('Olga one')
  })

  it('filters by agent: one of the list, or one that a link names, also of others and when its access has ended', async () => {
    const company = await startCompany()
    const [own, ended, others] = [
      await addGrant(company, company.member, 'Robbie'),
      await addGrant(company, company.member, 'Marvin', { isRevoked: true }),
      await addGrant(company, company.owner, 'Gort'),
    ]
    const at = '2031-01-01T00:00:00Z'
    for (const [grantId, summary] of [
      [own, 'Mary did one'],
      [ended, 'Mary did two'],
      [others, 'Olga did three'],
    ] as const)
      await addEvent(company, grantId === others ? company.owner : company.member, {
        ...{ summary, at, source: 'mcp', grantId },
      })
    const [member, owner] = [await signInAs(website, company.member), await signInAs(website, company.owner)]
    const read = async (visitor: typeof member, agent: string) => {
      const { body } = await visitor.get(`${company.activity}?agent=${agent}`)
      const choices = /<select id="agent"[^>]*>(.*?)<\/select/s.exec(body)?.[1] ?? ''
      const [chosen] = /<option[^>]* selected[^>]*>([^<]*)</.exec(choices)?.slice(1) ?? []
      return { body, summaries: summariesOn(body), choices, chosen: chosen?.trim() }
    }
    expect(await read(member, own)).toMatchObject({ summaries: ['Mary did one'], chosen: 'Robbie' })
    expect(await read(member, ended)).toMatchObject({ summaries: ['Mary did two'], chosen: 'Marvin' })
    expect(await read(member, others)).toMatchObject({
      summaries: ['Olga did three'],
      chosen: 'Another agent',
    })
    expect(member.page()).not.toContain('Gort')
    const ofOwner = await read(owner, others)
    expect(ofOwner).toMatchObject({ summaries: ['Olga did three'], chosen: 'Gort' })
    expect(ofOwner.choices).toContain('Robbie for Mary Member')
    expect(ofOwner.body).toContain(`href="/w/${company.workspace.slug}/agents/${others}"`)
    const unknown = await read(owner, createId())
    expect(unknown.body).toContain('No activity matches the filter.')
    expect((await owner.get(`/w/${company.workspace.slug}/agents/${own}`)).body).toContain(
      `${company.activity}?agent=${own}`,
    )
    // Without agents there is nothing to choose from.
    expect((await (await signInAs(website, company.viewer)).get(company.activity)).body).not.toContain(
      'id="agent"',
    )
  })

  it('filters by seed: one with the typed words, one of several, or one that a link names, also when it is deleted', async () => {
    const company = await startCompany()
    const [robots, robot] = [
      await createSeed(website, company.owner, company, { title: 'Robots for all' }),
      await createSeed(website, company.owner, company, { title: 'A robot for me' }),
    ]
    const visitor = await signInAs(website, company.viewer)
    const find = async (query: string) =>
      summariesOn((await visitor.get(`${company.activity}?${query}`)).body)
    expect(await find('about=robots')).toEqual(['Olga Owner created the seed Robots for all'])
    expect(visitor.page()).toContain(`name="seed" value="${robots.id}"`)
    expect(await find('about=robo&type=seed.created')).toHaveLength(2)
    expect(visitor.page()).toContain('Several seeds match')
    expect(visitor.page()).toContain(`?type=seed.created&amp;seed=${robot.id}`)
    await find('about=nothing%20like%20it')
    expect(visitor.page()).toContain('No seed has the words “nothing like it”')
    expect((await visitor.get(`/w/${company.workspace.slug}/seeds/${robot.id}`)).body).toContain(
      `${company.activity}?seed=${robot.id}`,
    )
    await website.as(company.owner, del(`/v1/seeds/${robot.id}`))
    expect(await find(`seed=${robot.id}`)).toEqual([
      'Olga Owner deleted the seed A robot for me',
      'Olga Owner created the seed A robot for me',
    ])
    expect(visitor.page()).toContain('<bdi>A robot for me</bdi>')
    // Of a seed elsewhere not even the title.
    const other = await startCompany()
    const foreign = await createSeed(website, other.owner, other, { title: 'Elsewhere' })
    expect(await find(`seed=${foreign.id}`)).toEqual([])
    expect(visitor.page()).not.toContain('Elsewhere')
  })

  it('filters by what the seeds are now, by team and label as far as there are any', async () => {
    const company = await startCompany()
    const { owner } = company
    const visitor = await signInAs(website, owner)
    expect((await visitor.get(company.activity)).body).not.toMatch(/name="(team|label)"/)
    const team = await createTeam(website, owner, company, 'Design')
    const label = await createLabel(website, owner, company, 'Pricing')
    const [sorted, other] = [
      await createSeed(website, owner, company, { title: 'Robots' }),
      await createSeed(website, owner, company, { title: 'Bikes' }),
    ]
    const sorting = { teamId: team.id, labelIds: [label.id] }
    await website.as(owner, { method: 'PATCH', url: `/v1/seeds/${sorted.id}`, payload: sorting })
    await website.as(owner, { method: 'PATCH', url: `/v1/seeds/${other.id}`, payload: { leadUserId: null } })
    await website.db.execute(
      sql`update seeds set decide_by = '2020-02-29', supports_count = 1 where id = ${sorted.id}`,
    )
    for (const [name, id] of [
      ['team', team.id],
      ['label', label.id],
      ['lead', 'me'],
      ['due', 'overdue'],
      ['balance', 'for'],
    ]) {
      const { body } = await visitor.get(`${company.activity}?${name}=${id}`)
      expect(body).toMatch(new RegExp(`<option value="${id}"\\s+selected`))
      expect(body).toContain(sorted.id)
      expect(body).not.toContain(other.id)
    }
    const unknown = await visitor.get(`${company.activity}?team=${createId()}`)
    expect(unknown.body).toContain('No activity matches the filter.')
    expect((await visitor.get(`${company.activity}?label=x`)).body).toContain('That label does not exist.')
  })

  it('filters by days of the requested time zone, or of UTC if the time zone is invalid', async () => {
    const company = await startCompany()
    const visitor = await signInAs(website, company.owner)
    for (const [summary, at] of [
      ['Before', '2031-03-29T22:59:59.999Z'],
      ['First', '2031-03-29T23:00:00Z'],
      ['Last', '2031-03-30T21:59:59.999Z'],
      ['After', '2031-03-30T22:00:00Z'],
    ] as const)
      await addEvent(company, company.owner, { summary: `Olga ${summary}`, at })
    const find = async (zone: string) =>
      summariesOn((await visitor.get(`${company.activity}?from=2031-03-30&to=2031-03-30&zone=${zone}`)).body)
    // Berlin sets its clocks forward on this day, which has 23 hours.
    expect(await find('Europe%2FBerlin')).toEqual(['Olga Last', 'Olga First'])
    expect(visitor.page()).toContain('>Europe/Berlin</span>')
    for (const zone of ['', 'UTC', 'Nowhere', '%00', 'x'.repeat(500)])
      expect(await find(zone), zone).toEqual(['Olga After', 'Olga Last'])
    expect(await find('Asia%2FKathmandu')).toEqual(['Olga First', 'Olga Before'])
  })

  it('offers a choice of members when several match the typed name, and says when none matches', async () => {
    const company = await startCompany()
    const other = await addPerson(website, company.workspace, 'member', 'Mary <b>Member</b> the second')
    const visitor = await signInAs(website, company.viewer)
    const { body } = await visitor.get(`${company.activity}?person=Mary&type=team.created`)
    expect(body).toContain('Several members match')
    expect(body).not.toContain('<b>Member')
    expect(body).toContain(`?type=team.created&amp;actor=${other.id}`)
    const chosen = (await visitor.get(`${company.activity}?type=team.created&actor=${other.id}`)).body
    expect(chosen).toContain(`name="actor" value="${other.id}"`)
    expect(chosen).not.toContain('name="person"')
    const none = (await visitor.get(`${company.activity}?person=Nobody%22%3E`)).body
    expect(none).toContain('No member matches “Nobody&quot;&gt;”')
  })

  it('shows the events of former members', async () => {
    const company = await startCompany()
    await createTeam(website, company.admin, company, 'Looms')
    const left = await website.as(company.admin, del(`${company.url}/members/${company.admin.id}`))
    expect(left.statusCode).toBe(200)
    const visitor = await signInAs(website, company.viewer)
    const { body } = await visitor.get(`${company.activity}?actor=${company.admin.id}`)
    expect(summariesOn(body)).toContain('Adam Admin created the team Looms')
    expect(body).toContain('<bdi>Adam Admin</bdi>')
    expect((await visitor.get(`${company.activity}?actor=${createId()}`)).body).toContain('a former member')
  })

  it('links newer and older pages of 50 events, which keep the filter', async () => {
    const company = await startCompany()
    for (let i = 0; i < 120; i++)
      await addEvent(company, company.owner, {
        summary: `Olga ${i}`,
        at: new Date(Date.UTC(2031, 0, 1, 0, i)).toISOString(),
      })
    const visitor = await signInAs(website, company.viewer)
    const first = (await visitor.get(`${company.activity}?type=seed.created`)).body
    const second = (await visitor.get(linkOf(first, 'Older'))).body
    const third = (await visitor.get(linkOf(second, 'Older'))).body
    expect([first, second, third].map((page) => summariesOn(page)[0])).toEqual([
      'Olga 119',
      'Olga 69',
      'Olga 19',
    ])
    expect([first, second, third].map((page) => summariesOn(page).length)).toEqual([50, 50, 20])
    expect(linkOf(third, 'Older')).toBe('')
    expect(summariesOn((await visitor.get(linkOf(third, 'Newer'))).body)).toEqual(summariesOn(second))
    expect(summariesOn((await visitor.get(linkOf(second, 'Newest'))).body)).toEqual(summariesOn(first))
    // Only the first page changes while it is open.
    expect([first, second].map((page) => page.includes('data-live'))).toEqual([true, false])
  })

  it('shows a hint when the workspace has no events', async () => {
    const company = await startCompany()
    await website.db.execute(sql`delete from events where workspace_id = ${company.workspace.id}`)
    const { body } = await (await signInAs(website, company.viewer)).get(company.activity)
    expect(body).toContain('No activity yet.')
  })

  it.each([
    ['cursor=x', 'This is the first page.'],
    ['cursor=%00&trail=%00', 'This is the first page.'],
    ['type=nothing', 'That kind of activity does not exist.'],
    ['agent=nothing', 'That agent does not exist.'],
    ['seed=%00', 'That seed does not exist.'],
    ['type=__proto__', 'That kind of activity does not exist.'],
    ['type=%00', 'That kind of activity does not exist.'],
    ['actor=x', 'That person does not exist.'],
    ['actor=%00', 'That person does not exist.'],
    ['from=yesterday', 'The first day is not a date.'],
    ['from=2031-02-30', 'The first day is not a date.'],
    ['to=0000-01-01', 'The last day is not a date.'],
    ['to=99999-01-01', 'The last day is not a date.'],
    ['from=2031-03-02&to=2031-03-01', 'The first day is after the last day.'],
    ['to=9999-12-31', 'Olga Owner created'],
    ['type=x&type=seed.created&actor=a&actor=b', 'That person does not exist.'],
    ['person=%00', 'Olga Owner created'],
  ])('returns 200 and explains the problem, or ignores it, for the query %s', async (query, text) => {
    const company = await startCompany()
    const answer = await (await signInAs(website, company.member)).get(`${company.activity}?${query}`)
    expect(answer.statusCode).toBe(200)
    expect(answer.headers['content-type']).toContain('text/html')
    expect(withoutLinks(answer.body)).toContain(text)
  })

  it('resolves the workspace and the role once, and runs at most six statements', async () => {
    const company = await startCompany()
    const visitor = await signInAs(website, company.owner)
    const path = `${company.activity}?actor=${company.owner.id}`
    const { texts } = await recordStatements(() => visitor.get(path))
    expect(texts.filter((text) => text.includes('"workspace_slugs"'))).toHaveLength(1)
    // One is of the choices of filters, the last of what the events name.
    expect(texts.length).toBeLessThanOrEqual(6)
  })

  it('is linked from the workspace home', async () => {
    const company = await startCompany()
    const { body } = await (await signInAs(website, company.viewer)).get(`/w/${company.workspace.slug}`)
    expect(linkOf(body, 'All activity')).toBe(company.activity)
  })
})
