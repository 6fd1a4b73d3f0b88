import Fastify from 'fastify'
import fastifyPlugin from 'fastify-plugin'
import { describe, expect, it } from 'vitest'
import type { App } from '../../src/http/app-types.ts'
import { idempotency, toOk } from '../../src/http/requests/idempotency.ts'
import type { IdempotencyStore } from '../../src/kernel/idempotency.ts'
import type { Call } from '../../src/domain/principal.ts'

const user = { id: 'user', name: 'Grace', email: 'grace@example.com', emailVerifiedAt: null, imageKey: null }

/** Sends a POST with an Idempotency-Key to a route; returns the answer, and what became of the key. */
async function send(addRoute: (app: App) => void) {
  const calls: string[] = []
  const store: IdempotencyStore = {
    begin: async (request) => ({ ...request, lockedUntil: new Date() }),
    async complete(_request, answer) {
      calls.push('complete')
      return answer
    },
    async abandon() {
      calls.push('abandon')
    },
  }
  const app: App = Fastify()
  const auth = async (scope: App) => {
    scope.addHook('onRequest', async (request) => {
      request.principal = { user, source: 'api', apiKeyId: 'key', sessionId: null, grantId: null }
    })
  }
  await app.register(fastifyPlugin(auth, { name: 'api-key-auth' }))
  await app.register(idempotency, { store })
  addRoute(app)
  const headers = { 'idempotency-key': 'one', 'x-api-key': 'secret' }
  const { statusCode, body } = await app.inject({ method: 'POST', url: '/changes', headers })
  await app.close()
  return { statusCode, body, calls }
}

/** As access/change.ts does, at the end of its transaction. */
const change = async <T>(principal: Call, result: T) => {
  principal.answerOf?.(result)
  return result
}

describe('a POST with an Idempotency-Key', () => {
  it('leaves storing the response to its change when it responds with the result of the change', async () => {
    const answer = await send((app) =>
      app.post('/changes', (_request, reply) =>
        reply.answerChange(
          (principal) => change(principal, { id: 1 }),
          (made) => ({ ok: true, made }),
        ),
      ),
    )
    expect(answer).toEqual({ statusCode: 200, body: '{"ok":true,"made":{"id":1}}', calls: [] })
  })

  it.each<[string, (app: App) => void]>([
    ['that does not use answerChange', (app) => app.post('/changes', async () => toOk())],
    [
      'whose service does not make its change through access/change.ts',
      (app) => app.post('/changes', (_request, reply) => reply.answerChange(async () => undefined, toOk)),
    ],
    [
      'whose service returns something else than its change',
      (app) =>
        app.post('/changes', (_request, reply) =>
          reply.answerChange(async (principal) => ({ ...(await change(principal, {})) }), toOk),
        ),
    ],
  ])('returns 500 and abandons the key for a route %s', async (_name, addRoute) => {
    const { statusCode, calls } = await send(addRoute)
    expect({ statusCode, calls }).toEqual({ statusCode: 500, calls: ['abandon'] })
  })
})
