import type { App } from '../../http/app-types.ts'
import { toOk } from '../../http/requests/idempotency.ts'
import {
  workspacesCreate,
  workspacesGet,
  workspacesSlugAvailable,
  workspacesSlugAvailability,
  workspacesList,
  workspacesUpdate,
  workspacesUploadIcon,
} from './workspaces.schemas.ts'
import type { WorkspacesService } from './workspaces.service.ts'

export function workspacesRoutes(app: App, workspaces: WorkspacesService): void {
  app.get('/v1/workspaces', { schema: workspacesList }, ({ principal }, reply) =>
    reply.sendJson(workspaces.list(principal)),
  )

  app.post('/v1/workspaces', { schema: workspacesCreate }, ({ body }, reply) =>
    reply.answerChange(
      (principal) => workspaces.create(principal, body),
      (workspace) => ({ ok: true as const, workspace }),
    ),
  )

  app.get('/v1/slugs/:slug', { schema: workspacesSlugAvailable }, async ({ principal, params, query }) => ({
    available: await workspaces.isSlugAvailable(principal, params.slug, query.excludeWorkspaceId),
  }))

  app.get('/v1/workspaces/:slug', { schema: workspacesGet }, (request) =>
    workspaces.get(request.principal, request.params.slug),
  )

  app.patch('/v1/workspaces/:slug', { schema: workspacesUpdate }, ({ principal, params, body }) =>
    workspaces.update(principal, params.slug, body).then(toOk),
  )

  app.get(
    '/v1/workspaces/:slug/slug-availability',
    { schema: workspacesSlugAvailability },
    async ({ principal, params, query }) => ({
      available: await workspaces.isSlugAvailableTo(principal, params.slug, query.slug),
    }),
  )
}

/** The upload, registered apart because it accepts multipart/form-data. */
export function workspaceIconRoute(app: App, workspaces: WorkspacesService): void {
  app.post('/v1/workspaces/:slug/icon', { schema: workspacesUploadIcon }, ({ params, upload }, reply) =>
    reply.answerChange(
      (principal) => workspaces.uploadIcon(principal, params.slug, upload),
      (iconUrl) => ({ ok: true as const, iconUrl }),
    ),
  )
}
