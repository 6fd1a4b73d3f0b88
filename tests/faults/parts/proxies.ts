import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { connect, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { findPort, launch, until, type Running, type Scope } from './processes.ts'
import type { Postgres } from './postgres.ts'
import { describePgbouncer, type PoolMode } from '../../support/pgbouncer.ts'

export interface Proxy {
  port: number
  process: Running
}

/**
 * HAProxy before the replicas, as docs/reliability.md asks for it: it checks `/ready` twice a second, takes a connection
 * that is refused to another replica, and repeats what failed without an answer where that is safe. While no replica is
 * ready, those that answer `/health` take the requests, as backups of the same backend: a request that is waiting when the
 * last one turns is answered by them too.
 */
export async function startHaproxy(scope: Scope, folder: string, ports: readonly number[]): Promise<Proxy> {
  const port = await findPort()
  const servers = (name: string, options: string) =>
    ports
      .map(
        (replica, i) => `  server ${name}${i + 1} 127.0.0.1:${replica} ${options.replace('#', `${i + 1}`)}`,
      )
      .join('\n')
  const configuration = `
global
  maxconn 9000
  log stdout format raw daemon
defaults
  mode http
  log global
  option httplog
  option dontlog-normal
  option http-keep-alive
  option http-buffer-request
  option redispatch 1
  retries 3
  timeout connect 1s
  timeout client 75s
  timeout server 75s
  timeout check 1s
  timeout queue 1s
  timeout http-request 70s
  timeout http-keep-alive 60s
  http-error status 503 content-type application/json string '{"code":"proxy"}' hdr Retry-After 1 hdr Connection close
frontend entrance
  bind 127.0.0.1:${port}
  default_backend ready
backend ready
  balance leastconn
  retry-on conn-failure empty-response
  http-request disable-l7-retry unless { method GET HEAD } or { req.hdr(idempotency-key) -m found }
  option httpchk GET /ready
  option allbackups
${servers('ready', 'maxconn 400 check inter 500ms fall 1 rise 1')}
${servers('living', 'maxconn 100 backup track living/replica#')}
backend living
  option httpchk GET /health
${servers('replica', 'check inter 500ms fall 2 rise 1')}
`
  const file = join(folder, 'haproxy.cfg')
  await writeFile(file, configuration)
  const process = launch('haproxy', ['-db', '-f', file], { log: join(folder, 'haproxy.log') })
  scope.defer(() => process.kill())
  await untilListening(port, 'HAProxy', process)
  return { port, process }
}

/** PgBouncer before PostgreSQL; all of its connections to the server are of the server's own account. */
export async function startPgbouncer(
  scope: Scope,
  folder: string,
  { url: serverUrl }: Postgres,
  mode: PoolMode,
): Promise<Proxy & { url: string }> {
  const port = await findPort()
  const file = join(folder, 'pgbouncer.ini')
  await writeFile(file, describePgbouncer(serverUrl, port, mode), { mode: 0o644 })
  const privileges =
    global.process.getuid?.() === 0 ? ['--reuid=65534', '--regid=65534', '--clear-groups'] : []
  const process = launch('pgbouncer', [file], { log: join(folder, 'pgbouncer.log'), privileges })
  scope.defer(() => process.kill())
  await untilListening(port, 'PgBouncer', process)
  return { port, process, url: `postgres://postgres@127.0.0.1:${port}/postgres` }
}

/** Redis, which keeps nothing. */
export async function startRedis(
  scope: Scope,
  folder: string,
): Promise<{ url: string; process: () => Running; start: () => Promise<void> }> {
  const port = await findPort()
  let process: Running | undefined
  const start = async () => {
    const options = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no']
    process = launch('redis-server', options, { log: join(folder, 'redis.log') })
    await untilListening(port, 'Redis', process)
  }
  scope.defer(() => process?.kill())
  await start()
  return {
    url: `redis://127.0.0.1:${port}`,
    start,
    process: () => {
      if (!process) throw new Error('Redis has not been started')
      return process
    },
  }
}

/** A name that leads to one server and then to another: TCP, with every connection cut when it changes. */
export async function startForwarder(
  scope: Scope,
  target: number,
): Promise<{ port: number; leadTo: (port: number) => void }> {
  const port = await findPort()
  const sockets = new Set<Socket>()
  let to = target
  const server = createServer((socket) => {
    const other = connect(to, '127.0.0.1')
    for (const [one, peer] of [
      [socket, other],
      [other, socket],
    ] as const) {
      sockets.add(one)
      one.setNoDelay(true)
      one.on('error', () => undefined)
      one.on('close', () => {
        sockets.delete(one)
        peer.destroy()
      })
      one.pipe(peer)
    }
  }).listen(port, '127.0.0.1')
  await once(server, 'listening')
  const cut = () => sockets.forEach((socket) => socket.destroy())
  scope.defer(() => {
    server.close()
    cut()
  })
  return {
    port,
    leadTo(next) {
      to = next
      cut()
    },
  }
}

/** Waits until a port takes connections; fails when the process that should take them ends. */
async function untilListening(port: number, what: string, { isRunning, log }: Running): Promise<void> {
  await until(async () => {
    if (!isRunning()) throw new Error(`${what} ended: ${(await readFile(log, 'utf8')).slice(-500)}`)
    const socket = connect(port, '127.0.0.1')
    const isOpen = await once(socket, 'connect').then(
      () => true,
      () => false,
    )
    socket.destroy()
    return isOpen
  }, what)
}
