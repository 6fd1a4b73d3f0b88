import { sql } from 'drizzle-orm'
import { index, jsonb, pgTable, primaryKey, text, uuid } from 'drizzle-orm/pg-core'
import { notificationKinds, type NotificationData } from '../../domain/notifications.ts'
import { instant, keyInWorkspace } from './columns.ts'
import { comments } from './comments.ts'
import { keyOfMembership } from './memberships.ts'
import { seeds } from './seeds.ts'
import { users } from './users.ts'

/**
 * What people are told in their inbox, one row for each of them. The foreign key to the membership deletes them when it
 * ends.
 */
export const notifications = pgTable(
  'notifications',
  {
    userId: uuid('user_id').notNull(),
    /** The same for all who are told of the same. */
    id: uuid('id').notNull(),
    workspaceId: uuid('workspace_id').notNull(),
    kind: text('kind', { enum: notificationKinds }).notNull(),
    seedId: uuid('seed_id'),
    commentId: uuid('comment_id'),
    /** Who did it; null for the service. */
    actorUserId: uuid('actor_user_id').references(() => users.id, { onDelete: 'set null' }),
    /** The name of the actor at the time. */
    actorName: text('actor_name').notNull(),
    /** The agent that did it for the actor; null if the actor did. */
    agentName: text('agent_name'),
    /** What its text is made of, beside the columns. No name of a person and no text of theirs. */
    data: jsonb('data').$type<NotificationData>().notNull(),
    createdAt: instant('created_at').notNull(),
    readAt: instant('read_at'),
    /** When it was mailed, or was not mailed because it was read or mails were off. */
    mailedAt: instant('mailed_at'),
  },
  (table) => [
    primaryKey({ columns: [table.userId, table.id] }),
    keyOfMembership('notifications_membership_fk', table, table.userId).onDelete('cascade'),
    keyInWorkspace('notifications_seed_fk', table, table.seedId, seeds).onDelete('cascade'),
    keyInWorkspace('notifications_comment_fk', table, table.commentId, comments).onDelete('cascade'),
    index('notifications_by_user_idx').on(table.userId, table.createdAt, table.id),
    index('notifications_unread_idx')
      .on(table.userId, table.createdAt, table.id)
      .where(sql`${table.readAt} is null`),
    index('notifications_unmailed_idx')
      .on(table.createdAt)
      .where(sql`${table.mailedAt} is null`),
    index('notifications_membership_idx').on(table.workspaceId, table.userId),
    index('notifications_seed_id_idx')
      .on(table.seedId)
      .where(sql`${table.seedId} is not null`),
    index('notifications_comment_id_idx')
      .on(table.commentId)
      .where(sql`${table.commentId} is not null`),
    index('notifications_actor_idx').on(table.actorUserId),
    // For deleting old ones.
    index('notifications_created_at_idx').on(table.createdAt),
  ],
)

/** When people were sent the last digest of their notifications. */
export const notificationDigests = pgTable('notification_digests', {
  userId: uuid('user_id')
    .primaryKey()
    .references(() => users.id, { onDelete: 'cascade' }),
  sentAt: instant('sent_at').notNull(),
})
