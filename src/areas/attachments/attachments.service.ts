import { createHash } from 'node:crypto'
import { buffer } from 'node:stream/consumers'
import type { Readable } from 'node:stream'
import { noLock, type Changes } from '../../access/change.ts'
import { isAllowed } from '../../access/permissions.ts'
import type { AccessibleWorkspace, RequireWorkspace } from '../../access/workspace-access.ts'
import type { Database } from '../../db/client.ts'
import {
  attachmentBytesMax,
  isImageType,
  toAttachmentName,
  type AttachmentSize,
  type AttachmentTarget,
  type ReceivedFile,
  type SentFile,
} from '../../domain/attachments.ts'
import type { LookUpCall, Principal } from '../../domain/principal.ts'
import type { SeedStatus } from '../../domain/seeds.ts'
import { errors } from '../../kernel/errors.ts'
import { createId, isId } from '../../kernel/ids.ts'
import type { FileLedger } from '../../pictures/file-ledger.ts'
import type { ImageProcessor } from '../../platform/images/images.port.ts'
import type { AttachmentLinks } from './attachment-links.ts'
import {
  countBytes,
  deleteAttachment,
  findAttachment,
  findLinkedAttachment,
  findText,
  insertAttachment,
  lockSeedOfAttachment,
  touchSeedOfAttachment,
  type FoundAttachment,
} from './attachments.repository.ts'
import type { Attachment } from './attachments.schemas.ts'
import { inspectContent } from './file-content.ts'

export type { Attachment }

/** A file of a seed with the beginning of its text, and a link to all of it. */
export interface AttachmentText extends Attachment {
  seedId: string
  /** The title and the status of the seed. */
  title: string
  seedStatus: SeedStatus
  commentId: string | null
  text: string | null
  url: string
  expiresAt: string
}

/** Where a file is. */
export interface AttachmentPath {
  slug: string
  attachmentId: string
}

/**
 * The files of workspaces. Methods with a principal throw what access to a workspace throws, and `not_found` for a file that
 * does not exist or that the caller may not see.
 */
export interface AttachmentsService {
  /** Throws unless the caller may upload a file now of about so many bytes: `storage_quota`, `role_insufficient`. */
  admit(principal: LookUpCall, slug: string, aboutBytes: number): Promise<void>
  /**
   * Stores a file while it arrives. Throws `attachment_type`, `attachment_too_large` and `storage_unavailable`, and leaves
   * nothing behind then.
   */
  receive(file: { name: string; content: Readable }): Promise<ReceivedFile>
  /** Deletes a file that was received and is not in use. Never throws. */
  discard(file: ReceivedFile): Promise<void>
  /**
   * Makes a file of what was received: images anew. Throws `storage_quota`, `attachment_too_large`, `storage_unavailable` and
   * what images throw. A file that was received is gone when it throws.
   */
  create(principal: Principal, slug: string, received: ReceivedFile): Promise<Attachment>
  get(principal: Principal, path: AttachmentPath): Promise<Attachment>
  /** Throws `storage_unavailable`. */
  open(principal: Principal, path: AttachmentPath, size?: AttachmentSize): Promise<SentFile>
  /** A link to its content, for five minutes. */
  link(principal: Principal, path: AttachmentPath): Promise<{ url: string; expiresAt: string }>
  /** For agents: what it is, the beginning of its text and a link. Throws `not_found` also for a file that nothing uses. */
  read(principal: Principal, path: AttachmentPath): Promise<AttachmentText>
  /** What a link leads to. Throws `not_found` for one that is not ours or has expired, and `storage_unavailable`. */
  openLinked(token: string): Promise<SentFile>
  /** Throws `role_insufficient` for a file that is used, unless the caller is an owner or admin. */
  delete(principal: Principal, path: AttachmentPath): Promise<void>
}

export interface AttachmentsServiceOptions {
  db: Database
  changes: Changes
  requireWorkspace: RequireWorkspace
  files: FileLedger
  images: ImageProcessor
  links: AttachmentLinks
  /** How many bytes the files of a workspace may have. 0: any number. */
  quotaBytes: number
}

const suffix = '.file'
const thumbnailType = 'image/webp'

/** Makes the service of files. */
export function createAttachmentsService(options: AttachmentsServiceOptions): AttachmentsService {
  const { db, changes, requireWorkspace, files, images, links, quotaBytes } = options

  function assertWithinQuota(bytes: number): void {
    if (quotaBytes > 0 && bytes > quotaBytes) throw errors.storageQuota()
  }

  /** A file that the caller may see. */
  async function find(
    principal: Principal,
    { slug, attachmentId }: AttachmentPath,
    action: 'attachments.get' | 'attachments.content' | 'attachments.link' | 'attachments.delete',
  ): Promise<{ workspace: AccessibleWorkspace; found: FoundAttachment }> {
    const workspace = await requireWorkspace(principal, slug, action)
    const found = isId(attachmentId)
      ? await findAttachment(db, { workspaceId: workspace.id, attachmentId })
      : undefined
    if (!found || !maySee(principal, workspace, found)) throw errors.notFound()
    return { workspace, found }
  }

  async function openFound(found: FoundAttachment, size: AttachmentSize): Promise<SentFile> {
    const isWhole = size === 'original'
    const key = isWhole ? found.key : found.thumbnailKey
    const file = key === null ? undefined : await files.open(key)
    if (!file) throw errors.notFound()
    return {
      ...file,
      name: found.name,
      type: isWhole ? found.type : thumbnailType,
      digest: `${found.sha256.toString('base64url')}${isWhole ? '' : '.thumbnail'}`,
    }
  }

  /** What is stored for good of a file that was received. `keys` gets each key once it is stored. */
  async function prepare(received: ReceivedFile, keys: string[]) {
    const { key, name, type, bytes, sha256, text } = received
    if (!isImageType(type))
      return { key, name, type, bytes, sha256, text, thumbnailKey: null, width: null, height: null }
    const read = async () => {
      const file = await files.open(key)
      if (!file) throw new Error('a file that was received is gone')
      return buffer(file.content)
    }
    const { content, thumbnail, width, height } = await images.toCleanImage(type, read)
    if (content.length > attachmentBytesMax) throw errors.attachmentTooLarge({ field: 'file' })
    const cleanKey = await files.add(content, suffix)
    keys.push(cleanKey)
    const thumbnailKey = await files.add(thumbnail, suffix)
    keys.push(thumbnailKey)
    return {
      ...{ key: cleanKey, thumbnailKey, name, type, width, height, text },
      ...{ bytes: content.length, sha256: createHash('sha256').update(content).digest() },
    }
  }

  return {
    async admit(principal, slug, aboutBytes) {
      const { id } = await requireWorkspace(principal, slug, 'attachments.create')
      assertWithinQuota((await countBytes(db, id)) + aboutBytes)
    },

    async receive({ name: givenName, content }) {
      const name = toAttachmentName(givenName)
      const { passed, facts } = inspectContent(content, name)
      const key = await files.add(passed, suffix)
      return { key, name, ...facts() }
    },

    discard: ({ key }) => files.discard(key),

    async create(principal, slug, received) {
      received.isTaken = true
      const keys = [received.key]
      try {
        const workspace = await requireWorkspace(principal, slug, 'attachments.create')
        const stored = await prepare(received, keys)
        const { user } = principal
        const created = await changes.makeIn(principal, workspace, noLock, async ({ tx, now }) => {
          const row = {
            ...{ id: createId(), workspaceId: workspace.id, ...stored },
            ...{ createdByUserId: user.id, createdAt: now },
          }
          await files.use(tx, row.key)
          if (row.thumbnailKey !== null) await files.use(tx, row.thumbnailKey)
          // The count of the workspace stays locked until the end, so that files at once do not exceed the quota together.
          await insertAttachment(tx, row)
          assertWithinQuota(await countBytes(tx, workspace.id))
          return toAttachment(row)
        })
        if (stored.key !== received.key) await files.discard(received.key)
        return created
      } catch (error) {
        for (const key of keys) await files.discard(key)
        throw error
      }
    },

    async get(principal, path) {
      return toAttachment((await find(principal, path, 'attachments.get')).found)
    },

    async open(principal, path, size = 'original') {
      return openFound((await find(principal, path, 'attachments.content')).found, size)
    },

    async link(principal, path) {
      const { found } = await find(principal, path, 'attachments.link')
      const { url, expiresAt } = links.create(found.id)
      return { url, expiresAt: expiresAt.toISOString() }
    },

    async read(principal, path) {
      const { found } = await find(principal, path, 'attachments.get')
      const { id, workspaceId, seedId, title, seedStatus, commentId } = found
      if (seedId === null || title === null || seedStatus === null) throw errors.notFound()
      const { url, expiresAt } = links.create(id)
      return {
        ...toAttachment(found),
        ...{ seedId, title, seedStatus, commentId },
        text: await findText(db, { workspaceId, attachmentId: id }),
        ...{ url, expiresAt: expiresAt.toISOString() },
      }
    },

    async openLinked(token) {
      const attachmentId = links.read(token)
      const found = attachmentId === undefined ? undefined : await findLinkedAttachment(db, attachmentId)
      if (!found) throw errors.notFound()
      return openFound(found, 'original')
    },

    async delete(principal, path) {
      const { workspace, found } = await find(principal, path, 'attachments.delete')
      const { seedId, title } = found
      const key = { workspaceId: workspace.id, attachmentId: found.id }
      if (seedId !== null && !isAllowed(workspace.role, 'attachments.deleteOthers'))
        throw errors.roleInsufficient()
      await changes.makeIn(
        principal,
        workspace,
        async (tx) => {
          if (seedId !== null) await lockSeedOfAttachment(tx, { ...key, seedId })
          const now = await findAttachment(tx, key)
          // Used meanwhile, or of another seed now: it is to be asked for again.
          return now?.seedId === seedId ? now : undefined
        },
        async ({ now, write, appendEvent }, locked) => {
          write((tx) => deleteAttachment(tx, key))
          if (seedId === null) return
          write((tx) => touchSeedOfAttachment(tx, { ...key, seedId }, now))
          const { id, name } = locked
          appendEvent({
            type: 'attachment.deleted',
            data: { attachmentId: id, name, seedId, title: title ?? '', ...targetOf({ ...locked, seedId }) },
          })
        },
      )
      for (const key of [found.key, found.thumbnailKey]) if (key !== null) await files.discard(key)
    },
  }
}

/** Whether the caller may see a file: what is used is for all members, what is not for its uploader, owners and admins. */
function maySee({ user }: Principal, { role }: AccessibleWorkspace, found: FoundAttachment): boolean {
  const isUsed = found.seedId !== null
  return isUsed || found.createdByUserId === user.id || isAllowed(role, 'attachments.deleteOthers')
}

/** What a file is attached to. */
function targetOf({
  seedId,
  evidenceId,
  commentId,
}: {
  seedId: string
  evidenceId: string | null
  commentId: string | null
}): { targetType: AttachmentTarget; targetId: string } {
  if (evidenceId !== null) return { targetType: 'evidence', targetId: evidenceId }
  if (commentId !== null) return { targetType: 'comment', targetId: commentId }
  return { targetType: 'seed', targetId: seedId }
}

/** A file as answers have it. */
function toAttachment(
  row: Pick<FoundAttachment, Exclude<keyof Attachment, 'createdAt'> | 'createdAt'>,
): Attachment {
  const { id, workspaceId, name, type, bytes, width, height, createdByUserId, createdAt } = row
  return {
    ...{ id, workspaceId, name, type, bytes, width, height, createdByUserId },
    createdAt: createdAt.toISOString(),
  }
}
