import { customType, timestamp } from 'drizzle-orm/pg-core'

/** Raw bytes, as a Buffer. */
export const bytea = customType<{ data: Buffer }>({ dataType: () => 'bytea' })

/**
 * An instant, in milliseconds like JavaScript's Date: what is read back equals what was written, so that it can serve
 * as a key of keyset pagination.
 */
export const instant = (name: string) => timestamp(name, { withTimezone: true, precision: 3, mode: 'date' })
