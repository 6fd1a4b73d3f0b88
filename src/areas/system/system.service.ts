import { errors } from '../../kernel/errors.ts'

export interface SystemService {
  /** Throws `not_ready` unless requests can be answered. */
  assertReady(): Promise<void>
  /** Makes `/ready` fail from now on, because the process is stopping. */
  stop(): void
  isStopping(): boolean
}

/** `isDatabaseReady` resolves to whether the database answers and is migrated. */
export function createSystemService(isDatabaseReady: () => Promise<boolean>): SystemService {
  let hasToStop = false
  return {
    async assertReady() {
      if (hasToStop) throw notReady()
      // Also for a wrong password or a missing database, not only when nothing answers.
      const isReady = await isDatabaseReady().catch((cause: unknown) => {
        throw notReady(cause)
      })
      if (!isReady) throw notReady()
    },
    stop() {
      hasToStop = true
    },
    isStopping: () => hasToStop,
  }
}

function notReady(cause?: unknown) {
  return errors.notReady({ cause, retryAfterSeconds: 5 })
}
