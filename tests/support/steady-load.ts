import { Agent, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { App } from '../../src/http/app-types.ts'

export interface LoadRequest {
  method?: 'GET' | 'POST'
  path: string
  headers?: Record<string, string>
  body?: string
}

/** Sends requests over the network from one loopback address. Returns their statuses; 0 when a connection was broken. */
export function createSender(app: App, localAddress: string) {
  const { port } = app.server.address() as AddressInfo
  const agent = new Agent({ keepAlive: true })
  return ({ method = 'GET', path, headers = {}, body }: LoadRequest): Promise<number> =>
    new Promise((resolve) => {
      const sent = request(
        { host: '127.0.0.1', port, localAddress, agent, method, path, headers },
        (answer) => {
          answer.resume()
          answer.once('end', () => resolve(Number(answer.statusCode)))
          answer.once('error', () => resolve(0))
        },
      )
      sent.once('error', () => resolve(0))
      sent.end(body)
    })
}

/** Sends at a steady rate, however slow the answers are, and returns the statuses of all. */
export async function sendSteadily(
  { perSecond, seconds }: { perSecond: number; seconds: number },
  send: (index: number) => Promise<number>,
): Promise<number[]> {
  const total = perSecond * seconds
  const begunAt = performance.now()
  const answers: Promise<number>[] = []
  await new Promise<void>((resolve) => {
    const timer = setInterval(() => {
      const due = Math.min(total, Math.ceil(((performance.now() - begunAt) / 1000) * perSecond))
      while (answers.length < due) answers.push(send(answers.length))
      if (answers.length < total) return
      clearInterval(timer)
      resolve()
    }, 5)
  })
  return Promise.all(answers)
}
