import { sql } from 'drizzle-orm'
import { index, integer, pgTable, primaryKey, text, uuid } from 'drizzle-orm/pg-core'
import {
  deliveryErrors,
  deliveryStatuses,
  webhookDisabledReasons,
  webhookFormats,
  webhookPauseReasons,
} from '../../domain/webhooks.ts'
import { bytea, instant } from './columns.ts'
import { users } from './users.ts'
import { workspaceId } from './workspaces.ts'

const scope = (name: string) =>
  uuid(name)
    .array()
    .notNull()
    .default(sql`'{}'`)

/** The webhooks of workspaces. */
export const webhooks = pgTable(
  'webhooks',
  {
    id: uuid('id').primaryKey(),
    workspaceId: workspaceId(),
    url: text('url').notNull(),
    description: text('description'),
    /** The chat that it sends messages to. Null: it sends events. */
    format: text('format', { enum: webhookFormats }),
    /** The types of events that it gets; empty: all, or those that everybody may see if it has a format. */
    types: text('types')
      .array()
      .notNull()
      .default(sql`'{}'`),
    /**
     * The seeds whose events it gets, the teams of such seeds and labels of them; empty: all events. The ids of what is gone
     * stay, and match nothing: an empty list would match all.
     */
    seedIds: scope('seed_ids'),
    teamIds: scope('team_ids'),
    labelIds: scope('label_ids'),
    /** The secret that signs, encrypted under APP_SECRET. */
    sealedSecret: bytea('sealed_secret').notNull(),
    /** Who was shown the secret. */
    shownToUserId: uuid('shown_to_user_id').references(() => users.id, { onDelete: 'set null' }),
    secretCreatedAt: instant('secret_created_at').notNull().defaultNow(),
    /**
     * The newest of `webhookFormerSecrets`, for the version before, which knows no others: it signs too until
     * `previousSecretUntil`. Null: no former secret signs.
     */
    previousSealedSecret: bytea('previous_sealed_secret'),
    previousSecretUntil: instant('previous_secret_until'),
    /** Null while it is active. */
    disabledReason: text('disabled_reason', { enum: webhookDisabledReasons }),
    createdAt: instant('created_at').notNull(),
    /** A few seconds behind, so that a busy webhook is not updated with every delivery. */
    lastDeliveryAt: instant('last_delivery_at'),
    lastFailureAt: instant('last_failure_at'),
    /** The first failure since the last delivery. */
    failingSince: instant('failing_since'),
    /** How often in a row its receiver asked for fewer requests. While it is not 0, one is sent at a time. */
    slowedCount: integer('slowed_count').notNull().default(0),
    /** Nothing is sent until then. */
    pausedUntil: instant('paused_until'),
    /** Null for the minute after a message to a chat, which is no pause to people. */
    pauseReason: text('pause_reason', { enum: webhookPauseReasons }),
    /**
     * A deleted webhook stays for a moment, so that events which are being written can refer to it
     * (docs/design/webhooks.md#deliveries).
     */
    deletedAt: instant('deleted_at'),
  },
  (table) => [
    index('webhooks_by_workspace_idx').on(table.workspaceId, table.createdAt, table.id),
    index('webhooks_shown_to_idx').on(table.shownToUserId),
  ],
)

/** The secrets of webhooks before their last rotations. Each signs too until its own time. */
export const webhookFormerSecrets = pgTable(
  'webhook_former_secrets',
  {
    id: uuid('id').primaryKey(),
    webhookId: uuid('webhook_id')
      .notNull()
      .references(() => webhooks.id, { onDelete: 'cascade' }),
    /** Encrypted under APP_SECRET. */
    sealedSecret: bytea('sealed_secret').notNull(),
    /** Who was shown it. */
    shownToUserId: uuid('shown_to_user_id').references(() => users.id, { onDelete: 'set null' }),
    /** When another one took its place. */
    createdAt: instant('created_at').notNull(),
    signsUntil: instant('signs_until').notNull(),
  },
  (table) => [
    index('webhook_former_secrets_webhook_id_idx').on(table.webhookId),
    index('webhook_former_secrets_shown_to_idx').on(table.shownToUserId),
  ],
)

/**
 * The events that webhooks get, or got within the last 30 days. Written in the transaction of the event, before it, so that
 * nothing waits for a lock after the event; so there is no foreign key to it. Both are deleted with the workspace only.
 */
export const webhookDeliveries = pgTable(
  'webhook_deliveries',
  {
    webhookId: uuid('webhook_id')
      .notNull()
      .references(() => webhooks.id, { onDelete: 'cascade' }),
    eventId: uuid('event_id').notNull(),
    type: text('type').notNull(),
    status: text('status', { enum: deliveryStatuses }).notNull(),
    /** The attempts that have ended. */
    attempts: integer('attempts').notNull(),
    lastStatus: integer('last_status'),
    lastError: text('last_error', { enum: deliveryErrors }),
    /** Null unless it is pending. */
    nextAttemptAt: instant('next_attempt_at'),
    /** A process is sending it until then. */
    leasedUntil: instant('leased_until'),
    /** The time of the event. */
    createdAt: instant('created_at').notNull(),
    deliveredAt: instant('delivered_at'),
  },
  (table) => [
    primaryKey({ columns: [table.webhookId, table.eventId] }),
    index('webhook_deliveries_by_webhook_idx').on(table.webhookId, table.createdAt, table.eventId),
    // For lists of the few that are pending or failed.
    index('webhook_deliveries_by_status_idx')
      .on(table.webhookId, table.status, table.createdAt, table.eventId)
      .where(sql`${table.status} <> 'delivered'`),
    index('webhook_deliveries_due_idx')
      .on(table.webhookId, table.nextAttemptAt)
      .where(sql`${table.status} = 'pending'`),
    index('webhook_deliveries_leased_idx')
      .on(table.webhookId, table.leasedUntil)
      .where(sql`${table.leasedUntil} is not null`),
  ],
)
