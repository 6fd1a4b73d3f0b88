import type { App } from '../../http/app-types.ts'
import { toOk } from '../../http/requests/idempotency.ts'
import { labelsCreate, labelsDelete, labelsGet, labelsList, labelsUpdate } from './labels.schemas.ts'
import { versionOfLabel, type LabelsService } from './labels.service.ts'

const labelUrl = '/v1/workspaces/:slug/labels/:labelId'

export function labelsRoutes(app: App, labels: LabelsService): void {
  app.get('/v1/workspaces/:slug/labels', { schema: labelsList }, ({ principal, params, query }, reply) =>
    reply.sendPage(labels.list(principal, params.slug, query)),
  )

  app.post(
    '/v1/workspaces/:slug/labels',
    {
      schema: labelsCreate,
      config: {
        creates: { part: 'label', url: '/v1/workspaces/:slug/labels/:id', versionOf: versionOfLabel },
      },
    },
    ({ params, body }, reply) =>
      reply.answerChange(
        (principal) => labels.create(principal, params.slug, body),
        (label) => ({ ok: true as const, label }),
      ),
  )

  app.get(labelUrl, { schema: labelsGet, config: { isVersioned: true } }, ({ principal, params }, reply) =>
    reply.sendVersioned(labels.get(principal, params), versionOfLabel),
  )

  app.patch(
    labelUrl,
    { schema: labelsUpdate, config: { isVersioned: true } },
    ({ principal, params, body }) => labels.update(principal, params, body).then(toOk),
  )

  app.delete(labelUrl, { schema: labelsDelete }, ({ principal, params }) =>
    labels.delete(principal, params).then(toOk),
  )
}
