import type { App } from '../../http/app-types.ts'
import { toOk } from '../../http/idempotency.ts'
import {
  addEvidence,
  createSeed,
  getSeed,
  joinSeed,
  leaveSeed,
  listEvidence,
  listSeeds,
  updateSeed,
} from './seeds.schemas.ts'
import type { SeedsService } from './seeds.service.ts'

export function seedsRoutes(app: App, seeds: SeedsService): void {
  app.get('/v1/workspaces/:slug/seeds', { schema: listSeeds }, async ({ principal, params, query }, reply) =>
    reply.sendPage(await seeds.list(principal, params.slug, query)),
  )

  app.post('/v1/workspaces/:slug/seeds', { schema: createSeed }, ({ params, body }, reply) =>
    reply.answerChange(
      (principal) => seeds.create(principal, params.slug, body),
      (seed) => ({ ok: true as const, seed }),
    ),
  )

  app.get('/v1/seeds/:id', { schema: getSeed }, async ({ principal, params }) =>
    seeds.get(principal, params.id),
  )

  app.patch('/v1/seeds/:id', { schema: updateSeed }, async ({ principal, params, body }) => {
    await seeds.update(principal, params.id, body)
    return { ok: true as const }
  })

  app.post('/v1/seeds/:id/join', { schema: joinSeed }, ({ params }, reply) =>
    reply.answerChange((principal) => seeds.join(principal, params.id), toOk),
  )

  app.post('/v1/seeds/:id/leave', { schema: leaveSeed }, ({ params }, reply) =>
    reply.answerChange((principal) => seeds.leave(principal, params.id), toOk),
  )

  app.get('/v1/seeds/:id/evidence', { schema: listEvidence }, async ({ principal, params, query }, reply) =>
    reply.sendPage(await seeds.listEvidence(principal, params.id, query)),
  )

  app.post('/v1/seeds/:id/evidence', { schema: addEvidence }, ({ params, body }, reply) =>
    reply.answerChange(
      (principal) => seeds.addEvidence(principal, params.id, body),
      (evidence) => ({ ok: true as const, evidence }),
    ),
  )
}
