import type { Attachment, AttachmentsService } from '../../../areas/attachments/attachments.service.ts'
import { ignoreNotFound } from '../../../kernel/errors.ts'
import { attachmentsMax } from '../../../domain/attachments.ts'
import { readAttachmentIds } from '../../components/sent-form.ts'
import type { WorkspaceVisit } from '../../plugins/workspace-visit.ts'

/** The files of a form that was refused, without those that are gone. */
export async function findAttached(
  { principal, state, workspace }: WorkspaceVisit,
  attachments: Pick<AttachmentsService, 'get'>,
): Promise<Attachment[]> {
  const ids = readAttachmentIds({ body: state.values }) ?? []
  const { slug } = workspace
  const found = await Promise.all(
    ids
      .slice(0, attachmentsMax)
      .map((attachmentId) => attachments.get(principal, { slug, attachmentId }).catch(ignoreNotFound)),
  )
  return found.filter((each) => each !== undefined)
}
