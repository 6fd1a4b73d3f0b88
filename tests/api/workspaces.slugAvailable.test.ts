import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { errors } from '../../src/kernel/errors.ts'
import { anyIssues, expectError, issuesOf } from '../support/expect-error.ts'
import { createTestClock } from '../support/test-clock.ts'
import { startTestApp, type TestPerson } from '../support/test-app.ts'
import { addMember, createWorkspace, findEvents, randomSlug } from '../support/workspaces.ts'

const day = 24 * 60 * 60 * 1000

const clock = createTestClock()
const service = await startTestApp({ clock })
const { app, as, createPerson, db } = service

const isAvailable = async (person: TestPerson, slug: string, excludeWorkspaceId?: string) => {
  const query = excludeWorkspaceId === undefined ? {} : { excludeWorkspaceId }
  const answer = await as(person, { url: `/v1/slugs/${slug}`, query })
  expect(answer.statusCode).toBe(200)
  expect(answer.json()).toEqual({ available: expect.any(Boolean) as boolean })
  return answer.json<{ available: boolean }>().available
}

describe('200', () => {
  it('returns true for a free slug and false for a taken one, even to its owner', async () => {
    const [owner, other] = [await createPerson(), await createPerson()]
    const slug = randomSlug()
    expect(await isAvailable(other, slug)).toBe(true)
    const workspace = await createWorkspace(service, owner, { slug })
    expect(await isAvailable(other, slug)).toBe(false)
    expect(await isAvailable(owner, slug)).toBe(false)
    expect(await findEvents(service, workspace)).toHaveLength(1)
  })

  it.each([
    'ab',
    'x'.repeat(49),
    'Acme',
    '-acme',
    'acme-',
    'ac--me',
    'ac%20me',
    'acm%C3%A9',
    '%00',
    'a%2Fb',
    'x'.repeat(4000),
  ])('returns false for an invalid slug: %s', async (slug) => {
    expect(await isAvailable(await createPerson(), slug)).toBe(false)
  })

  it.each(['pictures', 'docs', 'workspaces', 'api', 'undefined'])(
    'returns false for a reserved slug: %s',
    async (slug) => {
      expect(await isAvailable(await createPerson(), slug)).toBe(false)
    },
  )

  it('returns false for a former slug for 90 days, except to its own workspace', async () => {
    const person = await createPerson()
    const { id, slug } = await createWorkspace(service, person)
    await as(person, {
      method: 'PATCH',
      url: `/v1/workspaces/${slug}`,
      payload: { name: 'Acme', slug: randomSlug() },
    })
    clock.advance(90 * day - 1)
    expect(await isAvailable(person, slug)).toBe(false)
    expect(await isAvailable(person, slug, id)).toBe(true)
    clock.advance(1)
    expect(await isAvailable(await createPerson(), slug)).toBe(true)
  })

  describe('excludeWorkspaceId', () => {
    it.each(['owner', 'viewer'] as const)(
      'returns true for the own slug of a workspace of the caller, for the role %s',
      async (role) => {
        const person = await createPerson()
        const workspace = await createWorkspace(service, await createPerson())
        await addMember(service, workspace, person, role)
        expect(await isAvailable(person, workspace.slug, workspace.id)).toBe(true)
      },
    )

    it('returns false for the slug of another workspace', async () => {
      const person = await createPerson()
      const [one, other] = [await createWorkspace(service, person), await createWorkspace(service, person)]
      expect(await isAvailable(person, one.slug, other.id)).toBe(false)
    })

    it('tells only members which workspace owns a slug', async () => {
      const [member, stranger] = [await createPerson(), await createPerson()]
      const { id, slug } = await createWorkspace(service, member)
      expect(await isAvailable(stranger, slug, id)).toBe(false)
      await db.execute(sql`delete from memberships where workspace_id = ${id}`)
      expect(await isAvailable(member, slug, id)).toBe(false)
    })

    it.each(['', 'nonsense', '00000000-0000-0000-0000-000000000000', "' or true --", '\u0000'])(
      'ignores a malformed or unknown id: %j',
      async (id) => {
        const person = await createPerson()
        const { slug } = await createWorkspace(service, person)
        expect(await isAvailable(person, slug, id)).toBe(false)
        expect(await isAvailable(person, randomSlug(), id)).toBe(true)
      },
    )

    it('changes nothing for a free, invalid or reserved slug', async () => {
      const person = await createPerson()
      const { id } = await createWorkspace(service, person)
      expect(await isAvailable(person, randomSlug(), id)).toBe(true)
      expect(await isAvailable(person, 'ab', id)).toBe(false)
      expect(await isAvailable(person, 'docs', id)).toBe(false)
    })
  })
})

describe('400', () => {
  it('returns 400 for an unknown query parameter', async () => {
    const answer = await as(await createPerson(), { url: '/v1/slugs/acme?workspaceId=x' })
    expectError(answer, errors.decodeError, { issues: anyIssues })
    expect(issuesOf(answer)).toEqual([{ _tag: 'Unexpected', path: ['workspaceId'] }])
  })
})

describe('401', () => {
  it('returns 401 without a key', async () => {
    expectError(await app.inject('/v1/slugs/acme'), errors.apiKeyRequired)
  })
})
