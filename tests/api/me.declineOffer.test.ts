import { randomUUID } from 'node:crypto'
import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { errors } from '../../src/kernel/errors.ts'
import { createId } from '../../src/kernel/ids.ts'
import { createCompany, findRoles, post } from '../support/company.ts'
import { expectError } from '../support/expect-error.ts'
import { selectRows, startTestApp } from '../support/test-app.ts'
import { allowDomains, findEvents, randomSlug } from '../support/workspaces.ts'

const service = await startTestApp()
const { app, as, createPerson, db } = service

const decline = (id: string) => post(`/v1/me/offers/${id}/decline`)

const departuresOf = ({ id }: { id: string }) =>
  selectRows(db, sql`select workspace_id, kind from departures where user_id = ${id}`)

/** A person, and a company that allows the domain of their address. */
async function offer() {
  const domain = `${randomSlug('d')}.example`
  const person = await createPerson({ email: `${randomUUID()}@${domain}` })
  const company = await createCompany(service)
  await allowDomains(service, company.workspace, [domain])
  return { domain, person, company }
}

describe('200', () => {
  it('remembers it without an event, also a second time; the caller can still join', async () => {
    const { person, company } = await offer()
    const { workspace } = company
    const events = await findEvents(service, workspace)
    for (let i = 0; i < 2; i++) {
      const answer = await as(person, decline(workspace.id))
      expect(answer.statusCode).toBe(200)
      expect(answer.json()).toEqual({ ok: true })
    }
    expect(await departuresOf(person)).toEqual([{ workspace_id: workspace.id, kind: 'declined' }])
    expect(await findEvents(service, workspace)).toEqual(events)
    await as(person, post(`/v1/me/offers/${workspace.id}/accept`))
    expect(await findRoles(service, workspace)).toMatchObject({ [person.id]: 'member' })
    expect(await departuresOf(person)).toEqual([])
  })
})

describe('401', () => {
  it('returns 401 without a key', async () => {
    const { company } = await offer()
    expectError(await app.inject(decline(company.workspace.id)), errors.apiKeyRequired)
  })
})

describe('404', () => {
  it('returns 404 for a workspace that is not offered or unknown, and remembers nothing', async () => {
    const { domain, person } = await offer()
    const other = await createCompany(service)
    for (const id of [other.workspace.id, createId(), randomUUID(), 'x', '%00'])
      expectError(await as(person, decline(id)), errors.notFound)
    expect(await departuresOf(person)).toEqual([])
    const unverified = await createPerson({ email: `${randomUUID()}@${domain}`, isVerified: false })
    expectError(await as(unverified, decline(other.workspace.id)), errors.notFound)
  })
})
