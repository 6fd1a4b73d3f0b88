import type { Config } from '../config.ts'
import { openDatabase, type Database } from '../db/client.ts'
import { findEmbeddedDatabase, startEmbeddedDatabase } from '../db/embedded.ts'
import { assertUsable } from '../db/usable.ts'

/**
 * Runs a command on the database: that of DATABASE_URL, or the embedded one, beside a service that runs it or started
 * for the length of the command.
 */
export async function withDatabase<T>(config: Config, run: (db: Database) => Promise<T>): Promise<T> {
  const { url, stop } = await findDatabase(config)
  const db = openDatabase({ url, poolMax: 2, onIdleError: () => undefined })
  try {
    await assertUsable(db.$client)
    return await run(db)
  } finally {
    await db.$client.end()
    await stop()
  }
}

async function findDatabase({
  databaseUrl,
  dataDir,
}: Config): Promise<{ url: string; stop: () => Promise<void> }> {
  const url = databaseUrl ?? (await findEmbeddedDatabase(dataDir))
  if (url !== undefined) return { url, stop: () => Promise.resolve() }
  return startEmbeddedDatabase({ dataDir })
}
