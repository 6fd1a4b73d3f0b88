import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { findClosedPort } from './raw-http.ts'
import { untilListening } from './until-listening.ts'

const program = 'redis-server'

/** Whether there is a redis-server to test with. */
export const hasRedisServer = spawnSync(program, ['--version']).status === 0

export interface RedisServer {
  url: string
  /** Kills it, as an outage would. */
  kill: () => Promise<void>
  /** Stops it, so that connections stand and nothing is answered, until `thaw`. */
  freeze: () => void
  thaw: () => void
}

/** Starts a redis-server that keeps nothing, on loopback, and waits until it answers. With TLS, by files of a certificate. */
export async function startRedisServer(
  port?: number,
  tls?: { certFile: string; keyFile: string },
): Promise<RedisServer & { port: number }> {
  const ownPort = port ?? (await findClosedPort())
  const child = spawn(
    program,
    [
      ...(tls ? ['--port', '0', '--tls-port', String(ownPort)] : ['--port', String(ownPort)]),
      ...(tls
        ? ['--tls-cert-file', tls.certFile, '--tls-key-file', tls.keyFile, '--tls-auth-clients', 'no']
        : []),
      ...['--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'],
    ],
    { stdio: 'ignore' },
  )
  const exited = once(child, 'exit')
  await untilListening(ownPort)
  return {
    url: `${tls ? 'rediss' : 'redis'}://127.0.0.1:${ownPort}`,
    port: ownPort,
    freeze: () => void child.kill('SIGSTOP'),
    thaw: () => void child.kill('SIGCONT'),
    async kill() {
      child.kill('SIGKILL')
      await exited
    },
  }
}
