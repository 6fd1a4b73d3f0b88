import type { App } from '../../http/app-types.ts'
import { toOk } from '../../http/requests/idempotency.ts'
import {
  meHome,
  meOnboarding,
  mePreferences,
  meProfile,
  meUpdatePreferences,
  meUpdateProfile,
  meUploadPhoto,
} from './me.schemas.ts'
import type { MeService } from './me.service.ts'

export function meRoutes(app: App, me: MeService): void {
  app.get('/v1/me', { schema: meProfile }, async (request) => me.profile(request.principal))

  app.patch('/v1/me', { schema: meUpdateProfile }, ({ principal, body }) =>
    me.updateProfile(principal, body).then(toOk),
  )

  app.get('/v1/me/preferences', { schema: mePreferences }, (request) => me.preferences(request.principal))

  app.patch('/v1/me/preferences', { schema: meUpdatePreferences }, ({ principal, body }) =>
    me.updatePreferences(principal, body).then(toOk),
  )

  app.get('/v1/me/home', { schema: meHome }, async (request, reply) => {
    // Fastify sends a string as text/plain. The answer is a JSON string.
    const home = reply.serialize(await me.home(request.principal)) as string
    return reply.type('application/json; charset=utf-8').send(home)
  })

  app.get('/v1/me/onboarding', { schema: meOnboarding }, async (request) => ({
    existing: await me.existingWorkspace(request.principal),
  }))
}

/** The upload, registered apart because it accepts multipart/form-data. */
export function mePhotoRoute(app: App, me: MeService): void {
  app.post('/v1/me/photo', { schema: meUploadPhoto }, ({ upload }, reply) =>
    reply.answerChange(
      (principal) => me.uploadPhoto(principal, upload),
      (image) => ({ ok: true as const, image }),
    ),
  )
}
