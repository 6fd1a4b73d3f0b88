import { createRequire } from 'node:module'
import type { Redis } from 'ioredis'

interface RedisLog {
  info: (message: string) => void
  warn: (fields: object, message: string) => void
}

/**
 * Connects to Redis in the background, and again whenever the connection is lost. A command fails at once while there
 * is none, and after a quarter of a second otherwise: no request waits for a counter. Each outage is logged once.
 */
export function connectRedis(url: string, log: RedisLog): Redis {
  // Loaded where it is used alone: most installations have no Redis, and every start would pay for it.
  const ioredis = createRequire(import.meta.url)('ioredis') as typeof import('ioredis')
  const redis = new ioredis.Redis(url, {
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    connectTimeout: 2_000,
    commandTimeout: 250,
    retryStrategy: (attempt) => Math.min(attempt * 100, 2_000),
  })
  let isAway = false
  redis.on('error', (error: Error) => {
    if (!isAway) log.warn({ err: error }, 'redis is away: requests are not limited')
    isAway = true
  })
  redis.on('ready', () => {
    if (isAway) log.info('redis is back: requests are limited again')
    isAway = false
  })
  return redis
}
