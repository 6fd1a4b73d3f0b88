import closeWithGrace from 'close-with-grace'
import { buildApp } from './app.ts'
import { ConfigError, loadConfig, readEnvironment, type Config } from './config.ts'
import { openDatabase } from './db/client.ts'
import { EmbeddedDatabaseError, startEmbeddedDatabase } from './db/embedded.ts'
import { isDatabaseUnavailable } from './db/errors.ts'
import { isMigrated, migrateDatabase } from './db/migrate.ts'
import { createFirstPerson, type FirstPerson } from './first-run.ts'
import { createLogger } from './http/logging.ts'
import { systemClock } from './kernel/clock.ts'
import { createServices } from './services.ts'

// How long requests in flight and the database have for ending before the process ends without them.
const shutdownLimitMs = 30_000

try {
  await main()
} catch (error) {
  console.error(explain(error))
  process.exit(1)
}

async function main(): Promise<void> {
  const config = loadConfig(readEnvironment())
  const log = createLogger(config.logLevel)
  const closers: (() => Promise<unknown>)[] = []
  const close = async () => {
    for (const closer of closers.splice(0).reverse()) await closer()
  }
  try {
    const databaseUrl = config.databaseUrl ?? (await startOwnDatabase(config, closers))
    const db = openDatabase({
      url: databaseUrl,
      poolMax: config.databasePoolMax,
      onIdleError: (error) => log.warn({ err: error }, 'an idle database connection broke'),
    })
    closers.push(() => db.$client.end())
    if (config.migrateOnStart) await migrateDatabase(db.$client)
    else if (!(await isMigrated(db.$client)))
      log.warn('the database is not migrated: run the migrate command')

    const services = createServices({ config, db, clock: systemClock, log })
    closers.push(() => services.close())
    const app = await buildApp(config, services, log)
    closers.push(() => app.close())
    await app.listen({ host: config.host, port: config.port })

    closeWithGrace({ delay: shutdownLimitMs, logger: false }, async ({ signal, err }) => {
      if (err) log.fatal({ err }, 'the process failed')
      else log.info({ signal }, 'stopping')
      await close()
      log.info('stopped')
    })
    if (config.databaseUrl === undefined) printWelcome(config, await createFirstPerson(services))
  } catch (error) {
    await close()
    throw error
  }
}

async function startOwnDatabase({ dataDir }: Config, closers: (() => Promise<unknown>)[]): Promise<string> {
  const database = await startEmbeddedDatabase({ dataDir })
  closers.push(() => database.stop())
  return database.url
}

function printWelcome({ baseUrl, dataDir }: Config, first: FirstPerson | undefined): void {
  const lines = [
    `The API is at      ${baseUrl}`,
    `Its documentation  ${baseUrl}/docs`,
    `Its data           ${dataDir} (a PostgreSQL of its own; set DATABASE_URL to use another)`,
  ]
  if (first) {
    lines.push(
      '',
      `This database was empty. It has a first person now, ${first.email}, with an API key that is shown only here:`,
      '',
      `  curl -H 'Authorization: Bearer ${first.apiKey}' ${baseUrl}/v1/me`,
    )
  }
  process.stdout.write(`\n${lines.join('\n')}\n\n`)
}

/** One line for what a person can mend, the whole story for the rest. */
function explain(error: unknown): string {
  if (error instanceof ConfigError)
    return error.problems.map((problem) => `Bad setting: ${problem}`).join('\n')
  if (error instanceof EmbeddedDatabaseError) return error.message
  const { code, message, port } = error as { code?: string; message?: string; port?: number }
  if (code === 'EADDRINUSE') return `Port ${port} is in use. Set PORT to another one.`
  if (code === 'EACCES' && port !== undefined)
    return `Port ${port} may not be used by this account. Set PORT.`
  // 28: invalid authorization; 3D000: no such database.
  if (isDatabaseUnavailable(error) || /^(28...|3D000)$/.test(code ?? '')) {
    return `The database at DATABASE_URL cannot be used: ${message || code}`
  }
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}
