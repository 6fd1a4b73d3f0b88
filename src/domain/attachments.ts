import type { Readable } from 'node:stream'
import { findFault, withoutRefused } from '../kernel/text.ts'

/** The maximum size of an attached file. */
export const attachmentBytesMax = 25 * 1024 * 1024
/** How many files a seed, a piece of evidence or a comment has at most. */
export const attachmentsMax = 10
/** The maximum length of the name of a file, in code points. */
export const attachmentNameLengthMax = 200
/** How much of the text of a file is kept for the search and for agents, in characters. */
export const attachmentTextLengthMax = 20_000
/** How long a file is kept that nothing uses. */
export const unusedAttachmentsKeptMs = 24 * 60 * 60 * 1000
/** How long a link to a file works. */
export const attachmentLinkMs = 5 * 60 * 1000
/** The width of the thumbnails of images, in pixels. */
export const thumbnailWidth = 480

/** The types of the images that are made anew from what was uploaded. */
export const imageTypes = ['image/png', 'image/jpeg', 'image/webp', 'image/gif'] as const
export type ImageType = (typeof imageTypes)[number]

/** The sizes in which the content of a file is read. */
export const attachmentSizes = ['original', 'thumbnail'] as const
export type AttachmentSize = (typeof attachmentSizes)[number]

/** What a file can be attached to. */
export const attachmentTargets = ['seed', 'evidence', 'comment'] as const
export type AttachmentTarget = (typeof attachmentTargets)[number]

/** Whether a type is that of an image that is made anew. */
export function isImageType(type: string): type is ImageType {
  return (imageTypes as readonly string[]).includes(type)
}

/** A file that was uploaded and stored, which nothing shows yet. */
export interface ReceivedFile {
  /** The key under which it is stored. */
  key: string
  name: string
  type: string
  bytes: number
  sha256: Buffer
  /** The beginning of a text; null of another file. */
  text: string | null
  /** Whether a change makes something of it, or deletes it. */
  isTaken?: boolean
}

/** A file that somebody uploaded, with its content, which is read while it is sent. */
export interface SentFile {
  name: string
  type: string
  sizeBytes: number
  /** Identifies the bytes. */
  digest: string
  content: Readable
}

/** The files of something, as what counts in its version: their ids, once there are any, so that versions from before stay valid. */
export function versionedFiles(files: readonly { id: string }[]): { attachmentIds?: string[] } {
  return files.length === 0 ? {} : { attachmentIds: files.map(({ id }) => id) }
}

/**
 * The name of a file as it is stored: the last part of a path, in Normalization Form C, without control characters and
 * characters that deceive, and no longer than `attachmentNameLengthMax`. A long name keeps its ending. `file` without any.
 */
export function toAttachmentName(text: string): string {
  const last = text.normalize('NFC').split(/[/\\]/).at(-1) ?? ''
  const name = withoutRefused(last)
    .trim()
    .replace(/^\.+(?=$)/, '')
  const characters = Array.from(name)
  const [ending = ''] = /\.[\p{L}\p{N}]{1,10}$/u.exec(name) ?? []
  const kept =
    characters.length <= attachmentNameLengthMax
      ? name
      : characters.slice(0, attachmentNameLengthMax - Array.from(ending).length).join('') + ending
  return findFault(kept, 'line') === undefined ? kept : 'file'
}
