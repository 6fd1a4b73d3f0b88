import { and, eq, isNull, sql, type Column, type SQL } from 'drizzle-orm'
import { attachments } from '../schema/attachments.ts'
import { timestampText } from './json-rows.ts'
import { subquery } from '../schema/subquery.ts'

/** A file that is attached, as answers have it. */
export interface AttachmentItem {
  id: string
  workspaceId: string
  name: string
  type: string
  bytes: number
  width: number | null
  height: number | null
  createdByUserId: string | null
  createdAt: string
}

const attachment = sql`json_build_object(
  'id', ${attachments.id}, 'workspaceId', ${attachments.workspaceId}, 'name', ${attachments.name},
  'type', ${attachments.type}, 'bytes', ${attachments.bytes}, 'width', ${attachments.width},
  'height', ${attachments.height}, 'createdByUserId', ${attachments.createdByUserId},
  'createdAt', ${timestampText(attachments.createdAt)}
)`

/** The files of which a condition holds, as a JSON array in their order. */
export function attachmentsWhere(condition: SQL | undefined): SQL<AttachmentItem[]> {
  return subquery(sql<AttachmentItem[]>`coalesce((
    select json_agg(${attachment} order by ${attachments.position}, ${attachments.id}) from ${attachments} where ${condition}
  ), '[]')`)
}

/** The files of a seed itself, as a JSON array. */
export const attachmentsOfSeed = (seedId: Column) =>
  attachmentsWhere(
    and(eq(attachments.seedId, seedId), isNull(attachments.evidenceId), isNull(attachments.commentId)),
  )

/** The files of a piece of evidence, as a JSON array. */
export const attachmentsOfEvidence = (evidenceId: Column) =>
  attachmentsWhere(eq(attachments.evidenceId, evidenceId))

/** The files of a comment, as a JSON array. */
export const attachmentsOfComment = (commentId: Column) =>
  attachmentsWhere(eq(attachments.commentId, commentId))
