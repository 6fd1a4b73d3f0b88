import { Readable } from 'node:stream'
import type { App } from '../../http/app-types.ts'
import { toOk } from '../../http/requests/idempotency.ts'
import {
  meAcceptInvite,
  meAcceptOffer,
  meDelete,
  meDeclineInvite,
  meDeclineOffer,
  meExport,
  meHome,
  meListInvites,
  meListOffers,
  meOnboarding,
  mePreferences,
  meProfile,
  meRemovePhoto,
  meUpdatePreferences,
  meUpdateProfile,
  meUploadPhoto,
} from './me.schemas.ts'
import {
  versionOfPreferences,
  versionOfProfile,
  type MeService,
  type ServicesOfCaller,
} from './me.service.ts'

// What a key that is bound to workspaces may read. It gets only these workspaces.
const config = { forBoundKeys: true }
const forKeysBelowOwner = true
// What a service account may read too.
const forServices = { ...config, forServices: true }

export function meRoutes(app: App, { me, offers, receivedInvites, accountDeletion }: ServicesOfCaller): void {
  app.get(
    '/v1/me',
    { schema: meProfile, config: { ...forServices, isVersioned: true } },
    ({ principal }, reply) => reply.sendVersioned(me.profile(principal), versionOfProfile),
  )

  app.patch('/v1/me', { schema: meUpdateProfile, config: { isVersioned: true } }, ({ principal, body }) =>
    me.updateProfile(principal, body).then(toOk),
  )

  app.get(
    '/v1/me/preferences',
    { schema: mePreferences, config: { forServices: true, forKeysBelowOwner, isVersioned: true } },
    ({ principal }, reply) => reply.sendVersioned(me.preferences(principal), versionOfPreferences),
  )

  app.patch(
    '/v1/me/preferences',
    { schema: meUpdatePreferences, config: { isVersioned: true } },
    ({ principal, body }) => me.updatePreferences(principal, body).then(toOk),
  )

  app.get('/v1/me/home', { schema: meHome, config: forServices }, async (request, reply) => {
    // Fastify sends a string as text/plain. The answer is a JSON string.
    const home = reply.serialize(await me.home(request.principal)) as string
    return reply.type('application/json; charset=utf-8').send(home)
  })

  app.get('/v1/me/onboarding', { schema: meOnboarding, config: forServices }, async (request) => ({
    existing: await me.existingWorkspace(request.principal),
  }))

  app.delete('/v1/me/photo', { schema: meRemovePhoto }, ({ principal }) =>
    me.removePhoto(principal).then(toOk),
  )

  app.post('/v1/me/delete', { schema: meDelete }, ({ body }, reply) =>
    reply.answerChange((principal) => accountDeletion.requestDeletion(principal, body), toOk),
  )

  // Without HEAD, which would read everything.
  app.get(
    '/v1/me/export',
    { schema: meExport, exposeHeadRoute: false, config: { isAttachment: true } },
    async ({ principal }, reply) => {
      const { name, json } = await accountDeletion.exportPerson(principal)
      // A stream is sent as it is. The tests compare it with the schema.
      return reply.sendAttachment({
        name,
        type: 'application/json; charset=utf-8',
        content: Readable.from(json),
      })
    },
  )

  app.get('/v1/me/invites', { schema: meListInvites, config }, ({ principal, query }, reply) =>
    reply.sendPage(receivedInvites.list(principal, query)),
  )

  app.post('/v1/me/invites/:inviteId/accept', { schema: meAcceptInvite }, ({ params }, reply) =>
    reply.answerChange(
      (principal) => receivedInvites.acceptById(principal, params.inviteId),
      ({ workspaceId, slug, role }) => ({ ok: true as const, workspaceId, slug, role }),
    ),
  )

  app.post('/v1/me/invites/:inviteId/decline', { schema: meDeclineInvite }, ({ params }, reply) =>
    reply.answerChange((principal) => receivedInvites.declineById(principal, params.inviteId), toOk),
  )

  app.get(
    '/v1/me/offers',
    { schema: meListOffers, config: { forKeysBelowOwner } },
    ({ principal, query }, reply) => reply.sendPage(offers.list(principal, query)),
  )

  app.post('/v1/me/offers/:workspaceId/accept', { schema: meAcceptOffer }, ({ params }, reply) =>
    reply.answerChange((principal) => offers.join(principal, params.workspaceId), toOk),
  )

  app.post('/v1/me/offers/:workspaceId/decline', { schema: meDeclineOffer }, ({ params }, reply) =>
    reply.answerChange((principal) => offers.decline(principal, params.workspaceId), toOk),
  )
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
