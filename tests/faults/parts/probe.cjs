// Asks for /health every 10 ms, in a thread of its own: how long the answers take shows how long the event loop of the
// service was held up, whatever holds up ours.
'use strict'

const { Agent, get } = require('node:http')
const { parentPort, workerData } = require('node:worker_threads')

const agent = new Agent({ keepAlive: true, maxSockets: 1 })
const samples = []
let failures = 0

function ask() {
  const startedAt = performance.now()
  const again = () => setTimeout(ask, 10)
  const request = get(`${workerData}/health`, { agent, timeout: 10_000 }, (answer) => {
    answer.resume()
    answer.once('end', () => {
      samples.push(performance.now() - startedAt)
      if (answer.statusCode !== 200) failures += 1
      again()
    })
  })
  request.once('timeout', () => request.destroy())
  request.once('error', () => {
    failures += 1
    again()
  })
}

ask()
parentPort.once('message', () => {
  parentPort.postMessage({ samples, failures })
  process.exit()
})
