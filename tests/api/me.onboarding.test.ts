import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { errors } from '../../src/kernel/errors.ts'
import { roles } from '../../src/domain/roles.ts'
import { countQueries } from '../support/count-queries.ts'
import { anyIssues, expectError, issuesOf } from '../support/expect-error.ts'
import { createTestClock } from '../support/test-clock.ts'
import { startTestApp } from '../support/test-app.ts'
import { addMember, createWorkspace } from '../support/workspaces.ts'

const clock = createTestClock()
const service = await startTestApp({ clock })
const { app, as, createPerson, db } = service

const onboarding = { url: '/v1/me/onboarding' }

describe('200', () => {
  it('returns null to a user without a workspace', async () => {
    const answer = await as(await createPerson(), onboarding)
    expect(answer.statusCode).toBe(200)
    expect(answer.json()).toEqual({ existing: null })
    expect(answer.headers['cache-control']).toBe('private, no-store')
  })

  it.each(roles)('returns the workspace of a member with the role %s', async (role) => {
    const person = await createPerson()
    const workspace = await createWorkspace(service, await createPerson(), { name: 'Analytical Engines' })
    await addMember(service, workspace, person, role)
    await db.execute(sql`update workspaces set icon_key = 'abc.webp' where id = ${workspace.id}`)
    expect((await as(person, onboarding)).json()).toEqual({
      existing: {
        id: workspace.id,
        name: 'Analytical Engines',
        slug: workspace.slug,
        iconUrl: 'http://localhost:3000/pictures/abc.webp',
        role,
      },
    })
  })

  it('returns the workspace used last when there are several', async () => {
    const person = await createPerson()
    const first = await createWorkspace(service, person)
    clock.advance(1_000)
    const second = await createWorkspace(service, person)
    expect((await as(person, onboarding)).json()).toMatchObject({ existing: { id: second.id } })
    clock.advance(1_000)
    await as(person, { url: `/v1/workspaces/${first.slug}` })
    expect((await as(person, onboarding)).json()).toMatchObject({ existing: { id: first.id, iconUrl: null } })
  })

  it('does not count as a use of the workspace', async () => {
    const person = await createPerson()
    const { id } = await createWorkspace(service, person)
    const before = await db.execute(sql`select * from memberships where workspace_id = ${id}`)
    clock.advance(120_000)
    await as(person, onboarding)
    expect((await db.execute(sql`select * from memberships where workspace_id = ${id}`)).rows).toEqual(
      before.rows,
    )
  })

  it('runs two queries: one for the key, one for the workspace', async () => {
    const person = await createPerson()
    await createWorkspace(service, person)
    expect(await countQueries(() => as(person, onboarding))).toBe(2)
  })
})

describe('400', () => {
  it('returns 400 for a query parameter', async () => {
    const answer = await as(await createPerson(), { url: '/v1/me/onboarding?step=2' })
    expectError(answer, errors.decodeError, { issues: anyIssues })
    expect(issuesOf(answer)).toEqual([{ _tag: 'Unexpected', path: ['step'] }])
  })
})

describe('401', () => {
  it('returns 401 without a key', async () => {
    expectError(await app.inject(onboarding), errors.apiKeyRequired)
  })
})
