import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import type { App } from '../../src/http/app-types.ts'

/** An answer as it came over the wire. */
export interface RawAnswer {
  statusCode: number
  headers: Record<string, string | undefined>
  body: string
  json: () => unknown
}

/** Opens the service on a free loopback port. It is closed with the app. */
export async function listen(app: App): Promise<number> {
  // A shared app may already listen for an earlier file.
  if (!app.server.listening) await app.listen({ host: '127.0.0.1', port: 0 })
  return (app.server.address() as AddressInfo).port
}

/** A port of a loopback address on which nothing listens. */
export async function findClosedPort(host: '127.0.0.1' | 'localhost' = '127.0.0.1'): Promise<number> {
  const server = createServer().listen(0, host)
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

/** Sends the headers of a POST, whose body its caller writes. */
export function beginPost(port: number, path: string, headers: Record<string, string | number>): Socket {
  const socket = connect(port, '127.0.0.1')
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.write(`POST ${path} HTTP/1.1\r\nHost: localhost\r\n${lines.join('')}\r\n`)
  return socket
}

/** Sends bytes as they are, which an HTTP client would not, and reads until the server closes the connection. */
export async function sendRaw(port: number, bytes: string | Buffer): Promise<RawAnswer> {
  const socket = connect(port, '127.0.0.1')
  const answer = readAnswer(socket)
  socket.write(bytes)
  return answer
}

/** Reads one answer, up to the end of the connection: the request has to ask for `Connection: close`. */
export async function readAnswer(socket: Socket): Promise<RawAnswer> {
  const chunks: Buffer[] = []
  socket.on('data', (chunk: Buffer) => chunks.push(chunk))
  // A server that refuses a request midway resets the connection; what it said before counts.
  socket.on('error', () => undefined)
  await once(socket, 'close')
  return parseAnswer(Buffer.concat(chunks).toString())
}

function parseAnswer(text: string): RawAnswer {
  const [head = '', body = ''] = splitOnce(text, '\r\n\r\n')
  const [statusLine = '', ...lines] = head.split('\r\n')
  const headers = Object.fromEntries(
    lines.map((line) => {
      const [name = '', value = ''] = splitOnce(line, ': ')
      return [name.toLowerCase(), value]
    }),
  )
  return {
    statusCode: Number(statusLine.split(' ')[1]),
    headers,
    body,
    json: () => JSON.parse(body) as unknown,
  }
}

function splitOnce(text: string, separator: string): string[] {
  const at = text.indexOf(separator)
  return at === -1 ? [text] : [text.slice(0, at), text.slice(at + separator.length)]
}
