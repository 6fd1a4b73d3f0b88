import type { FastifyRequest } from 'fastify'
import { attachmentSizes } from '../../../domain/attachments.ts'
import { sendFile } from '../../../http/answers/attachments.ts'
import type { App } from '../../../http/app-types.ts'
import { errors } from '../../../kernel/errors.ts'
import type { Services } from '../../../services/services.ts'
import { readOneOf } from '../../components/lists.ts'
import { notice } from '../../components/notice.ts'
import { csrfFieldName } from '../../components/sent-form.ts'
import type { WorkspacePages } from '../../plugins/workspace-visit.ts'

interface FileRoute {
  Params: { slug: string; id: string }
}

// A page with many thumbnails does not ask for them each time that it is opened. Under its id, a file never changes.
const thumbnailSeconds = 600

/** The contents of files, for those who may read them, and deleting one. */
export function attachmentsPages(
  app: App,
  { action }: WorkspacePages,
  { attachments }: Pick<Services, 'attachments'>,
): void {
  // HEAD would open a file that nobody reads.
  app.get<FileRoute>('/w/:slug/attachments/:id', { exposeHeadRoute: false }, async (request, reply) => {
    const size = readOneOf(request, 'size', attachmentSizes) ?? 'original'
    const { slug, id: attachmentId } = request.params
    const file = await attachments.open(request.principal, { slug, attachmentId }, size)
    void reply.header('cross-origin-resource-policy', 'same-origin')
    const isKept = size === 'thumbnail'
    return sendFile(reply, file, isKept ? `private, max-age=${thumbnailSeconds}` : 'private, no-cache')
  })

  action('/attachments/:id/delete', '', async ({ base, principal, request, workspace }) => {
    await attachments.delete(principal, { slug: workspace.slug, attachmentId: request.params.id })
    return { path: request.visit.referringPage ?? base, notice: notice`File deleted.` }
  })
}

/** The upload of public/attachments.js, in a scope with `streamedUploads`. */
export function attachmentsUpload(app: App, { attachments }: Pick<Services, 'attachments'>): void {
  app.post<FileRoute>('/w/:slug/attachments', async ({ params, principal, received }) => ({
    attachment: await attachments.create(principal, params.slug, received),
  }))
}

/** Refuses the form of a file that comes from elsewhere, before its file is stored. */
export function admitFileOfForm(request: FastifyRequest, fields: Record<string, string>): void {
  if (!request.visit.isCsrfToken(fields[csrfFieldName])) throw errors.formExpired()
  // For the check of all forms.
  request.body = fields
}
