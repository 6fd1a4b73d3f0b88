import { randomUUID } from 'node:crypto'
import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { errors } from '../../src/kernel/errors.ts'
import { createId } from '../../src/kernel/ids.ts'
import { createCompany, findRoles, post } from '../support/company.ts'
import { expectError } from '../support/expect-error.ts'
import { startTestApp } from '../support/test-app.ts'
import { allowDomains, eventBy, findEvents, randomSlug } from '../support/workspaces.ts'

const service = await startTestApp()
const { app, as, createPerson, db } = service

const accept = (id: string) => post(`/v1/me/offers/${id}/accept`)

/** A person, and a company that allows the domain of their address. */
async function offer() {
  const domain = `${randomSlug('d')}.example`
  const person = await createPerson({ name: 'Ivy', email: `${randomUUID()}@${domain}` })
  const company = await createCompany(service)
  await allowDomains(service, company.workspace, [domain])
  return { domain, person, company }
}

describe('200', () => {
  it('makes the caller a member, and appends an event', async () => {
    const { domain, person, company } = await offer()
    const { workspace } = company
    const answer = await as(person, accept(workspace.id))
    expect(answer.statusCode).toBe(200)
    expect(answer.json()).toEqual({ ok: true })
    expect(await findRoles(service, workspace)).toMatchObject({ [person.id]: 'member' })
    expect((await findEvents(service, workspace)).at(-1)).toEqual(
      eventBy(
        person,
        { type: 'user', id: person.id },
        { type: 'member.joined', summary: `Ivy joined with an email address at ${domain}` },
      ),
    )
  })
})

describe('401', () => {
  it('returns 401 without a key', async () => {
    const { company } = await offer()
    expectError(await app.inject(accept(company.workspace.id)), errors.apiKeyRequired)
  })
})

describe('404', () => {
  it('returns 404 for a workspace that is not offered, unknown or joined already', async () => {
    const { person, company } = await offer()
    const other = await createCompany(service)
    for (const id of [other.workspace.id, createId(), randomUUID(), 'x', '%00', company.workspace.slug])
      expectError(await as(person, accept(id)), errors.notFound)
    expect(person.id in (await findRoles(service, other.workspace))).toBe(false)
    await as(person, accept(company.workspace.id))
    expectError(await as(person, accept(company.workspace.id)), errors.notFound)
  })

  it('returns 404 until the address of the caller is verified', async () => {
    const { domain, company } = await offer()
    const person = await createPerson({ email: `${randomUUID()}@${domain}`, isVerified: false })
    expectError(await as(person, accept(company.workspace.id)), errors.notFound)
    expect(person.id in (await findRoles(service, company.workspace))).toBe(false)
  })
})

describe('409', () => {
  it('returns 409 workspace_limit to a user in 1,000 workspaces', async () => {
    const { person, company } = await offer()
    await db.execute(sql`
      with filler as (
        insert into workspaces (id, name, slug, creator_user_id, created_at)
        select gen_random_uuid(), 'Filler', 'filler', ${person.id}, now() from generate_series(1, 1000) returning id)
      insert into memberships select id, ${person.id}, 'owner', now(), now() from filler`)
    expectError(await as(person, accept(company.workspace.id)), errors.workspaceLimit)
    expect(person.id in (await findRoles(service, company.workspace))).toBe(false)
  })
})
