import { createRequire } from 'node:module'
import type { Redis } from 'ioredis'

interface RedisLog {
  info: (message: string) => void
  warn: (fields: object, message: string) => void
}

/** The longest wait of a request for a counter, in milliseconds. */
export const commandMsDefault = 40
// After this time without a reply, Redis is considered unavailable.
const silenceMsMax = 200
// A shorter outage is not logged: at a start the process may be too busy to read replies in time.
const outageMsMin = 1_000

/**
 * Connects to Redis in the background, and reconnects when the connection is lost. Without a connection commands fail
 * at once, without a reply after `commandMsMax`. If Redis stops replying, the connection is closed, so that further
 * commands do not wait. Each outage that lasts a second is logged once. Each connection has the user and password of the
 * URL at that moment.
 */
export function connectRedis(
  readUrl: () => string,
  log: RedisLog,
  commandMsMax: number = commandMsDefault,
): Redis {
  // Loaded on demand, since most installations have no Redis.
  const ioredis = createRequire(import.meta.url)('ioredis') as typeof import('ioredis')
  const redis = new ioredis.Redis(readUrl(), {
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    connectTimeout: 2_000,
    commandTimeout: commandMsMax,
    retryStrategy(attempt) {
      const { username, password } = new URL(readUrl())
      Object.assign(redis.options, {
        username: decodeURIComponent(username) || undefined,
        password: decodeURIComponent(password) || undefined,
      })
      return Math.min(attempt * 100, 2_000)
    },
  })
  let outage: NodeJS.Timeout | undefined
  let isLogged = false
  const noteOutage = (error: Error) => {
    outage ??= setTimeout(() => {
      isLogged = true
      log.warn({ err: error }, 'redis is unavailable: each process counts rate limits by itself')
    }, outageMsMin).unref()
  }
  redis.on('error', noteOutage)
  let silentSince: number | undefined
  const send = redis.sendCommand.bind(redis)
  redis.sendCommand = (command, ...rest) => {
    command.promise.then(
      () => {
        silentSince = undefined
      },
      (error: unknown) => {
        // Other errors are replies of Redis.
        if (!(error instanceof Error) || error.message !== 'Command timed out' || redis.status !== 'ready')
          return
        silentSince ??= performance.now() - commandMsMax
        if (performance.now() - silentSince < silenceMsMax) return
        silentSince = undefined
        noteOutage(error)
        // Reconnects. Until then commands fail at once.
        redis.disconnect(true)
        // A frozen peer does not close the connection.
        redis.stream.destroy()
      },
    )
    return send(command, ...rest)
  }
  redis.on('ready', () => {
    clearTimeout(outage)
    outage = undefined
    if (isLogged) log.info('redis is available: processes share rate limits')
    isLogged = false
  })
  return redis
}

/** Asks Redis once. Rejects if it does not answer. */
export async function pingRedis(url: string): Promise<void> {
  const ioredis = createRequire(import.meta.url)('ioredis') as typeof import('ioredis')
  const redis = new ioredis.Redis(url, {
    lazyConnect: true,
    connectTimeout: 2_000,
    commandTimeout: 2_000,
    retryStrategy: () => null,
  })
  let cause: unknown
  redis.on('error', (error) => (cause = error))
  try {
    await redis.connect()
    await redis.ping()
  } catch (error) {
    // The error of the call only says that the connection was closed.
    throw cause ?? error
  } finally {
    redis.disconnect()
  }
}
