import { randomUUID } from 'node:crypto'
import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { errors } from '../../src/kernel/errors.ts'
import { createCompany, del, get, post } from '../support/company.ts'
import { countQueries } from '../support/count-queries.ts'
import { expectError } from '../support/expect-error.ts'
import { startTestApp } from '../support/test-app.ts'
import { addMember, allowDomains, randomSlug } from '../support/workspaces.ts'

const service = await startTestApp()
const { app, as, createPerson, db } = service
const url = '/v1/me/offers'

const list = async (person: { apiKey: string }) => {
  const answer = await as(person, get(url))
  expect(answer.statusCode, answer.body).toBe(200)
  return answer.json<{ workspaceId: string }[]>()
}

/** A person, and a company that allows the domain of their address. */
async function offer() {
  const domain = `${randomSlug('d')}.example`
  const person = await createPerson({ email: `${randomUUID()}@${domain}` })
  const company = await createCompany(service)
  await allowDomains(service, company.workspace, [domain])
  return { domain, person, company }
}

describe('200', () => {
  it("returns the workspaces that allow the caller's domain, oldest first", async () => {
    const { domain, person, company } = await offer()
    const other = await createCompany(service)
    await allowDomains(service, other.workspace, ['elsewhere.example', domain])
    await db.execute(sql`update workspaces set icon_key = 'icon.webp' where id = ${other.workspace.id}`)
    const shared = { workspaceName: 'Acme', memberCount: 4 }
    const { id, slug } = company.workspace
    expect(await list(person)).toEqual([
      { ...shared, workspaceId: id, workspaceSlug: slug, workspaceIconUrl: null },
      {
        ...shared,
        workspaceId: other.workspace.id,
        workspaceSlug: other.workspace.slug,
        workspaceIconUrl: 'http://localhost:3000/pictures/icon.webp',
      },
    ])
  })

  it('returns what the caller has declined or left, but nothing that they were removed from', async () => {
    const { person, company } = await offer()
    const { id } = company.workspace
    const member = `${company.url}/members/${person.id}`
    await as(person, post(`${url}/${id}/decline`))
    expect(await list(person)).toMatchObject([{ workspaceId: id }])
    await as(person, post(`${url}/${id}/accept`))
    expect(await list(person)).toEqual([])
    await as(person, del(member))
    expect(await list(person)).toMatchObject([{ workspaceId: id }])
    await addMember(service, company.workspace, person, 'member')
    await as(company.owner, del(member))
    expect(await list(person)).toEqual([])
  })

  it('returns nothing until the address of the caller is verified', async () => {
    const { domain } = await offer()
    const person = await createPerson({ email: `${randomUUID()}@${domain}`, isVerified: false })
    expect(await list(person)).toEqual([])
  })

  it('runs one query beside that of the key', async () => {
    const { person } = await offer()
    expect(await countQueries(() => list(person))).toBe(2)
  })
})

describe('401', () => {
  it('returns 401 without a key', async () => {
    expectError(await app.inject(get(url)), errors.apiKeyRequired)
  })
})
