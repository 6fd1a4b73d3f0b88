import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { errors } from '../../src/kernel/errors.ts'
import { createToken } from '../../src/kernel/tokens.ts'
import { createCompany, createInvite, get, patch, post } from '../support/company.ts'
import { countQueries } from '../support/count-queries.ts'
import { expectError } from '../support/expect-error.ts'
import { startTestApp } from '../support/test-app.ts'
import { createTestClock } from '../support/test-clock.ts'
import { randomSlug } from '../support/workspaces.ts'

const clock = createTestClock()
const service = await startTestApp({ clock })
const { app, as, createPerson, db } = service
const week = 7 * 24 * 60 * 60 * 1000

describe('200', () => {
  it("returns the workspace, role, status and inviter, and whether the address matches the caller's", async () => {
    const company = await createCompany(service)
    const { workspace, owner } = company
    await db.execute(sql`update workspaces set icon_key = 'icon.webp' where id = ${workspace.id}`)
    const person = await createPerson({ email: `Ivy-${randomSlug()}@example.com` })
    const invite = await createInvite(service, owner, company, {
      email: person.email.toUpperCase(),
      role: 'viewer',
    })
    const answer = await as(person, get(`/v1/invites/${invite.token}`))
    expect(answer.statusCode).toBe(200)
    expect(answer.json()).toEqual({
      workspaceName: 'Acme',
      workspaceSlug: workspace.slug,
      workspaceIconUrl: 'http://localhost:3000/pictures/icon.webp',
      email: person.email.toUpperCase(),
      role: 'viewer',
      status: 'pending',
      invitedByName: 'Olga Owner',
      expiresAt: new Date(clock.now().getTime() + week).toISOString(),
      emailMatches: true,
    })
    expect(answer.headers['cache-control']).toBe('private, no-store')
    const other = await as(owner, get(`/v1/invites/${invite.token}`))
    expect(other.json()).toMatchObject({ emailMatches: false, workspaceSlug: workspace.slug })
  })

  it('returns the status: pending, expired after 7 days, accepted or revoked', async () => {
    const company = await createCompany(service)
    const statusOf = async (token: string) =>
      (await as(company.owner, get(`/v1/invites/${token}`))).json<{ status: string }>().status
    const person = await createPerson()
    const [accepted, revoked, pending] = [
      await createInvite(service, company.owner, company, { email: person.email }),
      await createInvite(service, company.owner, company),
      await createInvite(service, company.owner, company),
    ]
    await as(person, post(`/v1/invites/${accepted.token}/accept`))
    await as(company.owner, post(`${company.url}/invites/${revoked.id}/revoke`))
    clock.advance(week - 1)
    expect(await statusOf(pending.token)).toBe('pending')
    clock.advance(1)
    expect(await statusOf(pending.token)).toBe('expired')
    expect(await statusOf(accepted.token)).toBe('accepted')
    expect(await statusOf(revoked.token)).toBe('revoked')
  })

  it('returns the current name and slug of the workspace', async () => {
    const company = await createCompany(service)
    const { token } = await createInvite(service, company.owner, company)
    const slug = randomSlug()
    await as(company.owner, patch(company.url, { name: 'Beta', slug }))
    const answer = await as(company.owner, get(`/v1/invites/${token}`))
    expect(answer.json()).toMatchObject({
      workspaceName: 'Beta',
      workspaceSlug: slug,
      workspaceIconUrl: null,
    })
  })

  it('runs two queries, and logs no token', async () => {
    const company = await createCompany(service)
    const { token } = await createInvite(service, company.owner, company)
    expect(await countQueries(() => as(company.owner, get(`/v1/invites/${token}`)))).toBe(2)
    await as(company.owner, post(`/v1/invites/${token}/accept`))
    expect(service.log.some((line) => line.includes('/v1/invites/:token/accept'))).toBe(true)
    expect(service.log.filter((line) => line.includes(token))).toEqual([])
  })
})

describe('401', () => {
  it('returns 401 without a key', async () => {
    const company = await createCompany(service)
    const { token } = await createInvite(service, company.owner, company)
    expectError(await app.inject(get(`/v1/invites/${token}`)), errors.apiKeyRequired)
  })
})

describe('404', () => {
  it('returns 404 for an unknown or malformed token', async () => {
    const company = await createCompany(service)
    const { token, id } = await createInvite(service, company.owner, company)
    const changed = (token.startsWith('A') ? 'B' : 'A') + token.slice(1)
    for (const unknown of [
      createToken(),
      id,
      changed,
      token.slice(1),
      `${token}=`,
      'x',
      '%00',
      'a'.repeat(5_000),
    ])
      expectError(await as(company.owner, get(`/v1/invites/${unknown}`)), errors.notFound)
  })
})
