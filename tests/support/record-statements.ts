import { AsyncLocalStorage } from 'node:async_hooks'
import pg from 'pg'
import { vi } from 'vitest'

const recording = new AsyncLocalStorage<object>()

/** What was sent to the database, in and out of transactions. */
export interface Statements {
  texts: string[]
  /** The values of each of the texts. */
  values: unknown[][]
  /** The number of rows that they returned. */
  rows: number
  /** The statements by their names or texts: those that were sent before an earlier one was answered share a round trip. */
  roundTrips: string[][]
}

/** Runs something; returns the statements that were sent meanwhile. */
export async function recordStatements(run: () => Promise<unknown>): Promise<Statements> {
  const record: Statements = { texts: [], values: [], rows: 0, roundTrips: [] }
  let isAnswered = true
  const count = (result: unknown) => {
    isAnswered = true
    record.rows += (result as { rows?: unknown[] } | undefined)?.rows?.length ?? 0
  }
  // eslint-disable-next-line @typescript-eslint/unbound-method -- it is called with the client as `this` below
  const send = pg.Client.prototype.query as (...args: unknown[]) => unknown
  const query = vi.spyOn(pg.Client.prototype, 'query')
  query.mockImplementation(function (this: unknown, ...args: unknown[]) {
    const [first, values] = args as [string | { text: string; name?: string }, unknown]
    const text = typeof first === 'string' ? first : first.text
    // Not those of jobs and other work in the background, and not what a new connection begins with.
    if (recording.getStore() !== record || text.startsWith('set lock_timeout'))
      return send.apply(this, args) as never
    record.texts.push(text)
    record.values.push(Array.isArray(values) ? values : [])
    if (isAnswered) record.roundTrips.push([])
    isAnswered = false
    record.roundTrips.at(-1)?.push((typeof first === 'string' ? undefined : first.name) ?? text)
    const callback = args.at(-1)
    if (typeof callback === 'function') {
      args[args.length - 1] = (error: unknown, result: unknown) => {
        count(result)
        ;(callback as (error: unknown, result: unknown) => void)(error, result)
      }
      return send.apply(this, args) as never
    }
    const sent = send.apply(this, args) as Promise<unknown>
    sent.then(count, count)
    return sent as never
  })
  try {
    // Awaited inside: `inject` sends a request only when its result is awaited.
    await recording.run(record, async () => {
      await run()
    })
    return record
  } finally {
    query.mockRestore()
  }
}
