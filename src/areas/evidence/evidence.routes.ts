import type { App } from '../../http/app-types.ts'
import { toOk } from '../../http/requests/idempotency.ts'
import type { CorrectionsService } from './corrections.service.ts'
import { evidenceUpdate, evidenceWithdraw } from './corrections.schemas.ts'
import { seedsAddEvidence, seedsListEvidence } from './evidence.schemas.ts'
import type { EvidenceService } from './evidence.service.ts'

export function evidenceRoutes(
  app: App,
  { evidence, corrections }: { evidence: EvidenceService; corrections: CorrectionsService },
): void {
  app.get('/v1/seeds/:id/evidence', { schema: seedsListEvidence }, ({ principal, params, query }, reply) =>
    reply.sendPage(evidence.list(principal, params.id, query)),
  )

  app.post('/v1/seeds/:id/evidence', { schema: seedsAddEvidence }, ({ params, body }, reply) =>
    reply.answerChange(
      (principal) => evidence.add(principal, params.id, body),
      (added) => ({ ok: true as const, evidence: added }),
    ),
  )

  app.patch('/v1/evidence/:evidenceId', { schema: evidenceUpdate }, ({ principal, params, body }) =>
    corrections.update(principal, params.evidenceId, body).then(toOk),
  )

  app.post(
    '/v1/evidence/:evidenceId/withdraw',
    { schema: evidenceWithdraw, config: { optionalBody: true } },
    ({ params, body }, reply) =>
      reply.answerChange((principal) => corrections.withdraw(principal, params.evidenceId, body), toOk),
  )
}
