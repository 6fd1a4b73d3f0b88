import { once } from 'node:events'
import { createServer as createHttpsServer } from 'node:https'
import { createServer as createTcpServer, isIP, Socket, type AddressInfo, type Server } from 'node:net'
import { describe, expect, it } from 'vitest'
import { createUntrustedPost, type UntrustedPostOptions } from '../../src/platform/untrusted-fetch.ts'
import { afterFile } from '../support/after-file.ts'
import { selfSigned } from '../support/self-signed.ts'
import { startReceiver } from '../support/webhook-receiver.ts'

const forever = new AbortController().signal

function post(url: string, options: Partial<UntrustedPostOptions> = {}, signal = forever) {
  const send = createUntrustedPost({ allowedHosts: [], isDevelopment: true, ...options })
  return send(
    { url, headers: { 'content-type': 'application/json', 'x-test': 'yes' }, body: '{"é":1}' },
    signal,
  )
}

/** The addresses that connections were attempted to. */
const attempts: string[] = []
// eslint-disable-next-line @typescript-eslint/unbound-method -- it is called with the socket as `this` below
const emit = Socket.prototype.emit as (...args: unknown[]) => boolean
Socket.prototype.emit = function (this: Socket, ...args: unknown[]): boolean {
  if (args[0] === 'connectionAttempt') attempts.push(String(args[1]))
  return emit.apply(this, args)
}
afterFile(() => {
  Socket.prototype.emit = emit
})

/** Resolves every name to an address. */
const resolvingTo = (address: string): NonNullable<UntrustedPostOptions['lookup']> =>
  ((_name: string, { all }: { all?: boolean }, done: (...answer: unknown[]) => void) => {
    if (all) done(null, [{ address, family: isIP(address) }])
    else done(null, address, isIP(address))
  }) as NonNullable<UntrustedPostOptions['lookup']>

async function listen(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  afterFile(() => void server.close())
  return (server.address() as AddressInfo).port
}

describe('a POST', () => {
  it('sends the headers and the body as it is, and returns the status', async () => {
    const receiver = await startReceiver()
    expect(await post(receiver.url)).toEqual({ status: 204, retryAfter: undefined })
    expect(receiver.received).toMatchObject([
      {
        method: 'POST',
        path: '/hook',
        headers: { 'content-type': 'application/json', 'content-length': '8', 'x-test': 'yes' },
        body: '{"é":1}',
      },
    ])
  })

  it('returns Retry-After', async () => {
    const receiver = await startReceiver()
    receiver.answer((response) => response.writeHead(503, { 'retry-after': '7' }).end())
    expect(await post(receiver.url)).toEqual({ status: 503, retryAfter: '7' })
  })

  it('follows no redirect', async () => {
    const [receiver, other] = [await startReceiver(), await startReceiver()]
    receiver.answer((response) => response.writeHead(307, { location: other.url }).end())
    expect(await post(receiver.url)).toMatchObject({ status: 307 })
    expect(other.received).toEqual([])
  })

  it('reads 1 KB of an endless answer, and closes the connection', async () => {
    const receiver = await startReceiver()
    let closed: Promise<unknown> | undefined
    receiver.answer((response) => {
      closed = once(response, 'close')
      response.on('error', () => undefined)
      response.writeHead(200)
      const more = () => {
        if (!response.destroyed) response.write('x'.repeat(2048), () => setImmediate(more))
      }
      more()
    })
    expect(await post(receiver.url)).toMatchObject({ status: 200 })
    await closed
  })

  it('is a timeout when the headers do not arrive in time, and counts the status when the body does not', async () => {
    const receiver = await startReceiver()
    receiver.answer(() => undefined)
    expect(await post(receiver.url, { timeoutMs: 50 })).toEqual({ error: 'timeout' })
    receiver.answer((response) => response.writeHead(200).write('a'))
    expect(await post(receiver.url, { timeoutMs: 300 })).toMatchObject({ status: 200 })
  })

  it('fails when its signal aborts it', async () => {
    const receiver = await startReceiver()
    const stopping = new AbortController()
    receiver.answer(() => stopping.abort())
    await expect(post(receiver.url, {}, stopping.signal)).rejects.toThrow()
  })
})

describe('a receiver that cannot be reached', () => {
  it('is refused when its port is closed, its name is unknown or its connection breaks', async () => {
    const server = createTcpServer((socket) => socket.destroy())
    const port = await listen(server)
    expect(await post(`http://127.0.0.1:${port}/`)).toEqual({ error: 'refused' })
    expect(await post('https://127.0.0.1:1/')).toEqual({ error: 'refused' })
    const unknown = ((_name: string, _options: object, done: (error: Error) => void) =>
      done(new Error('ENOTFOUND'))) as NonNullable<UntrustedPostOptions['lookup']>
    expect(await post('https://localhost/', { lookup: unknown })).toEqual({ error: 'refused' })
  })

  it('is tls when the handshake fails', async () => {
    const server = createTcpServer((socket) => {
      socket.on('error', () => undefined)
      socket.once('data', () => socket.end('this is not TLS'))
    })
    expect(await post(`https://127.0.0.1:${await listen(server)}/`)).toEqual({ error: 'tls' })
  })

  it('is tls when its certificate is not trusted', async () => {
    const server = createHttpsServer(selfSigned, (_request, response) => response.end())
    const url = `https://localhost:${await listen(server)}/`
    expect(await post(url)).toEqual({ error: 'tls' })
    expect(await post(url, { ca: selfSigned.cert })).toMatchObject({ status: 200 })
  })
})

// Every kind of address that is not public: RFC 6890, and forms that embed an IPv4 address.
const internal = [
  '0.0.0.0',
  '10.0.0.1',
  '100.64.0.1',
  '127.0.0.1',
  '127.255.255.254',
  '169.254.169.254',
  '172.16.0.1',
  '172.31.255.255',
  '192.0.0.1',
  '192.0.2.1',
  '192.88.99.1',
  '192.168.0.1',
  '198.18.0.1',
  '198.51.100.1',
  '203.0.113.1',
  '224.0.0.1',
  '240.0.0.1',
  '255.255.255.255',
  '::',
  '::1',
  '::127.0.0.1',
  '::a9fe:a9fe',
  '::2',
  '::ffff:0:127.0.0.1',
  '::ffff:127.0.0.1',
  '::ffff:10.0.0.1',
  '::ffff:169.254.169.254',
  '64:ff9b::7f00:1',
  '64:ff9b::a9fe:a9fe',
  '64:ff9b:1::a00:1',
  '64:ff9b:2::a00:1',
  '100::1',
  '2001::1',
  '2001:db8::1',
  '2002:7f00:1::',
  '2002:a9fe:a9fe::',
  'fc00::1',
  'fd00:ec2::254',
  'fe80::1',
  'fec0::1',
  'ff02::1',
  '4000::1',
  'e000::1',
]

describe('an address that is not public', () => {
  it.each(internal)('is refused before connecting, in the URL and behind a name: %s', async (address) => {
    const host = isIP(address) === 6 ? `[${address}]` : address
    const options = { isDevelopment: false, timeoutMs: 1_000 }
    attempts.length = 0
    expect(await post(`https://${host}/`, options)).toEqual({ error: 'refused' })
    const lookup = resolvingTo(address)
    expect(await post('https://localhost/', { ...options, lookup })).toEqual({ error: 'refused' })
    expect(attempts).toEqual([])
  })

  it('is refused on this machine in production, also over http', async () => {
    const receiver = await startReceiver()
    expect(await post(receiver.url, { isDevelopment: false })).toEqual({ error: 'refused' })
    expect(await post(receiver.url.replace('http:', 'https:'), { isDevelopment: false })).toEqual({
      error: 'refused',
    })
    expect(receiver.received).toEqual([])
  })

  it('is connected to when the operator allows it, its range or the name', async () => {
    const server = createTcpServer((socket) => {
      socket.on('error', () => undefined)
      socket.once('data', () => socket.end('this is not TLS'))
    })
    const url = `https://localhost:${await listen(server)}/`
    attempts.length = 0
    const reach = (allowedHosts: string[]) =>
      post(url, { isDevelopment: false, allowedHosts, lookup: resolvingTo('127.0.0.1') })
    for (const allowed of ['127.0.0.1', '127.0.0.0/8', 'localhost'])
      expect(await reach(['other.internal', allowed]), allowed).toEqual({ error: 'tls' })
    expect(attempts).toEqual(['127.0.0.1', '127.0.0.1', '127.0.0.1'])
    for (const allowed of ['127.0.0.2', '10.0.0.0/8', 'local', 'other.internal'])
      expect(await reach([allowed]), allowed).toEqual({ error: 'refused' })
    expect(attempts).toHaveLength(3)
  })

  it('over http is refused for other machines, also in development', async () => {
    for (const allowedHosts of [[], ['10.0.0.1', 'hooks.internal']]) {
      expect(await post('http://10.0.0.1/', { allowedHosts })).toEqual({ error: 'refused' })
      expect(await post('http://hooks.internal/', { allowedHosts })).toEqual({ error: 'refused' })
    }
  })
})
