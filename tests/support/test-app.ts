import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import type { InjectOptions, LightMyRequestResponse } from 'fastify'
import type { SQL } from 'drizzle-orm'
import pg from 'pg'
import { inject as provided } from 'vitest'
import type { RecordBounds } from '../../src/agents/oauth/records/record-bounds.repository.ts'
import type { LinkDelay } from '../../src/accounts/sign-in/link-delay.ts'
import { buildApp, type AppOptions } from '../../src/app.ts'
import { loadConfig, type Config } from '../../src/config/config.ts'
import { openDatabase, workLimits, type Database, type Limits } from '../../src/db/client.ts'
import type { App } from '../../src/http/app-types.ts'
import { streamEventsDefaults } from '../../src/http/answers/stream-events.ts'
import { createLogger } from '../../src/http/answers/logging.ts'
import { systemClock, type Clock } from '../../src/kernel/clock.ts'
import { createArgon2Passwords } from '../../src/platform/passwords/argon2-passwords.ts'
import type { UntrustedFetchOptions } from '../../src/platform/untrusted-fetch.ts'
import { createServices, type Services, type ServicesOptions } from '../../src/services/services.ts'
import { afterFile } from './after-file.ts'
import { holdToDescription } from './hold-to-description.ts'
import { patientLimits, patientMs } from './patient-limits.ts'
import { insertPeople, type NewTestPerson, type TestPerson } from './people.ts'

export type { TestPerson }

/** The service as production builds it; every answer is held to the description. */
export interface TestApp {
  app: App
  config: Config
  db: Database
  services: Services
  /** The lines logged since `startTestApp` returned. */
  log: string[]
  /** Makes a person with an API key; each call another one. */
  createPerson: (person?: NewTestPerson) => Promise<TestPerson>
  /** Makes several at once, which takes no longer than one. */
  createPeople: (people: readonly NewTestPerson[]) => Promise<TestPerson[]>
  /** Sends a request with a person's key. */
  as: (person: { apiKey: string }, request: InjectOptions) => Promise<LightMyRequestResponse>
  close: () => Promise<void>
}

export interface TestAppOptions extends AppOptions {
  /** Environment variables beyond the tests' own; undefined for the default of production. */
  environment?: Record<string, string | undefined>
  clock?: Clock
  /** Whether jobs run. Default: not until a test starts them. */
  jobs?: boolean
  /** How what strangers name is fetched. */
  untrustedFetch?: UntrustedFetchOptions
  oauthRecordBounds?: RecordBounds
  /** How long mails with links wait. Default: not at all. */
  linkDelay?: LinkDelay
  /** Default: hashes that cost little, as tests make thousands. */
  passwords?: ServicesOptions['passwords']
  /** How deliveries to webhooks are sent, once jobs are started. */
  deliveries?: ServicesOptions['deliveries']
  /** How agents are told of changes of their tools. */
  mcpStreams?: ServicesOptions['mcpStreams']
  /** How long requests wait for Redis. Default: so long that a busy machine does not make a process count by itself. */
  redisCommandMsMax?: ServicesOptions['redisCommandMsMax']
  /** Default: off, as the clocks of tests tell other times than that of the jobs. */
  hourlyJobs?: ServicesOptions['hourlyJobs']
  /** How long requests wait for the database. Default: so long that a machine that stalls does not make them fail. */
  limits?: Limits
  /** How long a change waits for its turn. Default: as long as one waits for the database. */
  changeWaitMsMax?: ServicesOptions['changeWaitMsMax']
}

/**
 * Starts the service. It is closed after the last test of the file.
 *
 * With no options but `clock` and `jobs`, the first call in a file returns an app that it shares, with its database, with
 * other test files, one after the other. Such a file must only use records that it creates. A file that reads or alters
 * whole tables, or stops the app, needs its own: pass `{ environment: {} }`.
 *
 * With other options, the app is new, and its database belongs to the file. Further calls in a file start further apps
 * on the file's database, like replicas.
 */
export async function startTestApp(options: TestAppOptions = {}): Promise<TestApp> {
  const { clock = systemClock, jobs = false, ...others } = options
  const isShared = Object.keys(others).length === 0
  if (isShared && !databaseOfFile) {
    const shared = (sharedApps[jobs ? 'withJobs' : 'withoutJobs'] ??= buildShared(jobs))
    useDatabase(shared.database)
    shared.clock = clock
    afterFile(() => assertWorks(shared))
    return lend(await shared.built)
  }
  const needsDatabase = options.environment?.DATABASE_URL === undefined
  if (needsDatabase && !databaseOfFile) useDatabase(clone())
  const built = await build({ DATABASE_URL: await databaseOfFile, ...options.environment }, options)
  afterFile(built.close)
  if (jobs) await built.services.startJobs()
  return lend(built)
}

let databaseOfFile: Promise<string> | undefined

function useDatabase(url: Promise<string>): void {
  databaseOfFile = url
  afterFile(() => (databaseOfFile = undefined))
}

/** An app that the files of a worker share. */
interface SharedApp {
  database: Promise<string>
  built: Promise<BuiltApp>
  /** That of the file that has the app now. */
  clock: Clock
}

const sharedApps: { withJobs?: SharedApp; withoutJobs?: SharedApp } = {}

function buildShared(jobs: boolean): SharedApp {
  const database = clone()
  const shared: SharedApp = { database, built: start(), clock: systemClock }
  return shared

  async function start(): Promise<BuiltApp> {
    const built = await build({ DATABASE_URL: await database }, { clock: { now: () => shared.clock.now() } })
    if (jobs) await built.services.startJobs()
    return built
  }
}

/** Throws in the file that is to blame, not in a later one. */
async function assertWorks({ built }: SharedApp): Promise<void> {
  await (await built).services.system.assertReady().catch((cause: unknown) => {
    throw new Error('this file has stopped or altered the shared app: start one of its own with options', {
      cause,
    })
  })
}

interface BuiltApp extends Pick<TestApp, 'app' | 'config' | 'db' | 'services' | 'close'> {
  /** The arrays that each log line is appended to. */
  logs: Set<string[]>
  clock: Clock
}

async function build(
  environment: Record<string, string | undefined>,
  {
    clock = systemClock,
    untrustedFetch,
    oauthRecordBounds,
    linkDelay = () => 0,
    passwords = createArgon2Passwords({ memoryCost: 1024, timeCost: 2, parallelism: 1 }),
    deliveries,
    mcpStreams,
    redisCommandMsMax = 10_000,
    hourlyJobs = 'off',
    limits = patientLimits,
    changeWaitMsMax = patientMs,
    turns = { waitMsMax: patientMs },
    overload = { keepsUpMs: Infinity },
    // `inject` returns when a response has ended.
    eventStreams = { ...streamEventsDefaults, lifetimeMs: 50 },
    ...appOptions
  }: TestAppOptions,
): Promise<BuiltApp> {
  const config = loadConfig({
    LOG_LEVEL: 'trace',
    AUDIT_LOG: 'off',
    RATE_LIMIT_PER_MINUTE: '0',
    BAD_KEY_LIMIT_PER_MINUTE: '0',
    AUTHORIZE_LIMIT_PER_MINUTE: '0',
    AGENT_LIMIT_PER_MINUTE: '0',
    REFUSED_TOKEN_LIMIT_PER_MINUTE: '0',
    REGISTRATION_LIMIT_PER_MINUTE: '0',
    SIGN_IN_LIMIT_PER_MINUTE: '0',
    MAIL_LIMIT_PER_HOUR: '0',
    INVITE_LIMIT_PER_HOUR: '0',
    UPLOAD_LIMIT_PER_HOUR: '0',
    ATTACHMENT_LIMIT_PER_HOUR: '0',
    // Replicas share the secret in it.
    DATA_DIR: join(provided('scratchDirectory'), new URL(String(environment.DATABASE_URL)).pathname),
    ...environment,
    ...throughPooler(environment.DATABASE_URL),
  })
  const logs = new Set<string[]>()
  const write = (line: string) => {
    for (const log of logs) log.push(line)
  }
  const logger = createLogger(config.logLevel, { write })
  const { databasePooler: pooler, databasePoolMax: poolMax } = config
  const onIdleError = (error: Error) => write(String(error))
  const db = openDatabase({ url: String(config.databaseUrl), pooler, poolMax, limits, onIdleError })
  // As in production. With the limits of requests, jobs would fail on a busy machine, and be tried again seconds later.
  const directUrl = String(config.databaseDirectUrl)
  const jobsDb = openDatabase({ url: directUrl, poolMax: 3, limits: workLimits, onIdleError })
  const services = createServices({
    config,
    db,
    jobsDb,
    clock,
    log: logger,
    linkDelay,
    passwords,
    hourlyJobs,
    watchEveryMs: 50,
    redisCommandMsMax,
    changeWaitMsMax,
    ...(untrustedFetch && { untrustedFetch }),
    ...(oauthRecordBounds && { oauthRecordBounds }),
    ...(deliveries && { deliveries }),
    ...(appOptions.meter && { meter: appOptions.meter }),
    ...(mcpStreams && { mcpStreams }),
  })
  const app = await buildApp(config, services, logger, { ...appOptions, eventStreams, turns, overload })
  holdToDescription(app)
  await app.ready()

  let isOpen = true
  return {
    app,
    config,
    db,
    services,
    logs,
    clock,
    async close() {
      if (!isOpen) return
      isOpen = false
      await app.close()
      await services.close()
      await Promise.all([db.$client.end(), jobsDb.$client.end()])
    },
  }
}

/** The settings for a database of the run's server, if its requests go through a pooler in transaction mode. */
function throughPooler(databaseUrl: string | undefined): Record<string, string> {
  const pooler = provided('transactionPooler')
  const url = databaseUrl === undefined ? undefined : new URL(databaseUrl)
  if (pooler === '' || url?.host !== new URL(provided('databaseServerUrl')).host) return {}
  const direct = url.href
  url.host = pooler
  return { DATABASE_URL: url.href, DATABASE_POOLER: 'transaction', DATABASE_DIRECT_URL: direct }
}

/** The app as one caller sees it: `log` starts empty. */
function lend({ logs, clock, ...built }: BuiltApp): TestApp {
  const { app, config, db } = built
  const createPeople = (people: readonly NewTestPerson[]) =>
    insertPeople(db, people, { now: clock.now(), apiKeyPrefix: config.apiKeyPrefix })
  const log: string[] = []
  logs.add(log)
  afterFile(() => logs.delete(log))
  return {
    ...built,
    log,
    createPeople,
    async createPerson(person = {}) {
      const [created] = await createPeople([person])
      if (!created) throw new Error('nobody was created')
      return created
    },
    as: ({ apiKey }, request) =>
      app.inject({ ...request, headers: { ...request.headers, authorization: `Bearer ${apiKey}` } }),
  }
}

/** A database that nobody else uses, for a test that looks at a whole table or breaks it. */
export function clone(): Promise<string> {
  const create = () => createDatabase(provided('templateDatabase'))
  const taken = nextClone ?? create()
  // The next one is made meanwhile: PostgreSQL takes a while to copy a database.
  nextClone = taken.then(create)
  nextClone.catch(() => undefined)
  return taken
}

let nextClone: Promise<string> | undefined

/** A database in which no migration has run. */
export function createEmptyDatabase(): Promise<string> {
  return createDatabase('template0')
}

async function createDatabase(template: string): Promise<string> {
  const serverUrl = provided('databaseServerUrl')
  // Whatever is named after the run's template is dropped with it.
  const name = `${provided('templateDatabase')}_${randomUUID().slice(0, 8)}`
  const client = new pg.Client({ connectionString: serverUrl })
  await client.connect()
  try {
    // Two clones at once would find the template in use.
    await client.query('select pg_advisory_lock(2)')
    await client.query(`create database ${name} template ${template}`)
  } finally {
    await client.end()
  }
  const url = new URL(serverUrl)
  url.pathname = `/${name}`
  return url.href
}

/** Rows of the database, by plain SQL: what is stored is looked at without the code that stored it. */
export async function selectRows<Row extends Record<string, unknown>>(
  db: Database,
  query: SQL,
): Promise<Row[]> {
  const { rows } = await db.execute(query)
  return rows as Row[]
}
