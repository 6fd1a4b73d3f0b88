import { once } from 'node:events'
import { connect, createServer, type AddressInfo } from 'node:net'
import { afterFile } from './after-file.ts'

type Statement = 'begin' | 'commit'
type Moment = 'before' | 'after' | 'during'

/** A way to a database that can break. */
export interface DatabaseProxy {
  url: string
  /**
   * Breaks the connection of the next such statement: before the server gets it, when it has carried it out, or for the
   * client only, with the statement on its way until `release`.
   */
  breakNext: (statement: Statement, moment: Moment) => void
  release: () => void
  /** Whether the statement has been seen since. */
  hasBroken: () => boolean
}

/** Listens on the loopback address until the tests of the file are done. */
export async function startDatabaseProxy(databaseUrl: string): Promise<DatabaseProxy> {
  const url = new URL(databaseUrl)
  const [host, port] = [url.hostname, Number(url.port)]
  let next: { statement: Statement; moment: Moment } | undefined
  let release: (() => void) | undefined
  // Without `noDelay`, a statement in two chunks waits 40 ms for an acknowledgement.
  const server = createServer({ noDelay: true }, (client) => {
    const database = connect({ host, port, noDelay: true })
    let isBroken = false
    let isHeld = false
    let tag = ''
    let answers = ''
    const end = () => {
      client.destroy()
      if (!isHeld) database.destroy()
    }
    for (const socket of [client, database]) socket.on('error', end).on('close', end)
    client.on('data', (chunk) => {
      if (next && chunk.includes(`${next.statement}\0`)) {
        isBroken = true
        tag = `${next.statement.toUpperCase()}\0`
        isHeld = next.moment === 'during'
        if (next.moment !== 'after') end()
        next = undefined
      }
      if (isHeld) {
        release = () => {
          isHeld = false
          database.write(chunk)
        }
        return
      }
      database.write(chunk)
    })
    database.on('data', (chunk) => {
      if (!isBroken) {
        client.write(chunk)
        return
      }
      // Statements that were sent before it are answered first. At its own answer it is done, and nobody is told.
      answers += chunk.toString('latin1')
      if (answers.includes(tag)) end()
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  afterFile(() => void server.close())
  url.host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    url: url.href,
    breakNext: (statement, moment) => (next = { statement, moment }),
    release: () => release?.(),
    hasBroken: () => next === undefined,
  }
}
