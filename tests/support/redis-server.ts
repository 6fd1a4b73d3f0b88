import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { findClosedPort } from './raw-http.ts'

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
  await waitUntilListening(ownPort)
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

async function waitUntilListening(port: number): Promise<void> {
  for (let attempt = 0; attempt < 250; attempt++) {
    const socket = connect(port, '127.0.0.1')
    try {
      await once(socket, 'connect')
      return
    } catch {
      // A port tells nobody when it opens.
      await pause(20)
    } finally {
      socket.destroy()
    }
  }
  throw new Error('redis-server does not answer')
}
