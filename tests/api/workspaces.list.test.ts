import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { errors } from '../../src/kernel/errors.ts'
import { countQueries } from '../support/count-queries.ts'
import { anyIssues, expectError, issuesOf } from '../support/expect-error.ts'
import { createTestClock } from '../support/test-clock.ts'
import { startTestApp, type TestPerson } from '../support/test-app.ts'
import { addMember, createWorkspace } from '../support/workspaces.ts'

const clock = createTestClock()
const service = await startTestApp({ clock })
const { app, as, createPerson, db } = service

const list = { url: '/v1/workspaces' }

const listSlugs = async (person: TestPerson) =>
  (await as(person, list)).json<{ slug: string }[]>().map(({ slug }) => slug)

describe('200', () => {
  it('returns an empty list to a user without a workspace', async () => {
    const answer = await as(await createPerson(), list)
    expect(answer.statusCode).toBe(200)
    expect(answer.json()).toEqual([])
    expect(answer.headers['cache-control']).toBe('private, no-store')
  })

  it('returns only the workspaces of the caller, with their role in each', async () => {
    const [owner, person] = [await createPerson(), await createPerson()]
    const workspace = await createWorkspace(service, owner, { name: 'Analytical Engines' })
    await createWorkspace(service, owner)
    await addMember(service, workspace, person, 'viewer')
    await db.execute(sql`update workspaces set icon_key = 'abc.webp' where id = ${workspace.id}`)
    const [first, ...rest] = (await as(person, list)).json<{ name: string; role: string }[]>()
    expect(rest).toMatchObject([{ name: 'Otto & Company', role: 'owner' }])
    expect([first]).toEqual([
      {
        id: workspace.id,
        name: 'Analytical Engines',
        slug: workspace.slug,
        iconUrl: 'http://localhost:3000/pictures/abc.webp',
        role: 'viewer',
      },
    ])
  })

  it('sorts by last use, latest first', async () => {
    const person = await createPerson()
    const slugs: string[] = []
    for (let i = 0; i < 3; i++) {
      clock.advance(1_000)
      slugs.push((await createWorkspace(service, person)).slug)
    }
    const [first, second, third] = slugs
    expect(await listSlugs(person)).toEqual([third, second, first])

    clock.advance(1_000)
    await as(person, { url: `/v1/workspaces/${first}` })
    expect(await listSlugs(person)).toEqual([first, third, second])
    clock.advance(1_000)
    await as(person, { url: `/v1/workspaces/${third}/slug-availability` })
    expect(await listSlugs(person)).toEqual([third, first, second])
    // Back and forth within the minute in which uses of one workspace are written once.
    for (const slug of [first, third, first]) {
      clock.advance(1_000)
      await as(person, { url: `/v1/workspaces/${slug}` })
    }
    expect(await listSlugs(person)).toEqual([first, third, second])
  })

  it('keeps its order after a request that returns 403', async () => {
    const [owner, person] = [await createPerson(), await createPerson()]
    const [one, other] = [await createWorkspace(service, owner), await createWorkspace(service, owner)]
    await addMember(service, one, person, 'viewer', new Date(clock.now().getTime() - 2_000))
    await addMember(service, other, person, 'viewer', new Date(clock.now().getTime() - 1_000))
    const answer = await as(person, {
      method: 'PATCH',
      url: `/v1/workspaces/${one.slug}`,
      payload: { name: 'Acme', slug: one.slug },
    })
    expectError(answer, errors.roleInsufficient)
    expect((await listSlugs(person)).slice(0, 2)).toEqual([other.slug, one.slug])
  })

  it('runs two queries for 10 workspaces: one for the key, one for the list', async () => {
    const person = await createPerson()
    for (let i = 0; i < 10; i++) await createWorkspace(service, person)
    const queries = await countQueries(async () => {
      expect((await as(person, list)).json()).toHaveLength(10)
    })
    expect(queries).toBe(2)
  })

  it('returns 1,000 workspaces at once', async () => {
    const person = await createPerson()
    await db.execute(sql`
      with filler as (
        insert into workspaces (id, name, slug, creator_user_id, created_at)
        select gen_random_uuid(), 'Filler', 'filler', ${person.id}, now() from generate_series(1, 1000)
        returning id)
      insert into memberships select id, ${person.id}, 'viewer', now(), now() from filler`)
    expect((await as(person, list)).json()).toHaveLength(1000)
  })
})

describe('400', () => {
  it('returns 400 for a query parameter', async () => {
    const answer = await as(await createPerson(), { url: '/v1/workspaces?limit=10' })
    expectError(answer, errors.decodeError, { issues: anyIssues })
    expect(issuesOf(answer)).toEqual([{ _tag: 'Unexpected', path: ['limit'] }])
  })
})

describe('401', () => {
  it('returns 401 without a key', async () => {
    expectError(await app.inject(list), errors.apiKeyRequired)
  })
})
