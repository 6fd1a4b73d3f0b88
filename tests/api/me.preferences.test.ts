import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { errors } from '../../src/kernel/errors.ts'
import { createId } from '../../src/kernel/ids.ts'
import { expectError } from '../support/expect-error.ts'
import { startTestApp } from '../support/test-app.ts'

const { app, as, createPerson, db, services } = await startTestApp()

const preferences = { url: '/v1/me/preferences' }

describe('200', () => {
  it('returns true for both preferences by default', async () => {
    const person = await createPerson()
    const answer = await as(person, preferences)
    expect(answer.statusCode).toBe(200)
    expect(answer.headers['cache-control']).toBe('private, no-cache')
    expect(answer.json()).toEqual({ userId: person.id, productUpdates: true, workspaceActivity: true })
  })

  it('returns the stored preferences of the caller, and of nobody else', async () => {
    const [person, other] = [await createPerson(), await createPerson()]
    await db.execute(sql`update users set product_updates = false where id = ${person.id}`)
    expect((await as(person, preferences)).json()).toEqual({
      userId: person.id,
      productUpdates: false,
      workspaceActivity: true,
    })
    expect((await as(other, preferences)).json()).toMatchObject({ userId: other.id, productUpdates: true })
  })
})

describe('401', () => {
  it('returns 401 without a key', async () => {
    expectError(await app.inject(preferences), errors.apiKeyRequired)
  })
})

describe('404', () => {
  it('returns 404 for PUT', async () => {
    expectError(await as(await createPerson(), { ...preferences, method: 'PUT' }), errors.routeNotFound)
  })

  it('fails with not_found when the user was deleted after authentication', async () => {
    const user = await services.accounts.create({
      email: `${createId()}@example.com`,
      name: 'Grace Hopper',
      isVerified: true,
    })
    await db.execute(sql`delete from users where id = ${user.id}`)
    const principal = { user, source: 'api' as const, apiKeyId: createId(), sessionId: null, grantId: null }
    await expect(services.me.preferences(principal)).rejects.toMatchObject({ code: 'not_found' })
  })
})
