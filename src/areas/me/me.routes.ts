import type { App } from '../../http/app-types.ts'
import { getPreferences, getProfile, updatePreferences, updateProfile } from './me.schemas.ts'
import type { MeService } from './me.service.ts'

export function meRoutes(app: App, me: MeService): void {
  app.get('/v1/me', { schema: getProfile }, async (request) => me.profile(request.principal))

  app.patch('/v1/me', { schema: updateProfile }, async (request) => {
    await me.updateProfile(request.principal, request.body)
    return { ok: true as const }
  })

  app.get('/v1/me/preferences', { schema: getPreferences }, (request) => me.preferences(request.principal))

  app.patch('/v1/me/preferences', { schema: updatePreferences }, async (request) => {
    await me.updatePreferences(request.principal, request.body)
    return { ok: true as const }
  })
}
