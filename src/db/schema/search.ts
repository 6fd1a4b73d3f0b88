import { customType, index, pgTable, primaryKey, text, uuid } from 'drizzle-orm/pg-core'
import { searchEntryKinds } from '../../domain/search.ts'
import { instant } from './columns.ts'
import { workspaceId } from './workspaces.ts'

const tsvector = customType<{ data: string }>({ dataType: () => 'tsvector' })

/**
 * What the search finds: a row for each seed, piece of evidence, comment, member, team and open invite, which triggers keep
 * (migrations 0003 and 0010). In the index the words of each workspace and kind are apart
 * (docs/design/search.md#the-index-of-words).
 */
export const searchEntries = pgTable(
  'search_entries',
  {
    workspaceId: workspaceId(),
    kind: text('kind', { enum: searchEntryKinds }).notNull(),
    /** Of what is found; of a member, that of the person; of the invited, that of the invite. */
    id: uuid('id').notNull(),
    /** When it was created, or when the member joined. */
    at: instant('at').notNull(),
    /** What `search_keys` makes of its texts. */
    words: tsvector('words').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.id, table.workspaceId] }),
    index('search_entries_newest_idx').on(table.workspaceId, table.kind, table.at, table.id),
    // A search reads all of what is not yet merged into the index, so that is kept short. In kB.
    index('search_entries_words_idx').using('gin', table.words).with({ gin_pending_list_limit: 256 }),
  ],
)
