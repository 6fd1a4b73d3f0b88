import { errors } from '../../kernel/errors.ts'

export interface SystemService {
  /** Throws `not_ready` unless requests can be answered. */
  assertReady(): Promise<void>
  /** Declares the service not ready from now on: the process is stopping. */
  stop(): void
}

/** `isDatabaseReady` tells whether the database answers and is migrated. */
export function createSystemService(isDatabaseReady: () => Promise<boolean>): SystemService {
  let isStopping = false
  return {
    async assertReady() {
      if (isStopping) throw notReady()
      // A wrong password and a missing database are as good a reason as one that does not answer.
      const isReady = await isDatabaseReady().catch((cause: unknown) => {
        throw notReady(cause)
      })
      if (!isReady) throw notReady()
    },
    stop() {
      isStopping = true
    },
  }
}

function notReady(cause?: unknown) {
  return errors.notReady({ cause, retryAfterSeconds: 5 })
}
