import { Socket } from 'node:net'

// A test that reaches for the network is a test that fails where there is none, and tells others what it does.
// eslint-disable-next-line @typescript-eslint/unbound-method -- it is called with the socket as `this` below
const connect = Socket.prototype.connect as (...args: unknown[]) => Socket

Socket.prototype.connect = function (this: Socket, ...args: unknown[]): Socket {
  // Node normalizes the arguments into an array first.
  const first: unknown = [args[0]].flat()[0]
  const host =
    typeof first === 'object' && first !== null
      ? ((first as { path?: string; host?: string }).path ?? (first as { host?: string }).host)
      : args[1]
  const isLocal =
    typeof host !== 'string' ||
    host === 'localhost' ||
    host === '::1' ||
    host.startsWith('127.') ||
    host.startsWith('/')
  if (!isLocal) throw new Error(`the network is denied to tests: ${host}`)
  return connect.apply(this, args)
}
