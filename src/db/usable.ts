import type pg from 'pg'

/** The database cannot be used, for a reason that an operator can fix. */
export class DatabaseUnusableError extends Error {
  override readonly name = 'DatabaseUnusableError'
}

/**
 * Connects to the database once. Throws DatabaseUnusableError when the server is unreachable or refuses the connection,
 * or when the URL of the setting is wrong. Its message is one line, without a password.
 */
export async function assertUsable(pool: pg.Pool, setting = 'DATABASE_URL'): Promise<void> {
  try {
    await pool.query('select 1')
  } catch (cause) {
    // If all addresses of a host name refuse, the error has a code and no message.
    const { code, message } = cause as { code?: string; message?: string }
    const reason = (message || code || String(cause)).split('\n')[0]
    throw new DatabaseUnusableError(`The database at ${setting} cannot be used: ${reason}`, { cause })
  }
}
