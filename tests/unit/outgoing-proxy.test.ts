import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { connect, isIP, type AddressInfo, type Socket } from 'node:net'
import { beforeEach, expect, it } from 'vitest'
import { FetchFailure } from '../../src/kernel/fetch-failure.ts'
import { createSender, createUntrustedFetch } from '../../src/platform/untrusted-fetch.ts'
import { afterFile } from '../support/after-file.ts'
import { selfSigned } from '../support/self-signed.ts'

/** The target and the credentials of each CONNECT. */
const asked: { target: string | undefined; credentials: string | undefined }[] = []
let answer: ((socket: Socket) => unknown) | undefined

const site = createTlsServer(selfSigned, (request, response) => {
  response.setHeader('content-type', 'application/json').end(JSON.stringify({ host: request.headers.host }))
})
const proxyServer = createServer().on('connect', (request: IncomingMessage, socket: Socket) => {
  asked.push({ target: request.url, credentials: request.headers['proxy-authorization'] })
  socket.on('error', () => undefined)
  if (answer) return void answer(socket)
  const tunnel = connect(portOf(site), '127.0.0.1', () => {
    socket.write('HTTP/1.1 200 Connection established\r\n\r\n')
    tunnel.pipe(socket).pipe(tunnel)
  })
})
for (const server of [site, proxyServer]) {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  afterFile(() => server.close())
}

function portOf(server: { address: () => unknown }): number {
  return (server.address() as AddressInfo).port
}

beforeEach(() => {
  asked.length = 0
  answer = undefined
})

/** A fetch through the proxy, to a name that has some addresses, or none. */
function createFetch(addresses: string[], options: { deadlineMs?: number; credentials?: string } = {}) {
  const { deadlineMs = 1_000, credentials = '' } = options
  return createUntrustedFetch({
    send: createSender({
      proxy: new URL(`http://${credentials}127.0.0.1:${portOf(proxyServer)}`),
      ca: selfSigned.cert,
      lookup: (_name, _options, found) => {
        const error = Object.assign(new Error('getaddrinfo ENOTFOUND'), { code: 'ENOTFOUND' })
        if (addresses.length === 0) found(error, [])
        else
          found(
            null,
            addresses.map((address) => ({ address, family: isIP(address) })),
          )
      },
    }),
    startDeadline: () => AbortSignal.timeout(deadlineMs),
  })
}

const url = 'https://localhost/client.json'

const reasonOf = async (fetching: Promise<unknown>) => {
  const failure = await fetching.catch((error: unknown) => error)
  expect(failure).toBeInstanceOf(FetchFailure)
  return failure as FetchFailure
}

it('asks the proxy for the address that was checked, and the host for its name', async () => {
  const response = await createFetch(['93.184.215.14', '93.184.215.15'], { credentials: 'jane:s%40cret@' })(
    url,
  )
  expect(await response.json()).toEqual({ host: 'localhost' })
  const credentials = `Basic ${Buffer.from('jane:s@cret').toString('base64')}`
  expect(asked).toEqual([{ target: '93.184.215.14:443', credentials }])
})

it.each([
  ['127.0.0.1'],
  ['::1'],
  ['::ffff:127.0.0.1'],
  ['0.0.0.0'],
  ['10.0.0.1'],
  ['169.254.169.254'],
  ['fd00::1'],
  ['::7f00:1'],
  ['2002:7f00:1::'],
  ['64:ff9b::7f00:1'],
  ['64:ff9b:2::7f00:1'],
  ['::ffff:0:7f00:1'],
  ['93.184.215.14', '127.0.0.1'],
])('asks the proxy for nothing if a name leads to %s', async (...addresses) => {
  const { reason } = await reasonOf(createFetch(addresses, { deadlineMs: 20 })(url))
  expect(reason).toMatch(/^the address \S+ is not allowed$/)
  expect(asked).toEqual([])
})

it('asks the proxy for nothing if the name cannot be resolved here, and says so', async () => {
  const { reason } = await reasonOf(createFetch([], { deadlineMs: 20 })(url))
  expect(reason).toBe('the name cannot be resolved on this machine (ENOTFOUND)')
  expect(asked).toEqual([])
})

it('tells a refusal of the proxy from one of the host', async () => {
  answer = (socket) => socket.end('HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n')
  expect(await reasonOf(createFetch(['93.184.215.14'], { deadlineMs: 500 })(url))).toMatchObject({
    reason: 'the proxy has refused: its status is 404',
    status: undefined,
  })
})

it('leaves a proxy that does not answer, in time', async () => {
  const left = new Promise<void>((resolve) => {
    answer = (socket) => socket.once('end', resolve).resume()
  })
  const { reason } = await reasonOf(createFetch(['93.184.215.14'], { deadlineMs: 200 })(url))
  expect(reason).toBe('there was no answer in time')
  await left
})
