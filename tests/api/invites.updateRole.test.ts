import { describe, expect, it } from 'vitest'
import { errors } from '../../src/kernel/errors.ts'
import { createId } from '../../src/kernel/ids.ts'
import { createCompany, createInvite, findInvite, patch, post } from '../support/company.ts'
import { anyIssues, expectError, issuesOf } from '../support/expect-error.ts'
import { startTestApp } from '../support/test-app.ts'
import { eventBy, findEvents } from '../support/workspaces.ts'

const service = await startTestApp()
const { app, as, createPerson } = service

const update = (url: string, id: string, body: object) => patch(`${url}/invites/${id}`, body)

describe('200', () => {
  it('changes the role that the invite gives, and appends an event', async () => {
    const company = await createCompany(service)
    const { url, owner, admin, workspace } = company
    const person = await createPerson()
    const invite = await createInvite(service, owner, company, { email: person.email, role: 'viewer' })
    const answer = await as(admin, update(url, invite.id, { role: 'admin' }))
    expect(answer.statusCode).toBe(200)
    expect(answer.json()).toEqual({ ok: true })
    expect(await findInvite(service, invite)).toMatchObject({ role: 'admin', state: 'open' })
    expect((await findEvents(service, workspace)).at(-1)).toEqual(
      eventBy(
        admin,
        { type: 'invite', id: invite.id },
        {
          type: 'invite.role_changed',
          summary: `Adam Admin changed the role of the invite to ${invite.email} from viewer to admin`,
        },
      ),
    )
    const accepted = await as(person, post(`/v1/invites/${invite.token}/accept`))
    expect(accepted.json()).toMatchObject({ role: 'admin' })
  })

  it('appends no event when the role stays the same', async () => {
    const company = await createCompany(service)
    const { id } = await createInvite(service, company.owner, company)
    const answer = await as(company.owner, update(company.url, id, { role: 'member' }))
    expect(answer.json()).toEqual({ ok: true })
    expect(await findEvents(service, company.workspace)).toHaveLength(2)
  })

  it('lets an owner raise the role above that of the inviter, after which it cannot be accepted', async () => {
    const company = await createCompany(service)
    const person = await createPerson()
    const invite = await createInvite(service, company.admin, company, { email: person.email })
    expect((await as(company.owner, update(company.url, invite.id, { role: 'owner' }))).statusCode).toBe(200)
    // An admin may not make owners, and it is the admin who invites.
    expectError(await as(person, post(`/v1/invites/${invite.token}/accept`)), errors.inviteRevoked)
  })
})

describe('400', () => {
  it.each([
    ['no role', {}, [{ _tag: 'Missing', path: ['role'] }]],
    ['an unknown role', { role: 'guest' }, [{ _tag: 'Type', path: ['role'] }]],
    [
      'an additional email address',
      { role: 'viewer', email: 'x@example.com' },
      [{ _tag: 'Unexpected', path: ['email'] }],
    ],
  ])('returns 400 for %s, and changes nothing', async (_name, body, issues) => {
    const company = await createCompany(service)
    const invite = await createInvite(service, company.owner, company)
    const answer = await as(company.owner, update(company.url, invite.id, body))
    expectError(answer, errors.decodeError, { issues: anyIssues })
    expect(issuesOf(answer)).toEqual(issues)
    expect(await findInvite(service, invite)).toMatchObject({ role: 'member', email: invite.email })
  })
})

describe('401, 403 and 404', () => {
  it('returns 401 without a key, 403 to callers without permission, and 404 for an unknown or malformed id', async () => {
    const company = await createCompany(service)
    const { url, owner, admin, member, viewer } = company
    const invite = await createInvite(service, owner, company)
    expectError(await app.inject(update(url, invite.id, { role: 'viewer' })), errors.apiKeyRequired)
    for (const person of [member, viewer])
      expectError(await as(person, update(url, invite.id, { role: 'viewer' })), errors.roleInsufficient)
    expectError(await as(admin, update(url, invite.id, { role: 'owner' })), errors.roleTooHigh)
    for (const id of [createId(), 'x', '%00'])
      expectError(await as(owner, update(url, id, { role: 'viewer' })), errors.notFound)
    expect(await findInvite(service, invite)).toMatchObject({ role: 'member' })
  })
})

describe('409', () => {
  it('returns 409 for an invite that was accepted or revoked', async () => {
    const company = await createCompany(service)
    const { url, owner } = company
    const person = await createPerson()
    const accepted = await createInvite(service, owner, company, { email: person.email })
    await as(person, post(`/v1/invites/${accepted.token}/accept`))
    expectError(await as(owner, update(url, accepted.id, { role: 'viewer' })), errors.inviteUsed)
    const revoked = await createInvite(service, owner, company)
    await as(owner, post(`${url}/invites/${revoked.id}/revoke`))
    expectError(await as(owner, update(url, revoked.id, { role: 'viewer' })), errors.inviteRevoked)
  })
})
