import { sql } from 'drizzle-orm'
import { index, pgTable, primaryKey, text, unique, uuid } from 'drizzle-orm/pg-core'
import { instant, keyInWorkspace } from './columns.ts'
import { evidence, seeds } from './seeds.ts'
import { userId, users } from './users.ts'

/** The comments on seeds and on their evidence. They outlive the membership of their author. */
export const comments = pgTable(
  'comments',
  {
    id: uuid('id').primaryKey(),
    /** That of the seed. A trigger fills it in for the version before, which does not know the column. */
    workspaceId: uuid('workspace_id').notNull(),
    seedId: uuid('seed_id').notNull(),
    /** The evidence that it is about; null for the seed itself. */
    evidenceId: uuid('evidence_id'),
    /** Markdown. A mention is `[@](user:ID)`: the name is read from the person, so that it can be erased. */
    body: text('body').notNull(),
    authorUserId: uuid('author_user_id').references(() => users.id, { onDelete: 'set null' }),
    /** The name of the author at the time. */
    authorName: text('author_name').notNull(),
    /** The agent that wrote it for the author, by its name in the grant; null if the author did. */
    agentName: text('agent_name'),
    /** The grant of that agent, which may be gone; null also for what agents wrote before the column. */
    grantId: uuid('grant_id'),
    createdAt: instant('created_at').notNull(),
    editedAt: instant('edited_at'),
  },
  (table) => [
    keyInWorkspace('comments_seed_fk', table, table.seedId, seeds).onDelete('cascade'),
    keyInWorkspace('comments_evidence_fk', table, table.evidenceId, evidence).onDelete('cascade'),
    unique('comments_of_workspace_key').on(table.workspaceId, table.id),
    index('comments_by_workspace_idx').on(table.workspaceId, table.createdAt, table.id),
    // For lists of what agents wrote, which may be little.
    index('comments_of_agents_idx')
      .on(table.workspaceId, table.createdAt, table.id)
      .where(sql`${table.agentName} is not null`),
    // For what was edited since a time.
    index('comments_edited_idx')
      .on(table.workspaceId, table.editedAt)
      .where(sql`${table.editedAt} is not null`),
    index('comments_by_seed_idx').on(table.seedId, table.createdAt, table.id),
    index('comments_by_evidence_idx')
      .on(table.evidenceId, table.createdAt, table.id)
      .where(sql`${table.evidenceId} is not null`),
    index('comments_author_idx').on(table.authorUserId),
  ],
)

/** The people whom comments mention: members at the time of writing. */
export const commentMentions = pgTable(
  'comment_mentions',
  {
    commentId: uuid('comment_id')
      .notNull()
      .references(() => comments.id, { onDelete: 'cascade' }),
    userId: userId(),
  },
  (table) => [
    primaryKey({ columns: [table.commentId, table.userId] }),
    index('comment_mentions_user_id_idx').on(table.userId),
  ],
)
