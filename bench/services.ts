import pino from 'pino'
import { loadConfig, type Config } from '../src/config/config.ts'
import { openDatabase, workLimits, type Database } from '../src/db/client.ts'
import { systemClock } from '../src/kernel/clock.ts'
import { createServices, type Services } from '../src/services/services.ts'
import { environmentOf, type Subject } from './harness.ts'

/** The services, and what they stand on. */
export interface OpenServices {
  config: Config
  db: Database
  services: Services
  log: pino.Logger
}

/**
 * Opens the services in this process while `work` runs, with the database, secret and URL of a server, which accepts
 * what they create like its own. `environment` adds settings.
 */
export async function withServicesOf<T>(
  { origin, database }: Subject,
  work: (open: OpenServices) => Promise<T>,
  environment: Record<string, string> = {},
): Promise<T> {
  const config = loadConfig({ ...environmentOf(database.url, origin), ...environment })
  const log = pino({ level: 'silent' })
  const db = openDatabase({ url: database.url, poolMax: 2, limits: workLimits, onIdleError: () => undefined })
  const services = createServices({ config, db, clock: systemClock, log })
  try {
    return await work({ config, db, services, log })
  } finally {
    await services.close()
    await db.$client.end()
  }
}
