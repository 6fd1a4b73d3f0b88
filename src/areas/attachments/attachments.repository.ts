import { and, eq, isNull, lt, or, sql } from 'drizzle-orm'
import type { Executor } from '../../db/client.ts'
import { attachments, workspaceStorage } from '../../db/schema/attachments.ts'
import { seeds } from '../../db/schema/seeds.ts'
import { isWorkspace, workspaces } from '../../db/schema/workspaces.ts'
import type { SeedStatus } from '../../domain/seeds.ts'
import { isSeed, type SeedKey } from '../../db/sql/seed-keys.ts'
import { placeholdersOf, prepared } from '../../db/sql/prepared.ts'

export type AttachmentRow = typeof attachments.$inferSelect

const laterColumns = ['seedId', 'evidenceId', 'commentId', 'position'] as const

const insertIntoAttachments = prepared((executor) =>
  executor
    .insert(attachments)
    .values(placeholdersOf(attachments, ...laterColumns))
    .prepare('attachments_insert'),
)

/** Inserts a file that nothing uses. A trigger counts it, and locks the count of the workspace until the transaction ends. */
export async function insertAttachment(
  executor: Executor,
  row: Omit<AttachmentRow, (typeof laterColumns)[number]>,
): Promise<void> {
  await insertIntoAttachments(executor).execute(row)
}

const selectBytes = prepared((executor) =>
  executor
    .select({ bytes: workspaceStorage.attachmentBytes })
    .from(workspaceStorage)
    .where(eq(workspaceStorage.workspaceId, sql.placeholder('workspaceId')))
    .prepare('workspace_storage_select'),
)

/** How many bytes the files of a workspace have. */
export async function countBytes(executor: Executor, workspaceId: string): Promise<number> {
  const [row] = await selectBytes(executor).execute({ workspaceId })
  return row?.bytes ?? 0
}

const foundColumns = {
  id: attachments.id,
  workspaceId: attachments.workspaceId,
  name: attachments.name,
  type: attachments.type,
  bytes: attachments.bytes,
  width: attachments.width,
  height: attachments.height,
  sha256: attachments.sha256,
  key: attachments.key,
  thumbnailKey: attachments.thumbnailKey,
  createdByUserId: attachments.createdByUserId,
  createdAt: attachments.createdAt,
  seedId: attachments.seedId,
  evidenceId: attachments.evidenceId,
  commentId: attachments.commentId,
  title: seeds.title,
  seedStatus: seeds.status,
}

/** A file, with the title and the status of the seed that it belongs to. */
export type FoundAttachment = Omit<AttachmentRow, 'text' | 'position'> & {
  title: string | null
  seedStatus: SeedStatus | null
}

const isReadable = or(isNull(attachments.seedId), isNull(seeds.deletedAt))
const isOfId = eq(attachments.id, sql.placeholder('attachmentId'))
const isOfKey = and(isOfId, eq(attachments.workspaceId, sql.placeholder('workspaceId')))
const isItsSeed = and(eq(seeds.id, attachments.seedId), eq(seeds.workspaceId, attachments.workspaceId))

/** A file, with its workspace. */
export interface AttachmentKey {
  workspaceId: string
  attachmentId: string
}

const selectOne = prepared((executor) =>
  executor
    .select(foundColumns)
    .from(attachments)
    .leftJoin(seeds, isItsSeed)
    .where(and(isOfKey, isReadable))
    .prepare('attachments_select'),
)

/** A file of a workspace, unless its seed is deleted. */
export async function findAttachment(
  executor: Executor,
  key: AttachmentKey,
): Promise<FoundAttachment | undefined> {
  const [row] = await selectOne(executor).execute({ ...key })
  return row
}

const selectText = prepared((executor) =>
  executor
    .select({ text: attachments.text })
    .from(attachments)
    .where(isOfKey)
    .prepare('attachments_select_text'),
)

/** The beginning of the text of a file; null of one that is no text. */
export async function findText(executor: Executor, key: AttachmentKey): Promise<string | null> {
  const [row] = await selectText(executor).execute({ ...key })
  return row?.text ?? null
}

const selectLinked = prepared((executor) =>
  executor
    .select(foundColumns)
    .from(attachments)
    .innerJoin(workspaces, isWorkspace(attachments.workspaceId))
    .leftJoin(seeds, isItsSeed)
    .where(and(isOfId, isReadable))
    .prepare('attachments_select_linked'),
)

/** A file of any workspace that is not deleted, unless its seed is. */
export async function findLinkedAttachment(
  executor: Executor,
  attachmentId: string,
): Promise<FoundAttachment | undefined> {
  const [row] = await selectLinked(executor).execute({ attachmentId })
  return row
}

const lockSeedRow = prepared((executor) =>
  executor
    .select({ id: seeds.id })
    .from(seeds)
    .where(isSeed)
    .for('no key update')
    .prepare('seeds_lock_of_attachment'),
)

/** Locks the seed of a file, before the file, as all who change what belongs to a seed do. */
export async function lockSeedOfAttachment(executor: Executor, seed: SeedKey): Promise<void> {
  await lockSeedRow(executor).execute({ ...seed })
}

const touchSeedRow = prepared((executor) =>
  executor
    .update(seeds)
    .set({ updatedAt: sql`${sql.placeholder('at')}::timestamptz` })
    .where(isSeed)
    .prepare('seeds_touch_of_attachment'),
)

/** Sets the time of the last change of the seed of a file. */
export async function touchSeedOfAttachment(executor: Executor, seed: SeedKey, at: Date): Promise<void> {
  await touchSeedRow(executor).execute({ ...seed, at: at.toISOString() })
}

const deleteOne = prepared((executor) =>
  executor.delete(attachments).where(isOfKey).prepare('attachments_delete'),
)

/** Deletes a file. A trigger hands what is stored of it to the clean-up of files. */
export async function deleteAttachment(executor: Executor, key: AttachmentKey): Promise<void> {
  await deleteOne(executor).execute({ ...key })
}

/** Deletes the files of a person that nothing uses. */
export async function deleteUnusedAttachmentsOf(executor: Executor, userId: string): Promise<void> {
  await executor
    .delete(attachments)
    .where(and(eq(attachments.createdByUserId, userId), isNull(attachments.seedId)))
}

/** Deletes the files that nothing has used since a time. */
export async function deleteUnusedAttachments(executor: Executor, before: Date): Promise<void> {
  await executor.delete(attachments).where(and(isNull(attachments.seedId), lt(attachments.createdAt, before)))
}
