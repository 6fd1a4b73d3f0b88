import { customType, timestamp } from 'drizzle-orm/pg-core'

/** Bytes, as a Buffer. */
export const bytea = customType<{ data: Buffer }>({ dataType: () => 'bytea' })

/**
 * A timestamp with the millisecond precision of a JavaScript Date: a value that is read equals the one that was
 * written, as keyset pagination requires.
 */
export const instant = (name: string) => timestamp(name, { withTimezone: true, precision: 3, mode: 'date' })
