import { describe, expect, it } from 'vitest'
import { errors } from '../../src/kernel/errors.ts'
import { createId } from '../../src/kernel/ids.ts'
import { createCompany, createInvite, findInvite, findJobs, get, post, tokenOf } from '../support/company.ts'
import { expectError } from '../support/expect-error.ts'
import { startTestApp } from '../support/test-app.ts'
import { createTestClock } from '../support/test-clock.ts'
import { eventBy, findEvents } from '../support/workspaces.ts'

const clock = createTestClock()
const service = await startTestApp({ clock })
const { app, as, createPerson } = service
const week = 7 * 24 * 60 * 60 * 1000

const resend = (url: string, id: string) => post(`${url}/invites/${id}/resend`)

describe('200', () => {
  it('returns a new link that is valid for 7 days, and invalidates the old link', async () => {
    const company = await createCompany(service)
    const { url, owner, admin, workspace } = company
    const invite = await createInvite(service, owner, company)
    clock.advance(60_000)
    const answer = await as(admin, resend(url, invite.id))
    expect(answer.statusCode).toBe(200)
    const { inviteUrl } = answer.json<{ inviteUrl: string }>()
    const expiresAt = new Date(clock.now().getTime() + week).toISOString()
    expect(answer.json()).toEqual({ ok: true, inviteUrl, expiresAt })
    expectError(await as(owner, get(`/v1/invites/${invite.token}`)), errors.notFound)
    expect((await as(owner, get(`/v1/invites/${tokenOf(inviteUrl)}`))).json()).toMatchObject({
      status: 'pending',
      expiresAt,
      // Who invited is who invited, not who sent it again.
      invitedByName: 'Olga Owner',
    })
    expect((await findEvents(service, workspace)).at(-1)).toEqual(
      eventBy(
        admin,
        { type: 'invite', id: invite.id },
        { type: 'invite.resent', summary: `Adam Admin sent the invite to ${invite.email} again` },
      ),
    )
    expect(await findJobs(service, invite.id)).toHaveLength(2)
  })

  it('makes an expired invite acceptable again', async () => {
    const company = await createCompany(service)
    const person = await createPerson()
    const invite = await createInvite(service, company.owner, company, { email: person.email })
    clock.advance(week + 1)
    const answer = await as(company.owner, resend(company.url, invite.id))
    const token = tokenOf(answer.json<{ inviteUrl: string }>().inviteUrl)
    expect((await as(person, post(`/v1/invites/${token}/accept`))).statusCode).toBe(200)
  })
})

describe('401, 403 and 404', () => {
  it('returns 401 without a key, 403 to callers without permission, and 404 for an unknown or malformed id', async () => {
    const company = await createCompany(service)
    const { url, owner, admin, member, viewer } = company
    const invite = await createInvite(service, owner, company, { role: 'owner' })
    expectError(await app.inject(resend(url, invite.id)), errors.apiKeyRequired)
    for (const person of [member, viewer])
      expectError(await as(person, resend(url, invite.id)), errors.roleInsufficient)
    // An admin cannot give more than they have, by whomever the invite was made.
    expectError(await as(admin, resend(url, invite.id)), errors.roleTooHigh)
    for (const id of [createId(), 'x', '%00']) expectError(await as(owner, resend(url, id)), errors.notFound)
    expect(await findInvite(service, invite)).toMatchObject({ state: 'open' })
    expect((await as(owner, get(`/v1/invites/${invite.token}`))).statusCode).toBe(200)
  })
})

describe('409', () => {
  it('returns 409 for an invite that was accepted, revoked or replaced', async () => {
    const company = await createCompany(service)
    const { url, owner } = company
    const person = await createPerson()
    const accepted = await createInvite(service, owner, company, { email: person.email })
    await as(person, post(`/v1/invites/${accepted.token}/accept`))
    expectError(await as(owner, resend(url, accepted.id)), errors.inviteUsed)
    const revoked = await createInvite(service, owner, company)
    await as(owner, post(`${url}/invites/${revoked.id}/revoke`))
    expectError(await as(owner, resend(url, revoked.id)), errors.inviteRevoked)
    const replaced = await createInvite(service, owner, company)
    clock.advance(week)
    await createInvite(service, owner, company, { email: replaced.email })
    expectError(await as(owner, resend(url, replaced.id)), errors.inviteRevoked)
  })
})
