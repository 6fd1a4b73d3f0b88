import { untilTrue } from '../support/eventually.ts'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import {
  call,
  copyInstallation,
  findPort,
  findServers,
  launchService,
  makeDirectory,
  root,
  run,
  startService,
  stopService,
  untilNothingRunsIn,
  type Service,
} from './service.ts'

describe.each(['SIGTERM', 'SIGINT'] as const)('%s', (signal) => {
  it('completes a request in flight, then stops the database, and exits with 0', async () => {
    const { dataDir, key } = await copyInstallation()
    const service = await startService({ dataDir })
    const body = JSON.stringify({ name: `Stopped by ${signal}` })
    const client = await open(service)
    client.socket.write(
      `PATCH /v1/me HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nExpect: 100-continue\r\n` +
        `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`,
    )
    // So the service has the request: its answer to the expectation.
    await client.received(/100 Continue/)

    service.signal(signal)
    await service.said(/"msg":"stopping"/)
    await untilTrue(() => isRefused(service))
    client.socket.write(body)
    await client.received(/HTTP\/1\.1 200 OK[^]*\}$/)
    // The client keeps its connection open: the service ends all the same.
    expect(await service.ended).toEqual({ code: 0, signal: null })
    expect(service.stderr()).toBe('')
    await untilNothingRunsIn(dataDir)

    const next = await startService({ dataDir })
    expect(await call(next, 'GET /v1/me', { key })).toMatchObject({
      body: { name: `Stopped by ${signal}` },
    })
    expect(await stopService(next)).toBe(0)
  })
})

describe('SHUTDOWN_DELAY_SECONDS', () => {
  it('is how long requests are still served while /ready returns 503', async () => {
    const { dataDir, key } = await copyInstallation()
    const service = await startService({ dataDir, environment: { SHUTDOWN_DELAY_SECONDS: '4' } })
    const kept = await open(service)
    const request = `GET /v1/me HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n\r\n`
    kept.socket.write(request)
    await kept.received(/200 OK[^]*\}$/)

    service.signal('SIGTERM')
    await service.said(/"msg":"stopping"/)
    expect((await call(service, 'GET /ready')).status).toBe(503)
    expect((await call(service, 'GET /v1/me', { key })).status).toBe(200)
    const closed = once(kept.socket, 'close')
    kept.socket.write(request)
    await kept.received(/200 OK[^]*200 OK[^]*connection: close/i)
    await closed
    expect(await service.ended).toEqual({ code: 0, signal: null })
  })
})

const closedWhileRunning = /"msg":"connections are closed while their requests run"/

describe('a stop signal', () => {
  it('does not wait for idle connections', async () => {
    const { dataDir } = await copyInstallation()
    const service = await startService({ dataDir })
    const silent = await open(service)
    const idle = await open(service)
    idle.socket.write('GET /health HTTP/1.1\r\nHost: x\r\n\r\n')
    await idle.received(/"ok":true/)
    service.signal('SIGTERM')
    expect(await service.ended).toEqual({ code: 0, signal: null })
    expect(service.stdout()).not.toMatch(closedWhileRunning)
    await Promise.all([silent.closed, idle.closed])
    await untilNothingRunsIn(dataDir)
  })

  it('closes connections whose requests do not end, and says so', async () => {
    const { dataDir, key } = await copyInstallation()
    const service = await startService({ dataDir })
    const client = await open(service)
    client.socket.write('PATCH /v1/me HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 16\r\n')
    client.socket.write(`Content-Type: application/json\r\nAuthorization: Bearer ${key}\r\n\r\n`)
    await client.received(/100 Continue/)
    service.signal('SIGTERM')
    await service.said(closedWhileRunning)
    await client.closed
    expect(await service.ended).toEqual({ code: 0, signal: null })
    await untilNothingRunsIn(dataDir)
  })

  it('has no further effect when it is repeated, as Ctrl-C below npm does', async () => {
    const { dataDir, key } = await copyInstallation()
    const service = await startService({ dataDir })
    const client = await open(service)
    const body = '{"name":"Grace"}'
    client.socket.write(`PATCH /v1/me HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\n`)
    client.socket.write(`Content-Length: ${body.length}\r\n`)
    client.socket.write(`Content-Type: application/json\r\nAuthorization: Bearer ${key}\r\n\r\n`)
    await client.received(/100 Continue/)
    service.signal('SIGINT')
    await service.said(/"msg":"stopping"/)
    service.signal('SIGINT')
    service.signal('SIGTERM')
    client.socket.write(body)
    await client.received(/HTTP\/1\.1 200 OK/)
    expect(await service.ended).toEqual({ code: 0, signal: null })
    await untilNothingRunsIn(dataDir)
  })

  it('leaves no process running when it arrives during the start', async () => {
    const dataDir = await makeDirectory()
    const service = await launchService({ dataDir })
    await untilTrue(() => existsSync(join(dataDir, 'postgres/postmaster.pid')))
    service.signal('SIGTERM')
    expect(await service.ended).toEqual({ code: 0, signal: null })
    await untilNothingRunsIn(dataDir)
  })

  it('exits with 0 also when the database was killed', async () => {
    const { dataDir } = await copyInstallation()
    const service = await startService({ dataDir })
    for (const pid of await findServers(dataDir)) process.kill(pid, 'SIGKILL')
    await untilTrue(async () => (await call(service, 'GET /ready')).status === 503)
    expect(await call(service, 'GET /health')).toMatchObject({ status: 200 })
    expect(await stopService(service)).toBe(0)
  })
})

// A file .env of the developer's would be read there.
describe.skipIf(existsSync(join(root, '.env')))('npm start', () => {
  it('stops all processes on SIGTERM to npm', async () => {
    const { npm, dataDir } = await startNpm()
    process.kill(npm.pid, 'SIGTERM')
    await npm.said(/"msg":"stopped"/)
    // npm ends as its shell does, by the signal, and before the service, which has requests to answer.
    expect(await npm.ended).toEqual({ code: null, signal: 'SIGTERM' })
    await untilNothingRunsIn(dataDir)
  })

  it('stops all processes on Ctrl-C, which signals the whole process group', async () => {
    const { npm, dataDir } = await startNpm()
    npm.signal('SIGINT')
    await npm.said(/"msg":"stopped"/)
    expect(await npm.ended).toEqual({ code: null, signal: 'SIGINT' })
    await untilNothingRunsIn(dataDir)
  })

  async function startNpm() {
    const { dataDir } = await copyInstallation()
    const environment = { PORT: String(await findPort()), DATA_DIR: dataDir }
    const npm = run('npm', ['start'], { workingDirectory: root, environment, isGroup: true })
    await npm.said(/Data  +.*\n/)
    return { npm, dataDir }
  }
})

/** A connection on which a test says what it wants, when it wants. */
async function open({ port }: Service) {
  const socket = connect(port, '127.0.0.1').setEncoding('utf8')
  onTestFinished(() => void socket.destroy())
  await once(socket, 'connect')
  let text = ''
  socket.on('data', (chunk: string) => {
    text += chunk
  })
  // The service may cut off a connection that asked nothing.
  socket.on('error', () => undefined)
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()))
  const received = (pattern: RegExp) =>
    new Promise<RegExpExecArray>((resolve, reject) => {
      const look = () => {
        const match = pattern.exec(text)
        if (match) resolve(match)
      }
      socket.on('data', look)
      void closed.then(() => reject(new Error(`The connection closed without ${pattern}:\n${text}`)))
      look()
    })
  return { socket, closed, received }
}

async function isRefused({ port }: Service): Promise<boolean> {
  const socket: Socket = connect(port, '127.0.0.1')
  const wasRefused = await once(socket, 'connect').then(
    () => false,
    () => true,
  )
  socket.destroy()
  return wasRefused
}
