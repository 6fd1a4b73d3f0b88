import { isNotNull, isNull, or, sql } from 'drizzle-orm'
import { date, index, integer, jsonb, pgTable, primaryKey, text, unique, uuid } from 'drizzle-orm/pg-core'
import type { Criterion } from '../../domain/criteria.ts'
import { closedStatuses, evidenceKinds, seedStatuses, verdicts } from '../../domain/seeds.ts'
import { instant, keyInWorkspace } from './columns.ts'
import { keyOfMembership } from './memberships.ts'
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
    /**
     * The same texts, with an id and a state each. A trigger makes it of the texts, which the version before writes alone,
     * and another one takes the ids of what is gone out of the evidence.
     */
    criteria: jsonb('criteria').$type<Criterion[]>().notNull().default([]),
    /** What is to be decided about it, and by when, in UTC. */
    question: text('question'),
    decideBy: date('decide_by', { mode: 'string' }),
    /** The date to decide by that its people were reminded of last. */
    remindedFor: date('reminded_for', { mode: 'string' }),
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
    /** The team that it belongs to, and its labels. It keeps the ids of those that are gone, which nothing shows. */
    teamId: uuid('team_id'),
    labelIds: uuid('label_ids')
      .array()
      .notNull()
      .default(sql`'{}'`),
    createdAt: instant('created_at').notNull(),
    /** The last edit of the seed, or the last evidence. */
    updatedAt: instant('updated_at').notNull(),
    /** Since when it is deleted or merged: nobody sees it, until it is restored, taken out again or erased. */
    deletedAt: instant('deleted_at'),
    /** The seed that it was merged into, when and by whom; `deletedAt` has the time too, so that every list leaves it out. */
    mergedIntoSeedId: uuid('merged_into_seed_id'),
    mergedAt: instant('merged_at'),
    mergedByUserId: uuid('merged_by_user_id').references(() => users.id, { onDelete: 'set null' }),
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
    keyOfMembership('seeds_lead_fk', table, table.leadUserId).onDelete('set null'),
    keyInWorkspace('seeds_merged_into_fk', table, table.mergedIntoSeedId, table).onDelete('cascade'),
    index('seeds_by_lead_idx')
      .on(table.workspaceId, table.leadUserId)
      .where(sql`${table.leadUserId} is not null`),
    index('seeds_by_team_idx')
      .on(table.workspaceId, table.teamId)
      .where(sql`${table.teamId} is not null`),
    index('seeds_deleted_idx')
      .on(table.deletedAt)
      .where(sql`${table.deletedAt} is not null`),
    index('seeds_by_workspace_idx').on(table.workspaceId, table.createdAt, table.id),
    // For filters by a status that few seeds have.
    index('seeds_by_status_idx').on(table.workspaceId, table.status, table.createdAt, table.id),
    index('seeds_by_change_idx').on(table.workspaceId, table.updatedAt, table.id),
    index('seeds_by_activity_idx').on(table.workspaceId, table.activityAt, table.id),
    index('seeds_due_idx')
      .on(table.workspaceId, table.decideBy)
      .where(sql`${table.decideBy} is not null`),
    index('seeds_reminders_idx')
      .on(table.decideBy, table.id)
      .where(sql`${table.decideBy} is distinct from ${table.remindedFor}`),
    // Of those that are not decided, since when they have no new evidence.
    index('seeds_silent_idx')
      .on(table.workspaceId, sql`coalesce(${table.lastEvidenceAt}, ${table.createdAt})`)
      .where(sql`${table.status} not in ('validated', 'dropped')`),
    // For the foreign keys of what belongs to it, which is in the same workspace.
    unique('seeds_of_workspace_key').on(table.workspaceId, table.id),
    // For exporting and deleting a person.
    index('seeds_creator_idx').on(table.createdByUserId, table.id),
    index('seeds_merged_into_idx')
      .on(table.mergedIntoSeedId, table.mergedAt)
      .where(sql`${table.mergedIntoSeedId} is not null`),
    index('seeds_merged_by_idx')
      .on(table.mergedByUserId)
      .where(sql`${table.mergedByUserId} is not null`),
    index('seeds_decider_idx')
      .on(table.statusChangedByUserId, table.id)
      .where(sql`${table.statusChangedByUserId} is not null`),
  ],
)

/** Whether a seed is not decided. A literal, as its indexes have it. */
export const isUndecided = sql`${seeds.status} not in ${sql.raw(`('${closedStatuses.join("', '")}')`)}`

/** Since when a seed has had no new evidence, or has existed without any, as its index has it. */
export const quietSince = sql`coalesce(${seeds.lastEvidenceAt}, ${seeds.createdAt})`

/** Whether a seed is there to be read: it is not deleted, or it was merged, and is read as another one. */
export const isKeptOrMerged = or(isNull(seeds.deletedAt), isNotNull(seeds.mergedIntoSeedId))

/** The participants of seeds. The foreign key to the membership deletes them when it ends. */
export const seedParticipants = pgTable(
  'seed_participants',
  {
    seedId: uuid('seed_id').notNull(),
    userId: uuid('user_id').notNull(),
    workspaceId: uuid('workspace_id').notNull(),
    joinedAt: instant('joined_at').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.seedId, table.userId] }),
    keyInWorkspace('seed_participants_seed_fk', table, table.seedId, seeds).onDelete('cascade'),
    keyOfMembership('seed_participants_membership_fk', table, table.userId).onDelete('cascade'),
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
    seedId: uuid('seed_id').notNull(),
    userId: uuid('user_id').notNull(),
    workspaceId: uuid('workspace_id').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.seedId, table.userId] }),
    keyInWorkspace('seed_followers_seed_fk', table, table.seedId, seeds).onDelete('cascade'),
    keyOfMembership('seed_followers_membership_fk', table, table.userId).onDelete('cascade'),
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
    /** The criteria of the seed that it speaks to, in their order. */
    criterionIds: uuid('criterion_ids')
      .array()
      .notNull()
      .default(sql`'{}'`),
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
    /** How many people have said that they saw it too. A trigger keeps it. */
    seenByCount: integer('seen_by_count').notNull().default(0),
  },
  (table) => [
    keyInWorkspace('evidence_seed_fk', table, table.seedId, seeds).onDelete('cascade'),
    unique('evidence_of_workspace_key').on(table.workspaceId, table.id),
    index('evidence_by_seed_idx').on(table.seedId, table.createdAt, table.id),
    // For exporting and deleting a person.
    index('evidence_author_idx').on(table.authorUserId, table.id),
    index('evidence_withdrawn_by_idx')
      .on(table.withdrawnByUserId)
      .where(sql`${table.withdrawnByUserId} is not null`),
  ],
)

/**
 * Who has said that they saw what evidence found, too. The foreign key to the membership deletes what they said when it ends:
 * those who are counted can be asked.
 */
export const evidenceSeen = pgTable(
  'evidence_seen',
  {
    evidenceId: uuid('evidence_id').notNull(),
    userId: uuid('user_id').notNull(),
    workspaceId: uuid('workspace_id').notNull(),
    seenAt: instant('seen_at').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.evidenceId, table.userId] }),
    keyInWorkspace('evidence_seen_evidence_fk', table, table.evidenceId, evidence).onDelete('cascade'),
    keyOfMembership('evidence_seen_membership_fk', table, table.userId).onDelete('cascade'),
    index('evidence_seen_membership_idx').on(table.workspaceId, table.userId),
  ],
)
