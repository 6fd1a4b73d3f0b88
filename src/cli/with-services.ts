import type { Config } from '../config/config.ts'
import type { Database } from '../db/client.ts'
import type { Services } from '../services/services.ts'

/** Runs a command with the services, after migrating the database. */
export async function withServices<T>(run: (services: Services) => Promise<T>): Promise<T> {
  const [{ migrateDatabase }, { createLogger }, { systemClock }, { createServices }] = await Promise.all([
    import('../db/migrate.ts'),
    import('../http/answers/logging.ts'),
    import('../kernel/clock.ts'),
    import('../services/services.ts'),
  ])
  return withDatabase(async (db, config) => {
    await migrateDatabase(db.$client)
    const services = createServices({
      config: { ...config, redisUrl: undefined },
      db,
      clock: systemClock,
      log: createLogger('silent'),
    })
    try {
      return await run(services)
    } finally {
      await services.close()
    }
  })
}

/**
 * Runs a command with the database at DATABASE_URL or, without it, the embedded database, which is started for the
 * command unless the service is running it.
 */
export async function withDatabase<T>(run: (db: Database, config: Config) => Promise<T>): Promise<T> {
  const [{ loadConfig, readEnvironment }, { openDatabase, workLimits }, { assertUsable }] = await Promise.all(
    [import('../config/config.ts'), import('../db/client.ts'), import('../db/usable.ts')],
  )
  const config = loadConfig(readEnvironment())
  const { url, stop } = await findDatabase(config)
  const db = openDatabase({ url, poolMax: 2, limits: workLimits, onIdleError: () => undefined })
  try {
    await assertUsable(db.$client)
    return await run(db, config)
  } finally {
    await db.$client.end()
    await stop()
  }
}

async function findDatabase({
  // Commands migrate, which needs a session.
  databaseDirectUrl: databaseUrl,
  dataDir,
}: Config): Promise<{ url: string; stop: () => Promise<void> }> {
  const nothing = () => Promise.resolve()
  if (databaseUrl !== undefined) return { url: databaseUrl, stop: nothing }
  const { findEmbeddedDatabase, startEmbeddedDatabase } = await import('../db/embedded.ts')
  const url = await findEmbeddedDatabase(dataDir)
  return url === undefined ? startEmbeddedDatabase({ dataDir }) : { url, stop: nothing }
}
