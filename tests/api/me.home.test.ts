import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { errors } from '../../src/kernel/errors.ts'
import { countQueries } from '../support/count-queries.ts'
import { anyIssues, expectError, issuesOf } from '../support/expect-error.ts'
import { createSeed } from '../support/seeds.ts'
import { createTestClock } from '../support/test-clock.ts'
import { startTestApp, type TestPerson } from '../support/test-app.ts'
import { addMember, createWorkspace, randomSlug } from '../support/workspaces.ts'

const clock = createTestClock()
const service = await startTestApp({ clock })
const { app, as, createPerson, db } = service

const home = { url: '/v1/me/home' }

const homeOf = async (person: TestPerson) => (await as(person, home)).json<string>()

const visit = async (person: TestPerson, slug: string) => {
  clock.advance(1_000)
  expect((await as(person, { url: `/v1/workspaces/${slug}` })).statusCode).toBe(200)
}

describe('200', () => {
  it('returns a JSON string with the path of the workspace', async () => {
    const person = await createPerson()
    const { slug } = await createWorkspace(service, person)
    const answer = await as(person, home)
    expect(answer.statusCode).toBe(200)
    expect(answer.headers['content-type']).toBe('application/json; charset=utf-8')
    expect(answer.headers['cache-control']).toBe('private, no-store')
    expect(answer.body).toBe(`"/w/${slug}"`)
  })

  it('returns /onboarding to a user without a workspace', async () => {
    const answer = await as(await createPerson(), home)
    expect(answer.statusCode).toBe(200)
    expect(answer.body).toBe('"/onboarding"')
  })

  it('returns the workspace that the user has used last', async () => {
    const person = await createPerson()
    const first = await createWorkspace(service, person)
    await visit(person, first.slug)
    clock.advance(1_000)
    const second = await createWorkspace(service, person)
    expect(await homeOf(person)).toBe(`/w/${second.slug}`)
    // Within the minute in which uses of one workspace are written once.
    await visit(person, first.slug)
    expect(await homeOf(person)).toBe(`/w/${first.slug}`)
    await visit(person, second.slug)
    await visit(person, first.slug)
    expect(await homeOf(person)).toBe(`/w/${first.slug}`)
  })

  it('returns the workspace used last when another process served that request', async () => {
    const replica = await startTestApp({ clock })
    const person = await createPerson()
    const [first, second] = [await createWorkspace(service, person), await createWorkspace(service, person)]
    await visit(person, first.slug)
    clock.advance(1_000)
    await replica.as(person, { url: `/v1/workspaces/${second.slug}` })
    expect(await homeOf(person)).toBe(`/w/${second.slug}`)
    await visit(person, first.slug)
    expect(await homeOf(person)).toBe(`/w/${first.slug}`)
  })

  it('returns the workspace of a seed that the user has read last', async () => {
    const person = await createPerson()
    const [first, second] = [await createWorkspace(service, person), await createWorkspace(service, person)]
    const seed = await createSeed(service, person, { url: `/v1/workspaces/${first.slug}` })
    await visit(person, second.slug)
    expect(await homeOf(person)).toBe(`/w/${second.slug}`)
    clock.advance(1_000)
    expect((await as(person, { url: `/v1/seeds/${seed.id}` })).statusCode).toBe(200)
    expect(await homeOf(person)).toBe(`/w/${first.slug}`)
  })

  it('ignores which workspaces other users have used', async () => {
    const [owner, person] = [await createPerson(), await createPerson()]
    const [one, other] = [await createWorkspace(service, owner), await createWorkspace(service, owner)]
    await addMember(service, one, person, 'member', clock.now())
    await visit(owner, other.slug)
    expect(await homeOf(person)).toBe(`/w/${one.slug}`)
    expect(await homeOf(owner)).toBe(`/w/${other.slug}`)
  })

  it('returns the current slug after a rename', async () => {
    const person = await createPerson()
    const { slug } = await createWorkspace(service, person)
    const renamed = randomSlug()
    await as(person, {
      method: 'PATCH',
      url: `/v1/workspaces/${slug}`,
      payload: { name: 'Acme', slug: renamed },
    })
    expect(await homeOf(person)).toBe(`/w/${renamed}`)
  })

  it('does not return a workspace that the user has left', async () => {
    const person = await createPerson()
    const first = await createWorkspace(service, person)
    clock.advance(1_000)
    const second = await createWorkspace(service, person)
    await db.execute(sql`delete from memberships where workspace_id = ${second.id}`)
    expect(await homeOf(person)).toBe(`/w/${first.slug}`)
    await db.execute(sql`delete from memberships where workspace_id = ${first.id}`)
    expect(await homeOf(person)).toBe('/onboarding')
  })

  it('runs two queries: one for the key, one for the workspace', async () => {
    const person = await createPerson()
    await createWorkspace(service, person)
    expect(await countQueries(() => as(person, home))).toBe(2)
  })
})

describe('400', () => {
  it('returns 400 for a query parameter', async () => {
    const answer = await as(await createPerson(), { url: '/v1/me/home?to=x' })
    expectError(answer, errors.decodeError, { issues: anyIssues })
    expect(issuesOf(answer)).toEqual([{ _tag: 'Unexpected', path: ['to'] }])
  })
})

describe('401', () => {
  it('returns 401 without a key', async () => {
    expectError(await app.inject(home), errors.apiKeyRequired)
  })
})
