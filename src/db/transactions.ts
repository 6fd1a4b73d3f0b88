import { drizzle } from 'drizzle-orm/node-postgres'
import type pg from 'pg'

/** Drizzle on a pool. The transactions of Drizzle 0.45 leak a connection whose `begin` failed; these release it. */
export function openDrizzle(pool: pg.Pool): ReturnType<typeof drizzle<Record<string, never>, pg.Pool>> {
  const db = drizzle({ client: pool })
  db.transaction = async (run, config) => {
    const client = await pool.connect()
    try {
      return await drizzle({ client }).transaction(run, config)
    } finally {
      // The pool closes a broken connection.
      client.release()
    }
  }
  return db
}
