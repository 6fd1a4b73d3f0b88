import type { App } from '../../http/app-types.ts'
import { toOk } from '../../http/requests/idempotency.ts'
import { seedsAddEvidence, seedsListEvidence } from './evidence.schemas.ts'
import type { EvidenceService } from './evidence.service.ts'
import {
  seedsCreate,
  seedsGet,
  seedsJoin,
  seedsLeave,
  seedsListParticipants,
  seedsList,
  seedsUpdate,
} from './seeds.schemas.ts'
import type { SeedsService } from './seeds.service.ts'

export function seedsRoutes(
  app: App,
  { seeds, evidence }: { seeds: SeedsService; evidence: EvidenceService },
): void {
  app.get('/v1/workspaces/:slug/seeds', { schema: seedsList }, ({ principal, params, query }, reply) =>
    reply.sendPage(seeds.list(principal, params.slug, query)),
  )

  app.post('/v1/workspaces/:slug/seeds', { schema: seedsCreate }, ({ params, body }, reply) =>
    reply.answerChange(
      (principal) => seeds.create(principal, params.slug, body),
      (seed) => ({ ok: true as const, seed }),
    ),
  )

  app.get('/v1/seeds/:id', { schema: seedsGet }, async ({ principal, params }) =>
    seeds.get(principal, params.id),
  )

  app.patch('/v1/seeds/:id', { schema: seedsUpdate }, ({ principal, params, body }) =>
    seeds.update(principal, params.id, body).then(toOk),
  )

  app.post('/v1/seeds/:id/join', { schema: seedsJoin }, ({ params }, reply) =>
    reply.answerChange((principal) => seeds.join(principal, params.id), toOk),
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

  app.get('/v1/seeds/:id/evidence', { schema: seedsListEvidence }, ({ principal, params, query }, reply) =>
    reply.sendPage(evidence.list(principal, params.id, query)),
  )

  app.post('/v1/seeds/:id/evidence', { schema: seedsAddEvidence }, ({ params, body }, reply) =>
    reply.answerChange(
      (principal) => evidence.add(principal, params.id, body),
      (added) => ({ ok: true as const, evidence: added }),
    ),
  )
}
