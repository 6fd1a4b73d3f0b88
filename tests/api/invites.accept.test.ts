import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { errors } from '../../src/kernel/errors.ts'
import { createToken } from '../../src/kernel/tokens.ts'
import {
  createCompany,
  createInvite,
  createTeam,
  del,
  findInvite,
  findJobs,
  findNotifications,
  findRoles,
  findTeamMembers,
  get,
  patch,
  post,
  type TestCompany,
} from '../support/company.ts'
import { expectError } from '../support/expect-error.ts'
import { startTestApp, type TestPerson } from '../support/test-app.ts'
import { createTestClock } from '../support/test-clock.ts'
import { addMember, eventBy, findEvents, randomSlug } from '../support/workspaces.ts'

const clock = createTestClock()
const service = await startTestApp({ clock })
const { app, as, createPerson, db } = service
const week = 7 * 24 * 60 * 60 * 1000

const accept = (token: string) => post(`/v1/invites/${token}/accept`)

/** Somebody with an invite of theirs. */
async function invitePerson(inviter?: (company: TestCompany) => TestPerson) {
  const company = await createCompany(service)
  const person = await createPerson({ name: 'Ivy Invited' })
  const by = inviter?.(company) ?? company.owner
  const invite = await createInvite(service, by, company, { email: person.email, role: 'viewer' })
  return { company, person, invite }
}

describe('200', () => {
  it('makes the caller a member, appends an event and enqueues a notification', async () => {
    const { company, person, invite } = await invitePerson(({ admin }) => admin)
    const { workspace } = company
    clock.advance(1_000)
    const answer = await as(person, accept(invite.token))
    expect(answer.statusCode).toBe(200)
    expect(answer.json()).toEqual({
      ok: true,
      workspaceId: workspace.id,
      slug: workspace.slug,
      role: 'viewer',
    })
    expect(await findRoles(service, workspace)).toMatchObject({ [person.id]: 'viewer' })
    expect(await findInvite(service, invite)).toMatchObject({ state: 'accepted' })
    expect((await findEvents(service, workspace)).at(-1)).toEqual(
      eventBy(
        person,
        { type: 'user', id: person.id },
        {
          type: 'member.joined',
          summary: 'Ivy Invited accepted the invite of Adam Admin and joined as viewer',
        },
      ),
    )
    expect(await findNotifications(service, workspace)).toMatchObject([
      { user_id: company.admin.id, kind: 'invite_accepted' },
    ])
    const members = (await as(person, get(`${company.url}/members`))).json<
      { userId: string; joinedAt: string }[]
    >()
    const joinedAt = clock.now().toISOString()
    expect(members.find(({ userId }) => userId === person.id)).toMatchObject({ joinedAt })
    // It is where they go from now on.
    expect((await as(person, get('/v1/me/home'))).json()).toBe(`/w/${workspace.slug}`)
  })

  it('joins the teams of the invite, except those that were deleted, and tells their ids in the event', async () => {
    const company = await createCompany(service)
    const person = await createPerson()
    const teams = await Promise.all([1, 2, 3].map(() => createTeam(service, company.owner, company)))
    const [gone, ...rest] = teams
    const teamIds = teams.map(({ id }) => id)
    const invite = await createInvite(service, company.owner, company, { email: person.email, teamIds })
    await as(company.owner, del(String(gone?.url)))
    expect((await as(person, accept(invite.token))).statusCode).toBe(200)
    for (const team of rest) expect(await findTeamMembers(service, team)).toEqual([person.id])
    const [event] = (await as(company.owner, get(`${company.url}/events?limit=1`))).json<{ data: object }[]>()
    expect(event?.data).toMatchObject({ userId: person.id, teamIds: rest.map(({ id }) => id).toSorted() })
  })

  it('joins no team if all were deleted', async () => {
    const company = await createCompany(service)
    const person = await createPerson()
    const team = await createTeam(service, company.owner, company)
    const invite = await createInvite(service, company.owner, company, {
      email: person.email,
      teamIds: [team.id],
    })
    await as(company.owner, del(team.url))
    expect((await as(person, accept(invite.token))).statusCode).toBe(200)
    const [event] = (await as(company.owner, get(`${company.url}/events?limit=1`))).json<{ data: object }[]>()
    expect(event?.data).toMatchObject({ teamIds: [] })
  })

  it('tells the inviter in their inbox', async () => {
    const { company, person, invite } = await invitePerson(({ admin }) => admin)
    await as(person, accept(invite.token))
    expect(await findNotifications(service, company.workspace)).toEqual([
      {
        user_id: company.admin.id,
        kind: 'invite_accepted',
        actor_user_id: person.id,
        actor_name: 'Ivy Invited',
        data: {},
      },
    ])
  })

  it('keeps the teams of a caller who has joined before, and tells the inviter', async () => {
    const company = await createCompany(service)
    const person = await createPerson()
    const team = await createTeam(service, company.owner, company)
    const invite = await createInvite(service, company.owner, company, {
      email: person.email,
      teamIds: [team.id],
    })
    await addMember(service, company.workspace, person, 'member')
    expect((await as(person, accept(invite.token))).statusCode).toBe(200)
    expect(await findTeamMembers(service, team)).toEqual([])
    expect(await findNotifications(service, company.workspace)).toMatchObject([
      { user_id: company.owner.id, kind: 'invite_accepted' },
    ])
  })

  it('keeps the role of a caller who has joined before, and appends invite.accepted', async () => {
    const { company, person, invite } = await invitePerson()
    const { workspace, owner } = company
    await addMember(service, workspace, person, 'member', clock.now())
    const answer = await as(person, accept(invite.token))
    expect(answer.statusCode).toBe(200)
    expect(answer.json()).toMatchObject({ workspaceId: workspace.id, role: 'member' })
    expect(await findRoles(service, workspace)).toMatchObject({ [person.id]: 'member' })
    expect(await findInvite(service, invite)).toMatchObject({ state: 'accepted' })
    expect((await findEvents(service, workspace)).at(-1)).toEqual(
      eventBy(
        person,
        { type: 'invite', id: invite.id },
        {
          type: 'invite.accepted',
          summary: `Ivy Invited accepted the invite of ${owner.name} but was already a member`,
        },
      ),
    )
  })

  it('accepts an address whose domain is in its ASCII form in the invite', async () => {
    const company = await createCompany(service)
    const person = await createPerson({ email: `${crypto.randomUUID()}@bücher.example` })
    const { token } = await createInvite(service, company.owner, company, {
      email: person.email.replace('bücher', 'xn--bcher-kva'),
    })
    expect((await as(person, accept(token))).statusCode).toBe(200)
  })

  it('accepts an address whose case differs from the invite', async () => {
    const company = await createCompany(service)
    const person = await createPerson()
    const { token } = await createInvite(service, company.owner, company, {
      email: person.email.toUpperCase(),
    })
    expect((await as(person, accept(token))).statusCode).toBe(200)
  })

  it('works after the workspace was renamed', async () => {
    const { company, person, invite } = await invitePerson()
    const slug = randomSlug()
    await as(company.owner, patch(company.url, { name: 'Beta', slug }))
    expect((await as(person, accept(invite.token))).json()).toMatchObject({ slug })
  })

  it('works when the inviter is no longer an owner but may still invite with that role', async () => {
    const { company, person, invite } = await invitePerson()
    await as(company.owner, patch(`${company.url}/members/${company.admin.id}`, { role: 'owner' }))
    await as(company.admin, patch(`${company.url}/members/${company.owner.id}`, { role: 'admin' }))
    expect((await as(person, accept(invite.token))).statusCode).toBe(200)
  })

  it('keeps the higher role of a caller who has joined before', async () => {
    const { company, person, invite } = await invitePerson()
    await addMember(service, company.workspace, person, 'admin')
    expect((await as(person, accept(invite.token))).json()).toMatchObject({ role: 'admin' })
    expect(await findInvite(service, invite)).toMatchObject({ state: 'accepted' })
    expect(await findRoles(service, company.workspace)).toMatchObject({ [person.id]: 'admin' })
  })
})

describe('401', () => {
  it('returns 401 without a key', async () => {
    const { company, person, invite } = await invitePerson()
    expectError(await app.inject(accept(invite.token)), errors.apiKeyRequired)
    expect(person.id in (await findRoles(service, company.workspace))).toBe(false)
  })
})

describe('403', () => {
  it('returns 403 to another user, before and after the invite was accepted', async () => {
    const { company, person, invite } = await invitePerson()
    const other = await createPerson()
    expectError(await as(other, accept(invite.token)), errors.inviteEmailMismatch)
    await as(person, accept(invite.token))
    expectError(await as(other, accept(invite.token)), errors.inviteEmailMismatch)
    expect(other.id in (await findRoles(service, company.workspace))).toBe(false)
  })

  it('returns 403 email_unverified until the address of the caller is verified', async () => {
    const company = await createCompany(service)
    const person = await createPerson({ isVerified: false })
    const invite = await createInvite(service, company.owner, company, { email: person.email })
    expectError(await as(person, accept(invite.token)), errors.emailUnverified)
    expect(person.id in (await findRoles(service, company.workspace))).toBe(false)
    await db.execute(sql`update users set email_verified_at = now() where id = ${person.id}`)
    expect((await as(person, accept(invite.token))).statusCode).toBe(200)
  })
})

describe('404', () => {
  it('returns 404 for an unknown or malformed token', async () => {
    const { person, invite } = await invitePerson()
    for (const token of [createToken(), invite.id, 'x', '%00'])
      expectError(await as(person, accept(token)), errors.notFound)
  })
})

describe('409', () => {
  const expectRevokedAfter = async (
    change: (made: Awaited<ReturnType<typeof invitePerson>>) => Promise<unknown>,
  ) => {
    const made = await invitePerson(({ admin }) => admin)
    await change(made)
    expectError(await as(made.person, accept(made.invite.token)), errors.inviteRevoked)
    expect(made.person.id in (await findRoles(service, made.company.workspace))).toBe(false)
    expect(await findJobs(service, made.invite.id)).toHaveLength(1)
  }

  it('returns 409 invite_expired 7 days after the invite was created, to the millisecond', async () => {
    const { person, invite } = await invitePerson()
    const { company: other, person: otherPerson, invite: otherInvite } = await invitePerson()
    clock.advance(week - 1)
    expect((await as(person, accept(invite.token))).statusCode).toBe(200)
    clock.advance(1)
    expectError(await as(otherPerson, accept(otherInvite.token)), errors.inviteExpired)
    expect(otherPerson.id in (await findRoles(service, other.workspace))).toBe(false)
  })

  it('returns 409 invite_revoked when the invite was revoked', () =>
    expectRevokedAfter(({ company, invite }) =>
      as(company.owner, post(`${company.url}/invites/${invite.id}/revoke`)),
    ))

  it('returns 409 invite_declined when the caller has declined it', async () => {
    const { company, person, invite } = await invitePerson()
    await as(person, post(`/v1/invites/${invite.token}/decline`))
    expectError(await as(person, accept(invite.token)), errors.inviteDeclined)
    expect(person.id in (await findRoles(service, company.workspace))).toBe(false)
  })

  it.each([
    ['was removed', (url: string) => del(url)],
    ['may no longer invite', (url: string) => patch(url, { role: 'member' })],
  ])('returns 409 invite_revoked when the inviter %s', (_name, change) =>
    expectRevokedAfter(({ company }) =>
      as(company.owner, change(`${company.url}/members/${company.admin.id}`)),
    ),
  )

  it('returns 409 invite_revoked when the role is above the current role of the inviter', async () => {
    const company = await createCompany(service)
    const person = await createPerson()
    const { token } = await createInvite(service, company.owner, company, {
      email: person.email,
      role: 'owner',
    })
    await as(company.owner, patch(`${company.url}/members/${company.admin.id}`, { role: 'owner' }))
    await as(company.admin, patch(`${company.url}/members/${company.owner.id}`, { role: 'admin' }))
    expectError(await as(person, accept(token)), errors.inviteRevoked)
  })

  it('returns 409 invite_used the second time, even to a user who has left', async () => {
    const { company, person, invite } = await invitePerson()
    await as(person, accept(invite.token))
    expectError(await as(person, accept(invite.token)), errors.inviteUsed)
    await as(person, del(`${company.url}/members/${person.id}`))
    expectError(await as(person, accept(invite.token)), errors.inviteUsed)
    expect(person.id in (await findRoles(service, company.workspace))).toBe(false)
  })

  it('returns 409 workspace_limit to a user in 1,000 workspaces, and the invite stays open', async () => {
    const { company, person, invite } = await invitePerson()
    await db.execute(sql`
      with filler as (
        insert into workspaces (id, name, slug, creator_user_id, created_at)
        select gen_random_uuid(), 'Filler', 'filler', ${person.id}, now() from generate_series(1, 1000) returning id)
      insert into memberships select id, ${person.id}, 'owner', now(), now() from filler`)
    expectError(await as(person, accept(invite.token)), errors.workspaceLimit)
    expect(await findInvite(service, invite)).toMatchObject({ state: 'open' })
    expect(person.id in (await findRoles(service, company.workspace))).toBe(false)
  })
})

describe('a refused request', () => {
  it('changes nothing: no member, no event, no job', async () => {
    const other = await createPerson()
    const { company, invite } = await invitePerson()
    const events = await findEvents(service, company.workspace)
    await as(other, accept(invite.token))
    expect(await findEvents(service, company.workspace)).toEqual(events)
    expect(await findJobs(service, invite.id)).toHaveLength(1)
    expect(await findInvite(service, invite)).toMatchObject({ state: 'open' })
    expect(other.id in (await findRoles(service, company.workspace))).toBe(false)
  })
})
