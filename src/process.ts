import { existsSync } from 'node:fs'
import { access, constants } from 'node:fs/promises'
import type { Socket } from 'node:net'
import { dirname, resolve } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { format } from 'node:util'
import closeWithGrace from 'close-with-grace'
import type { Logger } from 'pino'
import { ConfigError, loadConfig, readEnvironment, type Config } from './config/config.ts'
import {
  areLimitsInForce,
  describePool,
  openDatabase,
  requestLimits,
  workLimits,
  type Database,
} from './db/client.ts'
import { startEmbeddedDatabase } from './db/embedded.ts'
import { createDatabaseStart, type DatabaseStart, type Step } from './db/database-start.ts'
import { EmbeddedDatabaseError } from './db/embedded-binaries.ts'
import { isMigrated, migrateDatabase } from './db/migrate.ts'
import { assertUsable, DatabaseUnusableError } from './db/usable.ts'
import type { FirstUser } from './first-run.ts'
import type { App } from './http/app-types.ts'
import { createLogger } from './http/answers/logging.ts'
import { stopAccepting } from './http/limits/draining.ts'
import { noMeter } from './kernel/meter.ts'
import { systemClock } from './kernel/clock.ts'
import { AppSecretError, assertAppSecretUsable } from './platform/app-secret.ts'
import { listProductionWarnings } from './production-warnings.ts'
import type { Services } from './services/services.ts'

// The limits of a shutdown. That of requests is lower, to leave time for closing the database.
const requestsLimitMs = 20_000
const stopLimitMs = 30_000

/** Closes a resource. `isFailing` means that the process cannot serve requests any longer. */
type Closer = (isFailing: boolean) => Promise<unknown>

/** The process cannot start, for a reason that an operator can fix. */
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
  const stopping = new AbortController()
  let hasFailed = false
  const starting = start(config, log, closers, (error) => {
    // What is awaited was aborted with the process.
    if (stopping.signal.aborted) return
    hasFailed = true
    process.stderr.write(`${explain(error)}\n`)
    stop()
  })
  const { close: stop } = closeWithGrace(
    { delay: config.shutdownDelaySeconds * 1000 + stopLimitMs, logger: false, skip: ['SIGINT', 'SIGTERM'] },
    async ({ err }) => {
      stopping.abort()
      if (err) log.fatal({ err }, 'the process failed')
      // Waits for a running start, so that everything it has opened is closed.
      await starting.catch(() => undefined)
      await closeAll(closers, hasFailed || err !== undefined)
      log.info('stopped')
      if (hasFailed) process.exit(1)
    },
  )
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      // Under npm, Ctrl-C arrives twice: from the terminal and from npm.
      if (stopping.signal.aborted) return
      log.info({ signal }, 'stopping')
      stop()
    })
  }
  try {
    await starting
  } catch (error) {
    // Ctrl-C also stops child processes, so failures are expected.
    if (stopping.signal.aborted) return
    await closeAll(closers, true).catch((failure: unknown) =>
      log.warn({ err: failure }, 'some resources could not be closed'),
    )
    throw error
  }
}

/** Logs what packages print to the console, so that the output has one JSON object per line. */
function logConsole(log: Logger): void {
  for (const method of ['debug', 'log', 'info', 'warn'] as const) {
    console[method] = (...parts: unknown[]) => log.debug(format(...parts))
  }
  console.error = (...parts: unknown[]) => log.warn(format(...parts))
}

/**
 * Starts everything in order, and adds a closer for each resource that it opens. If the database is away it serves
 * nevertheless, and waits for it; `fail` is called if that ends in an error.
 */
async function start(
  config: Config,
  log: Logger,
  closers: Closer[],
  fail: (error: unknown) => void,
): Promise<void> {
  await assertDataDirUsable(config)
  assertAppSecretUsable(config.appSecret, config.dataDir)
  // Loads the modules while the database starts.
  const program = Promise.all([
    import('./app.ts'),
    import('./services/services.ts'),
    import('./first-run.ts'),
  ])
  const { url, directUrl } = await findDatabase(config, closers)
  const now = {
    url: () => config.secretNow('DATABASE_URL') ?? url,
    directUrl: () => config.secretNow('DATABASE_DIRECT_URL') ?? config.secretNow('DATABASE_URL') ?? directUrl,
  }
  const { db, jobsDb } = openDatabases(now, config, log)
  closers.push(() => Promise.all([db.$client.end(), jobsDb.$client.end()]))
  const database = createDatabaseStart({ log })
  const prepare = async () => {
    // The pool of requests first: it waits less for a server that does not respond.
    await assertUsable(db.$client, 'DATABASE_URL')
    if (directUrl !== url) await assertUsable(jobsDb.$client, 'DATABASE_DIRECT_URL')
    if (!(await areLimitsInForce(db, requestLimits))) log.warn(withoutLimits[config.databasePooler])
    if (config.migrateOnStart) await migrateDatabase(jobsDb.$client)
    return isMigrated(jobsDb.$client)
  }
  const isReady = await database.attempt(prepare)

  const [{ buildApp }, { createServices }, { createFirstUser }] = await program
  const metrics = await startMetrics(config, closers)
  const { meter = noMeter } = metrics ?? {}
  const services = createServices({ config, db, jobsDb, clock: systemClock, log, meter })
  closers.push(() => services.close())
  const { jobOperations, redis } = services
  metrics?.observe({
    pools: { requests: () => describePool(db), jobs: () => describePool(jobsDb) },
    readJobs: jobOperations.count,
    readDeliveries: services.countDeliveries,
    readDatabaseStart: services.findDatabaseStart,
    isRedisUp: redis && (() => redis.status === 'ready'),
  })
  const app = await buildApp(config, services, log, { meter })
  const connections = new Set<Socket>()
  app.server.on('connection', (socket) => {
    connections.add(socket)
    socket.once('close', () => connections.delete(socket))
  })
  closers.push(() => closeApp(app, connections, log))
  closers.push((isFailing) => drain(services, isFailing ? 0 : config.shutdownDelaySeconds))
  await listen(app, config)
  warnInProduction(config, services, log)
  const startJobs = () => services.startJobs().then(() => true)
  if (!isReady || !(await database.attempt(startJobs)))
    closers.push(waitFor(database, async () => (await prepare()) && startJobs(), fail))
  if (config.databaseUrl === undefined)
    printWelcome(config, isReady ? await createFirstUser(services) : undefined)
}

/** Warns of what an operator probably did not intend. The storage is tried in the background, which loads its client. */
function warnInProduction(config: Config, { pictures }: Services, log: Logger): void {
  for (const warning of listProductionWarnings(config)) log.warn(warning)
  if (config.nodeEnv !== 'production' || config.storageUrl === undefined || config.keepsFiles) return
  pictures
    .assertStorable()
    .catch((error: unknown) =>
      log.warn({ err: error }, 'STORAGE_URL: pictures cannot be stored and deleted there'),
    )
}

const withoutLimits = {
  session:
    'the timeouts of database connections are not in force: connect directly or through a pooler in session mode, or set ' +
    'DATABASE_POOLER',
  transaction:
    'statements outside of transactions have no timeouts: set them by connect_query of the pooler (docs/operations.md)',
}

/** Opens separate pools for requests and jobs, so that neither waits for the other and jobs may take longer. */
function openDatabases(
  { url, directUrl }: { url: () => string; directUrl: () => string },
  { databasePoolMax, databasePooler: pooler }: Config,
  log: Logger,
): { db: Database; jobsDb: Database } {
  const onIdleError = (error: Error) => log.warn({ err: error }, 'an idle database connection broke')
  // One of them always listens for jobs.
  const forJobs = databasePoolMax < 8 ? 2 : 3
  return {
    db: openDatabase({ url, pooler, poolMax: databasePoolMax - forJobs, limits: requestLimits, onIdleError }),
    // In a session: the queue listens for jobs, and migrations have a lock.
    jobsDb: openDatabase({ url: directUrl, poolMax: forJobs, limits: workLimits, onIdleError }),
  }
}

/** Checks at start that DATA_DIR is writable, unless the settings place all files elsewhere. */
async function assertDataDirUsable({ dataDir, ...config }: Config): Promise<void> {
  const { databaseUrl, appSecret, storageUrl, smtpUrl } = config
  if ([databaseUrl, appSecret, storageUrl, smtpUrl].every((setting) => setting !== undefined)) return
  try {
    await access(findExisting(resolve(dataDir)), constants.W_OK | constants.X_OK)
  } catch (cause) {
    const { message } = cause as Error
    throw new StartError(
      `The data directory cannot be used: ${message}. Set DATA_DIR to a folder that this account can write.`,
      { cause },
    )
  }
}

/** The path itself, or its nearest existing parent: the folder is created with its first file. */
function findExisting(path: string): string {
  return existsSync(path) || dirname(path) === path ? path : findExisting(dirname(path))
}

/**
 * Runs a step in the background until it is done. Returns a closer that stops trying, and waits for what is being done, such
 * as starting jobs: otherwise nothing would stop them.
 */
function waitFor(database: DatabaseStart, step: Step, fail: (error: unknown) => void): Closer {
  const closing = new AbortController()
  const waiting = database.keepTrying(step, closing.signal).catch((error: unknown) => {
    if (!closing.signal.aborted) fail(error)
  })
  return async () => {
    closing.abort()
    await waiting
  }
}

async function listen(app: App, { host, port }: Config): Promise<void> {
  await app.listen({ host, port }).catch((error: unknown) => refuseAddress(error, { host, port, prefix: '' }))
}

/** Serves metrics if they have a port. Without one, nothing of it is loaded. */
async function startMetrics({ metricsHost: host, metricsPort: port }: Config, closers: Closer[]) {
  if (port === undefined) return undefined
  const { createMetrics } = await import('./platform/metrics/metrics.ts')
  const metrics = createMetrics()
  const server = await metrics
    .listen({ host, port })
    .catch((error: unknown) => refuseAddress(error, { host, port, prefix: 'METRICS_' }))
  closers.push(() => server.close())
  return metrics
}

/** Says which settings to change when the process cannot listen. */
function refuseAddress(
  error: unknown,
  { host, port, prefix }: { host: string; port: number; prefix: string },
): never {
  const { code, message } = error as NodeJS.ErrnoException
  const [hostName, portName] = [`${prefix}HOST`, `${prefix}PORT`]
  if (code === 'EADDRINUSE') throw new StartError(`Port ${port} is in use. Set ${portName} to another one.`)
  if (code === 'EACCES') throw new StartError(`This account may not use port ${port}. Set ${portName}.`)
  throw new StartError(`Cannot listen on ${host}, port ${port}: ${message}. Set ${hostName} and ${portName}.`)
}

/** Makes /ready return 503, then keeps serving while load balancers notice. */
async function drain({ system }: Services, seconds: number): Promise<void> {
  system.stop()
  await setTimeout(seconds * 1000)
}

/** Closes the server. Requests in flight have `requestsLimitMs` to end. */
async function closeApp(app: App, connections: ReadonlySet<Socket>, log: Logger): Promise<void> {
  const sweep = setInterval(() => {
    // Connections that have become idle since the server closed.
    app.server.closeIdleConnections()
    // Node.js counts connections without any request as busy, such as those that browsers open in advance.
    for (const socket of connections) if (socket.bytesRead === 0) socket.destroy()
  }, 100)
  const limit = new AbortController()
  const ended = await stopAccepting(app.server)
  const haveEnded = await Promise.race([
    Promise.all([app.close(), ended()]).then(() => true),
    setTimeout(requestsLimitMs, false, { signal: limit.signal }),
  ])
  if (!haveEnded) log.warn('connections are closed while their requests run')
  limit.abort()
  clearInterval(sweep)
  app.server.closeAllConnections()
}

/** Calls all closers in reverse order, even if some fail. Throws an AggregateError of their errors. */
async function closeAll(closers: Closer[], isFailing: boolean): Promise<void> {
  const failures: unknown[] = []
  for (const closer of closers.splice(0).reverse())
    await closer(isFailing).catch((error: unknown) => failures.push(error))
  if (failures.length > 0) throw new AggregateError(failures, 'some resources could not be closed')
}

/** The URLs of the database of the settings, or of the embedded one, which it starts. */
async function findDatabase(
  { dataDir, databaseUrl, databaseDirectUrl }: Config,
  closers: Closer[],
): Promise<{ url: string; directUrl: string }> {
  if (databaseUrl !== undefined) return { url: databaseUrl, directUrl: databaseDirectUrl ?? databaseUrl }
  const database = await startEmbeddedDatabase({ dataDir })
  closers.push(() => database.stop())
  return { url: database.url, directUrl: database.url }
}

function printWelcome({ baseUrl, webUrl, dataDir }: Config, first: FirstUser | undefined): void {
  const lines = [
    `Website            ${webUrl}/sign-in`,
    `API                ${baseUrl}`,
    `API documentation  ${baseUrl}/docs`,
    `Data               ${dataDir} (an embedded PostgreSQL; set DATABASE_URL to use another)`,
    'New sign-in link   npm run admin -- sign-in-link --email ADDRESS',
  ]
  if (first) {
    lines.push(
      '',
      `This database was empty. It now has a user, ${first.email}, with a workspace and three example seeds.`,
      'Sign in with this link (works once, within a day):',
      '',
      `  ${first.signInUrl}`,
      '',
      'Call the API with this key (shown only now):',
      '',
      `  curl -H 'Authorization: Bearer ${first.apiKey}' ${baseUrl}/v1/me`,
    )
  }
  process.stdout.write(`\n${lines.join('\n')}\n\n`)
}

/** Describes an error: in one line if an operator can fix it, otherwise with its stack. */
function explain(error: unknown): string {
  if (error instanceof ConfigError)
    return error.problems.map((problem) => `Invalid setting: ${problem}`).join('\n')
  const known = [StartError, AppSecretError, DatabaseUnusableError, EmbeddedDatabaseError]
  if (known.some((kind) => error instanceof kind)) return (error as Error).message
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}
