import { errors } from '../../kernel/errors.ts'

export interface SystemService {
  /** Throws `not_ready` unless requests can be answered. */
  assertReady(): Promise<void>
}

/** `isDatabaseReady` tells whether the database answers and is migrated. */
export function createSystemService(isDatabaseReady: () => Promise<boolean>): SystemService {
  return {
    assertReady: async () => {
      if (!(await isDatabaseReady())) throw errors.notReady({ retryAfterSeconds: 5 })
    },
  }
}
