import { drizzle } from 'drizzle-orm/node-postgres'
import type pg from 'pg'

/**
 * Drizzle on a pool, with transactions that survive the loss of their connection. Drizzle's own (0.45) keep a connection
 * for ever on which `begin` has failed, and leave an error without a listener, which would end the process.
 */
export function openDrizzle(pool: pg.Pool): ReturnType<typeof drizzle<Record<string, never>, pg.Pool>> {
  const db = drizzle({ client: pool })
  db.transaction = async (run, config) => {
    const client = await pool.connect()
    client.on('error', ignore)
    try {
      return await drizzle({ client }).transaction(run, config)
    } finally {
      client.off('error', ignore)
      // The pool closes a broken connection instead of keeping it.
      client.release()
    }
  }
  return db
}

function ignore(): void {
  // The statement on its way fails too, or the next one does.
}
