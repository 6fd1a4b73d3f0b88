import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { errors } from '../../src/kernel/errors.ts'
import { roles } from '../../src/domain/roles.ts'
import { countQueries } from '../support/count-queries.ts'
import { anyIssues, expectError, issuesOf } from '../support/expect-error.ts'
import { startTestApp } from '../support/test-app.ts'
import { addMember, createWorkspace, findEvents, randomSlug } from '../support/workspaces.ts'

const service = await startTestApp()
const { app, as, createPerson, db } = service

describe('200', () => {
  it.each(roles)('returns the workspace and the role of the caller: %s', async (role) => {
    const [owner, person] = [await createPerson(), await createPerson()]
    const workspace = await createWorkspace(service, owner, { name: 'Analytical Engines' })
    await addMember(service, workspace, person, role)
    const answer = await as(person, { url: `/v1/workspaces/${workspace.slug}` })
    expect(answer.statusCode).toBe(200)
    expect(answer.json()).toEqual({
      userId: person.id,
      workspaceId: workspace.id,
      name: 'Analytical Engines',
      slug: workspace.slug,
      iconUrl: null,
      allowedDomains: [],
      role,
    })
    expect(answer.headers['cache-control']).toBe('private, no-cache')
    expect(answer.headers['content-location']).toBeUndefined()
    expect(await findEvents(service, workspace)).toHaveLength(1)
  })

  it('returns the icon as a public URL, and the allowed domains', async () => {
    const person = await createPerson()
    const { id, slug } = await createWorkspace(service, person)
    await db.execute(
      sql`update workspaces set icon_key = 'abc.webp', allowed_domains = '{acme.test,acme.example}' where id = ${id}`,
    )
    expect((await as(person, { url: `/v1/workspaces/${slug}` })).json()).toMatchObject({
      iconUrl: 'http://localhost:3000/pictures/abc.webp',
      allowedDomains: ['acme.test', 'acme.example'],
    })
  })

  it('runs one query when the last use was recorded recently', async () => {
    const person = await createPerson()
    const { slug } = await createWorkspace(service, person)
    const get = () => as(person, { url: `/v1/workspaces/${slug}` })
    await get()
    expect(await countQueries(get)).toBe(1)
  })

  it('reflects a change of role or a removal from the next request on', async () => {
    const [owner, person] = [await createPerson(), await createPerson()]
    const { id, slug } = await createWorkspace(service, owner)
    await addMember(service, { id }, person, 'admin')
    const get = () => as(person, { url: `/v1/workspaces/${slug}` })
    expect((await get()).json()).toMatchObject({ role: 'admin' })
    await db.execute(sql`update memberships set role = 'viewer' where user_id = ${person.id}`)
    expect((await get()).json()).toMatchObject({ role: 'viewer' })
    await db.execute(sql`delete from memberships where user_id = ${person.id}`)
    expectError(await get(), errors.notAMember)
  })

  it('returns no body to HEAD', async () => {
    const person = await createPerson()
    const { slug } = await createWorkspace(service, person)
    const answer = await as(person, { method: 'HEAD', url: `/v1/workspaces/${slug}` })
    expect(answer.statusCode).toBe(200)
    expect(answer.body).toBe('')
  })
})

describe('400', () => {
  it('returns 400 for a query parameter', async () => {
    const person = await createPerson()
    const { slug } = await createWorkspace(service, person)
    const answer = await as(person, { url: `/v1/workspaces/${slug}?expand=members` })
    expectError(answer, errors.decodeError, { issues: anyIssues })
    expect(issuesOf(answer)).toEqual([{ _tag: 'Unexpected', path: ['expand'] }])
  })
})

describe('401', () => {
  it('returns 401 without a key', async () => {
    const { slug } = await createWorkspace(service, await createPerson())
    expectError(await app.inject(`/v1/workspaces/${slug}`), errors.apiKeyRequired)
  })
})

describe('403', () => {
  it('returns 403 to a stranger', async () => {
    const { slug } = await createWorkspace(service, await createPerson())
    expectError(await as(await createPerson(), { url: `/v1/workspaces/${slug}` }), errors.notAMember)
  })
})

describe('404', () => {
  it.each(['%00', '%E2%80%AE', '..%2F..', 'x'.repeat(4000), '%27%20or%201=1--', 'ACME', 'workspaces'])(
    'returns 404 for the slug %s',
    async (slug) => {
      expectError(await as(await createPerson(), { url: `/v1/workspaces/${slug}` }), errors.notFound)
    },
  )

  it('returns 404 for an unknown slug, for the id of a workspace and for a slug in upper case', async () => {
    const person = await createPerson()
    const { id, slug } = await createWorkspace(service, person)
    for (const unknown of [randomSlug(), id, slug.toUpperCase()]) {
      expectError(await as(person, { url: `/v1/workspaces/${unknown}` }), errors.notFound)
    }
  })
})
