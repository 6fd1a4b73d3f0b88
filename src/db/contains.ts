import { sql, type SQL } from 'drizzle-orm'
import type { AnyPgColumn } from 'drizzle-orm/pg-core'

/** Whether a column in lower case, as `lower` of PostgreSQL makes it, holds a text in whatever case, wherever. */
export function contains(column: AnyPgColumn | SQL, text: string): SQL {
  return isLike(column, `%${escapeLike(text)}%`)
}

/** Whether a column in lower case matches a pattern of `like` in whatever case. JavaScript has another lower case. */
export function isLike(column: AnyPgColumn | SQL, pattern: string): SQL {
  return sql`${column} like lower(${pattern}::text)`
}

/** A text as a pattern of `like` that matches it alone. */
export function escapeLike(text: string): string {
  return text.replaceAll(/[\\%_]/g, '\\$&')
}
