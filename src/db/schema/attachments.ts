import { sql } from 'drizzle-orm'
import { bigint, index, integer, pgTable, smallint, text, uuid } from 'drizzle-orm/pg-core'
import { bytea, instant, keyInWorkspace } from './columns.ts'
import { comments } from './comments.ts'
import { evidence, seeds } from './seeds.ts'
import { users } from './users.ts'
import { workspaceId, workspaces } from './workspaces.ts'

/**
 * The files of workspaces. Those of a seed have its id, also if they are of its evidence or of a comment; those that nothing
 * uses have none. A trigger marks the stored files of deleted rows as unused.
 */
export const attachments = pgTable(
  'attachments',
  {
    id: uuid('id').primaryKey(),
    workspaceId: workspaceId(),
    name: text('name').notNull(),
    /** The media type, by the content. */
    type: text('type').notNull(),
    bytes: integer('bytes').notNull(),
    /** In pixels, of images. */
    width: integer('width'),
    height: integer('height'),
    sha256: bytea('sha256').notNull(),
    /** The key of the stored file, and of the thumbnail of an image. */
    key: text('key').notNull(),
    thumbnailKey: text('thumbnail_key'),
    /** The beginning of a text, for the search and for agents. */
    text: text('text'),
    createdByUserId: uuid('created_by_user_id').references(() => users.id, { onDelete: 'set null' }),
    createdAt: instant('created_at').notNull(),
    seedId: uuid('seed_id'),
    evidenceId: uuid('evidence_id'),
    commentId: uuid('comment_id'),
    /** Its place among the files of the same. */
    position: smallint('position').notNull().default(0),
  },
  (table) => [
    keyInWorkspace('attachments_seed_fk', table, table.seedId, seeds).onDelete('cascade'),
    keyInWorkspace('attachments_evidence_fk', table, table.evidenceId, evidence).onDelete('cascade'),
    keyInWorkspace('attachments_comment_fk', table, table.commentId, comments).onDelete('cascade'),
    index('attachments_by_workspace_idx').on(table.workspaceId, table.createdAt, table.id),
    index('attachments_by_seed_idx')
      .on(table.seedId)
      .where(sql`${table.seedId} is not null`),
    // For the files of the seed itself, which each list of seeds has.
    index('attachments_of_seed_idx')
      .on(table.seedId)
      .where(sql`${table.evidenceId} is null and ${table.commentId} is null`),
    index('attachments_by_evidence_idx')
      .on(table.evidenceId)
      .where(sql`${table.evidenceId} is not null`),
    index('attachments_by_comment_idx')
      .on(table.commentId)
      .where(sql`${table.commentId} is not null`),
    index('attachments_unused_idx')
      .on(table.createdAt)
      .where(sql`${table.seedId} is null`),
    // For exporting and deleting a person.
    index('attachments_creator_idx').on(table.createdByUserId, table.id),
  ],
)

/** How many bytes the files of workspaces have. Triggers of `attachments` keep it. */
export const workspaceStorage = pgTable('workspace_storage', {
  workspaceId: uuid('workspace_id')
    .primaryKey()
    .references(() => workspaces.id, { onDelete: 'cascade' }),
  attachmentBytes: bigint('attachment_bytes', { mode: 'number' }).notNull(),
})
