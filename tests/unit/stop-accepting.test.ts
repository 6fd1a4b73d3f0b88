import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Worker } from 'node:worker_threads'
import { expect, it, onTestFinished } from 'vitest'
import { stopAccepting } from '../../src/http/limits/draining.ts'

const clientsMax = 20

/** Clients with an event loop of their own: they connect and ask while ours stands still, and count their answers. */
const clients = `
  const { connect } = require('node:net')
  const { parentPort, workerData: { port, count, asked } } = require('node:worker_threads')
  const outcomes = Array.from({ length: count }, () => new Promise((resolve) => {
    let text = ''
    const socket = connect(port, '127.0.0.1', () => socket.write('GET / HTTP/1.1\\r\\nHost: x\\r\\nConnection: close\\r\\n\\r\\n', () => {
      Atomics.add(asked, 0, 1)
      Atomics.notify(asked, 0)
    }))
    socket.on('data', (data) => { text += data })
    socket.once('error', ({ code }) => resolve(code))
    socket.once('end', () => resolve(text.split('\\r\\n')[0]))
  }))
  Promise.all(outcomes).then((all) => parentPort.postMessage(all))
`

it('answers those who connected before the process looked, and lets nobody in afterwards', async () => {
  let served = 0
  const server = createServer((_request, response) => {
    served += 1
    response.end('served')
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const asked = new Int32Array(new SharedArrayBuffer(4))
  const worker = new Worker(clients, { eval: true, workerData: { port, count: clientsMax, asked } })
  onTestFinished(() => void worker.terminate())
  const outcomes = once(worker, 'message')
  await once(worker, 'online')
  // Until all have asked, this thread does nothing: not even accept.
  for (let count = 0; count < clientsMax; count = Atomics.load(asked, 0))
    Atomics.wait(asked, 0, count, 20_000)

  const ended = await stopAccepting(server)
  expect(server.listening).toBe(false)
  expect(await outcomes).toEqual([Array.from({ length: clientsMax }, () => 'HTTP/1.1 200 OK')])
  expect(served).toBe(clientsMax)
  await ended()
})
