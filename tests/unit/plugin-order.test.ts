import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'

const source = readFileSync(new URL('../../src/app.ts', import.meta.url), 'utf8')
const body = source.slice(source.indexOf('export async function buildApp'))

// Fastify runs the hooks of one kind in the order in which they were added, and an `onRoute` hook sees later routes only.
it.each([
  ['registerMeasuring', 'registerOverloadProtection', 'a refused request is measured'],
  ['registerRequestContext', 'registerOverloadProtection', 'a refusal has an x-request-id'],
  ['registerCompression', 'registerOverloadProtection', 'a request counts until its response is compressed'],
  ['registerCompression', 'registerTurns', 'a turn lasts until the response is compressed'],
  ['registerOverloadProtection', 'registerTurns', 'the body has arrived when a request waits for its turn'],
  ['registerRouteGuard', 'registerPages', 'the guard sees all routes'],
  ['registerErrorHandler', 'registerPages', 'all routes declare what the error handler sends'],
  ['registerSecurityHeaders', 'registerPages', 'all routes declare the headers'],
  ['registerOpenApi', 'registerOpenApiRoute', 'the description has all routes'],
  ['registerTargetResources', 'apiKeysRoutes', 'the routes of the API are known by what they are about'],
  ['apiKeyAuth', 'apiKeysRoutes', 'the routes of the API require a key'],
  ['idempotency', 'apiKeysRoutes', 'the routes of the API take an Idempotency-Key'],
])('%s is registered before %s: %s', (first, second) => {
  const at = (name: string) => {
    const found = [...body.matchAll(new RegExp(`\\b${name}(?=[,(])`, 'g'))].map(({ index }) => index)
    expect(found, name).toHaveLength(1)
    return found[0] ?? 0
  }
  expect(at(first)).toBeLessThan(at(second))
})
