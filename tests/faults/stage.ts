import { randomUUID } from 'node:crypto'
import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { loadConfig } from '../../src/config/config.ts'
import { openDatabase, workLimits } from '../../src/db/client.ts'
import { migrateDatabase } from '../../src/db/migrate.ts'
import { createLogger } from '../../src/http/answers/logging.ts'
import { systemClock } from '../../src/kernel/clock.ts'
import { createServices } from '../../src/services/services.ts'
import { startMailSink, type MailSink } from './parts/mail.ts'
import { createCluster, startPostgres, type Binaries, type Postgres } from './parts/postgres.ts'
import { createScope, execute, findPort, launch, until, type Running, type Scope } from './parts/processes.ts'
import { startHaproxy, startRedis, type Proxy } from './parts/proxies.ts'

/** Somebody who uses the service, with a workspace of their own. */
export interface Caller {
  email: string
  password: string
  userId: string
  apiKey: string
  slug: string
  workspaceId: string
}

/** One process of the service. */
export interface Replica {
  port: number
  origin: string
  /** The built server that is started next. */
  server: string
  process: () => Running
  start: () => Promise<void>
  /** SIGTERM, and waits for the end. */
  stop: () => Promise<void>
  /** The lines of its log with a message. */
  find: (message: RegExp) => Promise<string[]>
}

/** The service and all that it stands on. */
export interface Stage {
  scope: Scope
  folder: string
  postgres: Postgres
  redis: Awaited<ReturnType<typeof startRedis>> | undefined
  mail: MailSink
  replicas: Replica[]
  haproxy: Proxy
  /** Where HAProxy listens. */
  origin: string
  callers: Caller[]
  environment: Record<string, string>
  /** One more replica, which HAProxy does not know. */
  addReplica: (options?: ReplicaOptions) => Promise<Replica>
}

export interface ReplicaOptions {
  port?: number
  environment?: Record<string, string>
  /** The built server. */
  server?: string
  /** What the process is started by, such as faketime. */
  wrapper?: readonly string[]
}

export interface StageOptions {
  replicas?: number
  binaries?: Binaries
  /** Of PostgreSQL. */
  settings?: Record<string, string>
  databaseEnvironment?: Record<string, string>
  hasRedis?: boolean
  environment?: Record<string, string>
  /** Where PostgreSQL keeps its files, instead of the scratch directory. */
  databaseFolder?: string
  /** What the replicas call the database, when that is not the server itself. */
  databaseUrlOf?: (scope: Scope, postgres: Postgres, folder: string) => Promise<string>
  /** Whether jobs and migrations go around a pooler in transaction mode, which `databaseUrlOf` has put in between. */
  hasTransactionPooler?: boolean
  /** Whether the people and their workspaces are there, and with them the tables. */
  isEmpty?: boolean
  /** How each replica is started. */
  replicaOf?: (index: number) => ReplicaOptions
}

const callersCount = 12
/** The repository. */
export const root = new URL('../..', import.meta.url).pathname

/** Makes a directory that PostgreSQL's account can reach into. */
export async function makeScratch(scope: Scope): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'workspace-faults-'))
  await chmod(folder, 0o711)
  const isKept = process.argv.includes('--keep')
  if (isKept) console.error(`kept: ${folder}`)
  else scope.defer(() => rm(folder, { recursive: true, force: true, maxRetries: 10 }))
  return folder
}

/** What stages are copied from: a database with people in it. Made once for each run. */
export interface Templates {
  copy: (binaries: Binaries, isEmpty: boolean, folder: string) => Promise<Caller[]>
}

/** Prepares to make those templates that are asked for. */
export function createTemplates(scope: Scope): Templates {
  const made = new Map<string, Promise<{ folder: string; callers: Caller[] }>>()
  const make = async (binaries: Binaries, isEmpty: boolean) => {
    const folder = join(await makeScratch(scope), 'cluster')
    await createCluster(folder, binaries)
    const callers: Caller[] = []
    if (!isEmpty) {
      const own = createScope()
      try {
        const postgres = await startPostgres(own, folder, { binaries })
        callers.push(...(await createCallers(postgres.url)))
        await postgres.stop()
      } finally {
        await own.close()
      }
    }
    return { folder, callers }
  }
  return {
    async copy(binaries, isEmpty, to) {
      const name = `${binaries} ${isEmpty}`
      const template = made.get(name) ?? make(binaries, isEmpty)
      made.set(name, template)
      const { folder, callers } = await template
      await execute('cp', ['-Rp', folder, to])
      return callers
    },
  }
}

async function createCallers(databaseUrl: string): Promise<Caller[]> {
  const config = loadConfig({ DATABASE_URL: databaseUrl, DATA_DIR: tmpdir() })
  const log = createLogger('silent')
  const db = openDatabase({ url: databaseUrl, poolMax: 4, limits: workLimits, onIdleError: () => undefined })
  await migrateDatabase(db.$client)
  const services = createServices({ config, db, clock: systemClock, log })
  try {
    const callers: Caller[] = []
    for (let i = 0; i < callersCount; i++) {
      const [email, password] = [`caller-${i}@example.com`, randomUUID()]
      await services.credentials.signUp({ name: `Caller ${i}`, email, password })
      await db.$client.query('update users set email_verified_at = now() where email = $1', [email])
      const user = await services.accounts.findByEmail(email)
      if (!user) throw new Error('nobody has signed up')
      const principal = { user, source: 'web' as const, apiKeyId: null, sessionId: null, grantId: null }
      const { secret } = await services.apiKeys.create(principal, { name: 'Load' })
      const slug = `w-${randomUUID().slice(0, 13)}`
      const { id } = await services.workspaces.create(principal, { name: 'Acme', slug })
      callers.push({ email, password, userId: user.id, apiKey: secret, slug, workspaceId: id })
    }
    // What that left to do is none of ours.
    await db.$client.query('delete from graphile_worker._private_jobs')
    return callers
  } finally {
    await services.close()
    await db.$client.end()
  }
}

/** Starts everything. The scope ends it. */
export async function openStage(
  scope: Scope,
  templates: Templates,
  options: StageOptions = {},
): Promise<Stage> {
  const { binaries = 'embedded', isEmpty = false, hasRedis = false, settings = {} } = options
  const folder = await makeScratch(scope)
  const cluster = join(options.databaseFolder ?? folder, 'cluster')
  const callers = await templates.copy(binaries, isEmpty, cluster)
  const postgres = await startPostgres(scope, cluster, {
    ...{ binaries, settings, environment: options.databaseEnvironment ?? {} },
  })
  const mail = await startMailSink(scope)
  const redis = hasRedis ? await startRedis(scope, folder) : undefined
  const indices = Array.from({ length: options.replicas ?? 3 }, (_, i) => i)
  const ports = await Promise.all(indices.map(findPort))
  const haproxy = await startHaproxy(scope, folder, ports)
  const origin = `http://127.0.0.1:${haproxy.port}`
  const databaseUrl = (await options.databaseUrlOf?.(scope, postgres, folder)) ?? postgres.url
  const environment = {
    NODE_ENV: 'production',
    DATABASE_URL: databaseUrl,
    ...(options.hasTransactionPooler && {
      DATABASE_POOLER: 'transaction',
      DATABASE_DIRECT_URL: postgres.url,
    }),
    BASE_URL: origin,
    APP_SECRET: 'a secret of the replicas of this run alone',
    DATA_DIR: join(folder, 'data'),
    SMTP_URL: mail.url,
    TRUST_PROXY: 'loopback',
    WEBHOOK_ALLOWED_HOSTS: '127.0.0.1',
    SHUTDOWN_DELAY_SECONDS: '2',
    ...(redis && { REDIS_URL: redis.url }),
    RATE_LIMIT_PER_MINUTE: '0',
    BAD_KEY_LIMIT_PER_MINUTE: '0',
    UPLOAD_LIMIT_PER_HOUR: '0',
    INVITE_LIMIT_PER_HOUR: '0',
    MAIL_LIMIT_PER_HOUR: '0',
    SIGN_IN_LIMIT_PER_MINUTE: '0',
    REGISTRATION_LIMIT_PER_MINUTE: '0',
    AUTHORIZE_LIMIT_PER_MINUTE: '0',
    REFUSED_TOKEN_LIMIT_PER_MINUTE: '0',
    ...options.environment,
  }
  await mkdir(environment.DATA_DIR, { recursive: true })
  const makeReplica = (replica: ReplicaOptions) => createReplica(scope, folder, environment, replica)
  const replicas = await Promise.all(
    indices.map((i) => makeReplica({ port: ports[i] ?? 0, ...options.replicaOf?.(i) })),
  )
  if (!isEmpty) {
    await Promise.all(replicas.map((replica) => replica.start()))
    await until(async () => (await fetch(`${origin}/ready`)).ok, 'HAProxy to find a replica')
  }
  return {
    ...{ scope, folder, postgres, redis, mail, replicas, haproxy, origin, callers, environment },
    async addReplica(replica = {}) {
      const added = await makeReplica(replica)
      await added.start()
      return added
    },
  }
}

async function createReplica(
  scope: Scope,
  folder: string,
  environment: Record<string, string>,
  { port: givenPort, environment: more, server = join(root, 'dist/server.js'), wrapper = [] }: ReplicaOptions,
): Promise<Replica> {
  const port = givenPort ?? (await findPort())
  const origin = `http://127.0.0.1:${port}`
  const log = join(folder, `replica-${port}.log`)
  let running: Running | undefined
  const replica: Replica = {
    ...{ port, origin, server },
    process: () => {
      if (!running) throw new Error('the replica has not been started')
      return running
    },
    async start() {
      const command = [...wrapper, process.execPath, replica.server]
      const started = launch(String(command[0]), command.slice(1), {
        log,
        workingDirectory: folder,
        environment: { ...environment, PORT: String(port), ...more },
      })
      running = started
      await until(async () => {
        if (!started.isRunning()) throw new Error(`a replica ended: see ${log}`)
        return fetch(`${origin}/ready`).then(
          ({ ok }) => ok,
          () => false,
        )
      }, 'a replica to be ready')
    },
    async stop() {
      running?.signal('SIGTERM')
      await running?.ended
    },
    find: async (message) =>
      (await execute('sh', ['-c', 'grep -E "$0" "$1" || true', message.source, log]))
        .split('\n')
        .filter(Boolean),
  }
  scope.defer(() => running?.kill())
  return replica
}
