import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { errors } from '../../src/kernel/errors.ts'
import { createApiKeySecret } from '../../src/kernel/tokens.ts'
import { countQueries } from '../support/count-queries.ts'
import { expectError } from '../support/expect-error.ts'
import { findClosedPort } from '../support/raw-http.ts'
import { clone, startTestApp } from '../support/test-app.ts'

const { app, as, createPerson, db } = await startTestApp()

const profile = { url: '/v1/me' }

describe('200', () => {
  it('returns the user of the key', async () => {
    const person = await createPerson({ name: 'Ada Lovelace' })
    const answer = await as(person, profile)
    expect(answer.statusCode).toBe(200)
    expect(answer.json()).toEqual({ id: person.id, name: 'Ada Lovelace', email: person.email, image: null })
    expect(answer.headers['cache-control']).toBe('private, no-cache')
  })

  it('returns the photo as a public URL', async () => {
    const person = await createPerson()
    await db.execute(sql`update users set image_key = 'abc.webp' where id = ${person.id}`)
    expect((await as(person, profile)).json()).toMatchObject({
      image: 'http://localhost:3000/pictures/abc.webp',
    })
  })

  it('runs one query', async () => {
    const person = await createPerson()
    expect(await countQueries(() => as(person, profile))).toBe(1)
  })

  it('returns to each of 20 concurrent callers their own profile', async () => {
    const people = await Promise.all(Array.from({ length: 20 }, () => createPerson()))
    const answers = await Promise.all(people.map((person) => as(person, profile)))
    expect(answers.map((answer) => answer.json<{ id: string }>().id)).toEqual(
      people.map((person) => person.id),
    )
  })
})

describe('401', () => {
  it('returns 401 without a key', async () => {
    expectError(await app.inject(profile), errors.apiKeyRequired)
  })
})

describe('404', () => {
  it.each(['POST', 'PUT', 'DELETE'] as const)('returns 404 for %s', async (method) => {
    expectError(await as(await createPerson(), { ...profile, method }), errors.routeNotFound)
  })
})

describe('500', () => {
  it('returns no details of the error but the request id', async () => {
    const broken = await startTestApp({ environment: { DATABASE_URL: await clone() } })
    const person = await broken.createPerson()
    await broken.db.execute(sql`alter table users rename column image_key to picture`)
    expectError(await broken.as(person, profile), errors.internal)
  })
})

describe('503', () => {
  it('returns Retry-After when the database cannot be reached', async () => {
    const stranded = await startTestApp({
      environment: { DATABASE_URL: `postgres://nobody@127.0.0.1:${await findClosedPort()}/nothing` },
    })
    const answer = await stranded.as({ apiKey: createApiKeySecret('wsk').secret }, profile)
    expectError(answer, errors.databaseUnavailable)
    expect(answer.headers['retry-after']).toBe('5')
  })
})
