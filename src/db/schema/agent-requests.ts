import { sql } from 'drizzle-orm'
import { boolean, index, pgTable, text, unique, uuid } from 'drizzle-orm/pg-core'
import type { AgentRequestState } from '../../domain/agent-requests.ts'
import { instant, keyInWorkspace } from './columns.ts'
import { comments } from './comments.ts'
import { users } from './users.ts'

/**
 * What people ask of agents by comments, which have the text and the name of the asker. Triggers cancel what waits when the
 * grant is revoked or gone or its person becomes a viewer, and when the asker leaves the workspace or becomes a viewer.
 */
export const agentRequests = pgTable(
  'agent_requests',
  {
    id: uuid('id').primaryKey(),
    /** That of the comment. */
    workspaceId: uuid('workspace_id').notNull(),
    commentId: uuid('comment_id').notNull(),
    /** The grant of the agent, which may be gone. */
    grantId: uuid('grant_id').notNull(),
    /** The name of the agent in its grant. */
    agentName: text('agent_name').notNull(),
    /** The person of the grant. */
    forUserId: uuid('for_user_id').references(() => users.id, { onDelete: 'set null' }),
    askedByUserId: uuid('asked_by_user_id').references(() => users.id, { onDelete: 'set null' }),
    state: text('state').$type<AgentRequestState>().notNull(),
    /** Why the agent declined. */
    reason: text('reason'),
    answerCommentId: uuid('answer_comment_id'),
    createdAt: instant('created_at').notNull(),
    expiresAt: instant('expires_at').notNull(),
    /** Whether a trigger has cancelled it, and its event is still to be appended. */
    isUntold: boolean('is_untold').notNull().default(false),
  },
  (table) => [
    keyInWorkspace('agent_requests_comment_fk', table, table.commentId, comments).onDelete('cascade'),
    // In the migration it sets only the answer to null, as that of the lead of a seed.
    keyInWorkspace('agent_requests_answer_fk', table, table.answerCommentId, comments).onDelete('set null'),
    unique('agent_requests_comment_grant_key').on(table.commentId, table.grantId),
    index('agent_requests_by_workspace_idx').on(table.workspaceId, table.createdAt, table.id),
    // For the inbox of an agent, and how many wait for it.
    index('agent_requests_waiting_idx')
      .on(table.grantId, table.createdAt)
      .where(sql`${table.state} = 'waiting'`),
    // For expiring.
    index('agent_requests_expiring_idx')
      .on(table.expiresAt)
      .where(sql`${table.state} = 'waiting'`),
    index('agent_requests_untold_idx')
      .on(table.id)
      .where(sql`${table.isUntold}`),
    index('agent_requests_asker_idx').on(table.askedByUserId, table.createdAt),
    index('agent_requests_for_user_idx').on(table.forUserId),
    index('agent_requests_answer_idx')
      .on(table.answerCommentId)
      .where(sql`${table.answerCommentId} is not null`),
  ],
)
