import type { App } from '../../http/app-types.ts'
import {
  createWorkspace,
  getWorkspace,
  isSlugAvailable,
  isSlugAvailableTo,
  listWorkspaces,
  updateWorkspace,
  uploadIcon,
} from './workspaces.schemas.ts'
import type { WorkspacesService } from './workspaces.service.ts'

export function workspacesRoutes(app: App, workspaces: WorkspacesService): void {
  app.get('/v1/workspaces', { schema: listWorkspaces }, (request) => workspaces.list(request.principal))

  app.post('/v1/workspaces', { schema: createWorkspace }, ({ body }, reply) =>
    reply.answerChange(
      (principal) => workspaces.create(principal, body),
      (workspace) => ({ ok: true as const, workspace }),
    ),
  )

  app.get('/v1/slugs/:slug', { schema: isSlugAvailable }, async ({ principal, params, query }) => ({
    available: await workspaces.isSlugAvailable(principal, params.slug, query.excludeWorkspaceId),
  }))

  app.get('/v1/workspaces/:slug', { schema: getWorkspace }, (request) =>
    workspaces.get(request.principal, request.params.slug),
  )

  app.patch('/v1/workspaces/:slug', { schema: updateWorkspace }, async (request) => {
    await workspaces.update(request.principal, request.params.slug, request.body)
    return { ok: true as const }
  })

  app.get('/v1/workspaces/:slug/slug-availability', { schema: isSlugAvailableTo }, async (request) => ({
    available: await workspaces.isSlugAvailableTo(request.principal, request.params.slug, request.query.slug),
  }))
}

/** The route that takes a file. */
export function workspaceIconRoute(app: App, workspaces: WorkspacesService): void {
  app.post('/v1/workspaces/:slug/icon', { schema: uploadIcon }, ({ params, upload }, reply) =>
    reply.answerChange(
      (principal) => workspaces.uploadIcon(principal, params.slug, upload),
      (iconUrl) => ({ ok: true as const, iconUrl }),
    ),
  )
}
