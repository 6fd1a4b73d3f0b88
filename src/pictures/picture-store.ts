import type { Changes, OwnChangeContext } from '../access/change.ts'
import type { Principal } from '../domain/principal.ts'
import type { ImageProcessor } from '../platform/images/images.port.ts'
import type { StoredFile } from '../platform/storage/storage.port.ts'
import type { FileLedger } from './file-ledger.ts'
import { markPictureUnused } from './pictures.repository.ts'

/** The pictures of people and workspaces. */
export interface PictureStore {
  /**
   * Converts an upload, stores it, and makes the change `show`, which sets the new key and returns the previous one.
   * Deletes the previous picture after the commit. If anything fails, the change is rolled back and the new file is
   * deleted. Returns the URL. Throws `storage_unavailable`, and what ImageProcessor.toSquarePicture throws.
   */
  replace(
    principal: Principal,
    upload: Buffer,
    show: (context: OwnChangeContext, key: string) => Promise<string | null>,
  ): Promise<string>
  /**
   * Makes the change `hide`, which removes a key and returns it; null if there was none. Deletes the picture after the
   * commit.
   */
  remove(principal: Principal, hide: (context: OwnChangeContext) => Promise<string | null>): Promise<void>
  /** The public URL of a picture: absolute, unguessable and immutable. */
  urlOf(key: string): string
  urlOf(key: string | null): string | null
  /** The part of the URL before the key, for statements that return JSON. */
  urlPrefix: string
  /** Opens a picture. Returns undefined if it does not exist. Throws `storage_unavailable`. */
  open(key: string): Promise<StoredFile | undefined>
  /** Stores a file and deletes it. Throws what the storage throws. */
  assertStorable(): Promise<void>
  /** Deletes up to 100 unused files, such as those left over from a crash. Returns whether there may be more. */
  collectUnused(): Promise<boolean>
}

export interface PictureStoreOptions {
  changes: Changes
  images: ImageProcessor
  files: FileLedger
  baseUrl: string
}

const suffix = '.webp'
// Other files are not for everybody who has their keys.
const keyPattern = /^[A-Za-z0-9_-]{32}\.webp$/

export function createPictureStore(options: PictureStoreOptions): PictureStore {
  const { changes, images, files, baseUrl } = options

  const urlPrefix = `${baseUrl}/pictures/`

  function urlOf(key: string): string
  function urlOf(key: string | null): string | null
  function urlOf(key: string | null): string | null {
    return key === null ? null : urlPrefix + key
  }

  return {
    urlOf,
    urlPrefix,

    assertStorable: () => files.assertStorable(),
    collectUnused: () => files.collectUnused(),

    async replace(principal, upload, show) {
      const content = await images.toSquarePicture(upload)
      const key = await files.add(content, suffix)
      const shown: { before: string | null } = { before: null }
      try {
        await changes.make(principal, async (context) => {
          const { tx, now } = context
          shown.before = await show(context, key)
          await files.use(tx, key)
          if (shown.before !== null) await markPictureUnused(tx, shown.before, now)
          return urlOf(key)
        })
      } catch (error) {
        await files.discard(key)
        throw error
      }
      if (shown.before !== null) await files.discard(shown.before)
      return urlOf(key)
    },

    async remove(principal, hide) {
      const key = await changes.make(principal, async (context) => {
        const before = await hide(context)
        if (before !== null) await markPictureUnused(context.tx, before, context.now)
        return before
      })
      if (key !== null) await files.discard(key)
    },

    open: async (key) => (keyPattern.test(key) ? files.open(key) : undefined),
  }
}
