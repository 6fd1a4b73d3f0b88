import type { Clock } from '../../kernel/clock.ts'
import { errors } from '../../kernel/errors.ts'
import { createOperatorTokens } from './operator-tokens.ts'

export interface SystemService {
  /** Throws `not_ready` unless requests can be answered. */
  assertReady(): Promise<void>
  /** Makes `/ready` fail from now on, because the process is stopping. */
  stop(): void
  isStopping(): boolean
  /** Whether a token is of an operator, who has the secret of the installation. */
  isOfOperator(token: string): boolean
}

export interface SystemServiceOptions {
  clock: Clock
  /** Called once, by the first token of an operator. */
  loadSecret: () => string
  /** Resolves to whether the database answers and is migrated. */
  isDatabaseReady: () => Promise<boolean>
}

export function createSystemService({
  clock,
  loadSecret,
  isDatabaseReady,
}: SystemServiceOptions): SystemService {
  const tokens = createOperatorTokens(loadSecret)
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
    isOfOperator: (token) => tokens.isValid(token, clock.now()),
  }
}

function notReady(cause?: unknown) {
  return errors.notReady({ cause, retryAfterSeconds: 5 })
}
