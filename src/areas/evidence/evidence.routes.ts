import type { App } from '../../http/app-types.ts'
import { toOk } from '../../http/requests/idempotency.ts'
import type { EvidenceEditsService } from './evidence-edits.service.ts'
import { evidenceUpdate, evidenceWithdraw } from './evidence-edits.schemas.ts'
import { evidenceGet, seedsAddEvidence, seedsListEvidence } from './evidence.schemas.ts'
import { versionOfEvidence, type EvidenceService } from './evidence.service.ts'
import { evidenceSee, evidenceUnsee } from './seen-evidence.schemas.ts'
import type { SeenEvidenceService } from './seen-evidence.service.ts'

const evidenceUrl = '/v1/evidence/:evidenceId'

export function evidenceRoutes(
  app: App,
  {
    evidence,
    evidenceEdits,
    seenEvidence,
  }: { evidence: EvidenceService; evidenceEdits: EvidenceEditsService; seenEvidence: SeenEvidenceService },
): void {
  app.get('/v1/seeds/:id/evidence', { schema: seedsListEvidence }, ({ principal, params, query }, reply) =>
    reply.sendPage(evidence.list(principal, params.id, query)),
  )

  app.post(
    '/v1/seeds/:id/evidence',
    {
      schema: seedsAddEvidence,
      config: { creates: { part: 'evidence', url: '/v1/evidence/:id', versionOf: versionOfEvidence } },
    },
    ({ params, body }, reply) =>
      reply.answerChange(
        (principal) => evidence.add(principal, params.id, body),
        (added) => ({ ok: true as const, evidence: added }),
      ),
  )

  app.get(
    evidenceUrl,
    { schema: evidenceGet, config: { isVersioned: true } },
    ({ principal, params }, reply) =>
      reply.sendVersioned(evidence.get(principal, params.evidenceId), versionOfEvidence),
  )

  app.patch(
    evidenceUrl,
    { schema: evidenceUpdate, config: { isVersioned: true } },
    ({ principal, params, body }) => evidenceEdits.update(principal, params.evidenceId, body).then(toOk),
  )

  app.post(
    `${evidenceUrl}/withdraw`,
    { schema: evidenceWithdraw, config: { optionalBody: true } },
    ({ params, body }, reply) =>
      reply.answerChange((principal) => evidenceEdits.withdraw(principal, params.evidenceId, body), toOk),
  )

  app.post(`${evidenceUrl}/see`, { schema: evidenceSee }, ({ params }, reply) =>
    reply.answerChange((principal) => seenEvidence.see(principal, params.evidenceId), toOk),
  )

  app.post(`${evidenceUrl}/unsee`, { schema: evidenceUnsee }, ({ params }, reply) =>
    reply.answerChange((principal) => seenEvidence.unsee(principal, params.evidenceId), toOk),
  )
}
