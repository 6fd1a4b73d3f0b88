import { like, type SQL } from 'drizzle-orm'
import type { AnyPgColumn } from 'drizzle-orm/pg-core'

/** Whether a column in lower case holds a text in lower case, wherever. */
export function contains(column: AnyPgColumn | SQL, text: string): SQL {
  return like(column, `%${escapeLike(text)}%`)
}

/** A text as a pattern of `like` that matches it alone. */
export function escapeLike(text: string): string {
  return text.replaceAll(/[\\%_]/g, '\\$&')
}
