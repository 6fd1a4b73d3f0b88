import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { errors } from '../../src/kernel/errors.ts'
import { createId } from '../../src/kernel/ids.ts'
import { createKey } from '../support/api-keys.ts'
import {
  addPerson,
  createCompany,
  createInvite,
  createTeam,
  del,
  findRoles,
  findTeamMembers,
  get,
  post,
} from '../support/company.ts'
import { expectError } from '../support/expect-error.ts'
import { createSeed, insertGrant, joinSeed } from '../support/seeds.ts'
import { selectRows, startTestApp } from '../support/test-app.ts'
import { eventBy, findEvents } from '../support/workspaces.ts'

const service = await startTestApp()
const { app, as, createPerson, db } = service

const remove = (url: string, { id }: { id: string }) => del(`${url}/members/${id}`)

describe('200', () => {
  it('removes a member, who has no access from the next request on', async () => {
    const { url, workspace, owner, admin, member, viewer } = await createCompany(service)
    const answer = await as(admin, remove(url, member))
    expect(answer.statusCode).toBe(200)
    expect(answer.json()).toEqual({ ok: true })
    expect(Object.keys(await findRoles(service, workspace)).toSorted()).toEqual(
      [owner.id, admin.id, viewer.id].toSorted(),
    )
    expectError(await as(member, get(url)), errors.notAMember)
    expect((await findEvents(service, workspace)).at(-1)).toEqual(
      eventBy(
        admin,
        { type: 'user', id: member.id },
        { type: 'member.removed', summary: 'Adam Admin removed Mary Member' },
      ),
    )
  })

  it('lets every member leave, and an owner when there is another owner', async () => {
    const { url, workspace, owner, admin, member, viewer } = await createCompany(service)
    const other = await addPerson(service, workspace, 'owner')
    for (const person of [owner, admin, member, viewer]) {
      expect((await as(person, remove(url, person))).json()).toEqual({ ok: true })
      expect((await findEvents(service, workspace)).at(-1)).toEqual(
        eventBy(
          person,
          { type: 'user', id: person.id },
          { type: 'member.left', summary: `${person.name} left Acme` },
        ),
      )
    }
    expect(await findRoles(service, workspace)).toEqual({ [other.id]: 'owner' })
  })

  it('tells owners and admins of the keys of the member that stop, in one notification and an event for each', async () => {
    const company = await createCompany(service)
    const { owner, admin, member, viewer, url, workspace } = company
    const workspaceIds = [workspace.id]
    const keys = [
      await createKey(service, member, { workspaceIds }),
      await createKey(service, member, { workspaceIds }),
    ]
    await createKey(service, member)
    await as(admin, remove(url, member))
    const stopped = (await as(owner, get(`${url}/events?type=api_key.stopped`))).json<{ data: object }[]>()
    expect(stopped.map(({ data }) => data).toReversed()).toEqual(
      keys.map(({ id }) => ({ apiKeyId: id, userId: member.id })),
    )
    expect((await as(viewer, get(`${url}/events?type=api_key.stopped`))).json()).toEqual([])
    const [first] = keys
    for (const person of [owner, admin])
      expect((await as(person, get('/v1/me/notifications'))).json()).toMatchObject([
        {
          kind: 'key_stopped',
          text: `The API key ${first?.tokenPrefix}…${first?.lastFour} and 1 more stopped in Acme: their owner is not a member any more`,
          path: `/w/${workspace.slug}/settings/api-keys`,
        },
      ])
    expect((await as(viewer, get('/v1/me/notifications'))).json()).toEqual([])
  })

  it('tells of no key when none of the member acts in the workspace', async () => {
    const { owner, member, url } = await createCompany(service)
    await createKey(service, member)
    await as(owner, remove(url, member))
    expect((await as(owner, get(`${url}/events?type=api_key.stopped`))).json()).toEqual([])
    expect((await as(owner, get('/v1/me/notifications'))).json()).toEqual([])
  })

  it('deletes the team memberships, seed participations and grants of the member in this workspace only', async () => {
    const [here, there] = [await createCompany(service), await createCompany(service)]
    const person = await createPerson()
    const places = []
    for (const company of [here, there]) {
      const { token } = await createInvite(service, company.owner, company, { email: person.email })
      await as(person, post(`/v1/invites/${token}/accept`))
      const team = await createTeam(service, company.owner, company)
      for (const { id } of [person, company.viewer])
        await as(company.owner, post(`${team.url}/members`, { userId: id }))
      const seed = await createSeed(service, person, company)
      await joinSeed(service, person, seed)
      const { id: grantId } = await insertGrant(service, company.workspace, person)
      places.push({ team, seed, grantId })
    }
    const [left, kept] = places
    if (!left || !kept) throw new Error('there are two')
    await as(here.owner, remove(here.url, person))
    expect(await findTeamMembers(service, left.team)).toEqual([here.viewer.id])
    expect(await findTeamMembers(service, kept.team)).toEqual([person.id, there.viewer.id])
    const participants = await selectRows(
      db,
      sql`select seed_id from seed_participants where user_id = ${person.id}`,
    )
    expect(participants).toEqual([{ seed_id: kept.seed.id }])
    const grants = await selectRows(db, sql`select id from agent_grants where user_id = ${person.id}`)
    expect(grants).toEqual([{ id: kept.grantId }])
    // What they made stays.
    expect((await as(here.owner, get(`/v1/seeds/${left.seed.id}`))).json()).toMatchObject({
      createdByUserId: person.id,
    })
  })

  it('keeps the name of a removed member in earlier events', async () => {
    const { url, owner, admin, member } = await createCompany(service)
    await as(admin, remove(url, member))
    await as(owner, remove(url, admin))
    const feed = (await as(owner, get(`${url}/events`))).json<object[]>()
    expect(feed).toMatchObject([
      { actorName: 'Olga Owner', summary: 'Olga Owner removed Adam Admin' },
      // That by which he removed her.
      { type: 'api_key.stopped' },
      { actorName: 'Adam Admin', actorUserId: admin.id, summary: 'Adam Admin removed Mary Member' },
      {},
    ])
  })

  it('lets a removed member be invited again', async () => {
    const company = await createCompany(service)
    const { url, owner, member, workspace } = company
    await as(owner, remove(url, member))
    const { token } = await createInvite(service, owner, company, { email: member.email, role: 'viewer' })
    await as(member, post(`/v1/invites/${token}/accept`))
    expect(await findRoles(service, workspace)).toMatchObject({ [member.id]: 'viewer' })
  })
})

describe('400', () => {
  it('returns 400 for a body, and removes nobody', async () => {
    const { url, workspace, owner, member } = await createCompany(service)
    const answer = await as(owner, { ...remove(url, member), payload: { reason: 'x' } })
    expect(answer.statusCode).toBe(400)
    expect(await findRoles(service, workspace)).toMatchObject({ [member.id]: 'member' })
  })
})

describe('401', () => {
  it('returns 401 without a key', async () => {
    const { url, member } = await createCompany(service)
    expectError(await app.inject(remove(url, member)), errors.apiKeyRequired)
  })
})

describe('403', () => {
  it('returns 403 to members and viewers, and to an admin who removes an owner or admin, and lets an owner remove an owner', async () => {
    const { url, workspace, owner, admin, member, viewer } = await createCompany(service)
    const otherAdmin = await addPerson(service, workspace, 'admin')
    expectError(await as(admin, remove(url, owner)), errors.roleTooHigh)
    expectError(await as(admin, remove(url, otherAdmin)), errors.roleTooHigh)
    expectError(await as(member, remove(url, viewer)), errors.roleInsufficient)
    expectError(await as(viewer, remove(url, member)), errors.roleInsufficient)
    expect(Object.keys(await findRoles(service, workspace))).toHaveLength(5)
    const otherOwner = await addPerson(service, workspace, 'owner')
    expect((await as(owner, remove(url, otherOwner))).statusCode).toBe(200)
  })

  it('returns 403 to a stranger, even for their own id', async () => {
    const { url, member } = await createCompany(service)
    const stranger = await createPerson()
    for (const target of [member, stranger])
      expectError(await as(stranger, remove(url, target)), errors.notAMember)
  })
})

describe('404', () => {
  it('returns 404 for a stranger, a removed member, an unknown id and a malformed id', async () => {
    const { url, owner, member } = await createCompany(service)
    const stranger = await createPerson()
    await as(owner, remove(url, member))
    for (const id of [stranger.id, member.id, createId(), 'x', '%00'])
      expectError(await as(owner, remove(url, { id })), errors.notFound)
  })
})

describe('409', () => {
  it('returns 409 last_owner when the last owner leaves', async () => {
    const { url, workspace, owner } = await createCompany(service)
    expectError(await as(owner, remove(url, owner)), errors.lastOwner)
    expect(await findRoles(service, workspace)).toMatchObject({ [owner.id]: 'owner' })
    expect(await findEvents(service, workspace)).toHaveLength(1)
  })
})
