import { spawn, spawnSync } from 'node:child_process'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { requestLimits, type Limits } from '../../src/db/client.ts'
import { findClosedPort } from './raw-http.ts'
import { untilListening } from './until-listening.ts'

export type PoolMode = 'session' | 'transaction'

/** Whether there is a PgBouncer to test with. */
export const hasPgbouncer = spawnSync('pgbouncer', ['--version']).status === 0

/** PgBouncer refuses to run as root. */
const unprivileged = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : {}

/** How long statements outside of transactions wait in transaction mode, in milliseconds. */
type PoolerLimits = Pick<Limits, 'lockMs' | 'statementMs'>

/** The configuration of a PgBouncer before the server of a database, for all its databases. */
export function describePgbouncer(
  databaseUrl: string,
  port: number,
  mode: PoolMode,
  { lockMs, statementMs }: PoolerLimits = requestLimits,
): string {
  // As docs/operations.md recommends it.
  const settings =
    mode === 'transaction'
      ? ` connect_query='set lock_timeout = ${lockMs}; set statement_timeout = ${statementMs}; set idle_in_transaction_session_timeout = 30000'`
      : ''
  const { hostname, port: serverPort, username, password } = new URL(databaseUrl)
  return `[databases]
* = host=${hostname} port=${serverPort} user=${username} password=${decodeURIComponent(password)}${settings}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = ${mode}
default_pool_size = 40
max_client_conn = 300
`
}

/** Starts PgBouncer as Debian has it before the server of a database. Returns the URL of the database through it. */
export async function startPgbouncer(
  databaseUrl: string,
  mode: PoolMode,
  limits?: PoolerLimits,
): Promise<{ url: string; stop: () => Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'pgbouncer-'))
  await chmod(folder, 0o755)
  const port = await findClosedPort()
  const file = join(folder, 'pgbouncer.ini')
  // Connections are closed after one client: a database with one could not be cloned. In transaction mode, in which that
  // would be after each transaction, nothing that is cloned is behind it.
  const lifetime = mode === 'session' ? 'server_lifetime = 0' : 'server_idle_timeout = 5'
  const configuration = `${describePgbouncer(databaseUrl, port, mode, limits)}${lifetime}\n`
  await writeFile(file, configuration, { mode: 0o644 })
  const child = spawn('pgbouncer', [file], { stdio: 'ignore', ...unprivileged })
  const stop = async () => {
    child.kill('SIGKILL')
    await rm(folder, { recursive: true })
  }
  try {
    await untilListening(port)
  } catch (error) {
    await stop()
    throw error
  }
  const url = new URL(databaseUrl)
  url.host = `127.0.0.1:${port}`
  return { url: url.href, stop }
}
