import { and, eq, isNull, sql } from 'drizzle-orm'
import type { Executor } from '../../db/client.ts'
import { attachments } from '../../db/schema/attachments.ts'
import { keysParameter } from '../../db/sql/batch.ts'
import { attachmentsWhere, type AttachmentItem } from '../../db/sql/attachments-of.ts'
import { prepared } from '../../db/sql/prepared.ts'
import { attachmentsMax } from '../../domain/attachments.ts'
import { errors } from '../../kernel/errors.ts'
import { isId } from '../../kernel/ids.ts'

/** What files are attached to, in a seed. */
export interface AttachmentOwner {
  workspaceId: string
  seedId: string
  /** Absent: the seed itself, or a comment. */
  evidenceId?: string
  /** Absent: the seed itself, or evidence. */
  commentId?: string
}

const placeholder = (name: string) => sql`${sql.placeholder(name)}::uuid`

const claim = prepared((executor) =>
  executor
    .update(attachments)
    .set({
      seedId: placeholder('seedId'),
      evidenceId: placeholder('evidenceId'),
      commentId: placeholder('commentId'),
    })
    .where(
      and(
        sql`${attachments.id} = any(${keysParameter('attachmentIds', 'uuid')})`,
        eq(attachments.workspaceId, sql.placeholder('workspaceId')),
        eq(attachments.createdByUserId, sql.placeholder('userId')),
        isNull(attachments.seedId),
      ),
    )
    .prepare('attachments_claim'),
)

const isOfOwner = sql`${attachments.workspaceId} = ${placeholder('workspaceId')}
  and ${attachments.seedId} = ${placeholder('seedId')}
  and ${attachments.evidenceId} is not distinct from ${placeholder('evidenceId')}
  and ${attachments.commentId} is not distinct from ${placeholder('commentId')}`

const order = prepared((executor) =>
  executor
    .update(attachments)
    .set({
      position: sql`array_position(${keysParameter('attachmentIds', 'uuid')}, ${attachments.id})::smallint`,
    })
    .where(and(isOfOwner, sql`${attachments.id} = any(${keysParameter('attachmentIds', 'uuid')})`))
    .prepare('attachments_order'),
)

const remove = prepared((executor) =>
  executor
    .delete(attachments)
    .where(and(isOfOwner, sql`${attachments.id} = any(${keysParameter('attachmentIds', 'uuid')})`))
    .prepare('attachments_delete_of_owner'),
)

const selectOfOwner = prepared((executor) =>
  executor
    .select({ attachments: attachmentsWhere(isOfOwner).as('attachments') })
    .from(sql`(select) as nothing`)
    .prepare('attachments_select_of_owner'),
)

const toValues = ({ workspaceId, seedId, evidenceId, commentId }: AttachmentOwner) => ({
  workspaceId,
  seedId,
  evidenceId: evidenceId ?? null,
  commentId: commentId ?? null,
})

/** The files of something. Whoever changes them has locked it. */
export async function listAttachmentsOf(
  executor: Executor,
  owner: AttachmentOwner,
): Promise<AttachmentItem[]> {
  const [row] = await selectOfOwner(executor).execute(toValues(owner))
  return row?.attachments ?? []
}

/** The ids of files that a request names, each once. Throws `attachment_limit`, and `attachment_not_found` for what is no id. */
export function parseAttachmentIds(ids: readonly string[]): string[] {
  const distinct = [...new Set(ids)]
  if (distinct.length > attachmentsMax) throw errors.attachmentLimit({ field: 'attachmentIds' })
  if (!distinct.every(isId)) throw errors.attachmentNotFound({ field: 'attachmentIds' })
  return distinct
}

/**
 * Makes these the files of something, in this order: attaches those that the person has uploaded and nothing uses, and deletes
 * those that it has no more. Returns its files. Throws `attachment_not_found`.
 */
export async function setAttachments(
  executor: Executor,
  owner: AttachmentOwner,
  { ids, before, userId }: { ids: readonly string[]; before: readonly { id: string }[]; userId: string },
): Promise<AttachmentItem[]> {
  const idsBefore = before.map(({ id }) => id)
  const added = ids.filter((id) => !idsBefore.includes(id))
  const removed = idsBefore.filter((id) => !ids.includes(id))
  const values = toValues(owner)
  if (added.length > 0) {
    const { rowCount } = await claim(executor).execute({ ...values, userId, attachmentIds: added })
    if (rowCount !== added.length) throw errors.attachmentNotFound({ field: 'attachmentIds' })
  }
  if (removed.length > 0) await remove(executor).execute({ ...values, attachmentIds: removed })
  if (ids.length === 0) return []
  await order(executor).execute({ ...values, attachmentIds: [...ids] })
  return listAttachmentsOf(executor, owner)
}

/** Attaches files to something new. Returns them. Throws `attachment_not_found`. */
export function attach(
  executor: Executor,
  owner: AttachmentOwner,
  { ids, userId }: { ids: readonly string[]; userId: string },
): Promise<AttachmentItem[]> | AttachmentItem[] {
  return ids.length === 0 ? [] : setAttachments(executor, owner, { ids, before: [], userId })
}
