import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { errors } from '../../src/kernel/errors.ts'
import { anyIssues, expectError, issuesOf } from '../support/expect-error.ts'
import { createTestClock } from '../support/test-clock.ts'
import { selectRows, startTestApp, type TestPerson } from '../support/test-app.ts'
import {
  createWorkspace,
  eventBy,
  findEvents,
  findSlugs,
  findWorkspace,
  randomSlug,
} from '../support/workspaces.ts'

const clock = createTestClock()
const service = await startTestApp({ clock })
const { app, as, createPerson, db } = service

const create = (body: unknown) => ({
  method: 'POST' as const,
  url: '/v1/workspaces',
  headers: { 'content-type': 'application/json' },
  payload: JSON.stringify(body),
})

interface Created {
  ok: true
  workspace: { id: string; name: string; slug: string; creatorUserId: string }
}

/** How much a person has made: nothing, for a request that was refused. */
const countOf = async ({ id }: TestPerson) =>
  (
    await selectRows(
      db,
      sql`select (select count(*)::int from workspaces where creator_user_id = ${id}) as workspaces,
        (select count(*)::int from memberships where user_id = ${id}) as memberships,
        (select count(*)::int from events where actor_user_id = ${id}) as events`,
    )
  )[0]

const nothing = { workspaces: 0, memberships: 0, events: 0 }

describe('200', () => {
  it('creates a workspace owned by the caller, and appends an event', async () => {
    const person = await createPerson({ name: 'Ada' })
    const slug = randomSlug()
    const answer = await as(person, create({ name: 'Analytical Engines', slug }))
    expect(answer.statusCode).toBe(200)
    const { workspace } = answer.json<Created>()
    expect(answer.json()).toEqual({
      ok: true,
      workspace: {
        id: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-/) as string,
        name: 'Analytical Engines',
        slug,
        creatorUserId: person.id,
      },
    })
    expect(await findWorkspace(service, workspace)).toEqual({
      id: workspace.id,
      name: 'Analytical Engines',
      slug,
      icon_key: null,
      deleted_at: null,
      exported_until: null,
      allowed_domains: [],
      creator_user_id: person.id,
      created_at: expect.any(String) as string,
    })
    expect(await findSlugs(service, workspace)).toEqual({ [slug]: null })
    const memberships = await selectRows<{ joined_at: string; last_used_at: string }>(
      db,
      sql`select user_id, role, joined_at, last_used_at from memberships where workspace_id = ${workspace.id}`,
    )
    expect(memberships).toEqual([expect.objectContaining({ user_id: person.id, role: 'owner' })])
    for (const { joined_at, last_used_at } of memberships) {
      expect([new Date(joined_at), new Date(last_used_at)]).toEqual([clock.now(), clock.now()])
    }
    expect(await findEvents(service, workspace)).toEqual([
      eventBy(
        person,
        { type: 'workspace', id: workspace.id },
        {
          type: 'workspace.created',
          summary: 'Ada created the workspace Analytical Engines',
        },
      ),
    ])
    expect((await as(person, { url: `/v1/workspaces/${slug}` })).json()).toMatchObject({
      workspaceId: workspace.id,
      role: 'owner',
    })
  })

  it.each([
    ['3 characters', () => `0${randomSlug().slice(-2)}`],
    ['48 characters', () => randomSlug().padEnd(48, 'x')],
    ['digits only', () => String(Date.now())],
    ['single hyphens', () => randomSlug('a-b-c')],
  ])('accepts a slug with %s', async (_name, slugOf) => {
    const slug = slugOf()
    const answer = await as(await createPerson(), create({ name: 'Acme', slug }))
    expect(answer.json()).toMatchObject({ workspace: { slug } })
  })

  it('accepts a name of 100 characters, and stores it trimmed and normalized', async () => {
    const person = await createPerson()
    const name = ` e\u0301${'🏢'.repeat(96)} `
    const answer = await as(person, create({ name, slug: randomSlug() }))
    const { workspace } = answer.json<Created>()
    expect(workspace.name).toBe(`é${'🏢'.repeat(96)}`)
    expect(await findWorkspace(service, workspace)).toMatchObject({ name: workspace.name })
    const full = await as(person, create({ name: '🏢'.repeat(100), slug: randomSlug() }))
    expect(full.statusCode).toBe(200)
  })

  it('accepts the same name for two workspaces', async () => {
    const person = await createPerson()
    const [one, other] = [await createWorkspace(service, person), await createWorkspace(service, person)]
    expect(one.name).toBe(other.name)
    expect(one.id).not.toBe(other.id)
  })

  it('executes the request once for the same Idempotency-Key', async () => {
    const person = await createPerson()
    const request = create({ name: 'Acme', slug: randomSlug() })
    const send = () =>
      as(person, { ...request, headers: { ...request.headers, 'idempotency-key': 'create-1' } })
    const [first, again] = [await send(), await send()]
    expect(again.statusCode).toBe(200)
    expect(again.headers['idempotent-replayed']).toBe('true')
    expect(again.body).toBe(first.body)
    expect(await countOf(person)).toEqual({ workspaces: 1, memberships: 1, events: 1 })
  })
})

describe('400', () => {
  it.each([
    [
      'an empty object',
      {},
      [
        { _tag: 'Missing', path: ['name'] },
        { _tag: 'Missing', path: ['slug'] },
      ],
    ],
    ['no slug', { name: 'Acme' }, [{ _tag: 'Missing', path: ['slug'] }]],
    ['a number as name', { name: 5, slug: 'acme-5' }, [{ _tag: 'Type', path: ['name'] }]],
    ['a name of white space', { name: ' \t ', slug: 'acme-6' }, [{ _tag: 'Refinement', path: ['name'] }]],
    [
      'a name of 101 characters',
      { name: 'x'.repeat(101), slug: 'acme-7' },
      [{ _tag: 'Refinement', path: ['name'] }],
    ],
    [
      'an unknown field',
      { name: 'Acme', slug: 'acme-8', role: 'owner' },
      [{ _tag: 'Unexpected', path: ['role'] }],
    ],
    ['null as slug', { name: 'Acme', slug: null }, [{ _tag: 'Type', path: ['slug'] }]],
  ])('returns 400 for %s, and creates nothing', async (_name, body, issues) => {
    const person = await createPerson()
    const answer = await as(person, create(body))
    expectError(answer, errors.decodeError, { issues: anyIssues })
    expect(issuesOf(answer)).toEqual(issues)
    expect(await countOf(person)).toEqual(nothing)
  })

  it.each([
    '',
    'ab',
    'x'.repeat(49),
    'Acme',
    'acme_inc',
    'acme inc',
    '-acme',
    'acme-',
    'ac--me',
    'acmé',
    'acme\n',
    'acme/x',
    'acme.inc',
    'acme\u0000',
  ])('returns 400 for the slug %j, and creates nothing', async (slug) => {
    const person = await createPerson()
    const answer = await as(person, create({ name: 'Acme', slug }))
    expectError(answer, errors.decodeError, { issues: anyIssues })
    expect(issuesOf(answer)).toContainEqual({ _tag: 'Refinement', path: ['slug'] })
    expect(await countOf(person)).toEqual(nothing)
  })

  it.each(['workspaces', 'pictures', 'docs', 'health', 'admin', 'sign-in', 'oauth'])(
    'returns 400 slug_reserved for the slug %s, and creates nothing',
    async (slug) => {
      const person = await createPerson()
      expectError(await as(person, create({ name: 'Acme', slug })), errors.slugReserved, { field: 'slug' })
      expect(await countOf(person)).toEqual(nothing)
    },
  )

  it('returns 400 for a query parameter, and creates nothing', async () => {
    const person = await createPerson()
    const answer = await as(person, {
      ...create({ name: 'Acme', slug: randomSlug() }),
      query: { dry: 'true' },
    })
    expect(issuesOf(answer)).toEqual([{ _tag: 'Unexpected', path: ['dry'] }])
    expect(await countOf(person)).toEqual(nothing)
  })
})

describe('401', () => {
  it('returns 401 without a key', async () => {
    expectError(await app.inject(create({ name: 'Acme', slug: randomSlug() })), errors.apiKeyRequired)
  })
})

describe('409', () => {
  it("returns 409 slug_taken for the slug of another workspace, even the caller's own, and creates nothing", async () => {
    const [owner, other] = [await createPerson(), await createPerson()]
    const { slug } = await createWorkspace(service, owner)
    expectError(await as(other, create({ name: 'Acme', slug })), errors.slugTaken)
    expect(await countOf(other)).toEqual(nothing)
    expectError(await as(owner, create({ name: 'Acme', slug })), errors.slugTaken)
    expect(await countOf(owner)).toEqual({ workspaces: 1, memberships: 1, events: 1 })
  })

  it('returns 409 workspace_limit for the 1,001st workspace of a user, until they leave one', async () => {
    const person = await createPerson()
    await db.execute(sql`
      with filler as (
        insert into workspaces (id, name, slug, creator_user_id, created_at)
        select gen_random_uuid(), 'Filler', 'unused', ${person.id}, now() from generate_series(1, 999)
        returning id)
      insert into memberships select id, ${person.id}, 'viewer', now(), now() from filler`)
    const last = await createWorkspace(service, person)
    const full = { workspaces: 1000, memberships: 1000, events: 1 }
    expect(await countOf(person)).toEqual(full)
    expectError(await as(person, create({ name: 'One more', slug: randomSlug() })), errors.workspaceLimit)
    expect(await countOf(person)).toEqual(full)

    await db.execute(sql`delete from memberships where workspace_id = ${last.id}`)
    await createWorkspace(service, person)
  })
})

describe('415', () => {
  it('returns 415 for a body that is not JSON, and creates nothing', async () => {
    const person = await createPerson()
    const request = create({ name: 'Acme', slug: randomSlug() })
    const answer = await as(person, { ...request, headers: { 'content-type': 'text/plain' } })
    expectError(answer, errors.unsupportedMediaType)
    expect(await countOf(person)).toEqual(nothing)
  })
})

describe('concurrent and failing requests', () => {
  it('gives a slug to one of 20 concurrent users', async () => {
    const people = await Promise.all(Array.from({ length: 20 }, () => createPerson()))
    const slug = randomSlug()
    const answers = await Promise.all(people.map((person) => as(person, create({ name: 'Racer', slug }))))
    const won = answers.filter((answer) => answer.statusCode === 200)
    expect(won).toHaveLength(1)
    for (const answer of answers) if (answer.statusCode !== 200) expectError(answer, errors.slugTaken)
    const { workspace } = won[0]?.json<Created>() ?? { workspace: { id: '' } }
    expect(await findSlugs(service, workspace)).toEqual({ [slug]: null })
    const made = await Promise.all(people.map(countOf))
    expect(made.filter((count) => count?.workspaces !== 0)).toEqual([
      { workspaces: 1, memberships: 1, events: 1 },
    ])
    expect(made.filter((count) => count?.workspaces === 0)).toEqual(Array.from({ length: 19 }, () => nothing))
  })

  it('gives a slug to one of 20 concurrent requests of one user', async () => {
    const person = await createPerson()
    const request = create({ name: 'Racer', slug: randomSlug() })
    const answers = await Promise.all(Array.from({ length: 20 }, () => as(person, request)))
    const statuses = answers.map((answer) => answer.statusCode).toSorted((a, b) => a - b)
    expect(statuses).toEqual([200, ...Array<number>(19).fill(409)])
    expect(await countOf(person)).toEqual({ workspaces: 1, memberships: 1, events: 1 })
  })

  it('never exceeds 1,000 workspaces per user with 8 concurrent requests', async () => {
    const person = await createPerson()
    await db.execute(sql`
      with filler as (
        insert into workspaces (id, name, slug, creator_user_id, created_at)
        select gen_random_uuid(), 'Filler', 'unused', ${person.id}, now() from generate_series(1, 998)
        returning id)
      insert into memberships select id, ${person.id}, 'viewer', now(), now() from filler`)
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => as(person, create({ name: 'Racer', slug: randomSlug() }))),
    )
    const statuses = answers.map((answer) => answer.statusCode).toSorted((a, b) => a - b)
    expect(statuses).toEqual([200, 200, ...Array<number>(6).fill(409)])
    expect(await countOf(person)).toEqual({ workspaces: 1000, memberships: 1000, events: 2 })
  })

  it('leaves no row behind when the database fails during the transaction', async () => {
    const person = await createPerson()
    const slug = randomSlug()
    await db.execute(
      sql.raw(`alter table events add constraint fails_for_one check (actor_user_id <> '${person.id}')`),
    )
    try {
      expectError(await as(person, create({ name: 'Acme', slug })), errors.internal)
      expect(await countOf(person)).toEqual(nothing)
      expect(await selectRows(db, sql`select * from workspace_slugs where slug = ${slug}`)).toEqual([])
    } finally {
      await db.execute(sql`alter table events drop constraint fails_for_one`)
    }
    expect((await as(person, create({ name: 'Acme', slug }))).statusCode).toBe(200)
  })
})
