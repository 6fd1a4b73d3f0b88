import { AsyncLocalStorage } from 'node:async_hooks'
import pg from 'pg'
import { vi } from 'vitest'

const recording = new AsyncLocalStorage<object>()

/** Runs something; returns the statements that were sent meanwhile, in and out of transactions, and their rows. */
export async function recordStatements(
  run: () => Promise<unknown>,
): Promise<{ texts: string[]; rows: number }> {
  const record = { texts: [] as string[], rows: 0 }
  const count = (result: unknown) => {
    record.rows += (result as { rows?: unknown[] } | undefined)?.rows?.length ?? 0
  }
  // eslint-disable-next-line @typescript-eslint/unbound-method -- it is called with the client as `this` below
  const send = pg.Client.prototype.query as (...args: unknown[]) => unknown
  const query = vi.spyOn(pg.Client.prototype, 'query')
  query.mockImplementation(function (this: unknown, ...args: unknown[]) {
    const [first] = args as [string | { text: string }]
    const text = typeof first === 'string' ? first : first.text
    // Not those of jobs and other work in the background.
    if (recording.getStore() !== record) return send.apply(this, args) as never
    record.texts.push(text)
    const callback = args.at(-1)
    if (typeof callback === 'function') {
      args[args.length - 1] = (error: unknown, result: unknown) => {
        count(result)
        ;(callback as (error: unknown, result: unknown) => void)(error, result)
      }
      return send.apply(this, args) as never
    }
    return (send.apply(this, args) as Promise<unknown>).then((result) => {
      count(result)
      return result
    }) as never
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
