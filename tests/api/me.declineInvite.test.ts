import { randomUUID } from 'node:crypto'
import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { errors } from '../../src/kernel/errors.ts'
import { createId } from '../../src/kernel/ids.ts'
import { createCompany, createInvite, findInvite, post } from '../support/company.ts'
import { expectError } from '../support/expect-error.ts'
import { startTestApp } from '../support/test-app.ts'
import { createTestClock } from '../support/test-clock.ts'
import { findEvents } from '../support/workspaces.ts'

const clock = createTestClock()
const service = await startTestApp({ clock })
const { app, as, createPerson, db } = service
const week = 7 * 24 * 60 * 60 * 1000

const decline = ({ id }: { id: string }) => post(`/v1/me/invites/${id}/decline`)

/** Somebody with an invite of theirs. */
async function invitePerson() {
  const company = await createCompany(service)
  const person = await createPerson({ name: 'Ivy Invited' })
  const invite = await createInvite(service, company.owner, company, { email: person.email })
  return { company, person, invite }
}

describe('200', () => {
  it('declines the invite, also a second time', async () => {
    const { company, person, invite } = await invitePerson()
    for (let i = 0; i < 2; i++) {
      const answer = await as(person, decline(invite))
      expect(answer.statusCode).toBe(200)
      expect(answer.json()).toEqual({ ok: true })
    }
    expect(await findInvite(service, invite)).toMatchObject({ state: 'declined' })
    const events = await findEvents(service, company.workspace)
    expect(events.filter(({ type }) => type === 'invite.declined')).toHaveLength(1)
  })
})

describe('401', () => {
  it('returns 401 without a key', async () => {
    const { invite } = await invitePerson()
    expectError(await app.inject(decline(invite)), errors.apiKeyRequired)
  })
})

describe('404', () => {
  it('returns 404 for an unknown or malformed id, and for an invite to somebody else, who keeps it', async () => {
    const { invite } = await invitePerson()
    const other = await createPerson()
    for (const id of [createId(), randomUUID(), 'x', '%00', invite.token, invite.id])
      expectError(await as(other, decline({ id })), errors.notFound)
    expect(await findInvite(service, invite)).toMatchObject({ state: 'open' })
  })

  it('returns 404 until the address of the caller is verified', async () => {
    const { person, invite } = await invitePerson()
    await db.execute(sql`update users set email_verified_at = null where id = ${person.id}`)
    expectError(await as(person, decline(invite)), errors.notFound)
    expect(await findInvite(service, invite)).toMatchObject({ state: 'open' })
  })
})

describe('409', () => {
  it('returns 409 for an invite that was accepted, was revoked or has expired', async () => {
    const accepted = await invitePerson()
    await as(accepted.person, post(`/v1/me/invites/${accepted.invite.id}/accept`))
    expectError(await as(accepted.person, decline(accepted.invite)), errors.inviteUsed)
    const revoked = await invitePerson()
    await as(revoked.company.owner, post(`${revoked.company.url}/invites/${revoked.invite.id}/revoke`))
    expectError(await as(revoked.person, decline(revoked.invite)), errors.inviteRevoked)
    const expired = await invitePerson()
    clock.advance(week)
    expectError(await as(expired.person, decline(expired.invite)), errors.inviteExpired)
  })
})
