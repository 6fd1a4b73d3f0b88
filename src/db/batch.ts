import DataLoader from 'dataloader'

const batchSizeMax = 100

/**
 * Makes a look-up of which all calls in one turn of the event loop share one statement. `readAll` returns the values of
 * all keys in their order. Nothing is kept: a later call reads the database again.
 */
export function createBatch<Key, Value>(
  readAll: (keys: readonly Key[]) => Promise<readonly Value[]>,
): (key: Key) => Promise<Value> {
  const loader = new DataLoader<Key, Value>(readAll, {
    cache: false,
    maxBatchSize: batchSizeMax,
    // In the next turn, after all sockets that are readable now have been read.
    batchScheduleFn: setImmediate,
  })
  return (key) => loader.load(key)
}
