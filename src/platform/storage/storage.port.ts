import type { Readable } from 'node:stream'

export interface StoredFile {
  content: Readable
  sizeBytes: number
}

/** Keeps files under keys that the caller makes. Keys are `[A-Za-z0-9_.-]+`. */
export interface FileStorage {
  /** Stores a file whole or not at all. */
  put(key: string, content: Buffer): Promise<void>
  /** Opens a file; undefined when there is none. */
  open(key: string): Promise<StoredFile | undefined>
  /** Deletes a file, if there is one. */
  delete(key: string): Promise<void>
}
