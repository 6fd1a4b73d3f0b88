import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { errors } from '../../src/kernel/errors.ts'
import { createCompany, get } from '../support/company.ts'
import { countQueries } from '../support/count-queries.ts'
import { expectError } from '../support/expect-error.ts'
import { selectRows, startTestApp } from '../support/test-app.ts'
import { createWorkspace, randomSlug } from '../support/workspaces.ts'

const service = await startTestApp()
const { app, as, createPerson, db } = service

describe('200', () => {
  it('returns all members to every member, in the order in which they joined', async () => {
    const { url, workspace, owner, admin, member, viewer } = await createCompany(service)
    await db.execute(sql`update users set image_key = 'photo.webp' where id = ${admin.id}`)
    const rows = await selectRows<{ user_id: string; joined_at: string }>(
      db,
      sql`select user_id, joined_at from memberships where workspace_id = ${workspace.id}`,
    )
    const joinedAt = Object.fromEntries(
      rows.map((row) => [row.user_id, new Date(row.joined_at).toISOString()]),
    )
    const expected = [
      { person: owner, role: 'owner', image: null },
      { person: admin, role: 'admin', image: 'http://localhost:3000/pictures/photo.webp' },
      { person: member, role: 'member', image: null },
      { person: viewer, role: 'viewer', image: null },
    ].map(({ person: { id, name, email }, role, image }) => ({
      userId: id,
      name,
      email,
      image,
      role,
      kind: 'person',
      joinedAt: joinedAt[id],
      // Recorded a moment after what the person did.
      suspended: false,
      lastActivityAt: expect.toBeOneOf([null, expect.any(String)]) as unknown,
    }))
    for (const person of [owner, admin, member, viewer]) {
      const answer = await as(person, get(`${url}/members`))
      expect(answer.statusCode).toBe(200)
      expect(answer.json()).toEqual(expected)
      expect(answer.headers.link).toBeUndefined()
      expect(answer.headers['cache-control']).toBe('private, no-store')
    }
  })

  it('returns the creator of a new workspace as owner', async () => {
    const person = await createPerson()
    const { slug } = await createWorkspace(service, person)
    const answer = await as(person, get(`/v1/workspaces/${slug}/members`))
    expect(answer.json()).toMatchObject([{ userId: person.id, role: 'owner' }])
  })

  it('runs two queries: one for the key and the workspace, one for the members', async () => {
    const { url, owner } = await createCompany(service)
    await as(owner, get(`${url}/members`))
    expect(await countQueries(() => as(owner, get(`${url}/members`)))).toBe(2)
  })
})

describe('401, 403 and 404', () => {
  it('returns 401 without a key, 403 to a stranger, and 404 for an unknown workspace', async () => {
    const { url } = await createCompany(service)
    const stranger = await createPerson()
    expectError(await app.inject(`${url}/members`), errors.apiKeyRequired)
    expectError(await as(stranger, get(`${url}/members`)), errors.notAMember)
    expectError(await as(stranger, get(`/v1/workspaces/${randomSlug()}/members`)), errors.notFound)
  })
})
