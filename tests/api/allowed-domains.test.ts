import { randomUUID } from 'node:crypto'
import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { runAdmin } from '../acceptance/service.ts'
import { createCompany, findRoles, get, patch } from '../support/company.ts'
import { createUser } from '../support/people.ts'
import { selectRows, startTestApp } from '../support/test-app.ts'
import { addMember, findEvents, randomSlug } from '../support/workspaces.ts'

const service = await startTestApp()
const { as, createPerson, db, services } = service

/** A domain that no other test has, and a company that lets its people in. */
async function createOpenCompany(domain = `${randomSlug('d')}.example`) {
  const company = await createCompany(service)
  const opener = await createPerson({ email: emailAt(domain) })
  await addMember(service, company.workspace, opener, 'admin')
  const answer = await as(
    opener,
    patch(company.url, { name: 'Acme', slug: company.workspace.slug, allowedDomains: domain }),
  )
  expect(answer.statusCode, answer.body).toBe(200)
  return { ...company, domain }
}

const emailAt = (domain: string) => `${randomUUID()}@${domain}`

async function isIn({ workspace }: { workspace: { id: string } }, { id }: { id: string }): Promise<boolean> {
  return id in (await findRoles(service, workspace))
}

describe('a user with a verified address at an allowed domain', () => {
  it('adds the user on creation, and appends an event that names the domain', async () => {
    const company = await createOpenCompany()
    const person = await createUser(services, { name: 'Dora Domain', email: emailAt(company.domain) })
    expect(await findRoles(service, company.workspace)).toMatchObject({ [person.id]: 'member' })
    expect((await findEvents(service, company.workspace)).at(-1)).toEqual({
      type: 'member.joined',
      actor_type: 'system',
      actor_user_id: person.id,
      actor_name: 'Dora Domain',
      grant_id: null,
      api_key_id: null,
      source: 'system',
      target_type: 'user',
      target_id: person.id,
      summary: `Dora Domain joined with an email address at ${company.domain}`,
    })
    expect((await as(person, get('/v1/me/onboarding'))).json()).toMatchObject({
      existing: { slug: company.workspace.slug, role: 'member' },
    })
  })

  it('does not add the user when several workspaces allow the domain', async () => {
    const first = await createOpenCompany()
    const second = await createOpenCompany(first.domain)
    const person = await createUser(services, { email: emailAt(first.domain) })
    expect([await isIn(first, person), await isIn(second, person)]).toEqual([false, false])
    expect((await as(person, get('/v1/me/onboarding'))).json()).toEqual({ existing: null })
    expect((await as(person, get('/v1/me/home'))).json()).toBe('/onboarding')
  })

  it('adds the user when the address is in upper case', async () => {
    const company = await createOpenCompany()
    const person = await createUser(services, { email: emailAt(company.domain).toUpperCase() })
    expect(await isIn(company, person)).toBe(true)
  })

  it('adds the user of an internationalized domain, which is stored in its ASCII form', async () => {
    const name = randomSlug('münchen')
    const company = await createOpenCompany(`${name}.example`)
    const ascii = new URL(`http://${name}.example`).hostname
    expect(ascii).toMatch(/^xn--/)
    const [stored] = await selectRows(
      db,
      sql`select allowed_domains from workspaces where id = ${company.workspace.id}`,
    )
    expect(stored).toEqual({ allowed_domains: [ascii] })
    expect(await isIn(company, await createUser(services, { email: emailAt(ascii) }))).toBe(true)
  })

  it('adds a user whom an operator creates with --verified, and not without it', async () => {
    const company = await createOpenCompany()
    const [verified, unverified] = [emailAt(company.domain), emailAt(company.domain)]
    const environment = { DATABASE_URL: String(service.config.databaseUrl) }
    for (const [email, ...options] of [[verified, '--verified'], [unverified]] as const) {
      const { code, stderr } = await runAdmin(
        ['create-user', '--email', email, '--name', 'Dora Domain', ...options],
        { environment },
      )
      expect(code, stderr).toBe(0)
    }
    const members = await selectRows(
      db,
      sql`select email, role from memberships join users on users.id = user_id
        where workspace_id = ${company.workspace.id} and email in (${verified}, ${unverified})`,
    )
    expect(members).toEqual([{ email: verified, role: 'member' }])
  })
})

describe('other users', () => {
  it('does not add a user whose address is not verified', async () => {
    const company = await createOpenCompany()
    const person = await createUser(services, { email: emailAt(company.domain), isVerified: false })
    expect(await isIn(company, person)).toBe(false)
    expect(await findEvents(service, company.workspace)).toHaveLength(2)
  })

  it('does not add a user of a subdomain, a parent domain or a similar domain', async () => {
    const company = await createOpenCompany()
    for (const domain of [
      `mail.${company.domain}`,
      `x${company.domain}`,
      `${company.domain}.example`,
      company.domain.replace('.example', '.example.com'),
    ]) {
      expect(await isIn(company, await createUser(services, { email: emailAt(domain) })), domain).toBe(false)
    }
    const local = await createUser(services, { email: `${company.domain}@${randomSlug('other')}.example` })
    expect(await isIn(company, local)).toBe(false)
  })

  it('does not add a user after the domain was removed, and keeps earlier members', async () => {
    const company = await createOpenCompany()
    const before = await createUser(services, { email: emailAt(company.domain) })
    await as(
      company.owner,
      patch(company.url, { name: 'Acme', slug: company.workspace.slug, allowedDomains: '' }),
    )
    const after = await createUser(services, { email: emailAt(company.domain) })
    expect([await isIn(company, before), await isIn(company, after)]).toEqual([true, false])
  })

  it('does not add a user who was created before the domain was allowed', async () => {
    const domain = `${randomSlug('d')}.example`
    const person = await createUser(services, { email: emailAt(domain) })
    expect(await isIn(await createOpenCompany(domain), person)).toBe(false)
  })
})
