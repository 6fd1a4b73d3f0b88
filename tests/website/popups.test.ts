import { describe, expect, it } from 'vitest'
import { noteRoutes } from '../support/note-routes.ts'
import { startTestApp } from '../support/test-app.ts'
import { createTestClock } from '../support/test-clock.ts'

// An app of its own, whose routes are registered here.
const { started: service, routes } = await noteRoutes(() =>
  startTestApp({ clock: createTestClock(), environment: {} }),
)

/** What is no step on the way to consent: pages of workspaces, addresses of seeds, the inbox, and settings except these two. */
const isOfProduct = (url: string) =>
  /^\/(w|s|notifications|settings|design)(\/|$)/.test(url) &&
  !/^\/settings\/(theme|security\/confirm)(\/|$)/.test(url)

const pages = routes.filter(({ config, url }) => config?.access === 'web' || url.includes('/oauth/authorize'))
const others = [
  '/v1/me',
  '/health',
  '/docs',
  '/unsubscribe/x',
  '/agent/mcp',
  '/agent/oauth/jwks',
  '/no-such-page',
]

describe('Cross-Origin-Opener-Policy', () => {
  it('is on no response that can be a step between the request of an agent and its answer, errors included', async () => {
    const steps = pages.filter(({ url }) => !isOfProduct(url))
    expect(steps.map(({ url }) => url)).toEqual(
      expect.arrayContaining([
        '/',
        '/agent/oauth/authorize',
        '/agent/oauth/authorize/:uid',
        '/agent/oauth/consent/:uid',
        '/sign-in/second-step',
        '/sign-in/with/:provider/callback',
        '/sign-out',
        '/sign-up',
        '/verify-email/:token',
        '/forgot',
        '/reset/:token',
        '/invites/:token',
        '/onboarding',
        '/settings/security/confirm',
        '/settings/theme',
      ]),
    )
    for (const { method, url } of steps)
      for (const each of [method].flat()) {
        const { headers } = await service.app.inject({
          method: each as 'GET',
          url,
          headers: { accept: 'text/html' },
        })
        expect(headers, `${each} ${url}`).not.toHaveProperty('cross-origin-opener-policy')
        expect(headers, `${each} ${url}`).toHaveProperty('x-frame-options')
      }
  })

  it('is on all others', async () => {
    const urls = [...new Set(pages.map(({ url }) => url).filter(isOfProduct)), ...others]
    for (const url of urls) {
      const { headers } = await service.app.inject({ url, headers: { accept: 'text/html' } })
      expect(headers['cross-origin-opener-policy'], url).toBe('same-origin')
    }
  })
})
