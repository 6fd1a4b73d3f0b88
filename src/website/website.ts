import type { App } from '../http/app-types.ts'
import type { Services } from '../services.ts'
import { consentPages } from './consent.pages.ts'
import { signInLimits } from './sign-in-limits.ts'
import { signInPages } from './sign-in.pages.ts'
import { renderSignIn } from './sign-in.views.ts'
import { signedInOnly, webSession } from './web-session.ts'

export interface WebsiteOptions {
  webUrl: string
  /** Attempts to sign in a minute for each client address and each account; 0 = no limit. */
  signInLimitPerMinute: number
}

/** The website: every page, in a scope of its own. */
export async function websiteRoutes(app: App, services: Services, options: WebsiteOptions): Promise<void> {
  const { webUrl, signInLimitPerMinute } = options
  await app.register(webSession, { sessions: services.sessions, webUrl })
  app.get('/', async (request, reply) => {
    if (request.visit.sessionId === undefined)
      return reply.showPage(renderSignIn({ request, next: undefined, providers: [] }))
    return reply.redirect(await services.me.home(request.principal), 303)
  })
  await app.register(async (scope: App) => {
    await scope.register(signInLimits, { limitPerMinute: signInLimitPerMinute })
    signInPages(scope, { services, providers: [] })
  })
  await app.register(async (scope: App) => {
    await scope.register(signedInOnly)
    consentPages(scope, services)
  })
}
