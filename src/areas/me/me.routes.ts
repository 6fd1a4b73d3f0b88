import type { App } from '../../http/app-types.ts'
import {
  getHome,
  getOnboarding,
  getPreferences,
  getProfile,
  updatePreferences,
  updateProfile,
  uploadPhoto,
} from './me.schemas.ts'
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

  app.get('/v1/me/home', { schema: getHome }, async (request, reply) => {
    // Fastify sends a string as it is, as text: the answer is a JSON string.
    const home = reply.serialize(await me.home(request.principal)) as string
    return reply.type('application/json; charset=utf-8').send(home)
  })

  app.get('/v1/me/onboarding', { schema: getOnboarding }, async (request) => ({
    existing: await me.existingWorkspace(request.principal),
  }))
}

/** The route that takes a file. */
export function mePhotoRoute(app: App, me: MeService): void {
  app.post('/v1/me/photo', { schema: uploadPhoto }, ({ upload }, reply) =>
    reply.answerChange(
      (principal) => me.uploadPhoto(principal, upload),
      (image) => ({ ok: true as const, image }),
    ),
  )
}
