import { randomBytes } from 'node:crypto'
import type { Readable } from 'node:stream'
import type { Database, Executor } from '../db/client.ts'
import type { Clock } from '../kernel/clock.ts'
import { ApiError, errors } from '../kernel/errors.ts'
import type { FileStorage, StoredFile } from '../platform/storage/storage.port.ts'
import {
  deletePictureRow,
  insertUnusedPicture,
  listUnusedPictures,
  markPictureForDeletion,
  markPictureUsed,
} from './pictures.repository.ts'

/** The stored files, of which each has a row: without one, files that a crash left over could not be found. */
export interface FileLedger {
  /**
   * Stores a file under a new key that ends in `suffix`, unused. Throws `storage_unavailable`, and what a stream fails with
   * if that is an error of the API. Leaves nothing behind when it throws.
   */
  add(content: Buffer | Readable, suffix: string): Promise<string>
  /** Marks a file as used, with the commit of a change. */
  use(tx: Executor, key: string): Promise<void>
  /** Deletes a file, unless it is in use. Never throws: `collectUnused` tries again. */
  discard(key: string): Promise<void>
  /** Opens a file. Undefined if it does not exist. Throws `storage_unavailable`. */
  open(key: string): Promise<StoredFile | undefined>
  /** Stores a file and deletes it. Throws what the storage throws. */
  assertStorable(): Promise<void>
  /**
   * Deletes up to 100 unused files, such as those left over from a crash, and those of deleted rows. Returns whether there may
   * be more that can be deleted now.
   */
  collectUnused(): Promise<boolean>
}

export interface FileLedgerOptions {
  db: Database
  clock: Clock
  storage: FileStorage
  /** Called when a file could not be deleted. `collectUnused` tries again. */
  onDeleteError: (error: unknown) => void
}

/** Longer than any upload takes, so that a file of a running upload is not deleted. */
const unusedForMs = 60 * 60 * 1000
const collectedAtOnce = 100
const storageRetryAfterSeconds = 5

const createKey = (suffix: string) => `${randomBytes(24).toString('base64url')}${suffix}`

/** Keeps the rows of stored files. */
export function createFileLedger({ db, clock, storage, onDeleteError }: FileLedgerOptions): FileLedger {
  /** Returns whether the file is gone, or is in use. */
  async function discard(key: string): Promise<boolean> {
    try {
      // If the connection broke during the commit, the change may have been committed. Then the file is in use.
      if (!(await markPictureForDeletion(db, key))) return true
      await storage.delete(key)
      await deletePictureRow(db, key)
      return true
    } catch (error) {
      onDeleteError(error)
      return false
    }
  }

  return {
    async add(content, suffix) {
      const key = createKey(suffix)
      // Inserted as unused before the file is stored, so that the file is found after a crash.
      await insertUnusedPicture(db, key, clock.now())
      try {
        await storage.put(key, content)
        return key
      } catch (error) {
        await discard(key)
        throw error instanceof ApiError ? error : toUnavailable(error)
      }
    },

    async use(tx, key) {
      if (!(await markPictureUsed(tx, key))) throw new Error('the file was deleted before it was used')
    },

    async discard(key) {
      await discard(key)
    },

    open: (key) =>
      storage.open(key).catch((error: unknown) => {
        throw toUnavailable(error)
      }),

    async assertStorable() {
      const key = createKey('.webp')
      await storage.put(key, Buffer.from('a file to see whether files can be stored'))
      await storage.delete(key)
    },

    async collectUnused() {
      const before = new Date(clock.now().getTime() - unusedForMs)
      const keys = await listUnusedPictures(db, before, collectedAtOnce)
      let gone = 0
      for (const key of keys) gone += Number(await discard(key))
      // What could not be deleted is tried again by a later collection.
      return gone === collectedAtOnce
    },
  }
}

/** What a failure of the storage is to the caller. */
function toUnavailable(cause: unknown): Error {
  return errors.storageUnavailable({ cause, retryAfterSeconds: storageRetryAfterSeconds })
}
