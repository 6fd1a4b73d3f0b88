import type pg from 'pg'

/** The database cannot be used at all, for a reason that a person can act upon. */
export class DatabaseUnusableError extends Error {
  override readonly name = 'DatabaseUnusableError'
}

/**
 * Asks the database something, once, before anything relies on it. Throws DatabaseUnusableError, whose message is one
 * line and holds no password, whether the server is away, refuses us, or DATABASE_URL is not what it should be.
 */
export async function assertUsable(pool: pg.Pool): Promise<void> {
  try {
    await pool.query('select 1')
  } catch (cause) {
    // All addresses of a name that refuse together come as an error with a code and no message.
    const { code, message } = cause as { code?: string; message?: string }
    const reason = (message || code || String(cause)).split('\n')[0]
    throw new DatabaseUnusableError(`The database at DATABASE_URL cannot be used: ${reason}`, { cause })
  }
}
