import DataLoader from 'dataloader'
import { sql, type SQL } from 'drizzle-orm'

const batchSizeMax = 100

/**
 * Makes a look-up of which all calls in one turn of the event loop share one statement. `readAll` returns the values of
 * all keys in their order. Nothing is kept: a later call reads the database again. With `nameOf`, calls in one turn whose
 * keys have the same name share a value.
 */
export function createBatch<Key, Value>(
  readAll: (keys: readonly Key[]) => Promise<readonly Value[]>,
  nameOf?: (key: Key) => string,
): (key: Key) => Promise<Value> {
  const readAnew = (keys: readonly Key[]) => {
    loader.clearAll()
    return readAll(keys)
  }
  const loader = new DataLoader<Key, Value, unknown>(readAnew, {
    ...(nameOf ? { cacheKeyFn: nameOf } : { cache: false }),
    maxBatchSize: batchSizeMax,
    // In the next turn, after all sockets that are readable now have been read.
    batchScheduleFn: setImmediate,
  })
  return (key) => loader.load(key)
}

/**
 * The keys of a batch as an array parameter of a prepared statement. The planner does not see its length: it would find a
 * plan for few keys cheaper than the general plan, and plan the statement anew at every call.
 */
export function keysParameter(name: string, type: 'bytea' | 'text' | 'uuid'): SQL {
  return sql`(select ${sql.placeholder(name)}::${sql.raw(type)}[])::${sql.raw(type)}[]`
}

/** The ordinal of a key, which begins at 1, in a query from `unnest(…) with ordinality as asked (…, ordinal)`. */
export const ordinal = sql<number>`asked.ordinal::int`

/** The values of a batch by the ordinal of their key, which begins at 1 (`with ordinality`); undefined without a row. */
export function byOrdinal<Value>(
  length: number,
  rows: readonly { ordinal: number; value: Value }[],
): (Value | undefined)[] {
  const values = new Array<Value | undefined>(length).fill(undefined)
  for (const { ordinal, value } of rows) values[ordinal - 1] = value
  return values
}
