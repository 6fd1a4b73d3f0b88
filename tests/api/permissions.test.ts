import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { errors, type ErrorFactory } from '../../src/kernel/errors.ts'
import type { Role } from '../../src/kernel/roles.ts'
import {
  addPerson,
  createCompany,
  createInvite,
  createSeed,
  createTeam,
  del,
  get,
  insertGrant,
  patch,
  post,
  type TestCompany,
  type TestRequest,
} from '../support/company.ts'
import { expectError } from '../support/expect-error.ts'
import { buildUpload } from '../support/forms.ts'
import { makePng } from '../support/images.ts'
import { selectRows, startTestApp, type TestPerson } from '../support/test-app.ts'
import { makeFolder } from '../support/uploads.ts'
import { randomSlug } from '../support/workspaces.ts'

/**
 * Who may do what in a workspace. The target is somebody else of that role, or the caller (`self`); or the role that an
 * invite gives. `to` is the role that is to be given.
 *
 * ok, or: role = role_insufficient, high = role_too_high, out = not_a_member, none = not_found, key = api_key_required,
 * other = invite_email_mismatch.
 */
const table = `
  operation                    target  to      | owner  admin  member viewer | stranger nobody
  workspaces.get               -       -       | ok     ok     ok     ok     | out      key
  workspaces.slugAvailability  -       -       | ok     ok     ok     ok     | out      key
  workspaces.update            -       -       | ok     ok     role   role   | out      key
  workspaces.uploadIcon        -       -       | ok     ok     role   role   | out      key

  members.list                 -       -       | ok     ok     ok     ok     | out      key
  members.updateRole           self    owner   | ok     high   role   role   | out      key
  members.updateRole           self    admin   | ok     ok     role   role   | out      key
  members.updateRole           self    member  | ok     ok     role   role   | out      key
  members.updateRole           self    viewer  | ok     ok     role   role   | out      key
  members.updateRole           owner   owner   | ok     high   role   role   | out      key
  members.updateRole           owner   admin   | ok     high   role   role   | out      key
  members.updateRole           owner   member  | ok     high   role   role   | out      key
  members.updateRole           owner   viewer  | ok     high   role   role   | out      key
  members.updateRole           admin   owner   | ok     high   role   role   | out      key
  members.updateRole           admin   admin   | ok     high   role   role   | out      key
  members.updateRole           admin   member  | ok     high   role   role   | out      key
  members.updateRole           admin   viewer  | ok     high   role   role   | out      key
  members.updateRole           member  owner   | ok     high   role   role   | out      key
  members.updateRole           member  admin   | ok     ok     role   role   | out      key
  members.updateRole           member  member  | ok     ok     role   role   | out      key
  members.updateRole           member  viewer  | ok     ok     role   role   | out      key
  members.updateRole           viewer  owner   | ok     high   role   role   | out      key
  members.updateRole           viewer  admin   | ok     ok     role   role   | out      key
  members.updateRole           viewer  member  | ok     ok     role   role   | out      key
  members.updateRole           viewer  viewer  | ok     ok     role   role   | out      key
  members.remove               self    -       | ok     ok     ok     ok     | out      key
  members.remove               owner   -       | ok     high   role   role   | out      key
  members.remove               admin   -       | ok     high   role   role   | out      key
  members.remove               member  -       | ok     ok     role   role   | out      key
  members.remove               viewer  -       | ok     ok     role   role   | out      key

  invites.list                 -       -       | ok     ok     role   role   | out      key
  invites.create               -       owner   | ok     high   role   role   | out      key
  invites.create               -       admin   | ok     ok     role   role   | out      key
  invites.create               -       member  | ok     ok     role   role   | out      key
  invites.create               -       viewer  | ok     ok     role   role   | out      key
  invites.resend               owner   -       | ok     high   role   role   | out      key
  invites.resend               admin   -       | ok     ok     role   role   | out      key
  invites.resend               member  -       | ok     ok     role   role   | out      key
  invites.resend               viewer  -       | ok     ok     role   role   | out      key
  invites.revoke               owner   -       | ok     high   role   role   | out      key
  invites.revoke               admin   -       | ok     ok     role   role   | out      key
  invites.revoke               member  -       | ok     ok     role   role   | out      key
  invites.revoke               viewer  -       | ok     ok     role   role   | out      key
  invites.updateRole           owner   viewer  | ok     high   role   role   | out      key
  invites.updateRole           admin   owner   | ok     high   role   role   | out      key
  invites.updateRole           admin   viewer  | ok     ok     role   role   | out      key
  invites.updateRole           member  owner   | ok     high   role   role   | out      key
  invites.updateRole           member  admin   | ok     ok     role   role   | out      key
  invites.updateRole           viewer  member  | ok     ok     role   role   | out      key
  invites.updateRole           viewer  owner   | ok     high   role   role   | out      key
  invites.get                  member  -       | ok     ok     ok     ok     | ok       key
  invites.accept               member  -       | other  other  other  other  | other    key

  teams.list                   -       -       | ok     ok     ok     ok     | out      key
  teams.create                 -       -       | ok     ok     role   role   | out      key
  teams.rename                 -       -       | ok     ok     role   role   | out      key
  teams.delete                 -       -       | ok     ok     role   role   | out      key
  teams.listMembers            -       -       | ok     ok     ok     ok     | out      key
  teams.addMember              self    -       | ok     ok     role   role   | out      key
  teams.addMember              owner   -       | ok     ok     role   role   | out      key
  teams.addMember              admin   -       | ok     ok     role   role   | out      key
  teams.addMember              viewer  -       | ok     ok     role   role   | out      key
  teams.removeMember           self    -       | ok     ok     ok     ok     | out      key
  teams.removeMember           owner   -       | ok     ok     role   role   | out      key
  teams.removeMember           admin   -       | ok     ok     role   role   | out      key
  teams.removeMember           member  -       | ok     ok     role   role   | out      key
  teams.removeMember           viewer  -       | ok     ok     role   role   | out      key

  events.list                  -       -       | ok     ok     ok     ok     | out      key
  people.list                  -       -       | ok     ok     ok     ok     | out      key

  seeds.list                   -       -       | ok     ok     ok     ok     | out      key
  seeds.create                 -       -       | ok     ok     ok     role   | out      key
  seeds.get                    -       -       | ok     ok     ok     ok     | none     key
  seeds.update                 -       -       | ok     ok     ok     role   | none     key
  seeds.join                   -       -       | ok     ok     ok     role   | none     key
  seeds.leave                  -       -       | ok     ok     ok     role   | none     key
  seeds.listEvidence           -       -       | ok     ok     ok     ok     | none     key
  seeds.addEvidence            -       -       | ok     ok     ok     role   | none     key

  integrations.list            -       -       | ok     ok     ok     ok     | out      key
  integrations.revoke          self    -       | ok     ok     ok     ok     | out      key
  integrations.revoke          owner   -       | ok     ok     none   none   | out      key
  integrations.revoke          admin   -       | ok     ok     none   none   | out      key
  integrations.revoke          member  -       | ok     ok     none   none   | out      key
  integrations.revoke          viewer  -       | ok     ok     none   none   | out      key
`

/** Operations that are in no workspace, and what agents do, who have no role. */
const outside = [
  ...['agentOAuth.serverMetadata', 'agentOAuth.resourceMetadata', 'agentOAuth.jwks', 'agentOAuth.register'],
  ...['agentOAuth.token', 'agentOAuth.revoke', 'agent.readValidationKit'],
  ...['system.health', 'system.ready', 'apiKeys.list', 'apiKeys.create', 'apiKeys.revoke'],
  ...['me.profile', 'me.updateProfile', 'me.preferences', 'me.updatePreferences', 'me.uploadPhoto'],
  ...['me.home', 'me.onboarding', 'workspaces.list', 'workspaces.create', 'workspaces.slugAvailable'],
]

const outcomes: Record<string, ErrorFactory | undefined> = {
  ok: undefined,
  role: errors.roleInsufficient,
  high: errors.roleTooHigh,
  out: errors.notAMember,
  none: errors.notFound,
  key: errors.apiKeyRequired,
  other: errors.inviteEmailMismatch,
}

type Caller = Role | 'stranger' | 'nobody'
type Target = Role | 'self' | '-'

/** What a request of a row is made of. */
interface Case {
  company: TestCompany
  /** Who calls; of nobody, whose ids are sent. */
  actor: TestPerson
  target: Target
  to: Role
}

/** Somebody to act on: another member of the role, or the caller. */
async function findTarget({ company, actor, target }: Case): Promise<TestPerson> {
  return target === 'self' ? actor : addPerson(service, company.workspace, target as Role)
}

const inviteOf = ({ company, target }: Case) =>
  createInvite(service, company.owner, company, { role: target as Role })

async function teamWith({ company, ...rest }: Case) {
  const team = await createTeam(service, company.owner, company)
  const person = await findTarget({ company, ...rest })
  // A stranger is in no team.
  await db.execute(sql`
    insert into team_members (team_id, user_id, workspace_id, added_at)
    select ${team.id}, user_id, workspace_id, now() from memberships
    where workspace_id = ${company.workspace.id} and user_id = ${person.id}`)
  return { team, person }
}

const seedOf = ({ company }: Case) => createSeed(service, company.owner, company)

/** A seed that the caller is in, if they can be in any. */
async function joinedSeedOf(row: Case) {
  const seed = await seedOf(row)
  await db.execute(sql`
    insert into seed_participants (seed_id, user_id, workspace_id, joined_at)
    select ${seed.id}, user_id, workspace_id, now() from memberships
    where workspace_id = ${row.company.workspace.id} and user_id = ${row.actor.id}`)
  return seed
}

const requests: Record<string, (row: Case) => Promise<TestRequest> | TestRequest> = {
  'workspaces.get': ({ company }) => get(company.url),
  'workspaces.slugAvailability': ({ company }) => get(`${company.url}/slug-availability`),
  'workspaces.update': ({ company }) =>
    patch(company.url, { name: randomSlug(), slug: company.workspace.slug }),
  'workspaces.uploadIcon': async ({ company }) => ({
    method: 'POST',
    url: `${company.url}/icon`,
    ...buildUpload(await makePng()),
  }),
  'members.list': ({ company }) => get(`${company.url}/members`),
  'members.updateRole': async (row) =>
    patch(`${row.company.url}/members/${(await findTarget(row)).id}`, { role: row.to }),
  'members.remove': async (row) => del(`${row.company.url}/members/${(await findTarget(row)).id}`),
  'invites.list': ({ company }) => get(`${company.url}/invites`),
  'invites.create': ({ company, to }) =>
    post(`${company.url}/invites`, { email: `${randomSlug()}@example.com`, role: to }),
  'invites.resend': async (row) => post(`${row.company.url}/invites/${(await inviteOf(row)).id}/resend`),
  'invites.revoke': async (row) => post(`${row.company.url}/invites/${(await inviteOf(row)).id}/revoke`),
  'invites.updateRole': async (row) =>
    patch(`${row.company.url}/invites/${(await inviteOf(row)).id}`, { role: row.to }),
  'invites.get': async (row) => get(`/v1/invites/${(await inviteOf(row)).token}`),
  'invites.accept': async (row) => post(`/v1/invites/${(await inviteOf(row)).token}/accept`),
  'teams.list': ({ company }) => get(`${company.url}/teams`),
  'teams.create': ({ company }) => post(`${company.url}/teams`, { name: randomSlug('team') }),
  'teams.rename': async ({ company }) =>
    patch((await createTeam(service, company.owner, company)).url, { name: randomSlug('team') }),
  'teams.delete': async ({ company }) => del((await createTeam(service, company.owner, company)).url),
  'teams.listMembers': async ({ company }) =>
    get(`${(await createTeam(service, company.owner, company)).url}/members`),
  'teams.addMember': async (row) => {
    const team = await createTeam(service, row.company.owner, row.company)
    return post(`${team.url}/members`, { userId: (await findTarget(row)).id })
  },
  'teams.removeMember': async (row) => {
    const { team, person } = await teamWith(row)
    return del(`${team.url}/members/${person.id}`)
  },
  'events.list': ({ company }) => get(`${company.url}/events`),
  'people.list': ({ company }) => get(`${company.url}/people`),
  'seeds.list': ({ company }) => get(`${company.url}/seeds`),
  'seeds.create': ({ company }) => post(`${company.url}/seeds`, { title: 'Seed', summary: 'An idea' }),
  'seeds.get': async (row) => get((await seedOf(row)).url),
  'seeds.update': async (row) => patch((await seedOf(row)).url, { title: 'Changed' }),
  'seeds.join': async (row) => post(`${(await seedOf(row)).url}/join`),
  'seeds.leave': async (row) => post(`${(await joinedSeedOf(row)).url}/leave`),
  'seeds.listEvidence': async (row) => get(`${(await seedOf(row)).url}/evidence`),
  'seeds.addEvidence': async (row) =>
    post(`${(await joinedSeedOf(row)).url}/evidence`, { kind: 'note', verdict: 'neutral', summary: 'Seen' }),
  'integrations.list': ({ company }) => get(`${company.url}/integrations`),
  'integrations.revoke': async (row) => {
    const grantId = await insertGrant(service, row.company.workspace, await findTarget(row))
    return post(`${row.company.url}/integrations/${grantId}/revoke`)
  },
}

const service = await startTestApp({
  environment: { INVITE_LIMIT_PER_HOUR: '0', DATA_DIR: await makeFolder() },
})
const { app, as, createPerson, db } = service
const company = await createCompany(service)
const stranger = await createPerson({ name: 'Sally Stranger' })

const [heading = [], ...rows] = table
  .trim()
  .split('\n')
  .filter((line) => line.trim() !== '')
  .map((line) => line.split(/[\s|]+/).filter((cell) => cell !== ''))
const callers = heading.slice(3) as Caller[]

const operations = Object.entries(app.swagger().paths ?? {}).flatMap(([path, methods]) =>
  Object.values(methods as Record<string, { operationId: string }>).map(({ operationId }) => ({
    id: operationId,
    path,
  })),
)
const operationIds = operations.map(({ id }) => id)
const pathOf = (wanted: string) => operations.find(({ id }) => id === wanted)?.path

/** All of a workspace that somebody without the right must not change. */
async function readState(): Promise<unknown> {
  const { id } = company.workspace
  return selectRows(
    db,
    sql`select
      (select row(name, slug, icon_key, allowed_domains)::text from workspaces where id = ${id}) as workspace,
      (select array_agg(row(user_id, role)::text order by user_id) from memberships where workspace_id = ${id}) as members,
      (select array_agg(invites::text order by id) from invites where workspace_id = ${id}) as invites,
      (select array_agg(teams::text order by id) from teams where workspace_id = ${id}) as teams,
      (select array_agg(row(team_id, user_id)::text order by team_id, user_id) from team_members where workspace_id = ${id}) as team_members,
      (select array_agg(seeds::text order by id) from seeds where workspace_id = ${id}) as seeds,
      (select array_agg(row(seed_id, user_id)::text order by seed_id, user_id) from seed_participants where workspace_id = ${id}) as participants,
      (select array_agg(row(id, revoked_at)::text order by id) from agent_grants where workspace_id = ${id}) as grants,
      (select count(*) from events where workspace_id = ${id}) as events`,
  )
}

async function requestOf(id: string, row: Case): Promise<TestRequest> {
  const request = await requests[id]?.(row)
  if (!request) throw new Error(`no request is known for ${id}`)
  return request
}

async function actorOf(caller: Caller, target: Target): Promise<TestPerson> {
  if (caller === 'nobody' || caller === 'stranger') return stranger
  return target === 'self' ? addPerson(service, company.workspace, caller) : company[caller]
}

describe('the table', () => {
  it('has a row for every operation, and every caller', () => {
    expect([...new Set(rows.map(([id]) => id)), ...outside].toSorted()).toEqual(operationIds.toSorted())
    expect(callers).toEqual(['owner', 'admin', 'member', 'viewer', 'stranger', 'nobody'])
    for (const row of rows) expect(row).toHaveLength(heading.length)
  })
})

describe.each(rows.map(([id = '', target = '', to = '', ...cells]) => ({ id, target, to, cells })))(
  '$id, target: $target, to: $to',
  ({ id, target, to, cells }) => {
    it(`is ${cells.join(' ')}`, async () => {
      for (const [i, caller] of callers.entries()) {
        const actor = await actorOf(caller, target as Target)
        const request = await requestOf(id, { company, actor, target: target as Target, to: to as Role })
        const before = await readState()
        const answer = await (caller === 'nobody' ? app.inject(request) : as(actor, request))
        const expected = outcomes[cells[i] ?? '']
        if (expected) {
          expectError(answer, expected)
          expect(await readState(), caller).toEqual(before)
          continue
        }
        expect(answer.statusCode, `${caller}: ${answer.body}`).toBe(200)
        // To give somebody the role that they have is no change.
        const isNoChange = id === 'members.updateRole' && to === (target === 'self' ? caller : target)
        const isStill = request.method === 'GET' || isNoChange
        expect(JSON.stringify(await readState()) === JSON.stringify(before), caller).toBe(isStill)
      }
    })
  },
)

describe('a slug that no workspace has', () => {
  it.each(Object.keys(requests).filter((id) => pathOf(id)?.includes('{slug}')))(
    'is 404 for %s',
    async (id) => {
      const request = await requestOf(id, { company, actor: company.owner, target: 'viewer', to: 'viewer' })
      const url = request.url.replace(company.url, `/v1/workspaces/${randomSlug()}`)
      const before = await readState()
      expectError(await as(company.owner, { ...request, url }), errors.notFound)
      expect(await readState()).toEqual(before)
    },
  )
})
