import Fastify, { type FastifyReply } from 'fastify'
import { describe, expect, it } from 'vitest'
import type { App } from '../../src/http/app-types.ts'
import { registerErrorHandler } from '../../src/http/requests/error-handler.ts'
import { registerOpenApi } from '../../src/http/description/openapi.ts'
import { operation } from '../../src/http/description/operation.ts'
import { registerRequestContext } from '../../src/http/requests/request-context.ts'
import { publicAccess } from '../../src/http/credentials/route-guard.ts'
import { Ok, sharedSchemas } from '../../src/http/description/schemas.ts'
import { ref } from '../../src/kernel/schemas.ts'
import { errors } from '../../src/kernel/errors.ts'
import { collectDifferences } from '../support/hold-to-description.ts'

const schema = operation({
  id: 'test.change',
  summary: 'Change',
  description: 'An operation that declares two errors.',
  success: ref(Ok),
  errors: [errors.slugTaken, errors.notFound],
})

/** Lets an operation answer, and returns in what the answer differs from its description. */
async function differencesOf(answer: (reply: FastifyReply) => Promise<{ ok: true }>): Promise<string[]> {
  const app: App = Fastify()
  registerRequestContext(app)
  registerErrorHandler(app, { isDatabaseUnavailable: () => false })
  await registerOpenApi(app, { baseUrl: 'http://localhost', webUrl: 'http://localhost', tags: [] })
  for (const shared of sharedSchemas) app.addSchema(shared)
  await app.register(async (scope: App) => {
    await scope.register(publicAccess)
    scope.get('/change', { schema }, (_request, reply) => answer(reply))
  })
  const differences = new Set<string>()
  collectDifferences(app, differences)
  try {
    await app.inject('/change')
  } finally {
    await app.close()
  }
  return [...differences]
}

describe('the comparison of responses with the API description', () => {
  it('reports nothing when an operation responds as declared', async () => {
    expect(await differencesOf(async () => ({ ok: true as const }))).toEqual([])
    expect(await differencesOf(async () => Promise.reject(errors.slugTaken()))).toEqual([])
    expect(await differencesOf(async () => Promise.reject(errors.notFound()))).toEqual([])
    expect(await differencesOf(async () => Promise.reject(new Error('a fault')))).toEqual([])
  })

  it('reports an undeclared error code', async () => {
    expect(await differencesOf(async () => Promise.reject(errors.lastOwner()))).toEqual([
      'test.change answered 409 last_owner, which it does not declare',
    ])
  })

  it('reports an undeclared status', async () => {
    expect(await differencesOf(async () => Promise.reject(errors.roleTooHigh()))).toEqual([
      'test.change answered 403 role_too_high, which it does not declare',
    ])
  })

  it('reports an undeclared header', async () => {
    const sendsLink = async (reply: FastifyReply) => {
      void reply.header('link', '</next>; rel="next"')
      return { ok: true as const }
    }
    expect(await differencesOf(sendsLink)).toEqual([
      'test.change answered 200 with the header link, which it does not declare',
    ])
  })
})
