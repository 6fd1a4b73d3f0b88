import { sendFile } from '../../http/answers/attachments.ts'
import type { App } from '../../http/app-types.ts'
import { toOk } from '../../http/requests/idempotency.ts'
import type { FileReceiver } from '../../http/requests/streamed-uploads.ts'
import { attachmentLinkPath } from './attachment-links.ts'
import {
  attachmentsContent,
  attachmentsCreate,
  attachmentsDelete,
  attachmentsGet,
  attachmentsLink,
} from './attachments.schemas.ts'
import type { AttachmentsService } from './attachments.service.ts'

const attachmentUrl = '/v1/workspaces/:slug/attachments/:attachmentId'

export function attachmentsRoutes(app: App, attachments: AttachmentsService): void {
  app.get(attachmentUrl, { schema: attachmentsGet }, ({ principal, params }) =>
    attachments.get(principal, params),
  )

  app.get(
    `${attachmentUrl}/content`,
    { schema: attachmentsContent, exposeHeadRoute: false, config: { isFile: true, isVersioned: true } },
    async ({ principal, params, query }, reply) => {
      const { size } = query
      return sendFile(reply, await attachments.open(principal, params, size), 'private, no-cache')
    },
  )

  app.get(`${attachmentUrl}/link`, { schema: attachmentsLink }, ({ principal, params }) =>
    attachments.link(principal, params),
  )

  app.delete(attachmentUrl, { schema: attachmentsDelete }, ({ principal, params }) =>
    attachments.delete(principal, params).then(toOk),
  )
}

/** The upload, registered apart because it accepts multipart/form-data. */
export function attachmentsUploadRoute(app: App, attachments: AttachmentsService): void {
  app.post(
    '/v1/workspaces/:slug/attachments',
    {
      schema: attachmentsCreate,
      config: { creates: { part: 'attachment', url: '/v1/workspaces/:slug/attachments/:id' } },
    },
    ({ params, received }, reply) =>
      reply.answerChange(
        (principal) => attachments.create(principal, params.slug, received),
        (attachment) => ({ ok: true as const, attachment }),
      ),
  )
}

/** Serves a file to everybody who has a link to it. Not an operation of the API. */
export function attachmentLinksRoute(app: App, attachments: AttachmentsService): void {
  app.get<{ Params: { token: string } }>(
    `${attachmentLinkPath}/:token`,
    { schema: { hide: true }, exposeHeadRoute: false },
    async ({ params }, reply) =>
      sendFile(reply, await attachments.openLinked(params.token), 'private, no-store'),
  )
}

/** Takes the files of forms for the service. */
export function createFileReceiver(attachments: AttachmentsService): FileReceiver {
  return {
    admit({ principal, params, headers }) {
      const { slug } = params as { slug: string }
      return attachments.admit(principal, slug, Number(headers['content-length'] ?? 0))
    },
    receive: (file) => attachments.receive(file),
    discard: (file) => attachments.discard(file),
  }
}
