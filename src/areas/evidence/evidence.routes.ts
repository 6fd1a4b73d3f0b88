import type { App } from '../../http/app-types.ts'
import { toOk } from '../../http/requests/idempotency.ts'
import type { CorrectionsService } from './corrections.service.ts'
import { evidenceUpdate, evidenceWithdraw } from './evidence.schemas.ts'

export function evidenceRoutes(app: App, corrections: CorrectionsService): void {
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
