import { errors } from '../../kernel/errors.ts'

export interface SystemService {
  /** Throws `not_ready` unless requests can be answered. */
  assertReady(): Promise<void>
  /** Declares the service not ready from now on: the process is stopping. */
  stop(): void
  isStopping(): boolean
}

/** `isDatabaseReady` tells whether the database answers and is migrated. */
export function createSystemService(isDatabaseReady: () => Promise<boolean>): SystemService {
  let hasToStop = false
  return {
    async assertReady() {
      if (hasToStop) throw notReady()
      // A wrong password and a missing database are as good a reason as one that does not answer.
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
