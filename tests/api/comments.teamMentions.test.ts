import type { LightMyRequestResponse } from 'fastify'
import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { createId } from '../../src/kernel/ids.ts'
import { createComment, findNotices, type TestComment } from '../support/comments.ts'
import { addPerson, createCompany, createTeam, del, get, patch, post } from '../support/company.ts'
import { untilTrue } from '../support/eventually.ts'
import { startMailServer } from '../support/mail-server.ts'
import { createOAuthTester } from '../support/oauth-client.ts'
import { runJobsNow } from '../support/run-jobs-now.ts'
import { createSeed } from '../support/seeds.ts'
import { selectRows, startTestApp, type TestPerson } from '../support/test-app.ts'
import { createTestClock } from '../support/test-clock.ts'

const clock = createTestClock()
const server = await startMailServer()
const environment = { SMTP_URL: server.url, WEB_URL: 'https://app.example.com' }
const service = await startTestApp({ clock, environment })
const { as, db } = service
await service.services.startJobs()
const company = await createCompany(service)
const { owner, admin, member, viewer, workspace } = company
const seed = await createSeed(service, owner, company)

interface Team {
  id: string
  name: string
}

const mentionOf = ({ id, name }: Team) => `[@${name}](team:${id})`

async function createTeamOf(people: readonly TestPerson[], name: string): Promise<Team> {
  const { id } = await createTeam(service, owner, company, name)
  for (const { id: userId } of people) await as(owner, post(`${company.url}/teams/${id}/members`, { userId }))
  return { id, name }
}

/** A team of many people, who are not written one by one. */
async function createTeamOfSize(size: number, name: string): Promise<Team> {
  const team = await createTeamOf([], name)
  const people = sql`from generate_series(1, ${size}) as n`
  const id = sql`md5(${team.id} || n)::uuid`
  await db.execute(sql`insert into users (id, name, email, created_at)
    select ${id}, 'Person ' || n, ${team.id} || n || '@example.com', now() ${people}`)
  await db.execute(sql`insert into memberships (workspace_id, user_id, role, joined_at, last_used_at)
    select ${workspace.id}, ${id}, 'viewer', now(), now() ${people}`)
  await db.execute(sql`insert into team_members (team_id, user_id, workspace_id, added_at)
    select ${team.id}, ${id}, ${workspace.id}, now() ${people}`)
  return team
}

const write = (person: TestPerson, body: string) => createComment(service, person, seed, { body })
const edit = (person: TestPerson, id: string, body: string) =>
  as(person, patch(`/v1/comments/${id}`, { body }))
/** Whom a comment told that it mentions them. */
const toldBy = async (id: string) => {
  const notices = Object.entries(await findNotices(service, id))
  return notices.flatMap(([userId, kind]) => (kind === 'mention' ? [userId] : []))
}
const waiting = () =>
  selectRows(db, sql`select id from graphile_worker.jobs where task_identifier = 'send_mentions'`)
const read = async (id: string) => (await as(viewer, get(`/v1/comments/${id}`))).json<TestComment>()

/** The part of an entity tag that says what can be changed. */
const versionIn = ({ headers }: LightMyRequestResponse) => String(headers.etag).split('.')[0]

describe('a mention of a team', () => {
  it('tells its members, each once and not the author, who do not follow the seed for it', async () => {
    const [reader, both] = [
      await addPerson(service, workspace, 'viewer'),
      await addPerson(service, workspace, 'member'),
    ]
    const design = await createTeamOf([reader, both, member], 'Design')
    const sales = await createTeamOf([both], 'Sales [EU] *new*')
    const created = await write(
      member,
      `${mentionOf({ ...design, name: 'x' })}, ${mentionOf({ ...sales, name: '' })} and [@R](user:${reader.id})`,
    )
    const teamMentions = [design, sales]
      .toSorted((one, other) => (one.id < other.id ? -1 : 1))
      .map(({ id: teamId, name }) => ({ teamId, name }))
    expect(created).toMatchObject({
      body: `[@Design](team:${design.id}), [@Sales \\[EU\\] \\*new\\*](team:${sales.id}) and [@${reader.name}](user:${reader.id})`,
      mentions: [{ userId: reader.id }],
      teamMentions,
    })
    expect(await read(created.id)).toEqual(created)
    expect(await toldBy(created.id)).toEqual([reader.id, both.id])
    const next = await write(member, 'And?')
    // Who is mentioned by name follows the seed.
    expect(await findNotices(service, next.id)).toEqual({ [owner.id]: 'comment', [reader.id]: 'comment' })
  })

  it('has the name that the team has now, and is text once the team is deleted', async () => {
    const team = await createTeamOf([], 'Research')
    const { id } = await write(member, `Who knows, ${mentionOf(team)}? \`${mentionOf(team)}\``)
    const before = await as(viewer, get(`/v1/comments/${id}`))
    await as(owner, patch(`${company.url}/teams/${team.id}`, { name: 'R & D' }))
    const renamed = await as(viewer, get(`/v1/comments/${id}`))
    expect(renamed.json()).toMatchObject({
      body: `Who knows, [@R \\& D](team:${team.id})? \`${mentionOf(team)}\``,
      teamMentions: [{ teamId: team.id, name: 'R & D' }],
    })
    // The name of the team is no part of the version.
    expect(versionIn(renamed)).toBe(versionIn(before))
    await edit(member, id, renamed.json<TestComment>().body)
    expect((await read(id)).editedAt).toBeNull()
    await as(owner, del(`${company.url}/teams/${team.id}`))
    expect(await read(id)).toMatchObject({
      body: `Who knows, @Research? \`${mentionOf(team)}\``,
      teamMentions: [],
    })
  })

  it('is text in what agents write, of other workspaces, unknown, too large, or in code', async () => {
    const other = await createCompany(service)
    const foreign = await createTeam(service, other.owner, other, 'Foreign')
    const team = await createTeamOf([viewer], 'Field')
    const [fifty, more] = [await createTeamOfSize(50, 'Fifty'), await createTeamOfSize(51, 'Fifty-one')]
    const unknown = { id: createId(), name: 'Unknown' }
    const created = await write(
      member,
      [{ ...foreign, name: 'Foreign' }, fifty, more, unknown].map(mentionOf).join(' '),
    )
    expect(created).toMatchObject({
      body: `@Foreign ${mentionOf(fifty)} @Fifty-one @Unknown`,
      teamMentions: [{ teamId: fifty.id }],
    })
    expect(await toldBy(created.id)).toHaveLength(50)
    for (const body of [`\`${mentionOf(team)}\``, `\\${mentionOf(team)}`, `\`[@](team:${team.id})\``]) {
      const quoted = await write(member, body)
      expect(quoted).toMatchObject({ body, teamMentions: [] })
      expect(await read(quoted.id)).toEqual(quoted)
      expect(await toldBy(quoted.id)).toEqual([])
    }
    const token = await createOAuthTester(service).letIn(workspace, member, {
      scopes: ['workspace:read', 'seeds:write'],
    })
    const answer = await service.app.inject({
      ...post('/agent/v1/comments:add', { seedId: seed.id, body: mentionOf(team) }),
      headers: { authorization: `Bearer ${token}` },
    })
    expect(answer.statusCode, answer.body).toBe(200)
    const { comment } = answer.json<{ comment: TestComment }>()
    expect(await read(comment.id)).toMatchObject({ body: '@Field', teamMentions: [] })
    expect(await toldBy(comment.id)).toEqual([])
  })

  it('is one of at most ten', async () => {
    const teams: Team[] = []
    for (let i = 0; i < 11; i++) teams.push(await createTeamOf([], `Team ${i}`))
    const mentions = teams.map(mentionOf)
    const { body } = await write(member, mentions.join(' '))
    expect(body).toBe([...mentions.slice(0, 10), '@Team 10'].join(' '))
  })

  it('of an edit tells those whom the comment did not mention before', async () => {
    const [early, late] = [
      await addPerson(service, workspace, 'viewer'),
      await addPerson(service, workspace, 'viewer'),
    ]
    const [first, second] = [await createTeamOf([early], 'First'), await createTeamOf([early], 'Second')]
    const { id } = await write(member, mentionOf(first))
    await as(owner, post(`${company.url}/teams/${first.id}/members`, { userId: late.id }))
    await edit(member, id, `${mentionOf(first)}!`)
    expect(await toldBy(id)).toEqual([early.id])
    await as(owner, post(`${company.url}/teams/${second.id}/members`, { userId: admin.id }))
    await edit(member, id, `${mentionOf(first)} ${mentionOf(second)}`)
    expect(await toldBy(id)).toEqual([early.id, admin.id])
  })

  it('is mailed five minutes later, unless the comment no longer mentions the team, or the person has left it', async () => {
    const [reader, leaver, cut] = [
      await addPerson(service, workspace, 'viewer'),
      await addPerson(service, workspace, 'viewer'),
      await addPerson(service, workspace, 'viewer'),
    ]
    const told = await createTeamOf([reader, leaver], 'Told')
    const taken = await createTeamOf([cut], 'Taken away')
    const { id } = await write(member, `${mentionOf(told)} ${mentionOf(taken)}`)
    await as(owner, del(`${company.url}/teams/${told.id}/members/${leaver.id}`))
    await edit(member, id, `${mentionOf(told)} \`${mentionOf(taken)}\``)
    clock.advance(5 * 60_000)
    const mailed = () => server.received.flatMap(({ recipients }) => recipients)
    await runJobsNow(service, 'send_mentions')
    await untilTrue(async () => (await waiting()).length === 0)
    expect(mailed()).toContain(reader.email)
    for (const { email } of [leaver, cut]) expect(mailed()).not.toContain(email)
  })
})
