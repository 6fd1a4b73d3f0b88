import { Type } from '@sinclair/typebox'
import Fastify from 'fastify'
import { describe, expect, it } from 'vitest'
import { buildApp } from '../../src/app.ts'
import type { App } from '../../src/http/app-types.ts'
import { createLogger } from '../../src/http/answers/logging.ts'
import { operation } from '../../src/http/description/operation.ts'
import { publicAccess, registerRouteGuard } from '../../src/http/credentials/route-guard.ts'
import { closed } from '../../src/kernel/schemas.ts'
import { startTestApp } from '../support/test-app.ts'

const answer = async () => ({ ok: true })
const success = closed({ ok: Type.Boolean() })

async function boot(addRoutes: (app: App) => void, access = publicAccess): Promise<void> {
  const app: App = Fastify()
  registerRouteGuard(app)
  await app.register(async (scope: App) => {
    await scope.register(access)
    addRoutes(scope)
  })
  try {
    await app.ready()
  } finally {
    await app.close()
  }
}

describe('starting the service with valid routes', () => {
  it('succeeds when every route declares its access', async () => {
    await expect(
      boot((app) => {
        app.get(
          '/one',
          { schema: operation({ id: 'test.one', summary: 'One', description: 'The first.', success }) },
          answer,
        )
        app.post('/two', { schema: { body: closed({ name: Type.String() }) } }, answer)
      }),
    ).resolves.toBeUndefined()
  })
})

describe('starting the service with invalid routes', () => {
  const config = { config: {} }

  it('fails when a route does not declare its access', async () => {
    const app: App = Fastify()
    registerRouteGuard(app)
    app.get('/open', config, answer)
    app.post('/wide', config, answer)
    await expect(app.ready()).rejects.toThrow(
      /GET \/open declares no access\n(HEAD \/open declares no access\n)?POST \/wide declares no access/,
    )
  })

  it('fails when two operations have the same id', async () => {
    const schema = operation({ id: 'test.twin', summary: 'Twin', description: 'One of two.', success })
    await expect(
      boot((app) => {
        app.get('/one', { schema }, answer)
        app.get('/two', { schema }, answer)
      }),
    ).rejects.toThrow('operation id test.twin is used twice')
  })

  it('fails when a request body accepts unknown fields', async () => {
    const body = Type.Object({ name: Type.String() })
    await expect(boot((app) => app.post('/loose', { schema: { body } }, answer))).rejects.toThrow(
      'POST /loose has a body that is not closed',
    )
  })

  it('fails when an undeclared route is added to the complete application', async () => {
    // With options: closing the second app below stops these services too, which must not be the shared ones.
    const { config: settings, services } = await startTestApp({ environment: {} })
    const app = await buildApp(settings, services, createLogger('silent'))
    app.get('/v1/forgotten', answer)
    await expect(app.ready()).rejects.toThrow('GET /v1/forgotten declares no access')
    await app.close().catch(() => undefined)
  })
})
