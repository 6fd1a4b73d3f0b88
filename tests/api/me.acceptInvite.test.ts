import { randomUUID } from 'node:crypto'
import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { errors } from '../../src/kernel/errors.ts'
import { createId } from '../../src/kernel/ids.ts'
import { createCompany, createInvite, findInvite, findRoles, post } from '../support/company.ts'
import { expectError } from '../support/expect-error.ts'
import { startTestApp } from '../support/test-app.ts'
import { createTestClock } from '../support/test-clock.ts'

const clock = createTestClock()
const service = await startTestApp({ clock })
const { app, as, createPerson, db } = service
const week = 7 * 24 * 60 * 60 * 1000

const accept = ({ id }: { id: string }) => post(`/v1/me/invites/${id}/accept`)

/** Somebody with an invite of theirs. */
async function invitePerson() {
  const company = await createCompany(service)
  const person = await createPerson({ name: 'Ivy Invited' })
  const invite = await createInvite(service, company.owner, company, { email: person.email, role: 'viewer' })
  return { company, person, invite }
}

describe('200', () => {
  it('makes the caller a member, as by the token', async () => {
    const { company, person, invite } = await invitePerson()
    const { id: workspaceId, slug } = company.workspace
    const answer = await as(person, accept(invite))
    expect(answer.statusCode).toBe(200)
    expect(answer.json()).toEqual({ ok: true, workspaceId, slug, role: 'viewer' })
    expect(await findRoles(service, company.workspace)).toMatchObject({ [person.id]: 'viewer' })
    expect(await findInvite(service, invite)).toMatchObject({ state: 'accepted' })
  })
})

describe('401', () => {
  it('returns 401 without a key', async () => {
    const { invite } = await invitePerson()
    expectError(await app.inject(accept(invite)), errors.apiKeyRequired)
  })
})

describe('404', () => {
  it('returns 404 for an unknown or malformed id, and for an invite to somebody else, who keeps it', async () => {
    const { company, invite } = await invitePerson()
    const other = await createPerson()
    for (const id of [createId(), randomUUID(), 'x', '%00', invite.token, invite.id])
      expectError(await as(other, accept({ id })), errors.notFound)
    expect(other.id in (await findRoles(service, company.workspace))).toBe(false)
    expect(await findInvite(service, invite)).toMatchObject({ state: 'open' })
  })

  it('returns 404 until the address of the caller is verified', async () => {
    const { person, invite } = await invitePerson()
    await db.execute(sql`update users set email_verified_at = null where id = ${person.id}`)
    expectError(await as(person, accept(invite)), errors.notFound)
    await db.execute(sql`update users set email_verified_at = now() where id = ${person.id}`)
    expect((await as(person, accept(invite))).statusCode).toBe(200)
  })
})

describe('409', () => {
  it('returns 409 for an invite that was accepted, declined or revoked, or has expired', async () => {
    const accepted = await invitePerson()
    await as(accepted.person, accept(accepted.invite))
    expectError(await as(accepted.person, accept(accepted.invite)), errors.inviteUsed)
    const declined = await invitePerson()
    await as(declined.person, post(`/v1/me/invites/${declined.invite.id}/decline`))
    expectError(await as(declined.person, accept(declined.invite)), errors.inviteDeclined)
    const revoked = await invitePerson()
    await as(revoked.company.owner, post(`${revoked.company.url}/invites/${revoked.invite.id}/revoke`))
    expectError(await as(revoked.person, accept(revoked.invite)), errors.inviteRevoked)
    const expired = await invitePerson()
    clock.advance(week)
    expectError(await as(expired.person, accept(expired.invite)), errors.inviteExpired)
  })

  it('returns 409 workspace_limit to a user in 1,000 workspaces', async () => {
    const { person, invite } = await invitePerson()
    await db.execute(sql`
      with filler as (
        insert into workspaces (id, name, slug, creator_user_id, created_at)
        select gen_random_uuid(), 'Filler', 'filler', ${person.id}, now() from generate_series(1, 1000) returning id)
      insert into memberships select id, ${person.id}, 'owner', now(), now() from filler`)
    expectError(await as(person, accept(invite)), errors.workspaceLimit)
    expect(await findInvite(service, invite)).toMatchObject({ state: 'open' })
  })
})
