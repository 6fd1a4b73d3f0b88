import { describe, expect, it } from 'vitest'
import { errors } from '../../src/kernel/errors.ts'
import { roles } from '../../src/domain/roles.ts'
import { anyIssues, expectError, issuesOf } from '../support/expect-error.ts'
import { createTestClock } from '../support/test-clock.ts'
import { startTestApp, type TestPerson } from '../support/test-app.ts'
import { addMember, createWorkspace, findEvents, randomSlug } from '../support/workspaces.ts'

const day = 24 * 60 * 60 * 1000

const clock = createTestClock()
const service = await startTestApp({ clock })
const { app, as, createPerson } = service

const ask = (slug: string, candidate?: string) => ({
  url: `/v1/workspaces/${slug}/slug-availability`,
  query: candidate === undefined ? {} : { slug: candidate },
})

const isAvailable = async (person: TestPerson, slug: string, candidate?: string) => {
  const answer = await as(person, ask(slug, candidate))
  expect(answer.statusCode).toBe(200)
  expect(answer.json()).toEqual({ available: expect.any(Boolean) as boolean })
  return answer.json<{ available: boolean }>().available
}

describe('200', () => {
  it.each(roles)('returns whether a slug is available to the workspace, for the role %s', async (role) => {
    const person = await createPerson()
    const workspace = await createWorkspace(service, await createPerson())
    const other = await createWorkspace(service, await createPerson())
    await addMember(service, workspace, person, role)
    expect(await isAvailable(person, workspace.slug, randomSlug())).toBe(true)
    expect(await isAvailable(person, workspace.slug, other.slug)).toBe(false)
    expect(await isAvailable(person, workspace.slug, workspace.slug)).toBe(true)
    expect(await findEvents(service, workspace)).toHaveLength(1)
  })

  it('checks what is wanted, by either name', async () => {
    const person = await createPerson()
    const workspace = await createWorkspace(service, person)
    const other = await createWorkspace(service, await createPerson())
    const url = `/v1/workspaces/${workspace.slug}/slug-availability`
    const free = randomSlug()
    for (const [query, available] of [
      [{ wanted: free }, true],
      [{ wanted: other.slug }, false],
      [{ wanted: other.slug, slug: free }, false],
    ] as const)
      expect((await as(person, { url, query })).json()).toEqual({ available })
  })

  it('checks the current slug of the workspace when none is given', async () => {
    const person = await createPerson()
    const { slug } = await createWorkspace(service, person)
    expect(await isAvailable(person, slug)).toBe(true)
  })

  it('returns false for the slug of another workspace of the caller', async () => {
    const person = await createPerson()
    const [one, other] = [await createWorkspace(service, person), await createWorkspace(service, person)]
    expect(await isAvailable(person, one.slug, other.slug)).toBe(false)
  })

  it.each([
    '',
    'ab',
    'x'.repeat(49),
    'Acme',
    'ac--me',
    'acmé',
    '\u0000',
    'docs',
    'pictures',
    'x'.repeat(4000),
  ])('returns false for an invalid or reserved slug: %j', async (candidate) => {
    const person = await createPerson()
    const { slug } = await createWorkspace(service, person)
    expect(await isAvailable(person, slug, candidate)).toBe(false)
  })

  it('returns true for a former slug of the workspace itself, and to other workspaces after 90 days', async () => {
    const person = await createPerson()
    const [workspace, other] = [
      await createWorkspace(service, person),
      await createWorkspace(service, person),
    ]
    const slug = randomSlug()
    await as(person, {
      method: 'PATCH',
      url: `/v1/workspaces/${workspace.slug}`,
      payload: { name: 'Acme', slug },
    })
    expect(await isAvailable(person, slug, workspace.slug)).toBe(true)
    expect(await isAvailable(person, workspace.slug)).toBe(true)
    expect(await isAvailable(person, other.slug, workspace.slug)).toBe(false)
    clock.advance(90 * day)
    expect(await isAvailable(person, other.slug, workspace.slug)).toBe(true)
  })
})

describe('400', () => {
  it('returns 400 for an unknown query parameter', async () => {
    const person = await createPerson()
    const { slug } = await createWorkspace(service, person)
    const answer = await as(person, { url: ask(slug).url, query: { slug: 'acme', candidate: 'x' } })
    expectError(answer, errors.decodeError, { issues: anyIssues })
    expect(issuesOf(answer)).toEqual([{ _tag: 'Unexpected', path: ['candidate'] }])
  })

  it('returns 400 for two slugs', async () => {
    const person = await createPerson()
    const { slug } = await createWorkspace(service, person)
    const answer = await as(person, { url: `${ask(slug).url}?slug=one-slug&slug=other-slug` })
    expect(issuesOf(answer)).toEqual([{ _tag: 'Type', path: ['slug'] }])
  })
})

describe('401', () => {
  it('returns 401 without a key', async () => {
    const { slug } = await createWorkspace(service, await createPerson())
    expectError(await app.inject(ask(slug)), errors.apiKeyRequired)
  })
})

describe('403', () => {
  it('returns 403 to a stranger', async () => {
    const { slug } = await createWorkspace(service, await createPerson())
    expectError(await as(await createPerson(), ask(slug, randomSlug())), errors.notAMember)
  })
})

describe('404', () => {
  it('returns 404 for an unknown workspace', async () => {
    expectError(await as(await createPerson(), ask(randomSlug(), randomSlug())), errors.notFound)
  })
})
