import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { onTestFinished } from 'vitest'
import { findClosedPort } from './raw-http.ts'

/** Whether there is a PgBouncer to test with. */
export const hasPgbouncer = spawnSync('pgbouncer', ['--version']).status === 0

/** Starts PgBouncer as Debian has it, before the server of a database. Returns the URL of the database through it. */
export async function startPgbouncer(databaseUrl: string, mode: 'session' | 'transaction'): Promise<string> {
  const { hostname, port: serverPort, username, password } = new URL(databaseUrl)
  const folder = await mkdtemp(join(tmpdir(), 'pgbouncer-'))
  const port = await findClosedPort()
  const file = join(folder, 'pgbouncer.ini')
  await writeFile(
    file,
    `[databases]
* = host=${hostname} port=${serverPort} user=${username} password=${decodeURIComponent(password)}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = ${mode}
`,
    { mode: 0o644 },
  )
  // It refuses to run as root.
  const isRoot = process.getuid?.() === 0
  if (isRoot) spawnSync('chmod', ['755', folder])
  const child = spawn('pgbouncer', [file], { stdio: 'ignore', ...(isRoot && { uid: 65534, gid: 65534 }) })
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await rm(folder, { recursive: true })
  })
  for (let attempt = 0; attempt < 250; attempt++) {
    const socket = connect(port, '127.0.0.1')
    try {
      await once(socket, 'connect')
      const url = new URL(databaseUrl)
      url.host = `127.0.0.1:${port}`
      return url.href
    } catch {
      // A port tells nobody when it opens.
      await pause(20)
    } finally {
      socket.destroy()
    }
  }
  throw new Error('PgBouncer does not answer')
}
