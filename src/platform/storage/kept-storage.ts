import type { FileStorage } from './storage.port.ts'

/**
 * A storage in which nothing is deleted or overwritten, since it may be that of another installation, of which this one is a
 * copy. Files of new keys are stored.
 */
export function createKeptStorage(storage: FileStorage): FileStorage {
  return {
    async put(key, content) {
      const existing = await storage.open(key)
      existing?.content.destroy()
      if (existing && !Buffer.isBuffer(content)) content.destroy()
      if (existing) throw new Error(`${key} exists, and OUTGOING=off overwrites nothing`)
      await storage.put(key, content)
    },
    open: (key) => storage.open(key),
    delete: () => Promise.resolve(),
  }
}
