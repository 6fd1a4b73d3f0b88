import { sql, type Placeholder, type SQL } from 'drizzle-orm'
import type { AnyPgColumn } from 'drizzle-orm/pg-core'

/** Whether a column contains a text, ignoring case. The column must be in the lower case of PostgreSQL's `lower`. */
export function contains(column: AnyPgColumn | SQL, text: string): SQL {
  return isLike(column, containsPattern(text))
}

/** The `like` pattern of the texts that contain a text. */
export function containsPattern(text: string): string {
  return `%${escapeLike(text)}%`
}

/**
 * Whether a lower-case column matches a `like` pattern, ignoring case. `lower` runs in PostgreSQL, as for the column.
 */
export function isLike(column: AnyPgColumn | SQL, pattern: string | Placeholder): SQL {
  return sql`${column} like lower(${pattern}::text)`
}

/** Escapes a text for use in a `like` pattern. */
export function escapeLike(text: string): string {
  return text.replaceAll(/[\\%_]/g, '\\$&')
}
