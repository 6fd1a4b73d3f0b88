import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { errors } from '../../src/kernel/errors.ts'
import { anyIssues, expectError, issuesOf } from '../support/expect-error.ts'
import { selectRows, startTestApp, type TestPerson } from '../support/test-app.ts'

const { app, as, createPerson, db } = await startTestApp()

const update = (body: unknown) => ({
  method: 'PATCH' as const,
  url: '/v1/me',
  headers: { 'content-type': 'application/json' },
  payload: JSON.stringify(body),
})

const findUser = async ({ id }: TestPerson) =>
  (await selectRows(db, sql`select * from users where id = ${id}`))[0]

describe('200', () => {
  it('changes the name and the search text, and nothing else', async () => {
    const person = await createPerson({ name: 'Grace' })
    const before = await findUser(person)
    const answer = await as(person, update({ name: 'Grace Hopper' }))
    expect(answer.statusCode).toBe(200)
    expect(answer.json()).toEqual({ ok: true })
    expect(await findUser(person)).toEqual({
      ...before,
      name: 'Grace Hopper',
      // What the directory is searched by.
      search_text: `grace hopper ${person.email}`,
    })
    expect((await as(person, { url: '/v1/me' })).json()).toMatchObject({ name: 'Grace Hopper' })
  })

  it('does not change other users', async () => {
    const [person, other] = [await createPerson(), await createPerson({ name: 'Other' })]
    await as(person, update({ name: 'Changed' }))
    expect(await findUser(other)).toMatchObject({ name: 'Other' })
  })

  it('accepts a name of 100 characters, and stores it trimmed and normalized', async () => {
    const person = await createPerson()
    expect((await as(person, update({ name: ` ${'é'.repeat(98)} ` }))).statusCode).toBe(200)
    expect(await findUser(person)).toMatchObject({ name: 'é'.repeat(98) })
    expect((await as(person, update({ name: '🧑'.repeat(100) }))).statusCode).toBe(200)
    expect(await findUser(person)).toMatchObject({ name: '🧑'.repeat(100) })
  })
})

describe('400', () => {
  it.each([
    ['no name', {}, [{ _tag: 'Missing', path: ['name'] }]],
    ['null as name', { name: null }, [{ _tag: 'Type', path: ['name'] }]],
    [
      'a name that changes the text direction',
      { name: 'Grace \u202eX' },
      [{ _tag: 'Refinement', path: ['name'] }],
    ],
    [
      'a name with invisible characters',
      { name: 'Grace\u{e0041}' },
      [{ _tag: 'Refinement', path: ['name'] }],
    ],
    ['a name of 101 characters', { name: 'x'.repeat(101) }, [{ _tag: 'Refinement', path: ['name'] }]],
    [
      'an additional email address',
      { name: 'x', email: 'x@example.com' },
      [{ _tag: 'Unexpected', path: ['email'] }],
    ],
  ])('returns 400 for %s, and changes nothing', async (_name, body, issues) => {
    const person = await createPerson()
    const before = await findUser(person)
    const answer = await as(person, update(body))
    expectError(answer, errors.decodeError, { issues: anyIssues })
    expect(issuesOf(answer)).toEqual(issues)
    expect(await findUser(person)).toEqual(before)
  })
})

describe('401', () => {
  it('returns 401 without a key', async () => {
    expectError(await app.inject(update({ name: 'Nobody' })), errors.apiKeyRequired)
  })
})

describe('413', () => {
  it('returns 413 for a body over 64 KiB, and changes nothing', async () => {
    const person = await createPerson({ name: 'Short' })
    expectError(await as(person, update({ name: 'x'.repeat(65 * 1024) })), errors.bodyTooLarge)
    expect(await findUser(person)).toMatchObject({ name: 'Short' })
  })
})

describe('415', () => {
  it('returns 415 for a body that is not JSON, and changes nothing', async () => {
    const person = await createPerson({ name: 'Unchanged' })
    const request = { ...update({ name: 'x' }), headers: { 'content-type': 'text/plain' } }
    expectError(await as(person, request), errors.unsupportedMediaType)
    expect(await findUser(person)).toMatchObject({ name: 'Unchanged' })
  })
})
