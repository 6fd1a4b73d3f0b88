import { index, pgTable, text } from 'drizzle-orm/pg-core'
import { instant } from './columns.ts'

/**
 * All stored pictures. A row is inserted before its file and deleted after it, so that files left over from a crash are
 * found without listing the storage.
 */
export const pictures = pgTable(
  'pictures',
  {
    /** The storage key, with 192 random bits. */
    key: text('key').primaryKey(),
    /** Null while a user or a workspace has the picture. */
    unusedSince: instant('unused_since'),
  },
  (table) => [index('pictures_unused_since_idx').on(table.unusedSince)],
)
