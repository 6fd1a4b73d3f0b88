import { Readable } from 'node:stream'
import type { App } from '../../http/app-types.ts'
import { toOk } from '../../http/requests/idempotency.ts'
import {
  workspacesCreate,
  workspacesDelete,
  workspacesExport,
  workspacesGet,
  workspacesSlugAvailable,
  workspacesSlugAvailability,
  workspacesList,
  workspacesRemoveIcon,
  workspacesTransferOwnership,
  workspacesUpdate,
  workspacesUploadIcon,
} from './workspaces.schemas.ts'
import type { ExportService } from './export/export.service.ts'
import type { OwnershipService } from './ownership/ownership.service.ts'
import {
  toDetail,
  versionOfWorkspace,
  type CreatedWorkspace,
  type WorkspacesService,
} from './workspaces.service.ts'

/** What the operations of `workspaces` call. */
interface ServicesOfWorkspaces {
  workspaces: WorkspacesService
  ownership: OwnershipService
  exports: ExportService
}

export function workspacesRoutes(app: App, { workspaces, ownership, exports }: ServicesOfWorkspaces): void {
  app.get(
    '/v1/workspaces',
    { schema: workspacesList, config: { forBoundKeys: true, forServices: true } },
    ({ principal }, reply) => reply.sendJson(workspaces.list(principal)),
  )

  app.post(
    '/v1/workspaces',
    {
      schema: workspacesCreate,
      config: {
        creates: {
          part: 'workspace',
          url: '/v1/workspaces/:slug',
          versionOf: (created: CreatedWorkspace) => versionOfWorkspace(toDetail(created)),
          shown: toDetail,
        },
      },
    },
    ({ body }, reply) =>
      reply.answerChange(
        (principal) => workspaces.create(principal, body),
        (workspace) => ({ ok: true as const, workspace }),
      ),
  )

  app.get(
    '/v1/slugs/:slug',
    { schema: workspacesSlugAvailable, config: { forKeysBelowOwner: true } },
    async ({ principal, params, query }) => ({
      available: await workspaces.isSlugAvailable(principal, params.slug, query.excludeWorkspaceId),
    }),
  )

  app.get(
    '/v1/workspaces/:slug',
    { schema: workspacesGet, config: { isVersioned: true } },
    ({ principal, params }, reply) =>
      reply.sendVersioned(workspaces.get(principal, params.slug), versionOfWorkspace),
  )

  app.patch(
    '/v1/workspaces/:slug',
    { schema: workspacesUpdate, config: { isVersioned: true } },
    ({ principal, params, body }) => workspaces.update(principal, params.slug, body).then(toOk),
  )

  app.post(
    '/v1/workspaces/:slug/transfer-ownership',
    { schema: workspacesTransferOwnership },
    ({ params, body }, reply) =>
      reply.answerChange((principal) => ownership.transfer(principal, params.slug, body), toOk),
  )

  app.post('/v1/workspaces/:slug/delete', { schema: workspacesDelete }, ({ params, body }, reply) =>
    reply.answerChange((principal) => ownership.delete(principal, params.slug, body), toOk),
  )

  // Without HEAD, which would read everything.
  app.get(
    '/v1/workspaces/:slug/export',
    { schema: workspacesExport, exposeHeadRoute: false, config: { isAttachment: true } },
    async ({ principal, params }, reply) => {
      const { name, lines } = await exports.exportWorkspace(principal, params.slug)
      const type = 'application/x-ndjson; charset=utf-8'
      return reply.sendAttachment({ name, type, content: Readable.from(lines) })
    },
  )

  app.delete('/v1/workspaces/:slug/icon', { schema: workspacesRemoveIcon }, ({ principal, params }) =>
    workspaces.removeIcon(principal, params.slug).then(toOk),
  )

  app.get(
    '/v1/workspaces/:slug/slug-availability',
    { schema: workspacesSlugAvailability },
    async ({ principal, params, query }) => ({
      available: await workspaces.isSlugAvailableTo(principal, params.slug, query.wanted ?? query.slug),
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
