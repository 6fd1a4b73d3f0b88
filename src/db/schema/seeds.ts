import { sql } from 'drizzle-orm'
import { foreignKey, index, integer, pgTable, primaryKey, text, unique, uuid } from 'drizzle-orm/pg-core'
import { evidenceKinds, seedStatuses, verdicts } from '../../domain/seeds.ts'
import { instant } from './columns.ts'
import { memberships } from './memberships.ts'
import { users } from './users.ts'
import { workspaceId } from './workspaces.ts'

/** The seeds of workspaces: early ideas that participants test. */
export const seeds = pgTable(
  'seeds',
  {
    id: uuid('id').primaryKey(),
    workspaceId: workspaceId(),
    title: text('title').notNull(),
    summary: text('summary').notNull(),
    problem: text('problem'),
    audience: text('audience'),
    hypothesis: text('hypothesis'),
    successCriteria: text('success_criteria')
      .array()
      .notNull()
      .default(sql`'{}'`),
    status: text('status', { enum: seedStatuses }).notNull(),
    /** Of the last change of the status: when, why and by whom. Null before the first; a trigger sets it for older versions. */
    statusChangedAt: instant('status_changed_at'),
    statusReason: text('status_reason'),
    statusChangedByUserId: uuid('status_changed_by_user_id').references(() => users.id, {
      onDelete: 'set null',
    }),
    /** The name at that time. Null if the account was deleted. */
    statusChangedByName: text('status_changed_by_name'),
    createdByUserId: uuid('created_by_user_id').references(() => users.id, { onDelete: 'set null' }),
    /** The agent that created it for that person, by its name in the grant; null if the person did. */
    agentName: text('agent_name'),
    /** The grant of that agent, which may be gone; null also for what agents created before the column. */
    grantId: uuid('grant_id'),
    /** The member who leads it. Without a lead when that membership ends. */
    leadUserId: uuid('lead_user_id'),
    createdAt: instant('created_at').notNull(),
    /** The last edit of the seed, or the last evidence. */
    updatedAt: instant('updated_at').notNull(),
    /** Since when it is deleted: nobody sees it, until it is restored or erased. */
    deletedAt: instant('deleted_at'),
    /**
     * The pieces of evidence by their verdict, without what was withdrawn, the comments and the participants; the times of the
     * newest evidence that counts and of the newest comment. Triggers keep them, and the time below.
     */
    supportsCount: integer('supports_count').notNull().default(0),
    contradictsCount: integer('contradicts_count').notNull().default(0),
    neutralCount: integer('neutral_count').notNull().default(0),
    commentCount: integer('comment_count').notNull().default(0),
    participantCount: integer('participant_count').notNull().default(0),
    lastEvidenceAt: instant('last_evidence_at'),
    lastCommentAt: instant('last_comment_at'),
    /** The last change of the seed, its evidence, comments, participants or lead, or its restoration. */
    activityAt: instant('activity_at').notNull(),
  },
  (table) => [
    // In the migration it sets only the lead to null, which Drizzle cannot express.
    foreignKey({
      name: 'seeds_lead_fk',
      columns: [table.workspaceId, table.leadUserId],
      foreignColumns: [memberships.workspaceId, memberships.userId],
    }).onDelete('set null'),
    index('seeds_by_lead_idx')
      .on(table.workspaceId, table.leadUserId)
      .where(sql`${table.leadUserId} is not null`),
    index('seeds_deleted_idx')
      .on(table.deletedAt)
      .where(sql`${table.deletedAt} is not null`),
    index('seeds_by_workspace_idx').on(table.workspaceId, table.createdAt, table.id),
    // For filters by a status that few seeds have.
    index('seeds_by_status_idx').on(table.workspaceId, table.status, table.createdAt, table.id),
    index('seeds_by_change_idx').on(table.workspaceId, table.updatedAt, table.id),
    index('seeds_by_activity_idx').on(table.workspaceId, table.activityAt, table.id),
    // For the foreign keys of what belongs to a seed, which is in the same workspace.
    unique('seeds_of_workspace_key').on(table.workspaceId, table.id),
    // For exporting and deleting a person.
    index('seeds_creator_idx').on(table.createdByUserId, table.id),
    index('seeds_decider_idx')
      .on(table.statusChangedByUserId, table.id)
      .where(sql`${table.statusChangedByUserId} is not null`),
  ],
)

/** The participants of seeds. The foreign key to the membership deletes them when it ends. */
export const seedParticipants = pgTable(
  'seed_participants',
  {
    seedId: uuid('seed_id')
      .notNull()
      .references(() => seeds.id, { onDelete: 'cascade' }),
    userId: uuid('user_id').notNull(),
    workspaceId: uuid('workspace_id').notNull(),
    joinedAt: instant('joined_at').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.seedId, table.userId] }),
    foreignKey({
      name: 'seed_participants_membership_fk',
      columns: [table.workspaceId, table.userId],
      foreignColumns: [memberships.workspaceId, memberships.userId],
    }).onDelete('cascade'),
    index('seed_participants_membership_idx').on(table.workspaceId, table.userId),
  ],
)

/**
 * Who follows seeds: they are notified of what happens to them. The foreign key to the membership deletes them when it
 * ends.
 */
export const seedFollowers = pgTable(
  'seed_followers',
  {
    seedId: uuid('seed_id')
      .notNull()
      .references(() => seeds.id, { onDelete: 'cascade' }),
    userId: uuid('user_id').notNull(),
    workspaceId: uuid('workspace_id').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.seedId, table.userId] }),
    foreignKey({
      name: 'seed_followers_membership_fk',
      columns: [table.workspaceId, table.userId],
      foreignColumns: [memberships.workspaceId, memberships.userId],
    }).onDelete('cascade'),
    index('seed_followers_membership_idx').on(table.workspaceId, table.userId),
  ],
)

/** The evidence of seeds. It outlives the membership of its author, whose name is stored at the time of writing. */
export const evidence = pgTable(
  'evidence',
  {
    id: uuid('id').primaryKey(),
    /** That of the seed. A trigger fills it in for the version before, which does not know the column. */
    workspaceId: uuid('workspace_id').notNull(),
    seedId: uuid('seed_id').notNull(),
    kind: text('kind', { enum: evidenceKinds }).notNull(),
    verdict: text('verdict', { enum: verdicts }).notNull(),
    summary: text('summary').notNull(),
    sourceUrl: text('source_url'),
    authorUserId: uuid('author_user_id').references(() => users.id, { onDelete: 'set null' }),
    authorName: text('author_name').notNull(),
    /** The agent that added it for the author, by its name in the grant; null if the author did. */
    agentName: text('agent_name'),
    createdAt: instant('created_at').notNull(),
    /** When the author corrected it last. */
    editedAt: instant('edited_at'),
    /** Since when it no longer counts: lists and validation kits leave it out. */
    withdrawnAt: instant('withdrawn_at'),
    withdrawnByUserId: uuid('withdrawn_by_user_id').references(() => users.id, { onDelete: 'set null' }),
    withdrawnByName: text('withdrawn_by_name'),
    withdrawnReason: text('withdrawn_reason'),
  },
  (table) => [
    foreignKey({
      name: 'evidence_seed_fk',
      columns: [table.workspaceId, table.seedId],
      foreignColumns: [seeds.workspaceId, seeds.id],
    }).onDelete('cascade'),
    index('evidence_by_seed_idx').on(table.seedId, table.createdAt, table.id),
    // For exporting and deleting a person.
    index('evidence_author_idx').on(table.authorUserId, table.id),
    index('evidence_withdrawn_by_idx')
      .on(table.withdrawnByUserId)
      .where(sql`${table.withdrawnByUserId} is not null`),
  ],
)
