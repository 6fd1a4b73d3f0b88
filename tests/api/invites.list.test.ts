import { describe, expect, it } from 'vitest'
import { errors } from '../../src/kernel/errors.ts'
import { createCompany, createInvite, get, post } from '../support/company.ts'
import { countQueries } from '../support/count-queries.ts'
import { expectError } from '../support/expect-error.ts'
import { startTestApp } from '../support/test-app.ts'
import { createTestClock } from '../support/test-clock.ts'
import { randomSlug } from '../support/workspaces.ts'

const clock = createTestClock()
const service = await startTestApp({ clock })
const { app, as, createPerson } = service
const week = 7 * 24 * 60 * 60 * 1000

describe('200', () => {
  it('lists pending and expired invites, oldest first, without tokens', async () => {
    const company = await createCompany(service)
    const { url, owner, admin } = company
    const createdAt = clock.now()
    const old = await createInvite(service, owner, company, { role: 'viewer' })
    clock.advance(1_000)
    const revoked = await createInvite(service, owner, company)
    const person = await createPerson()
    const accepted = await createInvite(service, owner, company, { email: person.email })
    await as(owner, post(`${url}/invites/${revoked.id}/revoke`))
    await as(person, post(`/v1/invites/${accepted.token}/accept`))
    clock.advance(week - 1_000)
    const fresh = await createInvite(service, admin, company)
    const answer = await as(admin, get(`${url}/invites`))
    expect(answer.statusCode).toBe(200)
    expect(answer.json()).toEqual([
      {
        id: old.id,
        email: old.email,
        role: 'viewer',
        status: 'expired',
        invitedByUserId: owner.id,
        invitedByName: 'Olga Owner',
        createdAt: createdAt.toISOString(),
        expiresAt: new Date(createdAt.getTime() + week).toISOString(),
        lastSentAt: null,
        delivery: 'waiting',
      },
      {
        id: fresh.id,
        email: fresh.email,
        role: 'member',
        status: 'pending',
        invitedByUserId: admin.id,
        invitedByName: 'Adam Admin',
        createdAt: clock.now().toISOString(),
        expiresAt: new Date(clock.now().getTime() + week).toISOString(),
        lastSentAt: null,
        delivery: 'waiting',
      },
    ])
    expect(answer.body).not.toContain(old.token)
  })

  it('returns an empty list for a new workspace', async () => {
    const { url, owner } = await createCompany(service)
    expect((await as(owner, get(`${url}/invites`))).json()).toEqual([])
  })

  it('runs two queries: one for the key, one for the invites', async () => {
    const company = await createCompany(service)
    for (let i = 0; i < 5; i++) await createInvite(service, company.owner, company)
    expect(await countQueries(() => as(company.owner, get(`${company.url}/invites`)))).toBe(2)
  })
})

describe('401, 403 and 404', () => {
  it('returns 401 without a key, 403 to members, viewers and strangers, and 404 for an unknown workspace', async () => {
    const { url, member, viewer } = await createCompany(service)
    const stranger = await createPerson()
    expectError(await app.inject(`${url}/invites`), errors.apiKeyRequired)
    for (const person of [member, viewer])
      expectError(await as(person, get(`${url}/invites`)), errors.roleInsufficient)
    expectError(await as(stranger, get(`${url}/invites`)), errors.notAMember)
    expectError(await as(stranger, get(`/v1/workspaces/${randomSlug()}/invites`)), errors.notFound)
  })
})
