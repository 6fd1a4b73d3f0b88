import { index, pgTable, text } from 'drizzle-orm/pg-core'
import { instant } from '../columns.ts'

/**
 * Every picture in the storage, from before it is put there until after it is deleted: whatever a crash leaves behind
 * is found here, without listing the storage.
 */
export const pictures = pgTable(
  'pictures',
  {
    /** The storage key, unguessable. */
    key: text('key').primaryKey(),
    /** Since when nothing shows the picture; null while something does. */
    unusedSince: instant('unused_since'),
  },
  (table) => [index('pictures_unused_since_idx').on(table.unusedSince)],
)
