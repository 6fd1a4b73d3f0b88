import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { errors } from '../../src/kernel/errors.ts'
import { createId } from '../../src/kernel/ids.ts'
import {
  createCompany,
  createInvite,
  createSeed,
  createTeam,
  del,
  get,
  insertGrant,
  patch,
  post,
  tokenOf,
  type TestCompany,
  type TestInvite,
  type TestRequest,
} from '../support/company.ts'
import { expectError } from '../support/expect-error.ts'
import { buildUpload } from '../support/forms.ts'
import { makePng } from '../support/images.ts'
import { selectRows, startTestApp } from '../support/test-app.ts'
import { makeFolder } from '../support/uploads.ts'

const service = await startTestApp({ environment: { DATA_DIR: await makeFolder() } })
const { app, as, db } = service
const png = await makePng()

/** Two companies that know nothing of each other. `ours` asks for what is `theirs`. */
const [ours, theirs] = [await createTenant('ours.example'), await createTenant('theirs.example')]

interface Tenant extends TestCompany {
  team: { id: string; url: string }
  invite: TestInvite
  seed: { id: string }
  grantId: string
  cursorOf: Record<string, string>
}

async function createTenant(domain: string): Promise<Tenant> {
  const company = await createCompany(service, { domain })
  const { workspace, owner, url } = company
  await as(owner, patch(url, { name: `Secret of ${domain}`, slug: workspace.slug, allowedDomains: domain }))
  const team = await createTeam(service, owner, company, `Team of ${domain}`)
  for (const { id } of [company.viewer, company.member])
    await as(owner, post(`${team.url}/members`, { userId: id }))
  const invite = await createInvite(service, owner, company, { email: `invited@${domain}` })
  await createInvite(service, owner, company, { email: `also-invited@${domain}` })
  await createTeam(service, owner, company, `Other team of ${domain}`)
  const seed = await createSeed(service, owner, company, `Seed of ${domain}`)
  await as(owner, post(`${seed.url}/join`))
  for (const summary of [`Evidence of ${domain}`, `More of ${domain}`])
    await as(owner, post(`${seed.url}/evidence`, { kind: 'note', verdict: 'neutral', summary }))
  await createSeed(service, owner, company, `Other seed of ${domain}`)
  const grantId = await insertGrant(service, workspace, owner)
  await insertGrant(service, workspace, company.viewer)
  const cursorOf: Record<string, string> = {}
  const lists = pathsOf(team.id, seed.id)
  for (const [name, list] of Object.entries(lists)) {
    const { headers } = await as(owner, get(`${list.startsWith('/') ? list : `${url}/${list}`}?limit=1`))
    const link = /<([^>]+)>/.exec(String(headers.link))?.[1]
    cursorOf[name] = String(new URL(String(link)).searchParams.get('cursor'))
  }
  return { ...company, team, invite, seed, grantId, cursorOf }
}

/** Where the lists of a workspace are that come in pages: in it, or at the top. */
function pathsOf(teamId: string, seedId: string): Record<string, string> {
  return {
    ...Object.fromEntries(
      ['members', 'invites', 'teams', 'events', 'people', 'seeds', 'integrations'].map((name) => [
        name,
        name,
      ]),
    ),
    'team members': `teams/${teamId}/members`,
    evidence: `/v1/seeds/${seedId}/evidence`,
  }
}

/** The ids that a path can have. */
interface Ids {
  slug: string
  userId: string
  inviteId: string
  teamId: string
  apiKeyId: string
  token: string
  seedId: string
  grantId: string
}

const idsOf = (tenant: Tenant): Ids => ({
  slug: tenant.workspace.slug,
  userId: tenant.viewer.id,
  inviteId: tenant.invite.id,
  teamId: tenant.team.id,
  apiKeyId: tenant.owner.apiKeyId,
  token: tenant.invite.token,
  seedId: tenant.seed.id,
  grantId: tenant.grantId,
})

const names = Object.keys(idsOf(ours)) as (keyof Ids)[]

/** A request for each operation that has an id in it: its path, and a body that is right in itself. */
const requests: Record<string, (ids: Ids) => TestRequest> = {
  'apiKeys.revoke': ({ apiKeyId }) => post(`/v1/api-keys/${apiKeyId}/revoke`),
  'workspaces.get': ({ slug }) => get(`/v1/workspaces/${slug}`),
  'workspaces.update': ({ slug }) => patch(`/v1/workspaces/${slug}`, { name: 'Taken', slug: 'taken-over' }),
  'workspaces.slugAvailability': ({ slug }) => get(`/v1/workspaces/${slug}/slug-availability`),
  'workspaces.uploadIcon': ({ slug }) => ({
    method: 'POST',
    url: `/v1/workspaces/${slug}/icon`,
    ...buildUpload(png),
  }),
  'members.list': ({ slug }) => get(`/v1/workspaces/${slug}/members`),
  'members.updateRole': ({ slug, userId }) =>
    patch(`/v1/workspaces/${slug}/members/${userId}`, { role: 'member' }),
  'members.remove': ({ slug, userId }) => del(`/v1/workspaces/${slug}/members/${userId}`),
  'invites.list': ({ slug }) => get(`/v1/workspaces/${slug}/invites`),
  'invites.create': ({ slug }) =>
    post(`/v1/workspaces/${slug}/invites`, { email: 'me@ours.example', role: 'member' }),
  'invites.resend': ({ slug, inviteId }) => post(`/v1/workspaces/${slug}/invites/${inviteId}/resend`),
  'invites.revoke': ({ slug, inviteId }) => post(`/v1/workspaces/${slug}/invites/${inviteId}/revoke`),
  'invites.updateRole': ({ slug, inviteId }) =>
    patch(`/v1/workspaces/${slug}/invites/${inviteId}`, { role: 'admin' }),
  'invites.get': ({ token }) => get(`/v1/invites/${token}`),
  'invites.accept': ({ token }) => post(`/v1/invites/${token}/accept`),
  'teams.list': ({ slug }) => get(`/v1/workspaces/${slug}/teams`),
  'teams.create': ({ slug }) => post(`/v1/workspaces/${slug}/teams`, { name: 'Intruders' }),
  'teams.rename': ({ slug, teamId }) =>
    patch(`/v1/workspaces/${slug}/teams/${teamId}`, { name: 'Intruders' }),
  'teams.delete': ({ slug, teamId }) => del(`/v1/workspaces/${slug}/teams/${teamId}`),
  'teams.listMembers': ({ slug, teamId }) => get(`/v1/workspaces/${slug}/teams/${teamId}/members`),
  'teams.addMember': ({ slug, teamId, userId }) =>
    post(`/v1/workspaces/${slug}/teams/${teamId}/members`, { userId }),
  'teams.removeMember': ({ slug, teamId, userId }) =>
    del(`/v1/workspaces/${slug}/teams/${teamId}/members/${userId}`),
  'events.list': ({ slug }) => get(`/v1/workspaces/${slug}/events`),
  'people.list': ({ slug }) => get(`/v1/workspaces/${slug}/people`),
  'seeds.list': ({ slug }) => get(`/v1/workspaces/${slug}/seeds`),
  'seeds.create': ({ slug }) => post(`/v1/workspaces/${slug}/seeds`, { title: 'Weed', summary: 'Growing' }),
  'seeds.get': ({ seedId }) => get(`/v1/seeds/${seedId}`),
  'seeds.update': ({ seedId }) => patch(`/v1/seeds/${seedId}`, { title: 'Weed' }),
  'seeds.join': ({ seedId }) => post(`/v1/seeds/${seedId}/join`),
  'seeds.leave': ({ seedId }) => post(`/v1/seeds/${seedId}/leave`),
  'seeds.listEvidence': ({ seedId }) => get(`/v1/seeds/${seedId}/evidence`),
  'seeds.addEvidence': ({ seedId }) =>
    post(`/v1/seeds/${seedId}/evidence`, { kind: 'note', verdict: 'neutral', summary: 'Growing' }),
  'integrations.list': ({ slug }) => get(`/v1/workspaces/${slug}/integrations`),
  'integrations.revoke': ({ slug, grantId }) => post(`/v1/workspaces/${slug}/integrations/${grantId}/revoke`),
}

/** Whether a slug is free is for everybody to know. */
const tellsNothing = ['workspaces.slugAvailable']

const operations = Object.entries(app.swagger().paths ?? {}).flatMap(([path, methods]) =>
  Object.values(methods as Record<string, { operationId: string }>).map(({ operationId }) => ({
    id: operationId,
    hasId: path.includes('{'),
  })),
)

/** Which ids an operation takes, by what changes in its request when they do. */
const idsIn = (id: string): (keyof Ids)[] => {
  const marked = Object.fromEntries(names.map((name) => [name, `<${name}>`])) as unknown as Ids
  const request = JSON.stringify(requests[id]?.(marked))
  return names.filter((name) => request.includes(`<${name}>`))
}

/** What of the other company must not be read in any answer. */
const secrets = await findSecrets(theirs)

async function findSecrets({ workspace, team }: Tenant): Promise<string[]> {
  const rows = await selectRows<{ secret: string }>(
    db,
    sql`
      select unnest(array[users.id::text, users.email]) as secret from users
      join memberships on user_id = users.id where workspace_id = ${workspace.id}
      union select unnest(array[id::text, name]) from workspaces where id = ${workspace.id}
      union select unnest(array[id::text, email]) from invites where workspace_id = ${workspace.id}
      union select unnest(array[id::text, name]) from teams where workspace_id = ${workspace.id}
      union select unnest(array[id::text, title]) from seeds where workspace_id = ${workspace.id}
      union select unnest(array[evidence.id::text, evidence.summary])
        from evidence join seeds on seeds.id = seed_id where workspace_id = ${workspace.id}
      union select unnest(array[id::text, client_id, client_name]) from agent_grants where workspace_id = ${workspace.id}
      union select unnest(array[id::text, summary]) from events where workspace_id = ${workspace.id}`,
  )
  expect(rows.length).toBeGreaterThan(30)
  expect(rows.map((row) => row.secret)).toContain(team.id)
  return [...rows.map((row) => row.secret), 'theirs.example', theirs.workspace.slug]
}

/** Asks as an owner, who may do everything in a workspace of their own, and sees what comes back. */
async function ask(request: TestRequest, what: string) {
  const before = await readState(theirs)
  const answer = await as(ours.owner, request)
  const told = JSON.stringify([answer.headers, answer.body])
  const sent = JSON.stringify(request)
  for (const secret of secrets) {
    if (!sent.includes(secret)) expect(told.includes(secret), `${what} tells ${secret}: ${told}`).toBe(false)
  }
  expect(answer.statusCode, `${what}: ${answer.body}`).toBeGreaterThanOrEqual(400)
  expect(answer.statusCode, `${what}: ${answer.body}`).toBeLessThan(500)
  expect(await readState(theirs), what).toEqual(before)
  return answer
}

function readState({ workspace, owner }: Tenant): Promise<unknown> {
  const { id } = workspace
  return selectRows(
    db,
    sql`select
      (select workspaces::text from workspaces where id = ${id}) as workspace,
      (select array_agg(memberships::text order by user_id) from memberships where workspace_id = ${id}) as members,
      (select array_agg(invites::text order by id) from invites where workspace_id = ${id}) as invites,
      (select array_agg(teams::text order by id) from teams where workspace_id = ${id}) as teams,
      (select array_agg(team_members::text order by team_id, user_id) from team_members where workspace_id = ${id}) as team_members,
      (select array_agg(seeds::text order by id) from seeds where workspace_id = ${id}) as seeds,
      (select array_agg(seed_participants::text order by seed_id, user_id) from seed_participants where workspace_id = ${id}) as participants,
      (select count(*) from evidence join seeds on seeds.id = seed_id where workspace_id = ${id}) as evidence,
      (select array_agg(agent_grants::text order by id) from agent_grants where workspace_id = ${id}) as grants,
      (select count(*) from events where workspace_id = ${id}) as events,
      (select array_agg(row(id, revoked_at)::text order by id) from api_keys where user_id = ${owner.id}) as keys`,
  )
}

describe('the requests', () => {
  it('are one for every operation that takes an id', () => {
    const expected = operations.filter(({ id, hasId }) => hasId && !tellsNothing.includes(id))
    expect(Object.keys(requests).toSorted()).toEqual(expected.map(({ id }) => id).toSorted())
  })

  it('take all of the ids', () => {
    expect(new Set(Object.keys(requests).flatMap(idsIn))).toEqual(new Set(names))
  })
})

describe.each(Object.entries(requests))('%s', (id, request) => {
  const taken = idsIn(id)

  it('answers nothing of another tenant, whichever of the ids are theirs', async () => {
    for (let mask = 1; mask < 2 ** taken.length; mask++) {
      const foreign = taken.filter((_name, i) => mask & (1 << i))
      // An invite is read by whoever has its link, which is a secret itself: to read it is no intrusion.
      if (id === 'invites.get') continue
      const ids = { ...idsOf(ours), ...pick(idsOf(theirs), foreign) }
      const answer = await ask(request(ids), `${id} with their ${foreign.join()}`)
      if (foreign.includes('slug')) expectError(answer, errors.notAMember)
      else if (id === 'invites.accept') expectError(answer, errors.inviteEmailMismatch)
      else expectError(answer, errors.notFound)
    }
    expect(taken.length).toBeGreaterThan(0)
  })

  it.each([
    ['unknown', createId()],
    ['malformed', 'x'],
    ['of another version', '123e4567-e89b-42d3-a456-426614174000'],
    ['in upper case', theirs.team.id.toUpperCase()],
    ['NUL', '%00'],
    ['NUL in the middle', 'a%00b'],
    ['an encoded slash', '..%2F..%2Fmembers'],
    ['SQL', "'%20or%20'1'='1"],
    ['a wild card', '%25'],
    ['a number', '0'],
    ['a lone surrogate, encoded', '%ED%A0%80'],
    ['5,000 characters', 'a'.repeat(5_000)],
    ['blank', '%20'],
  ])('answers 404 for every id that is %s', async (_name, value) => {
    for (const name of taken) {
      const ids = { ...idsOf(ours), [name]: value }
      const answer = await ask(request(ids), `${id} with ${name}`)
      // What is no UTF-8 is no path at all.
      if (value === '%ED%A0%80' && !(id === 'teams.addMember' && name === 'userId'))
        expect(answer.statusCode).toBe(400)
      else expectError(answer, errors.notFound)
    }
  })
})

describe('a cursor of another tenant', () => {
  it.each(Object.keys(ours.cursorOf))('of %s leads nowhere', async (list) => {
    const path = String(pathsOf(ours.team.id, ours.seed.id)[list])
    const url = (cursor: string | undefined) =>
      get(`${path.startsWith('/') ? path : `${ours.url}/${path}`}?cursor=${cursor}`)
    expect((await as(ours.owner, url(ours.cursorOf[list]))).statusCode).toBe(200)
    expectError(await ask(url(theirs.cursorOf[list]), list), errors.cursorInvalid, { field: 'cursor' })
  })
})

describe('what a body or a query names', () => {
  it('of another tenant is not there', async () => {
    const { statusCode, body } = await as(
      ours.owner,
      get(`${ours.url}/events?actorUserId=${theirs.owner.id}`),
    )
    expect([statusCode, body]).toEqual([200, '[]'])
    for (const q of ['theirs', theirs.owner.email, theirs.invite.email, 'Secret of']) {
      const answer = await as(ours.owner, get(`${ours.url}/people?q=${encodeURIComponent(q)}`))
      expect([answer.statusCode, answer.body]).toEqual([200, '[]'])
    }
  })

  it('is told from nothing else: a person of theirs and nobody get one answer', async () => {
    const answers = await Promise.all(
      [theirs.viewer.id, createId(), 'nobody'].flatMap((userId) => [
        as(ours.owner, del(`${ours.url}/members/${userId}`)),
        as(ours.owner, post(`${ours.team.url}/members`, { userId })),
        as(ours.owner, del(`${ours.team.url}/members/${userId}`)),
      ]),
    )
    for (const answer of answers) expectError(answer, errors.notFound)
  })

  it('may be an address of theirs, which is invited like any other', async () => {
    const answer = await as(
      ours.owner,
      post(`${ours.url}/invites`, { email: theirs.viewer.email, role: 'viewer' }),
    )
    expect(answer.statusCode).toBe(200)
    expect(answer.body).not.toContain(theirs.viewer.id)
    expect(answer.body).not.toContain(theirs.viewer.name)
  })
})

describe('the link of an invite', () => {
  it('shows what the invited have to know, and none of the ids', async () => {
    const answer = await as(ours.owner, get(`/v1/invites/${theirs.invite.token}`))
    expect(answer.statusCode).toBe(200)
    const shown = ['theirs.example', theirs.workspace.slug, 'Secret of theirs.example', theirs.invite.email]
    for (const secret of secrets) if (!shown.includes(secret)) expect(answer.body).not.toContain(secret)
  })

  it('is told by no list', async () => {
    for (const path of ['invites', 'events', 'people']) {
      const { body } = await as(ours.owner, get(`${ours.url}/${path}?limit=200`))
      expect(body).not.toContain(ours.invite.token)
      expect(body).not.toContain(tokenOf(ours.invite.inviteUrl))
    }
  })
})

function pick(ids: Ids, wanted: (keyof Ids)[]): Partial<Ids> {
  return Object.fromEntries(wanted.map((name) => [name, ids[name]]))
}
