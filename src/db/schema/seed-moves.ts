import { pgTable, primaryKey, text, uuid } from 'drizzle-orm/pg-core'
import { seeds } from './seeds.ts'

/** What of a seed can be moved to another one; of webhooks, that they get the events of the other one too. */
export const movedKinds = [
  'evidence',
  'comment',
  'participant',
  'follower',
  'notification',
  'webhook',
] as const

/**
 * What was moved out of each merged seed, so that just this moves back. Kept as long as a merge can be undone. Without
 * foreign keys to what was moved: what is gone does not move back.
 */
export const seedMoves = pgTable(
  'seed_moves',
  {
    /** The seed that was merged. */
    seedId: uuid('seed_id')
      .notNull()
      .references(() => seeds.id, { onDelete: 'cascade' }),
    kind: text('kind', { enum: movedKinds }).notNull(),
    /** The id of what was moved; of participants and followers, that of the person. */
    partId: uuid('part_id').notNull(),
    /** Of evidence: the success criteria that it spoke to, which the other seed does not have. Null for all else. */
    criterionIds: uuid('criterion_ids').array(),
  },
  (table) => [primaryKey({ columns: [table.seedId, table.kind, table.partId] })],
)
