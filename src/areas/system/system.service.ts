import type { Clock } from '../../kernel/clock.ts'
import { errors } from '../../kernel/errors.ts'
import type { AppSecret } from '../../platform/secrets/app-secret.port.ts'
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
  appSecret: AppSecret
  /** Resolves to whether the database answers and is migrated. */
  isDatabaseReady: () => Promise<boolean>
}

export function createSystemService({
  clock,
  appSecret,
  isDatabaseReady,
}: SystemServiceOptions): SystemService {
  const tokens = createOperatorTokens(appSecret)
  let hasToStop = false
  return {
    async assertReady() {
      if (hasToStop) throw notReady('The process is stopping.')
      // Also for a wrong password or a missing database, not only when nothing answers.
      const isReady = await isDatabaseReady().catch((cause: unknown) => {
        throw notReady('The database is not available.', cause)
      })
      if (!isReady) throw notReady('The database is not migrated.')
    },
    stop() {
      hasToStop = true
    },
    isStopping: () => hasToStop,
    isOfOperator: (token) => tokens.isValid(token, clock.now()),
  }
}

function notReady(message: string, cause?: unknown) {
  return errors.notReady({ message, cause, retryAfterSeconds: 5 })
}
