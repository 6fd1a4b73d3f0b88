import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { letAgentIn } from '../support/agent-caller.ts'
import { createComment } from '../support/comments.ts'
import { createCompany, createInvite, patch, post } from '../support/company.ts'
import { countQueries } from '../support/count-queries.ts'
import { addEvidence, createSeed, insertGrant, joinSeed } from '../support/seeds.ts'
import { startTestApp } from '../support/test-app.ts'
import { createWorkspace } from '../support/workspaces.ts'
import { signInAs } from './visitor.ts'

const website = await startTestApp()

async function startCompany() {
  const company = await createCompany(website)
  return { ...company, base: `/w/${company.workspace.slug}` }
}

/** An event of the owner, as it would be after a change. */
async function insertEvent(
  { owner, workspace }: Awaited<ReturnType<typeof startCompany>>,
  type: string,
  source = 'web',
) {
  await website.db.execute(sql`
    insert into events (id, workspace_id, type, actor_type, actor_user_id, actor_name, source, target_type, target_id, summary, created_at)
    values (${crypto.randomUUID()}, ${workspace.id}, ${type}, 'user', ${owner.id}, 'Olga', ${source}, 'integration', ${crypto.randomUUID()}, 'x', now())`)
}

describe('the first steps', () => {
  const stepsOn = (page: string) =>
    [...page.matchAll(/<li( class="done")?>\s*<span aria-hidden="true">[✓○]</g)].map(
      ([, done]) => done !== undefined,
    )

  it('are checked when the person has done them, and hidden after the last one', async () => {
    const company = await startCompany()
    const visitor = await signInAs(website, company.owner)
    const read = async () => stepsOn((await visitor.get(company.base)).body)
    expect(await read()).toEqual([false, false, false, false, false])
    await createInvite(website, company.owner, company)
    expect(await read()).toEqual([true, false, false, false, false])
    const seed = await createSeed(website, company.owner, company)
    expect(await read()).toEqual([true, true, false, false, false])
    await joinSeed(website, company.owner, seed)
    await addEvidence(website, company.owner, seed)
    expect(await read()).toEqual([true, true, true, false, false])
    await website.as(company.owner, post(`/v1/seeds/${seed.id}/comments`, { body: 'Who pays for it?' }))
    expect(await read()).toEqual([true, true, true, true, false])
    await insertEvent(company, 'integration.granted')
    expect(await read()).toEqual([])
    expect(visitor.page()).not.toContain('First steps')
  })

  it('lead to a seed, if there is one', async () => {
    const company = await startCompany()
    const visitor = await signInAs(website, company.owner)
    const linkOf = async (label: string) =>
      new RegExp(`href="([^"]*)"\\s*>${label}<`).exec((await visitor.get(company.base)).body)?.[1]
    expect(await linkOf('Comment on a seed')).toBe(`${company.base}/seeds`)
    const seed = await createSeed(website, company.admin, company)
    expect(await linkOf('Comment on a seed')).toBe(`${company.base}/seeds/${seed.id}#thread`)
    expect(await linkOf('Create a seed')).toBe(`${company.base}/seeds/new`)
  })

  it('are those of the role, and show nothing that others, agents or the server did', async () => {
    const company = await startCompany()
    const { admin, member, owner, viewer } = company
    const read = async (person: typeof member) =>
      stepsOn((await (await signInAs(website, person)).get(company.base)).body)
    await createInvite(website, owner, company)
    const seed = await createSeed(website, owner, company)
    await insertEvent({ ...company, owner: admin }, 'seed.created', 'system')
    await insertEvent({ ...company, owner: admin }, 'evidence.added', 'mcp')
    expect(await read(admin)).toEqual([false, false, false, false, false])
    expect(await read(member)).toEqual([false, false, false, false])
    // To follow a seed, and to connect an agent.
    expect(await read(viewer)).toEqual([false, false])
    await website.as(viewer, post(`/v1/seeds/${seed.id}/follow`))
    expect(await read(viewer)).toEqual([true, false])
  })

  it('are for new members', async () => {
    const { base, member, workspace } = await startCompany()
    const visitor = await signInAs(website, member)
    expect((await visitor.get(base)).body).toContain('First steps')
    await website.db.execute(
      sql`update memberships set joined_at = now() - '31 days'::interval
        where workspace_id = ${workspace.id} and user_id = ${member.id}`,
    )
    expect((await visitor.get(base)).body).not.toContain('First steps')
  })

  it('can be hidden for one workspace', async () => {
    const company = await startCompany()
    const visitor = await signInAs(website, company.owner)
    await visitor.get(company.base)
    expect((await visitor.submit(`${company.base}/first-steps`)).headers.location).toBe(company.base)
    expect((await visitor.get(company.base)).body).not.toContain('First steps')
    const other = await createWorkspace(website, company.owner)
    expect((await visitor.get(`/w/${other.slug}`)).body).toContain('First steps')
    visitor.cookies.set('no-first-steps', '..<b>.%00')
    expect((await visitor.get(company.base)).body).toContain('First steps')
  })
})

describe('the notices on the home page', () => {
  const text = 'lost its access'

  it('report the person’s agents whose access ended, unless they revoked or reconnected them', async () => {
    const company = await startCompany()
    const { owner, member, workspace } = company
    const visitor = await signInAs(website, member)
    const end = (id: string, column: 'revoked_at' | 'expires_at', ago: string) =>
      website.db.execute(
        sql`update agent_grants set ${sql.raw(column)} = now() - ${ago}::interval where id = ${id}`,
      )
    const see = async () => (await visitor.get(company.base)).body.includes(text)
    const grant = await insertGrant(website, workspace, member)
    expect(await see()).toBe(false)

    await end(grant.id, 'expires_at', '1 day')
    expect(await see()).toBe(true)
    expect((await (await signInAs(website, owner)).get(company.base)).body).not.toContain(text)
    await end(grant.id, 'expires_at', '15 days')
    expect(await see()).toBe(false)

    // An admin revokes another one.
    const second = await insertGrant(website, workspace, member, { clientName: 'Claude <3' })
    const revoke = (person: typeof owner, id: string) =>
      website.as(person, post(`${company.url}/integrations/${id}/revoke`))
    expect((await revoke(owner, second.id)).statusCode).toBe(200)
    expect(await see()).toBe(true)
    expect(visitor.page()).toContain('<bdi>Claude &lt;3</bdi>')
    // The same agent is connected again.
    await website.db.execute(
      sql`update agent_grants set client_id = 'same', created_at = now() - '2 days'::interval where id = ${second.id}`,
    )
    const third = await insertGrant(website, workspace, member)
    await website.db.execute(sql`update agent_grants set client_id = 'same' where id = ${third.id}`)
    expect(await see()).toBe(false)
    // The person revokes it.
    expect((await revoke(member, third.id)).statusCode).toBe(200)
    expect(await see()).toBe(false)
  })
})

describe('what waits for a person', () => {
  const rowsOn = (page: string) => {
    const section = /<section aria-labelledby="waiting">[\s\S]*?<\/section>/.exec(page)?.[0] ?? ''
    return [...section.matchAll(/<li[^>]*>([\s\S]*?)<\/li>/g)].map(([, row = '']) =>
      row
        .replace(/<[^>]*>/g, '')
        .replace(/\s+/g, ' ')
        .replace(/\d+ \w+ \d{4}, \d\d:\d\d UTC/, 'TIME')
        .trim(),
    )
  }

  it('is listed with mentions first, then invites, changed seeds and idle seeds', async () => {
    const company = await startCompany()
    const { base, member, owner } = company
    const other = await createCompany(website)
    const visitor = await signInAs(website, member)
    expect(rowsOn((await visitor.get(base)).body)).toEqual([])

    const idle = await createSeed(website, member, company, { title: 'Shorter <invoices>' })
    await website.db.execute(
      sql`update seeds set created_at = now() - '8 days'::interval where id = ${idle.id}`,
    )
    const seed = await createSeed(website, member, company, { title: 'Bikes' })
    await joinSeed(website, owner, seed)
    await addEvidence(website, owner, seed)
    await addEvidence(website, owner, seed)
    await website.as(owner, post(`/v1/seeds/${seed.id}/comments`, { body: 'Who pays?' }))
    await website.as(
      owner,
      post(`/v1/seeds/${idle.id}/comments`, { body: `[@M](user:${member.id}) is it alive?` }),
    )
    await createInvite(website, other.owner, other, { email: member.email })
    expect(rowsOn((await visitor.get(base)).body)).toEqual([
      `O Unread: ${owner.name} mentioned you in Shorter &lt;invoices&gt; @${member.name} is it alive? ${company.workspace.name}, TIME Mark as read: ${owner.name} mentioned you in Shorter &lt;invoices&gt;`,
      `${other.owner.name} invited you to ${other.workspace.name} Until TIME`,
      'Unread: Bikes 1 new comment and 2 new pieces of evidence, TIME Mark as read: Bikes',
      'Shorter &lt;invoices&gt; Open No evidence yet, created TIME',
    ])

    // The page of the seed marks what is new in it as read, and nothing else.
    const ids = new RegExp(`/seeds/${seed.id}\\?notifications=([^"]*)`).exec(visitor.page())?.[1]
    await visitor.post('/notifications/read', { ids: String(ids).replaceAll('.', ' ') })
    expect(rowsOn((await visitor.get(base)).body).map((row) => row.split(' ')[0])).toEqual([
      // The letter of a face, before a mention.
      'O',
      other.owner.name.split(' ')[0],
      'Shorter',
    ])
  })

  it('has no notifications of other workspaces', async () => {
    const company = await startCompany()
    const { base, member, owner } = company
    const elsewhere = await createWorkspace(website, member)
    const seed = await createSeed(website, member, company)
    await joinSeed(website, owner, seed)
    await addEvidence(website, owner, seed)
    const visitor = await signInAs(website, member)
    expect(rowsOn((await visitor.get(base)).body)).toHaveLength(1)
    expect(rowsOn((await visitor.get(`/w/${elsewhere.slug}`)).body)).toEqual([])
  })

  it('has seeds in progress without new evidence for a week, of those who lead or created them', async () => {
    const company = await startCompany()
    const { base, member, owner } = company
    const seed = await createSeed(website, member, company, { title: 'Bikes' })
    const age = (days: number) =>
      website.db.execute(
        sql`update evidence set created_at = now() - ${`${days} days`}::interval where seed_id = ${seed.id}`,
      )
    const read = async (person: typeof member) =>
      rowsOn((await (await signInAs(website, person)).get(base)).body).filter(
        (row) => !row.startsWith('Unread'),
      )
    const isIdle = ['Bikes Open Last evidence TIME']
    await addEvidence(website, member, seed)
    await website.db.execute(
      sql`update seeds set created_at = now() - '30 days'::interval where id = ${seed.id}`,
    )
    expect(await read(member)).toEqual([])
    await age(8)
    expect(await read(member)).toEqual(isIdle)
    expect(await read(owner)).toEqual([])
    // Withdrawn evidence does not count.
    await joinSeed(website, owner, seed)
    await addEvidence(website, owner, seed)
    expect(await read(member)).toEqual([])
    await website.db.execute(
      sql`update evidence set withdrawn_at = now() where seed_id = ${seed.id} and author_user_id = ${owner.id}`,
    )
    expect(await read(member)).toEqual(isIdle)
    // Another person leads it.
    await website.as(member, patch(`/v1/seeds/${seed.id}`, { leadUserId: owner.id }))
    expect(await read(owner)).toEqual(isIdle)
    expect(await read(member)).toEqual(isIdle)
    await website.as(member, post(`/v1/seeds/${seed.id}/leave`))
    expect(await read(member)).toEqual([])
    await website.as(owner, patch(`/v1/seeds/${seed.id}`, { status: 'dropped' }))
    expect(await read(owner)).toEqual([])
  })
})

describe('the activity on the home page', () => {
  const activityOn = (page: string) =>
    [...page.matchAll(/<p class="event">.*?(<bdi dir="ltr">.*?)<span class="hint">/gs)].map(([, line = '']) =>
      line.replace(/<[^>]*>/g, '').trim(),
    )

  it('shows runs of like events by one person as one line, with a link to what they share', async () => {
    const company = await startCompany()
    const { base, member, owner } = company
    const visitor = await signInAs(website, owner)
    for (let i = 0; i < 3; i++) await createInvite(website, owner, company)
    await createInvite(website, company.admin, company)
    const seed = await createSeed(website, member, company, { title: 'Bikes' })
    const other = await createSeed(website, member, company, { title: 'Boats' })
    for (const each of [other, seed, seed]) await addEvidence(website, member, each)
    const lines = activityOn((await visitor.get(base)).body)
    expect(lines.slice(0, 5)).toEqual([
      `${member.name} added 2 pieces of evidence to the seed Bikes`,
      `${member.name} added an interview that supports the seed Boats`,
      `${member.name} created 2 seeds`,
      expect.stringMatching(new RegExp(`^${company.admin.name} invited \\S+ as`)),
      `${owner.name} invited 3 people`,
    ])
    expect(visitor.page()).toContain(`<a href="${base}/seeds/${seed.id}"><bdi>Bikes</bdi></a>`)
  })

  it('shows a discussion as one line that names two people, and what an agent added by itself', async () => {
    const company = await startCompany()
    const { base, admin, member, owner } = company
    const agent = await letAgentIn(website, company.workspace, member)
    const seed = await createSeed(website, owner, company, { title: 'Bikes' })
    for (const author of [owner, member, owner]) await createComment(website, author, seed)
    await agent.use('add_comment', { seedId: seed.id, body: 'By a program.' })
    for (const author of [owner, admin, member, owner]) await createComment(website, author, seed)
    const lines = activityOn((await (await signInAs(website, owner)).get(base)).body)
    expect(lines.slice(0, 3)).toEqual([
      `${owner.name}, ${member.name} and another added 4 comments to the seed Bikes`,
      expect.stringMatching(new RegExp(`^${member.name}.* commented on the seed Bikes$`)),
      `${owner.name} and ${member.name} added 3 comments to the seed Bikes`,
    ])
  })

  it('says that there may be more if a run is longer than what was read', async () => {
    const company = await startCompany()
    const { owner, workspace } = company
    await website.db.execute(sql`
      insert into events (id, workspace_id, type, actor_type, actor_user_id, actor_name, source, target_type, target_id, summary, created_at)
      select gen_random_uuid(), ${workspace.id}, 'invite.created', 'user', ${owner.id}, 'Olga', 'web', 'invite', gen_random_uuid(), 'x', now()
      from generate_series(1, 201)`)
    const visitor = await signInAs(website, owner)
    expect(activityOn((await visitor.get(company.base)).body)).toEqual(['Olga invited at least 200 people'])
  })

  it('leaves out what the server made as examples, but not what operators did', async () => {
    const company = await startCompany()
    const visitor = await signInAs(website, company.owner)
    await insertEvent(company, 'seed.created', 'system')
    await insertEvent(company, 'member.removed', 'system')
    const before = activityOn((await visitor.get(company.base)).body)
    expect(before.filter((line) => line === 'x')).toHaveLength(1)
    expect(
      activityOn((await visitor.get(`${company.base}/activity`)).body).filter((line) => line === 'x'),
    ).toHaveLength(2)
  })
})

describe('the home page of a workspace', () => {
  it('explains seeds, and links only the actions that the role permits', async () => {
    const company = await startCompany()
    const [member, viewer] = [company.member, company.viewer]
    const read = async (person: typeof member) =>
      (await (await signInAs(website, person)).get(company.base)).body
    expect(await read(member)).toContain('A seed is an early idea')
    expect(await read(member)).toContain(`href="${company.base}/seeds/new"`)
    expect(await read(viewer)).not.toContain(`href="${company.base}/seeds/new"`)
    expect(await read(member)).not.toContain(`href="${company.base}/invites"`)
    expect(await read(company.admin)).toContain(`href="${company.base}/invites"`)
  })

  it('runs at most ten statements, and one more if something is unread', async () => {
    const company = await startCompany()
    const { member, owner } = company
    const seed = await createSeed(website, owner, company)
    const visitor = await signInAs(website, owner)
    // The session, the workspace, two lists of seeds, what the person has done, members, activity, agents that lost
    // access, and invites; then what the activity names.
    expect(await countQueries(() => visitor.get(company.base))).toBeLessThanOrEqual(10)
    await joinSeed(website, member, seed)
    await addEvidence(website, member, seed)
    expect(await countQueries(() => visitor.get(company.base))).toBeLessThanOrEqual(11)
  })
})
