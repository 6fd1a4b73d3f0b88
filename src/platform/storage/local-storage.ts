import { mkdir, open, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { FileStorage } from './storage.port.ts'

/** Stores files in a folder. Replicas on several machines need a shared folder, or an object store. */
export function createLocalStorage(folder: string): FileStorage {
  const pathOf = (key: string) => join(folder, key)
  return {
    async put(key, content) {
      await mkdir(folder, { recursive: true })
      const unfinished = `${pathOf(key)}.unfinished`
      try {
        const file = await open(unfinished, 'w', 0o640)
        try {
          await writeFile(file, content)
          // The file must survive a crash of the machine, like the row that refers to it.
          await file.sync()
        } finally {
          await file.close()
        }
        await rename(unfinished, pathOf(key))
      } catch (error) {
        await rm(unfinished, { force: true })
        throw error
      }
    },

    async open(key) {
      try {
        const file = await open(pathOf(key))
        const { size } = await file.stat()
        return { content: file.createReadStream(), sizeBytes: size }
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
        throw error
      }
    },

    async delete(key) {
      // A crash may have left either file.
      await Promise.all([pathOf(key), `${pathOf(key)}.unfinished`].map((path) => rm(path, { force: true })))
    },
  }
}
