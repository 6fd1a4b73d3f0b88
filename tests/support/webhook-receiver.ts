import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect } from 'vitest'
import { afterFile } from './after-file.ts'
import { eventually } from './eventually.ts'

/** A request that a receiver got. */
export interface ReceivedRequest {
  method: string
  path: string
  headers: IncomingHttpHeaders
  body: string
}

export interface WebhookReceiver {
  url: string
  /** All requests so far. */
  received: ReceivedRequest[]
  /** How many are in progress, and how many were at once at most. */
  inProgress: { now: number; most: number }
  /** Answers the requests from now on. Default: 204. */
  answer: (respond: (response: ServerResponse, request: ReceivedRequest) => unknown) => void
  /** Waits until there are so many requests. */
  waitFor: (count: number) => Promise<ReceivedRequest[]>
}

/** Starts a receiver of webhooks on this machine. It stops after the last test of the file. */
export async function startReceiver(): Promise<WebhookReceiver> {
  const received: ReceivedRequest[] = []
  const inProgress = { now: 0, most: 0 }
  let respond: Parameters<WebhookReceiver['answer']>[0] = (response) => response.writeHead(204).end()
  const server = createServer((request, response) => {
    inProgress.now += 1
    inProgress.most = Math.max(inProgress.most, inProgress.now)
    response.once('close', () => (inProgress.now -= 1))
    let body = ''
    request.setEncoding('utf8').on('data', (chunk: string) => (body += chunk))
    request.once('end', () => {
      const { method = '', url = '', headers } = request
      const got = { method, path: url, headers, body }
      received.push(got)
      respond(response, got)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  afterFile(() => {
    server.closeAllConnections()
    server.close()
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    received,
    inProgress,
    answer: (next) => {
      respond = next
    },
    async waitFor(count) {
      await eventually(() => expect(received.length).toBeGreaterThanOrEqual(count))
      return received
    },
  }
}

/** Whether a request has a signature by a secret, as receivers check it (Standard Webhooks 1.0). */
export function isSignedBy({ headers, body }: ReceivedRequest, secret: string): boolean {
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64')
  const content = `${String(headers['webhook-id'])}.${String(headers['webhook-timestamp'])}.${body}`
  const expected = `v1,${createHmac('sha256', key).update(content).digest('base64')}`
  return String(headers['webhook-signature']).split(' ').includes(expected)
}
