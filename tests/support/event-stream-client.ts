import { once } from 'node:events'
import { Agent, get, type IncomingMessage, type OutgoingHttpHeaders } from 'node:http'
import { onTestFinished } from 'vitest'
import { listen } from './raw-http.ts'
import type { TestApp } from './test-app.ts'

/** A stream of server-sent events as a client sees it. */
export interface ReceivedStream {
  status: number
  headers: IncomingMessage['headers']
  /** What has been received so far. */
  text: () => string
  /** Resolves when it has been received. */
  received: (pattern: RegExp) => Promise<void>
  /** Resolves when the server has ended the stream, and rejects if the connection breaks. */
  ended: Promise<unknown>
  disconnect: () => void
}

/** Asks for a stream over a connection of its own, as EventSource does. */
export async function openEventStream(
  service: Pick<TestApp, 'app'>,
  path: string,
  headers: OutgoingHttpHeaders,
): Promise<ReceivedStream> {
  const agent = new Agent({ keepAlive: true })
  onTestFinished(() => agent.destroy())
  const sent = get({
    host: '127.0.0.1',
    port: await listen(service.app),
    path,
    agent,
    headers: { accept: 'text/event-stream', 'accept-encoding': 'gzip, br', ...headers },
  })
  const [answer] = (await once(sent, 'response')) as [IncomingMessage]
  let text = ''
  answer.setEncoding('utf8').on('data', (part: string) => (text += part))
  const ended = once(answer, 'end')
  // The test that disconnects does not wait for the end.
  ended.catch(() => undefined)
  return {
    status: Number(answer.statusCode),
    headers: answer.headers,
    text: () => text,
    async received(pattern) {
      while (!pattern.test(text)) await once(answer, 'data')
    },
    ended,
    disconnect: () => sent.destroy(),
  }
}
