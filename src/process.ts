import { existsSync } from 'node:fs'
import { access, constants } from 'node:fs/promises'
import type { Socket } from 'node:net'
import { dirname, resolve } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { format } from 'node:util'
import closeWithGrace from 'close-with-grace'
import type { Pool } from 'pg'
import type { Logger } from 'pino'
import { ConfigError, loadConfig, readEnvironment, type Config } from './config.ts'
import { openDatabase, requestLimits, workLimits, type Database } from './db/client.ts'
import { EmbeddedDatabaseError, startEmbeddedDatabase } from './db/embedded.ts'
import { isMigrated, migrateDatabase } from './db/migrate.ts'
import { assertUsable, DatabaseUnusableError } from './db/usable.ts'
import type { FirstPerson } from './first-run.ts'
import type { App } from './http/app-types.ts'
import { createLogger } from './http/logging.ts'
import { systemClock } from './kernel/clock.ts'
import { AppSecretError, assertAppSecretUsable } from './platform/app-secret.ts'
import type { Services } from './services.ts'

// How long the process takes to end at most. The first is less: requests that do not end must not cost the database
// its orderly end.
const requestsLimitMs = 20_000
const stopLimitMs = 30_000
const migratedPollMs = 2_000

/** Closes what was opened. `isFailing` when the process is in no state to go on serving. */
type Closer = (isFailing: boolean) => Promise<unknown>

/** The process cannot serve, for a reason that a person can act upon. */
class StartError extends Error {}

try {
  await main()
} catch (error) {
  process.stderr.write(`${explain(error)}\n`)
  process.exit(1)
}

async function main(): Promise<void> {
  const config = loadConfig(readEnvironment())
  const log = createLogger(config.logLevel)
  logConsole(log)
  const closers: Closer[] = []
  const starting = start(config, log, closers)
  const stopping = new AbortController()
  const { close: stop } = closeWithGrace(
    { delay: config.shutdownDelaySeconds * 1000 + stopLimitMs, logger: false, skip: ['SIGINT', 'SIGTERM'] },
    async ({ err }) => {
      stopping.abort()
      if (err) log.fatal({ err }, 'the process failed')
      // What is half open cannot be closed.
      await starting.catch(() => undefined)
      await closeAll(closers, err !== undefined)
      log.info('stopped')
    },
  )
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      // Ctrl-C reaches us twice below npm, which passes on what the terminal has sent to us already.
      if (stopping.signal.aborted) return
      log.info({ signal }, 'stopping')
      stop()
    })
  }
  try {
    await starting
  } catch (error) {
    // Ctrl-C ends our children too: what fails by that is no news.
    if (stopping.signal.aborted) return
    await closeAll(closers, true).catch((failure: unknown) =>
      log.warn({ err: failure }, 'not everything ended'),
    )
    throw error
  }
}

/** Makes what packages print a part of the log: the output of the process is one JSON object a line. */
function logConsole(log: Logger): void {
  for (const method of ['debug', 'log', 'info', 'warn'] as const) {
    console[method] = (...parts: unknown[]) => log.debug(format(...parts))
  }
  console.error = (...parts: unknown[]) => log.warn(format(...parts))
}

/** Starts everything in order, and leaves behind how to close what was opened. */
async function start(config: Config, log: Logger, closers: Closer[]): Promise<void> {
  await assertDataDirUsable(config)
  assertAppSecretUsable(config.appSecret, config.dataDir)
  // While the database starts.
  const program = Promise.all([import('./app.ts'), import('./services.ts'), import('./first-run.ts')])
  const databaseUrl = config.databaseUrl ?? (await startOwnDatabase(config, closers))
  const { db, jobsDb } = openDatabases(databaseUrl, config, log)
  closers.push(() => Promise.all([db.$client.end(), jobsDb.$client.end()]))
  await assertUsable(jobsDb.$client)
  if (config.migrateOnStart) await migrateDatabase(jobsDb.$client)
  const isReady = await isMigrated(jobsDb.$client)
  if (!isReady) log.warn('the database is not migrated: run the migrate command')

  const [{ buildApp }, { createServices }, { createFirstPerson }] = await program
  const services = createServices({ config, db, jobsDb, clock: systemClock, log })
  closers.push(() => services.close())
  const app = await buildApp(config, services, log)
  const connections = new Set<Socket>()
  app.server.on('connection', (socket) => {
    connections.add(socket)
    socket.once('close', () => connections.delete(socket))
  })
  closers.push(() => closeApp(app, connections))
  closers.push((isFailing) => drain(services, isFailing ? 0 : config.shutdownDelaySeconds))
  await listen(app, config)
  if (isReady) await services.startJobs()
  else closers.push(startJobsOnceMigrated(services, jobsDb.$client, log))
  if (config.databaseUrl === undefined)
    printWelcome(config, isReady ? await createFirstPerson(services) : undefined)
}

/** The connections of requests and those of jobs: neither waits for the other, and jobs may take longer. */
function openDatabases(
  url: string,
  { databasePoolMax }: Config,
  log: Logger,
): { db: Database; jobsDb: Database } {
  const onIdleError = (error: Error) => log.warn({ err: error }, 'an idle database connection broke')
  // One listens for jobs all the time.
  const forJobs = databasePoolMax < 8 ? 2 : 3
  return {
    db: openDatabase({ url, poolMax: databasePoolMax - forJobs, limits: requestLimits, onIdleError }),
    jobsDb: openDatabase({ url, poolMax: forJobs, limits: workLimits, onIdleError }),
  }
}

/** Fails at the start rather than at the first mail, picture or agent. Needs no folder where nothing is kept in one. */
async function assertDataDirUsable({ dataDir, ...config }: Config): Promise<void> {
  const { databaseUrl, appSecret, storageUrl, smtpUrl } = config
  if ([databaseUrl, appSecret, storageUrl, smtpUrl].every((setting) => setting !== undefined)) return
  try {
    await access(findExisting(resolve(dataDir)), constants.W_OK | constants.X_OK)
  } catch (cause) {
    const { message } = cause as Error
    throw new StartError(
      `The data directory cannot be used: ${message}. Set DATA_DIR to one that this account may write.`,
      { cause },
    )
  }
}

/** The path itself, or the nearest folder above it that is there: the folder is made when there is something to keep. */
function findExisting(path: string): string {
  return existsSync(path) || dirname(path) === path ? path : findExisting(dirname(path))
}

/** Starts the jobs when an operator has migrated the database, without a restart. Returns how to stop looking. */
function startJobsOnceMigrated(services: Services, pool: Pool, log: Logger): Closer {
  const timer = setInterval(() => {
    isMigrated(pool)
      .then(async (isReady) => {
        if (!isReady) return
        clearInterval(timer)
        await services.startJobs()
      })
      .catch((error: unknown) => log.warn({ err: error }, 'the jobs could not be started yet'))
  }, migratedPollMs).unref()
  return async () => clearInterval(timer)
}

async function listen(app: App, { host, port }: Config): Promise<void> {
  try {
    await app.listen({ host, port })
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code === 'EADDRINUSE') throw new StartError(`Port ${port} is in use. Set PORT to another one.`)
    if (code === 'EACCES') throw new StartError(`Port ${port} may not be used by this account. Set PORT.`)
    throw new StartError(`Cannot listen on ${host}, port ${port}: ${message}. Set HOST and PORT.`)
  }
}

/** Serves on while load balancers find out that no more requests should be sent here. */
async function drain({ system }: Services, seconds: number): Promise<void> {
  system.stop()
  await setTimeout(seconds * 1000)
}

/** Lets requests in flight end, for as long as there is time. */
async function closeApp(app: App, connections: ReadonlySet<Socket>): Promise<void> {
  const sweep = setInterval(() => {
    // Those that were busy when the server closed, and are not now.
    app.server.closeIdleConnections()
    // Node takes for busy what has never sent anything, such as the connections that browsers open ahead of need.
    for (const socket of connections) if (socket.bytesRead === 0) socket.destroy()
  }, 100)
  const limit = new AbortController()
  await Promise.race([app.close(), setTimeout(requestsLimitMs, undefined, { signal: limit.signal })])
  limit.abort()
  clearInterval(sweep)
  app.server.closeAllConnections()
}

/** Closes in the reverse order of opening, the rest also when one fails. */
async function closeAll(closers: Closer[], isFailing: boolean): Promise<void> {
  const failures: unknown[] = []
  for (const closer of closers.splice(0).reverse())
    await closer(isFailing).catch((error: unknown) => failures.push(error))
  if (failures.length > 0) throw new AggregateError(failures, 'not everything could be closed')
}

async function startOwnDatabase({ dataDir }: Config, closers: Closer[]): Promise<string> {
  const database = await startEmbeddedDatabase({ dataDir })
  closers.push(() => database.stop())
  return database.url
}

function printWelcome({ baseUrl, webUrl, dataDir }: Config, first: FirstPerson | undefined): void {
  const lines = [
    `The website is at  ${webUrl}/sign-in`,
    `The API is at      ${baseUrl}`,
    `Its documentation  ${baseUrl}/docs`,
    `Its data           ${dataDir} (a PostgreSQL of its own; set DATABASE_URL to use another)`,
    'A new sign-in link npm run admin -- sign-in-link --email ADDRESS',
  ]
  if (first) {
    lines.push(
      '',
      `This database was empty. It now has a user, ${first.email}, with a workspace and three example seeds.`,
      'This link signs you in as them, once, within a day:',
      '',
      `  ${first.signInUrl}`,
      '',
      'and this is their API key, which is shown only now:',
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
  const known = [StartError, AppSecretError, DatabaseUnusableError, EmbeddedDatabaseError]
  if (known.some((kind) => error instanceof kind)) return (error as Error).message
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}
