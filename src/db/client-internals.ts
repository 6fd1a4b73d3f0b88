import type { Socket } from 'node:net'
import type pg from 'pg'

/** What node-postgres does not declare of a client. */
interface ClientInternals {
  connection: { stream: Socket; parsedStatements: Record<string, string> }
}

const connectionOf = (client: pg.ClientBase) => (client as unknown as ClientInternals).connection

/** The socket of a client. */
export const socketOf = (client: pg.ClientBase): Socket => connectionOf(client).stream

/** Whether PostgreSQL has parsed a named statement on the connection of a client. */
export function hasParsed(client: pg.ClientBase, { name }: pg.QueryConfig): boolean {
  return name !== undefined && name in connectionOf(client).parsedStatements
}

/** Sends what is written in this turn of the event loop at once. Writing to a socket costs more than making a statement. */
export function holdForThisTurn(client: pg.ClientBase): void {
  const socket = socketOf(client)
  if (socket.writableCorked > 0) return
  socket.cork()
  process.nextTick(() => socket.uncork())
}
