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
  it('answers a JSON string', async () => {
    const person = await createPerson()
    const { slug } = await createWorkspace(service, person)
    const answer = await as(person, home)
    expect(answer.statusCode).toBe(200)
    expect(answer.headers['content-type']).toBe('application/json; charset=utf-8')
    expect(answer.headers['cache-control']).toBe('private, no-store')
    expect(answer.body).toBe(`"/w/${slug}"`)
  })

  it('sends somebody without a workspace to make one', async () => {
    const answer = await as(await createPerson(), home)
    expect(answer.statusCode).toBe(200)
    expect(answer.body).toBe('"/onboarding"')
  })

  it('follows from one workspace to another', async () => {
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

  it('follows also when another process has seen the person elsewhere', async () => {
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

  it('follows to the workspace of a seed', async () => {
    const person = await createPerson()
    const [first, second] = [await createWorkspace(service, person), await createWorkspace(service, person)]
    const seed = await createSeed(service, person, { url: `/v1/workspaces/${first.slug}` })
    await visit(person, second.slug)
    expect(await homeOf(person)).toBe(`/w/${second.slug}`)
    clock.advance(1_000)
    expect((await as(person, { url: `/v1/seeds/${seed.id}` })).statusCode).toBe(200)
    expect(await homeOf(person)).toBe(`/w/${first.slug}`)
  })

  it('stays where somebody else is somewhere else', async () => {
    const [owner, person] = [await createPerson(), await createPerson()]
    const [one, other] = [await createWorkspace(service, owner), await createWorkspace(service, owner)]
    await addMember(service, one, person, 'member', clock.now())
    await visit(owner, other.slug)
    expect(await homeOf(person)).toBe(`/w/${one.slug}`)
    expect(await homeOf(owner)).toBe(`/w/${other.slug}`)
  })

  it('knows the present slug after a rename', async () => {
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

  it('does not lead to a workspace that the person is no longer in', async () => {
    const person = await createPerson()
    const first = await createWorkspace(service, person)
    clock.advance(1_000)
    const second = await createWorkspace(service, person)
    await db.execute(sql`delete from memberships where workspace_id = ${second.id}`)
    expect(await homeOf(person)).toBe(`/w/${first.slug}`)
    await db.execute(sql`delete from memberships where workspace_id = ${first.id}`)
    expect(await homeOf(person)).toBe('/onboarding')
  })

  it('asks the database once beyond the key', async () => {
    const person = await createPerson()
    await createWorkspace(service, person)
    expect(await countQueries(() => as(person, home))).toBe(2)
  })
})

describe('400', () => {
  it('refuses a query parameter', async () => {
    const answer = await as(await createPerson(), { url: '/v1/me/home?to=x' })
    expectError(answer, errors.decodeError, { issues: anyIssues })
    expect(issuesOf(answer)).toEqual([{ _tag: 'Unexpected', path: ['to'] }])
  })
})

describe('401', () => {
  it('asks for a key', async () => {
    expectError(await app.inject(home), errors.apiKeyRequired)
  })
})
