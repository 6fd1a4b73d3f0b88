import { describe, expect, it } from 'vitest'
import { errors } from '../../src/kernel/errors.ts'
import { createId } from '../../src/kernel/ids.ts'
import { createCompany, createInvite, findInvite, get, post } from '../support/company.ts'
import { expectError } from '../support/expect-error.ts'
import { startTestApp } from '../support/test-app.ts'
import { eventBy, findEvents } from '../support/workspaces.ts'

const service = await startTestApp()
const { app, as, createPerson } = service

const revoke = (url: string, id: string) => post(`${url}/invites/${id}/revoke`)

describe('200', () => {
  it('revokes the invite: its status is revoked and it cannot be accepted', async () => {
    const company = await createCompany(service)
    const { url, owner, admin, workspace } = company
    const person = await createPerson()
    const invite = await createInvite(service, owner, company, { email: person.email })
    const answer = await as(admin, revoke(url, invite.id))
    expect(answer.statusCode).toBe(200)
    expect(answer.json()).toEqual({ ok: true })
    expect(await findInvite(service, invite)).toMatchObject({ state: 'revoked' })
    expect((await as(person, get(`/v1/invites/${invite.token}`))).json()).toMatchObject({ status: 'revoked' })
    expectError(await as(person, post(`/v1/invites/${invite.token}/accept`)), errors.inviteRevoked)
    expect((await as(owner, get(`${url}/invites`))).json()).toEqual([])
    expect((await findEvents(service, workspace)).at(-1)).toEqual(
      eventBy(
        admin,
        { type: 'invite', id: invite.id },
        { type: 'invite.revoked', summary: `Adam Admin revoked the invite to ${invite.email}` },
      ),
    )
  })

  it('returns 200 when repeated, and appends one event', async () => {
    const company = await createCompany(service)
    const { id } = await createInvite(service, company.owner, company)
    for (let i = 0; i < 2; i++)
      expect((await as(company.owner, revoke(company.url, id))).json()).toEqual({ ok: true })
    expect(await findEvents(service, company.workspace)).toHaveLength(3)
  })
})

describe('401, 403 and 404', () => {
  it('returns 401 without a key, 403 to callers without permission, and 404 for an unknown or malformed id', async () => {
    const company = await createCompany(service)
    const { url, owner, admin, member, viewer } = company
    const invite = await createInvite(service, owner, company, { role: 'owner' })
    expectError(await app.inject(revoke(url, invite.id)), errors.apiKeyRequired)
    for (const person of [member, viewer])
      expectError(await as(person, revoke(url, invite.id)), errors.roleInsufficient)
    expectError(await as(admin, revoke(url, invite.id)), errors.roleTooHigh)
    for (const id of [createId(), 'x', '%00']) expectError(await as(owner, revoke(url, id)), errors.notFound)
    expect(await findInvite(service, invite)).toMatchObject({ state: 'open' })
  })
})

describe('409', () => {
  it('returns 409 invite_used for an accepted invite, and the member stays', async () => {
    const company = await createCompany(service)
    const person = await createPerson()
    const invite = await createInvite(service, company.owner, company, { email: person.email })
    await as(person, post(`/v1/invites/${invite.token}/accept`))
    expectError(await as(company.owner, revoke(company.url, invite.id)), errors.inviteUsed)
    expect((await as(person, get(company.url))).statusCode).toBe(200)
  })
})
