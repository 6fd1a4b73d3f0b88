import { setTimeout } from 'node:timers/promises'
import type { Logger } from 'pino'
import { isCertificateRefused, isDatabaseUnavailable, isLoginRefused, isTableMissing } from './errors.ts'

const pauseMsMin = 500
const pauseMsMax = 5_000
const logPauseMs = 60_000
// A password that is being changed: the server may have the new one a little later than this process, or earlier.
const refusedMsMax = 60_000

export interface DatabaseStartOptions {
  log: Pick<Logger, 'info' | 'warn'>
  now?: () => number
  pause?: (ms: number, options: { signal: AbortSignal }) => Promise<unknown>
}

/** A step of the start, which may run again after it has failed. Resolves to false if an operator has to migrate first. */
export type Step = () => Promise<boolean>

export interface DatabaseStart {
  /**
   * Runs a step once. Resolves to whether it is done; false if the database is away or not migrated. Throws if the reason is
   * one that waiting does not change, such as a wrong setting.
   */
  attempt(step: Step): Promise<boolean>
  /** Runs a step until it is done. Throws as `attempt`, and when the signal is aborted. */
  keepTrying(step: Step, signal: AbortSignal): Promise<void>
}

/** Gets the database ready at the start of the process, however long that takes: a start must survive what operation does. */
export function createDatabaseStart({
  log,
  now = Date.now,
  pause = (ms, options) => setTimeout(ms, undefined, options),
}: DatabaseStartOptions): DatabaseStart {
  let refusedSince: number | undefined
  let loggedAt: number | undefined

  /** Logs that it waits, once a minute. */
  function logWaiting(fields: object, message: string): void {
    if (loggedAt !== undefined && now() - loggedAt < logPauseMs) return
    loggedAt = now()
    log.warn(fields, message)
  }

  async function attempt(step: Step): Promise<boolean> {
    try {
      const isDone = await step()
      refusedSince = undefined
      if (!isDone) logWaiting({}, 'the database is not migrated: run the migrate command')
      return isDone
    } catch (error) {
      refusedSince = isLoginRefused(error) ? (refusedSince ?? now()) : undefined
      const mayPass =
        refusedSince === undefined
          ? // A migration that misses a table will miss it again, and a certificate must be trusted by a setting.
            isDatabaseUnavailable(error) && !isTableMissing(error) && !isCertificateRefused(error)
          : now() - refusedSince < refusedMsMax
      if (!mayPass) throw error
      logWaiting({ err: error }, 'the database is not available: waiting for it')
      return false
    }
  }

  return {
    attempt,
    async keepTrying(step, signal) {
      for (let ms = pauseMsMin; ; ms = Math.min(ms * 2, pauseMsMax)) {
        await pause(ms, { signal })
        if (await attempt(step)) break
      }
      log.info('the database is available')
    },
  }
}
