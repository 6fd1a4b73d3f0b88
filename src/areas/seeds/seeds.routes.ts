import type { App } from '../../http/app-types.ts'
import { toOk } from '../../http/requests/idempotency.ts'
import {
  seedsCount,
  seedsCreate,
  seedsDelete,
  seedsFollow,
  seedsGet,
  seedsInvitePerson,
  seedsJoin,
  seedsLeave,
  seedsListParticipants,
  seedsList,
  seedsMerge,
  seedsRestore,
  seedsSimilar,
  seedsUnfollow,
  seedsUnmerge,
  seedsUpdate,
} from './seeds.schemas.ts'
import { versionOfSeed, type SeedsService } from './seeds.service.ts'

export function seedsRoutes(app: App, seeds: SeedsService): void {
  app.get('/v1/workspaces/:slug/seeds', { schema: seedsList }, ({ principal, params, query }, reply) =>
    reply.sendPage(seeds.list(principal, params.slug, query)),
  )

  app.get('/v1/workspaces/:slug/seeds/count', { schema: seedsCount }, ({ principal, params, query }) =>
    seeds.count(principal, params.slug, query),
  )

  app.post(
    '/v1/workspaces/:slug/seeds',
    {
      schema: seedsCreate,
      config: { creates: { part: 'seed', url: '/v1/seeds/:id', versionOf: versionOfSeed } },
    },
    ({ params, body }, reply) =>
      reply.answerChange(
        (principal) => seeds.create(principal, params.slug, body),
        ({ similar, ...seed }) => ({ ok: true as const, seed, similar }),
      ),
  )

  app.get(
    '/v1/seeds/:id',
    { schema: seedsGet, config: { isVersioned: true } },
    ({ principal, params }, reply) => reply.sendVersioned(seeds.get(principal, params.id), versionOfSeed),
  )

  app.patch(
    '/v1/seeds/:id',
    { schema: seedsUpdate, config: { isVersioned: true } },
    ({ principal, params, body }) => seeds.update(principal, params.id, body).then(toOk),
  )

  app.delete('/v1/seeds/:id', { schema: seedsDelete }, ({ principal, params }) =>
    seeds.delete(principal, params.id).then(toOk),
  )

  app.post('/v1/seeds/:id/restore', { schema: seedsRestore }, ({ params }, reply) =>
    reply.answerChange((principal) => seeds.restore(principal, params.id), toOk),
  )

  app.get('/v1/workspaces/:slug/seeds/similar', { schema: seedsSimilar }, ({ principal, params, query }) =>
    seeds.findSimilar(principal, params.slug, query.title),
  )

  app.post('/v1/seeds/:id/merge', { schema: seedsMerge }, ({ params, body }, reply) =>
    reply.answerChange((principal) => seeds.merge(principal, params.id, body), toOk),
  )

  app.post('/v1/seeds/:id/unmerge', { schema: seedsUnmerge }, ({ params }, reply) =>
    reply.answerChange((principal) => seeds.unmerge(principal, params.id), toOk),
  )

  app.post('/v1/seeds/:id/follow', { schema: seedsFollow }, ({ params }, reply) =>
    reply.answerChange((principal) => seeds.follow(principal, params.id), toOk),
  )

  app.post('/v1/seeds/:id/unfollow', { schema: seedsUnfollow }, ({ params }, reply) =>
    reply.answerChange((principal) => seeds.unfollow(principal, params.id), toOk),
  )

  app.post('/v1/seeds/:id/join', { schema: seedsJoin }, ({ params }, reply) =>
    reply.answerChange((principal) => seeds.join(principal, params.id), toOk),
  )

  app.post('/v1/seeds/:id/invite-person', { schema: seedsInvitePerson }, ({ params, body }, reply) =>
    reply.answerChange((principal) => seeds.invitePerson(principal, params.id, body), toOk),
  )

  app.post('/v1/seeds/:id/leave', { schema: seedsLeave }, ({ params }, reply) =>
    reply.answerChange((principal) => seeds.leave(principal, params.id), toOk),
  )

  app.get(
    '/v1/seeds/:id/participants',
    { schema: seedsListParticipants },
    ({ principal, params, query }, reply) =>
      reply.sendPage(seeds.listParticipants(principal, params.id, query)),
  )
}
