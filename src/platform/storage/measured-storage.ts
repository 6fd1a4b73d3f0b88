import type { Meter } from '../../kernel/meter.ts'
import type { FileStorage } from './storage.port.ts'

/** A storage whose requests are counted by their outcome. A file that is not there was looked for with success. */
export function createMeasuredStorage(storage: FileStorage, meter: Meter): FileStorage {
  const measure = async <Result>(request: Promise<Result>): Promise<Result> => {
    try {
      const result = await request
      meter.count('storage', 'succeeded')
      return result
    } catch (error) {
      meter.count('storage', 'failed')
      throw error
    }
  }
  return {
    put: (key, content) => measure(storage.put(key, content)),
    open: (key) => measure(storage.open(key)),
    delete: (key) => measure(storage.delete(key)),
  }
}
