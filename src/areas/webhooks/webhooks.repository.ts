import { and, asc, count, desc, eq, gt, inArray, isNotNull, isNull, lt, sql } from 'drizzle-orm'
import type { Executor } from '../../db/client.ts'
import { hiddenParameter } from '../../db/sql/hidden-parameter.ts'
import { timestampText } from '../../db/sql/json-rows.ts'
import { prepared } from '../../db/sql/prepared.ts'
import { labels } from '../../db/schema/labels.ts'
import { memberships } from '../../db/schema/memberships.ts'
import { seeds } from '../../db/schema/seeds.ts'
import { subquery } from '../../db/schema/subquery.ts'
import { teams } from '../../db/schema/teams.ts'
import { users } from '../../db/schema/users.ts'
import { webhookDeliveries, webhookFormerSecrets, webhooks } from '../../db/schema/webhooks.ts'
import { isWorkspace, workspaces } from '../../db/schema/workspaces.ts'
import { createId } from '../../kernel/ids.ts'
import type { WebhookDisabledReason, WebhookScope } from '../../domain/webhooks.ts'

const shownColumns = {
  id: webhooks.id,
  url: webhooks.url,
  description: webhooks.description,
  format: webhooks.format,
  types: webhooks.types,
  seedIds: webhooks.seedIds,
  teamIds: webhooks.teamIds,
  labelIds: webhooks.labelIds,
  disabledReason: webhooks.disabledReason,
  createdAt: webhooks.createdAt,
  lastDeliveryAt: webhooks.lastDeliveryAt,
  lastFailureAt: webhooks.lastFailureAt,
  failingSince: webhooks.failingSince,
  pausedUntil: webhooks.pausedUntil,
  pauseReason: webhooks.pauseReason,
  shownToUserId: webhooks.shownToUserId,
  secretCreatedAt: webhooks.secretCreatedAt,
  previousSecretUntil: webhooks.previousSecretUntil,
  /** Also those that have ended. */
  formerSecretsUntil: subquery(sql<string[]>`(
    select coalesce(json_agg(${timestampText(webhookFormerSecrets.signsUntil)}), '[]')
    from ${webhookFormerSecrets} where ${webhookFormerSecrets.webhookId} = ${webhooks.id})`).as(
    'former_secrets_until',
  ),
}

const ofWorkspace = and(eq(webhooks.workspaceId, sql.placeholder('workspaceId')), isNull(webhooks.deletedAt))
const isSame = and(eq(webhooks.id, sql.placeholder('id')), ofWorkspace)

const selectOfWorkspace = prepared((executor) =>
  executor
    .select(shownColumns)
    .from(webhooks)
    .where(ofWorkspace)
    .orderBy(asc(webhooks.createdAt), asc(webhooks.id))
    .prepare('webhooks_select_of_workspace'),
)

/** The webhooks of a workspace, oldest first. */
export function listWebhooks(executor: Executor, workspaceId: string) {
  return selectOfWorkspace(executor).execute({ workspaceId })
}

export type WebhookRow = Awaited<ReturnType<typeof listWebhooks>>[number]

const selectOne = prepared((executor) =>
  executor.select(shownColumns).from(webhooks).where(isSame).prepare('webhooks_select'),
)

/** A webhook of a workspace. */
export async function findWebhook(
  executor: Executor,
  workspaceId: string,
  id: string,
): Promise<WebhookRow | undefined> {
  const [webhook] = await selectOne(executor).execute({ workspaceId, id })
  return webhook
}

/** The secrets that a request to a webhook is signed with, encrypted. */
export interface WebhookSecrets {
  sealedSecret: Buffer
  previousSealedSecret: Buffer | null
  previousSecretUntil: Date | null
  /** Those of `webhookFormerSecrets` that sign, the newest first. */
  formerSealedSecrets: Buffer[]
}

/** The secrets that requests to a webhook are signed with, at the `now` of the statement. */
export const secretColumns = {
  sealedSecret: webhooks.sealedSecret,
  previousSealedSecret: webhooks.previousSealedSecret,
  previousSecretUntil: webhooks.previousSecretUntil,
  formerSealedSecrets: subquery(sql<Buffer[]>`array(
    select ${webhookFormerSecrets.sealedSecret} from ${webhookFormerSecrets}
    where ${webhookFormerSecrets.webhookId} = ${webhooks.id} and ${webhooks.previousSecretUntil} is not null
      and ${webhookFormerSecrets.signsUntil} > ${hiddenParameter('now', 'timestamptz')}
    order by ${webhookFormerSecrets.createdAt} desc, ${webhookFormerSecrets.id} desc)`).as(
    'former_sealed_secrets',
  ),
}

const selectSecrets = prepared((executor) =>
  executor.select(secretColumns).from(webhooks).where(isSame).prepare('webhooks_select_secrets'),
)

/** The secrets of a webhook of a workspace. */
export async function findWebhookSecrets(
  executor: Executor,
  { workspaceId, id, now }: { workspaceId: string; id: string; now: Date },
): Promise<WebhookSecrets | undefined> {
  const [secrets] = await selectSecrets(executor).execute({ workspaceId, id, now: now.toISOString() })
  return secrets
}

/** A secret of a webhook before a rotation, which signs until its time. */
export type FormerSecret = Pick<
  typeof webhookFormerSecrets.$inferSelect,
  'sealedSecret' | 'shownToUserId' | 'createdAt' | 'signsUntil'
>

/** The former secrets of a webhook that still sign, the newest first. */
export async function listFormerSecrets(executor: Executor, id: string, now: Date): Promise<FormerSecret[]> {
  const { webhookId, sealedSecret, shownToUserId, createdAt, signsUntil } = webhookFormerSecrets
  return executor
    .select({ sealedSecret, shownToUserId, createdAt, signsUntil })
    .from(webhookFormerSecrets)
    .where(and(eq(webhookId, id), gt(signsUntil, now)))
    .orderBy(desc(createdAt), desc(webhookFormerSecrets.id))
}

/** Replaces the secret of a webhook. `former`: those that go on signing, the newest first; all others end. */
export async function replaceSecret(
  executor: Executor,
  id: string,
  change: {
    sealedSecret: Buffer
    shownToUserId: string
    secretCreatedAt: Date
    former: readonly FormerSecret[]
  },
): Promise<void> {
  const { former, ...secret } = change
  const [newest] = former
  await executor.delete(webhookFormerSecrets).where(eq(webhookFormerSecrets.webhookId, id))
  if (newest)
    await executor
      .insert(webhookFormerSecrets)
      .values(former.map((each) => ({ ...each, id: createId(), webhookId: id })))
  await updateWebhook(executor, id, {
    ...secret,
    previousSealedSecret: newest?.sealedSecret ?? null,
    previousSecretUntil: newest?.signsUntil ?? null,
  })
}

export async function countWebhooks(executor: Executor, workspaceId: string): Promise<number> {
  const [row] = await executor
    .select({ count: count() })
    .from(webhooks)
    .where(and(eq(webhooks.workspaceId, workspaceId), isNull(webhooks.deletedAt)))
  return row?.count ?? 0
}

const scopeTables = { seedIds: seeds, teamIds: teams, labelIds: labels }

/** How many of some seeds, teams or labels are in a workspace. */
export async function countInScope(
  executor: Executor,
  workspaceId: string,
  { scope, ids }: { scope: WebhookScope; ids: readonly string[] },
): Promise<number> {
  const table = scopeTables[scope]
  const isKept = scope === 'seedIds' ? isNull(seeds.deletedAt) : undefined
  return executor.$count(table, and(eq(table.workspaceId, workspaceId), inArray(table.id, [...ids]), isKept))
}

export async function insertWebhook(executor: Executor, row: typeof webhooks.$inferInsert): Promise<void> {
  await executor.insert(webhooks).values(row)
}

export async function updateWebhook(
  executor: Executor,
  id: string,
  changed: Partial<typeof webhooks.$inferInsert>,
): Promise<void> {
  await executor.update(webhooks).set(changed).where(eq(webhooks.id, id))
}

/** Ends the pause of a webhook, but not the minute after a message to a chat. Returns whether it was paused. */
export async function endPause(executor: Executor, id: string, now: Date): Promise<boolean> {
  const { rowCount } = await executor
    .update(webhooks)
    .set({ pausedUntil: null, pauseReason: null })
    .where(and(eq(webhooks.id, id), isNotNull(webhooks.pauseReason), gt(webhooks.pausedUntil, now)))
  return rowCount === 1
}

/** Marks a webhook as deleted. `removeWebhook` removes it later. */
export async function markWebhookDeleted(executor: Executor, id: string, deletedAt: Date): Promise<void> {
  await executor.delete(webhookFormerSecrets).where(eq(webhookFormerSecrets.webhookId, id))
  await executor
    .update(webhooks)
    .set({ deletedAt, sealedSecret: Buffer.alloc(0), previousSealedSecret: null, previousSecretUntil: null })
    .where(eq(webhooks.id, id))
}

/** How many deliveries one statement deletes. */
const removedAtOnce = 10_000

/** Removes a deleted webhook with its deliveries, in several transactions. Does nothing if it is not deleted. */
export async function removeWebhook(executor: Executor, id: string): Promise<void> {
  const isDeleted = and(eq(webhooks.id, id), isNotNull(webhooks.deletedAt))
  const [webhook] = await executor.select({ id: webhooks.id }).from(webhooks).where(isDeleted)
  if (!webhook) return
  for (let removed = removedAtOnce; removed === removedAtOnce;) {
    const some = executor
      .select({ eventId: webhookDeliveries.eventId })
      .from(webhookDeliveries)
      .where(eq(webhookDeliveries.webhookId, id))
      .limit(removedAtOnce)
    const { rowCount } = await executor
      .delete(webhookDeliveries)
      .where(and(eq(webhookDeliveries.webhookId, id), sql`${webhookDeliveries.eventId} in ${some}`))
    removed = rowCount ?? 0
  }
  await executor.delete(webhooks).where(isDeleted)
}

/**
 * Disables an active webhook: because its receiver is gone, or because it has been failing since a time before
 * `failingBefore`. Returns whether it did.
 */
export async function disableWebhook(
  executor: Executor,
  id: string,
  change: { reason: Exclude<WebhookDisabledReason, 'manual'>; failingBefore?: Date },
): Promise<boolean> {
  const { reason, failingBefore } = change
  const { rowCount } = await executor
    .update(webhooks)
    .set({ disabledReason: reason })
    .where(
      and(
        eq(webhooks.id, id),
        isNull(webhooks.disabledReason),
        isNull(webhooks.deletedAt),
        failingBefore && lt(webhooks.failingSince, failingBefore),
      ),
    )
  return rowCount === 1
}

/** The ids of the owners of a workspace. */
export async function listOwnerIds(executor: Executor, workspaceId: string): Promise<string[]> {
  const rows = await executor
    .select({ userId: memberships.userId })
    .from(memberships)
    .where(and(eq(memberships.workspaceId, workspaceId), eq(memberships.role, 'owner')))
    .orderBy(asc(memberships.userId))
  return rows.map(({ userId }) => userId)
}

/** Why a webhook is disabled, and an owner to tell; undefined if it is active or deleted, or the person no owner any more. */
export async function findDisabledWebhook(executor: Executor, id: string, userId: string) {
  const [found] = await executor
    .select({
      url: webhooks.url,
      disabledReason: webhooks.disabledReason,
      workspaceId: webhooks.workspaceId,
      workspaceName: workspaces.name,
      workspaceSlug: workspaces.slug,
      name: users.name,
      email: users.email,
    })
    .from(webhooks)
    .innerJoin(workspaces, isWorkspace(webhooks.workspaceId))
    .innerJoin(
      memberships,
      and(
        eq(memberships.workspaceId, webhooks.workspaceId),
        eq(memberships.userId, userId),
        eq(memberships.role, 'owner'),
      ),
    )
    .innerJoin(users, eq(users.id, memberships.userId))
    .where(and(eq(webhooks.id, id), isNull(webhooks.deletedAt), isNotNull(webhooks.disabledReason)))
  return found
}
