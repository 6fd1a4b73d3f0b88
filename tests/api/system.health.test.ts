import { describe, expect, it } from 'vitest'
import { errors } from '../../src/kernel/errors.ts'
import { countQueries } from '../support/count-queries.ts'
import { expectError } from '../support/expect-error.ts'
import { findClosedPort } from '../support/raw-http.ts'
import { startTestApp } from '../support/test-app.ts'

const { app } = await startTestApp()

describe('200', () => {
  it('returns 200 without a credential and without a database query', async () => {
    const queries = await countQueries(async () => {
      const answer = await app.inject('/health')
      expect(answer.statusCode).toBe(200)
      expect(answer.headers['content-type']).toBe('application/json; charset=utf-8')
      expect(answer.body).toBe('{"ok":true,"service":"api"}')
    })
    expect(queries).toBe(0)
  })

  it('returns 200 for any credentials', async () => {
    const headers = { authorization: 'Bearer wsk_nonsense', 'x-api-key': 'other' }
    const answer = await app.inject({ url: '/health', headers })
    expect(answer.statusCode).toBe(200)
  })

  it('returns 200 when the database cannot be reached', async () => {
    const environment = { DATABASE_URL: `postgres://nobody@127.0.0.1:${await findClosedPort()}/nothing` }
    const { app: stranded } = await startTestApp({ environment })
    expect((await stranded.inject('/health')).statusCode).toBe(200)
  })
})

describe('404', () => {
  it.each(['POST', 'PATCH', 'DELETE'] as const)('returns 404 for %s', async (method) => {
    expectError(await app.inject({ method, url: '/health' }), errors.routeNotFound)
  })
})
