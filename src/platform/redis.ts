import { createRequire } from 'node:module'
import type { Redis } from 'ioredis'

interface RedisLog {
  info: (message: string) => void
  warn: (fields: object, message: string) => void
}

// What a request waits for a counter at most.
const commandMsMax = 40
// Without any answer for so long, Redis is away: several commands have failed by then, or one of a quiet hour.
const silenceMsMax = 200

/**
 * Connects to Redis in the background, and again whenever the connection is lost. A command fails at once while there
 * is none, and soon when it is not answered. A Redis that answers nothing any more is away like one that is gone: after
 * a moment nothing waits for it. Each outage is logged once.
 */
export function connectRedis(url: string, log: RedisLog): Redis {
  // Loaded where it is used alone: most installations have no Redis, and every start would pay for it.
  const ioredis = createRequire(import.meta.url)('ioredis') as typeof import('ioredis')
  const redis = new ioredis.Redis(url, {
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    connectTimeout: 2_000,
    commandTimeout: commandMsMax,
    retryStrategy: (attempt) => Math.min(attempt * 100, 2_000),
  })
  let isAway = false
  const tellAway = (error: Error) => {
    if (!isAway) log.warn({ err: error }, 'redis is away: requests are not limited')
    isAway = true
  }
  redis.on('error', tellAway)
  let silentSince: number | undefined
  const send = redis.sendCommand.bind(redis)
  redis.sendCommand = (command, ...rest) => {
    command.promise.then(
      () => {
        silentSince = undefined
      },
      (error: unknown) => {
        // Other errors are answers.
        if (!(error instanceof Error) || error.message !== 'Command timed out' || redis.status !== 'ready')
          return
        silentSince ??= Date.now() - commandMsMax
        if (Date.now() - silentSince < silenceMsMax) return
        silentSince = undefined
        tellAway(error)
        // Until it answers on a new connection, commands fail at once.
        redis.disconnect(true)
        // A peer that is frozen or lost does not close its side.
        redis.stream.destroy()
      },
    )
    return send(command, ...rest)
  }
  redis.on('ready', () => {
    if (isAway) log.info('redis is back: requests are limited again')
    isAway = false
  })
  return redis
}
