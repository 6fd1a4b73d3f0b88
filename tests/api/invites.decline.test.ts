import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { errors } from '../../src/kernel/errors.ts'
import { createToken } from '../../src/kernel/tokens.ts'
import { createCompany, createInvite, findInvite, findRoles, get, patch, post } from '../support/company.ts'
import { expectError } from '../support/expect-error.ts'
import { startTestApp } from '../support/test-app.ts'
import { createTestClock } from '../support/test-clock.ts'
import { addMember, eventBy, findEvents } from '../support/workspaces.ts'

const clock = createTestClock()
const service = await startTestApp({ clock })
const { app, as, createPerson, db } = service
const week = 7 * 24 * 60 * 60 * 1000

const decline = (token: string) => post(`/v1/invites/${token}/decline`)
const accept = (token: string) => post(`/v1/invites/${token}/accept`)

/** Somebody with an invite of theirs. */
async function invitePerson() {
  const company = await createCompany(service)
  const person = await createPerson({ name: 'Ivy Invited' })
  const invite = await createInvite(service, company.owner, company, { email: person.email })
  return { company, person, invite, inviteUrl: `${company.url}/invites/${invite.id}` }
}

describe('200', () => {
  it('declines the invite, and appends an event that only owners and admins see', async () => {
    const { company, person, invite } = await invitePerson()
    const { workspace, owner, viewer, url } = company
    const answer = await as(person, decline(invite.token))
    expect(answer.statusCode).toBe(200)
    expect(answer.json()).toEqual({ ok: true })
    expect(await findInvite(service, invite)).toMatchObject({ state: 'declined' })
    expect(person.id in (await findRoles(service, workspace))).toBe(false)
    expect((await findEvents(service, workspace)).at(-1)).toEqual(
      eventBy(
        person,
        { type: 'invite', id: invite.id },
        { type: 'invite.declined', summary: `Ivy Invited declined the invite to ${invite.email}` },
      ),
    )
    const latestOf = async (reader: typeof owner) =>
      (await as(reader, get(`${url}/events?limit=1`))).json<{ type: string }[]>()[0]?.type
    expect([await latestOf(owner), await latestOf(viewer)]).toEqual(['invite.declined', 'workspace.created'])
    expect((await as(owner, get(`${url}/invites`))).json()).toEqual([])
    expect((await as(person, get(`/v1/invites/${invite.token}`))).json()).toMatchObject({
      status: 'declined',
    })
  })

  it('changes nothing the second time', async () => {
    const { company, person, invite } = await invitePerson()
    await as(person, decline(invite.token))
    const events = await findEvents(service, company.workspace)
    clock.advance(week)
    expect((await as(person, decline(invite.token))).json()).toEqual({ ok: true })
    expect(await findEvents(service, company.workspace)).toEqual(events)
  })

  it('lets the address be invited again', async () => {
    const { company, person, invite } = await invitePerson()
    await as(person, decline(invite.token))
    const again = await createInvite(service, company.owner, company, { email: person.email })
    expect((await as(person, accept(again.token))).statusCode).toBe(200)
  })

  it('leaves the membership of a person who has joined by domain meanwhile', async () => {
    const { company, person, invite } = await invitePerson()
    await addMember(service, company.workspace, person, 'member')
    expect((await as(person, decline(invite.token))).statusCode).toBe(200)
    expect(await findRoles(service, company.workspace)).toMatchObject({ [person.id]: 'member' })
  })

  it('declines an invite that could not be accepted because of its inviter', async () => {
    const { company, person, invite } = await invitePerson()
    await addMember(service, company.workspace, await createPerson(), 'owner')
    await as(company.owner, patch(`${company.url}/members/${company.owner.id}`, { role: 'viewer' }))
    expect((await as(person, decline(invite.token))).statusCode).toBe(200)
  })
})

describe('401', () => {
  it('returns 401 without a key', async () => {
    const { invite } = await invitePerson()
    expectError(await app.inject(decline(invite.token)), errors.apiKeyRequired)
    expect(await findInvite(service, invite)).toMatchObject({ state: 'open' })
  })
})

describe('403', () => {
  it('returns 403 to another user, before and after it was declined', async () => {
    const { person, invite } = await invitePerson()
    const other = await createPerson()
    expectError(await as(other, decline(invite.token)), errors.inviteEmailMismatch)
    expect(await findInvite(service, invite)).toMatchObject({ state: 'open' })
    await as(person, decline(invite.token))
    expectError(await as(other, decline(invite.token)), errors.inviteEmailMismatch)
  })

  it('returns 403 email_unverified until the address of the caller is verified', async () => {
    const company = await createCompany(service)
    const person = await createPerson({ isVerified: false })
    const invite = await createInvite(service, company.owner, company, { email: person.email })
    expectError(await as(person, decline(invite.token)), errors.emailUnverified)
    await db.execute(sql`update users set email_verified_at = now() where id = ${person.id}`)
    expect((await as(person, decline(invite.token))).statusCode).toBe(200)
  })
})

describe('404', () => {
  it('returns 404 for an unknown or malformed token', async () => {
    const { person, invite } = await invitePerson()
    for (const token of [createToken(), invite.id, 'x', '%00'])
      expectError(await as(person, decline(token)), errors.notFound)
  })
})

describe('409', () => {
  it('returns 409 for an invite that was accepted, was revoked or has expired', async () => {
    const accepted = await invitePerson()
    await as(accepted.person, accept(accepted.invite.token))
    expectError(await as(accepted.person, decline(accepted.invite.token)), errors.inviteUsed)
    const revoked = await invitePerson()
    await as(revoked.company.owner, post(`${revoked.inviteUrl}/revoke`))
    expectError(await as(revoked.person, decline(revoked.invite.token)), errors.inviteRevoked)
    const expired = await invitePerson()
    clock.advance(week)
    expectError(await as(expired.person, decline(expired.invite.token)), errors.inviteExpired)
    expect(await findInvite(service, expired.invite)).toMatchObject({ state: 'open' })
  })
})

describe('an invite that was declined', () => {
  it('can be neither accepted, sent again nor changed; revoking it changes nothing', async () => {
    const { company, person, invite, inviteUrl } = await invitePerson()
    await as(person, decline(invite.token))
    const events = await findEvents(service, company.workspace)
    expectError(await as(person, accept(invite.token)), errors.inviteDeclined)
    expectError(await as(person, post(`/v1/me/invites/${invite.id}/accept`)), errors.inviteDeclined)
    expectError(await as(company.owner, post(`${inviteUrl}/resend`)), errors.inviteDeclined)
    expectError(await as(company.owner, patch(inviteUrl, { role: 'viewer' })), errors.inviteDeclined)
    expect((await as(company.owner, post(`${inviteUrl}/revoke`))).statusCode).toBe(200)
    expect(await findInvite(service, invite)).toMatchObject({ state: 'declined', role: 'member' })
    expect(await findEvents(service, company.workspace)).toEqual(events)
  })
})
