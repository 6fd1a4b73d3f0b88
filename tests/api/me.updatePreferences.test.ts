import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { errors } from '../../src/kernel/errors.ts'
import { anyIssues, expectError, issuesOf, sortIssues } from '../support/expect-error.ts'
import { selectRows, startTestApp, type TestPerson } from '../support/test-app.ts'

const { app, as, createPerson, db } = await startTestApp()

const update = (body: unknown) => ({
  method: 'PATCH' as const,
  url: '/v1/me/preferences',
  headers: { 'content-type': 'application/json' },
  payload: JSON.stringify(body),
})

const findUser = async ({ id }: TestPerson) =>
  (await selectRows(db, sql`select * from users where id = ${id}`))[0]

describe('200', () => {
  it.each([
    { productUpdates: false, workspaceActivity: true },
    { productUpdates: true, workspaceActivity: false },
    { productUpdates: false, workspaceActivity: false },
    { productUpdates: true, workspaceActivity: true },
  ])(
    'stores $productUpdates for productUpdates and $workspaceActivity for workspaceActivity, and nothing else',
    async (preferences) => {
      const person = await createPerson()
      const before = await findUser(person)
      const answer = await as(person, update(preferences))
      expect(answer.statusCode).toBe(200)
      expect(answer.json()).toEqual({ ok: true })
      expect(await findUser(person)).toEqual({
        ...before,
        product_updates: preferences.productUpdates,
        workspace_activity: preferences.workspaceActivity,
      })
      expect((await as(person, { url: '/v1/me/preferences' })).json()).toEqual({
        userId: person.id,
        ...preferences,
      })
    },
  )

  it('does not change other users', async () => {
    const [person, other] = [await createPerson(), await createPerson()]
    await as(person, update({ productUpdates: false, workspaceActivity: false }))
    expect(await findUser(other)).toMatchObject({ product_updates: true, workspace_activity: true })
  })
})

describe('400', () => {
  it.each([
    ['a missing preference', { productUpdates: false }, [{ _tag: 'Missing', path: ['workspaceActivity'] }]],
    [
      'strings and numbers',
      { productUpdates: 'false', workspaceActivity: 0 },
      [
        { _tag: 'Type', path: ['productUpdates'] },
        { _tag: 'Type', path: ['workspaceActivity'] },
      ],
    ],
    [
      'null',
      { productUpdates: null, workspaceActivity: false },
      [{ _tag: 'Type', path: ['productUpdates'] }],
    ],
    [
      'a user id',
      { productUpdates: false, workspaceActivity: false, userId: 'x' },
      [{ _tag: 'Unexpected', path: ['userId'] }],
    ],
  ])('returns 400 for %s, and changes nothing', async (_name, body, issues) => {
    const person = await createPerson()
    const answer = await as(person, update(body))
    expectError(answer, errors.decodeError, { issues: anyIssues })
    expect(issuesOf(answer)).toEqual(sortIssues(issues as { _tag: string; path: string[] }[]))
    expect(await findUser(person)).toMatchObject({ product_updates: true, workspace_activity: true })
  })
})

describe('401', () => {
  it('returns 401 without a key', async () => {
    const answer = await app.inject(update({ productUpdates: false, workspaceActivity: false }))
    expectError(answer, errors.apiKeyRequired)
  })
})

describe('413', () => {
  it('returns 413 for a body over 64 KiB, and changes nothing', async () => {
    const person = await createPerson()
    const body = { productUpdates: false, workspaceActivity: false, padding: 'x'.repeat(65 * 1024) }
    expectError(await as(person, update(body)), errors.bodyTooLarge)
    expect(await findUser(person)).toMatchObject({ product_updates: true })
  })
})

describe('415', () => {
  it('returns 415 for a body that is not JSON, and changes nothing', async () => {
    const person = await createPerson()
    const request = update({ productUpdates: false, workspaceActivity: false })
    const answer = await as(person, { ...request, headers: { 'content-type': 'application/xml' } })
    expectError(answer, errors.unsupportedMediaType)
    expect(await findUser(person)).toMatchObject({ product_updates: true })
  })
})
