import { describe, expect, it } from 'vitest'
import { startTestApp } from '../support/test-app.ts'

const { as, createPerson } = await startTestApp()

describe('200', () => {
  it('answers who the key belongs to', async () => {
    const person = await createPerson({ name: 'Ada Lovelace' })
    const answer = await as(person, { url: '/v1/me' })
    expect(answer.statusCode).toBe(200)
    expect(answer.json()).toEqual({ id: person.id, name: 'Ada Lovelace', email: person.email, image: null })
    expect(answer.headers['cache-control']).toBe('private, no-store')
  })
})
