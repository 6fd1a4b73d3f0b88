import type { Readable } from 'node:stream'

export interface StoredFile {
  content: Readable
  sizeBytes: number
}

/** Stores files under keys chosen by the caller: `[A-Za-z0-9_.-]+`. */
export interface FileStorage {
  /** Stores a file atomically. What is streamed is never whole in memory. Throws what the stream fails with. */
  put(key: string, content: Buffer | Readable): Promise<void>
  /** Opens a file. Returns undefined if it does not exist. */
  open(key: string): Promise<StoredFile | undefined>
  /** Deletes a file if it exists. */
  delete(key: string): Promise<void>
}
