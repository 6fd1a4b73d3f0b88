import { randomUUID } from 'node:crypto'
import { sql } from 'drizzle-orm'
import type { InjectOptions } from 'fastify'
import { expect } from 'vitest'
import type { Role } from '../../src/domain/roles.ts'
import { selectRows, type TestApp, type TestPerson } from './test-app.ts'
import { addMember, addMembers, createWorkspace, type TestWorkspace } from './workspaces.ts'

/** A workspace with somebody of each role in it. */
export interface TestCompany extends Record<Role, TestPerson> {
  workspace: TestWorkspace
  /** The path of the workspace's operations. */
  url: string
}

const roleNames = ['Olga Owner', 'Adam Admin', 'Mary Member', 'Vera Viewer']

interface CompanyOptions {
  /** Of the addresses of its people. */
  domain?: string
  /** Of the owner, the admin, the member and the viewer. */
  names?: readonly string[]
  /** Of the workspace. */
  name?: string
}

/** Makes a workspace with an owner, an admin, a member and a viewer, who joined in this order. */
export async function createCompany(
  service: Pick<TestApp, 'as' | 'createPeople' | 'db'>,
  { domain = 'example.com', names = roleNames, name = 'Acme' }: CompanyOptions = {},
): Promise<TestCompany> {
  const people = await service.createPeople(
    names.map((name) => ({ name, email: `${randomUUID()}@${domain}` })),
  )
  const [owner, admin, member, viewer] = people as [TestPerson, TestPerson, TestPerson, TestPerson]
  const workspace = await createWorkspace(service, owner, { name })
  const now = Date.now()
  await addMembers(service, workspace, [
    { person: owner, role: 'owner', at: new Date(now) },
    { person: admin, role: 'admin', at: new Date(now + 1_000) },
    { person: member, role: 'member', at: new Date(now + 2_000) },
    { person: viewer, role: 'viewer', at: new Date(now + 3_000) },
  ])
  return { workspace, url: `/v1/workspaces/${workspace.slug}`, owner, admin, member, viewer }
}

/** Adds one more person to a workspace. */
export async function addPerson(
  service: Pick<TestApp, 'createPerson' | 'db'>,
  workspace: { id: string },
  role: Role,
  name?: string,
): Promise<TestPerson> {
  const person = await service.createPerson({ name: name ?? `Another ${role}` })
  await addMember(service, workspace, person, role)
  return person
}

/** An address that nobody has. */
export const randomEmail = () => `${randomUUID()}@example.com`

/** An invite as the answer that made it tells it. */
export interface TestInvite {
  id: string
  email: string
  role: Role
  token: string
  inviteUrl: string
  expiresAt: string
}

/** Invites somebody through the API. */
export async function createInvite(
  { as }: Pick<TestApp, 'as'>,
  actor: TestPerson,
  { url }: Pick<TestCompany, 'url'>,
  {
    email = randomEmail(),
    role = 'member',
    teamIds,
  }: { email?: string; role?: Role; teamIds?: string[] } = {},
): Promise<TestInvite> {
  const answer = await as(actor, post(`${url}/invites`, { email, role, ...(teamIds && { teamIds }) }))
  expect(answer.statusCode, answer.body).toBe(200)
  const { invite, inviteUrl } = answer.json<{ invite: TestInvite; inviteUrl: string }>()
  return { ...invite, inviteUrl, token: tokenOf(inviteUrl) }
}

/** The token that a link to an invite ends in. */
export const tokenOf = (inviteUrl: string) => inviteUrl.slice(inviteUrl.lastIndexOf('/') + 1)

/** Makes a team through the API. */
export async function createTeam(
  { as }: Pick<TestApp, 'as'>,
  actor: TestPerson,
  { url }: Pick<TestCompany, 'url'>,
  name = `Team ${randomUUID().slice(0, 8)}`,
): Promise<{ id: string; name: string; url: string }> {
  const answer = await as(actor, post(`${url}/teams`, { name }))
  expect(answer.statusCode, answer.body).toBe(200)
  const { team } = answer.json<{ team: { id: string; name: string } }>()
  return { ...team, url: `${url}/teams/${team.id}` }
}

/** A request by its path. */
export type TestRequest = InjectOptions & { url: string }

export const get = (url: string): TestRequest => ({ method: 'GET', url })
export const del = (url: string): TestRequest => ({ method: 'DELETE', url })
export const post = (url: string, body?: object): TestRequest => withBody('POST', url, body)
export const patch = (url: string, body: object): TestRequest => withBody('PATCH', url, body)

export const put = (url: string, body: object): TestRequest => withBody('PUT', url, body)

function withBody(method: 'POST' | 'PUT' | 'PATCH', url: string, body: object | undefined): TestRequest {
  return { method, url, ...(body && { payload: body }) }
}

/** Who is in a workspace, as what, by their ids. */
export async function findRoles(
  { db }: Pick<TestApp, 'db'>,
  workspace: { id: string },
): Promise<Record<string, Role>> {
  const rows = await selectRows<{ user_id: string; role: Role }>(
    db,
    sql`select user_id, role from memberships where workspace_id = ${workspace.id}`,
  )
  return Object.fromEntries(rows.map((row) => [row.user_id, row.role]))
}

/** The row of an invite. */
export async function findInvite(
  { db }: Pick<TestApp, 'db'>,
  { id }: { id: string },
): Promise<Record<string, unknown> | undefined> {
  return (await selectRows(db, sql`select * from invites where id = ${id}`))[0]
}

/** The ids of those who are in a team. */
export async function findTeamMembers({ db }: Pick<TestApp, 'db'>, team: { id: string }): Promise<string[]> {
  const rows = await selectRows<{ user_id: string }>(
    db,
    sql`select user_id from team_members where team_id = ${team.id} order by added_at, user_id`,
  )
  return rows.map((row) => row.user_id)
}

/** What people were told in their inbox in a workspace, oldest first. */
export function findNotifications(
  { db }: Pick<TestApp, 'db'>,
  workspace: { id: string },
): Promise<Record<string, unknown>[]> {
  return selectRows(
    db,
    sql`select user_id, kind, actor_user_id, actor_name, data from notifications
      where workspace_id = ${workspace.id} order by created_at, id`,
  )
}

/** The jobs that wait, oldest first, whose payload has this text in it. */
export async function findJobs(
  { db }: Pick<TestApp, 'db'>,
  text: string,
): Promise<{ task: string; payload: unknown }[]> {
  return selectRows(
    db,
    sql`select tasks.identifier as task, jobs.payload
      from graphile_worker._private_jobs jobs join graphile_worker._private_tasks tasks on tasks.id = jobs.task_id
      where position(${text} in jobs.payload::text) > 0 order by jobs.id`,
  )
}

/**
 * What no moment may leave behind: a workspace without an owner, somebody in a team of a workspace that they are not in,
 * two open invites to one address. Returns the rows; there should be none.
 */
export function findInconsistencies({ db }: Pick<TestApp, 'db'>): Promise<Record<string, unknown>[]> {
  return selectRows(
    db,
    sql`
      select 'no owner' as fault, workspaces.id::text as id from workspaces where not exists (
        select from memberships where workspace_id = workspaces.id and role = 'owner')
      union all
      select 'in a team but not in the workspace', team_id::text from team_members where not exists (
        select from memberships
        where memberships.workspace_id = team_members.workspace_id and memberships.user_id = team_members.user_id)
      union all
      select 'in a team of another workspace', team_id::text
      from team_members join teams on teams.id = team_id where teams.workspace_id <> team_members.workspace_id
      union all
      select 'open invites to one address', min(id::text) from invites where state = 'open'
      group by workspace_id, lower(email) having count(*) > 1
      union all
      select 'teams of one name', min(id::text) from teams group by workspace_id, lower(name) having count(*) > 1
      union all
      select 'wrong numbers of evidence and comments', seeds.id::text from seeds cross join lateral (
        select count(*) filter (where verdict = 'supports') as supports,
          count(*) filter (where verdict = 'contradicts') as contradicts,
          count(*) filter (where verdict = 'neutral') as neutral
        from evidence where seed_id = seeds.id and withdrawn_at is null
      ) as counted
      where (supports_count, contradicts_count, neutral_count, comment_count) is distinct from
        (supports, contradicts, neutral, (select count(*) from comments where seed_id = seeds.id))`,
  )
}
