import type { Clock } from '../../kernel/clock.ts'
import type { SecretBox } from '../../platform/secrets/app-secret.port.ts'
import { lockMembersWithCredential, type Lock } from '../../access/change.ts'
import type { Executor } from '../../db/client.ts'
import { compareEdit, type FieldVersions } from '../../kernel/edits.ts'
import { errors } from '../../kernel/errors.ts'
import { requireEventTypes } from '../../domain/event-types.ts'
import { eventKinds } from '../../domain/events.ts'
import { createId, isId } from '../../kernel/ids.ts'
import type { ExpectingCall, Principal } from '../../domain/principal.ts'
import { requireLines } from '../../kernel/text.ts'
import { assertExpected, versionOfFields } from '../../kernel/versions.ts'
import {
  formerSecretsMax,
  hostOf,
  statusOfWebhook,
  webhookDescriptionLengthMax,
  webhooksMax,
  webhookScopes,
  type WebhookFormat,
  type WebhookScope,
  type WebhookStatus,
} from '../../domain/webhooks.ts'
import type { JobQueue } from '../../platform/jobs/jobs.port.ts'
import { createWebhookAccess, dataOf, type WebhookAccessOptions, type WebhookPath } from './webhook-access.ts'
import { createWebhookSecret } from './webhook-signatures.ts'
import { requireWebhookUrl } from './webhook-urls.ts'
import {
  countInScope,
  countWebhooks,
  endPause,
  findWebhookSecrets,
  insertWebhook,
  listFormerSecrets,
  listWebhooks,
  markWebhookDeleted,
  replaceSecret,
  updateWebhook,
  type FormerSecret,
  type WebhookRow,
} from './webhooks.repository.ts'
import type { Webhook } from './webhooks.schemas.ts'

export type { Webhook }

/**
 * What can be set of a webhook. An empty description removes it; no types, no seeds, no teams and no labels stand for all. Ids
 * of what is gone can stay.
 */
export interface WebhookInput extends Record<WebhookScope, readonly string[]> {
  url: string
  format: WebhookFormat | null
  types: readonly string[]
  description: string
}

/** The webhooks of workspaces, for those who manage them. */
export interface WebhooksService {
  /** Oldest first. */
  list(principal: Principal, slug: string): Promise<Webhook[]>
  get(principal: Principal, path: WebhookPath): Promise<Webhook>
  /**
   * Returns the webhook with its secret, which cannot be read again. Throws `webhook_url_invalid`, `event_type_unknown`,
   * `webhook_limit`, and `not_found` for a seed, a team or a label of another workspace.
   */
  create(
    principal: Principal,
    slug: string,
    input: Pick<WebhookInput, 'url'> & Partial<WebhookInput>,
  ): Promise<{ webhook: Webhook; secret: string }>
  /**
   * A webhook that is enabled forgets that it was failing. `opened`: the versions of the fields when a form was opened. Throws
   * `webhook_url_invalid`, `event_type_unknown` and `not_found` as `create`, `precondition_failed`, and with `opened`
   * `changed_meanwhile`.
   */
  update(
    principal: ExpectingCall,
    path: WebhookPath,
    input: Partial<WebhookInput> & { status?: WebhookStatus },
    opened?: FieldVersions,
  ): Promise<void>
  /** Ends the pause of a webhook: what is due is sent now. Does nothing if it is not paused. Throws `webhook_disabled`. */
  resume(principal: Principal, path: WebhookPath): Promise<void>
  /** Returns the host of its URL. */
  delete(principal: Principal, path: WebhookPath): Promise<string>
  /**
   * Returns the new secret. The old one signs too for `overlapSeconds`, by default a day, and those before until their own
   * times; with 0, no former one signs any more. Throws `webhook_rotated` if there would be more than three, and
   * `precondition_failed`.
   */
  rotateSecret(
    principal: ExpectingCall,
    path: WebhookPath,
    input: { overlapSeconds?: number },
  ): Promise<{ secret: string }>
}

/** The version of a webhook: of what `update` and `rotateSecret` change. */
export const versionOfWebhook = (
  webhook: ReturnType<typeof fieldsOf> & { status: WebhookStatus; secretCreatedAt: string | Date },
) => {
  const { status, secretCreatedAt } = webhook
  return versionOfFields({ ...fieldsOf(webhook), status, secretCreatedAt })
}

export interface WebhooksServiceOptions extends WebhookAccessOptions {
  clock: Clock
  jobs: JobQueue
  secretBox: SecretBox
  /** Whether URLs on this machine may be http. */
  isDevelopment: boolean
  /** Called when deliveries have become due. */
  onDeliveries: () => void
}

const overlapSecondsDefault = 24 * 60 * 60
// Longer than any change takes that may still refer to the webhook.
const removedAfterSeconds = 120

export function createWebhooksService(options: WebhooksServiceOptions): WebhooksService {
  const { db, clock, changes, requireWorkspace, jobs, secretBox, isDevelopment, onDeliveries } = options
  const { requireWebhook, changeWebhook } = createWebhookAccess(options)

  return {
    async list(principal, slug) {
      const { id } = await requireWorkspace(principal, slug, 'webhooks.list')
      const now = clock.now()
      return (await listWebhooks(db, id)).map((row) => toWebhook(row, now))
    },

    async get(principal, path) {
      return toWebhook((await requireWebhook(principal, path, 'webhooks.get')).webhook, clock.now())
    },

    async create(principal, slug, input) {
      const workspace = await requireWorkspace(principal, slug, 'webhooks.create')
      const secret = createWebhookSecret()
      const shown = {
        id: createId(),
        url: requireWebhookUrl(input.url, { isDevelopment }),
        description: parseDescription(input.description),
        format: input.format ?? null,
        types: requireTypes(input.types),
        seedIds: parseIds(input, 'seedIds'),
        teamIds: parseIds(input, 'teamIds'),
        labelIds: parseIds(input, 'labelIds'),
      }
      const lock: Lock<unknown> = async (tx, lockInput) => {
        await lockMembersWithCredential(tx, lockInput)
        if ((await countWebhooks(tx, workspace.id)) >= webhooksMax) throw errors.webhookLimit()
        return true
      }
      return changes.makeIn(principal, workspace, lock, async ({ tx, now, appendEvent }) => {
        await requireScopes(tx, workspace.id, shown)
        await insertWebhook(tx, {
          ...shown,
          workspaceId: workspace.id,
          sealedSecret: secretBox.seal(secret),
          shownToUserId: principal.user.id,
          secretCreatedAt: now,
          createdAt: now,
        })
        appendEvent({ type: 'webhook.created', data: dataOf(shown) })
        const unused = { disabledReason: null, lastDeliveryAt: null, lastFailureAt: null }
        const times = { createdAt: now, secretCreatedAt: now, previousSecretUntil: null, shownToUserId: null }
        return {
          webhook: toWebhook({ ...shown, ...times, ...unused, ...asHealthy, formerSecretsUntil: [] }, now),
          secret,
        }
      })
    },

    async update(principal, path, input, opened) {
      const { status } = input
      const url = input.url === undefined ? undefined : requireWebhookUrl(input.url, { isDevelopment })
      const fields = {
        ...(url !== undefined && { url }),
        ...(input.format !== undefined && { format: input.format }),
        ...(input.types !== undefined && { types: requireTypes(input.types) }),
        ...(input.seedIds !== undefined && { seedIds: parseIds(input, 'seedIds') }),
        ...(input.teamIds !== undefined && { teamIds: parseIds(input, 'teamIds') }),
        ...(input.labelIds !== undefined && { labelIds: parseIds(input, 'labelIds') }),
        ...(input.description !== undefined && { description: parseDescription(input.description) }),
      }
      await changeWebhook(
        principal,
        path,
        'webhooks.update',
        async ({ tx, appendEvent }, webhook, workspaceId) => {
          const before = statusOfWebhook(webhook)
          assertExpected(principal, versionOfWebhook({ ...webhook, status: before }))
          principal.onVersion?.(versionOfWebhook({ ...webhook, ...fields, status: status ?? before }))
          const { changes: edited, conflicts } = compareEdit(fieldsOf(webhook), fields, opened)
          if (conflicts.length > 0) throw errors.changedMeanwhile()
          await requireScopes(tx, workspaceId, edited, webhook)
          const changed = Object.keys(edited) as (keyof typeof edited)[]
          const isTurned = status !== undefined && status !== before
          if (changed.length === 0 && !isTurned) return
          await updateWebhook(tx, webhook.id, {
            ...edited,
            ...(isTurned && { disabledReason: status === 'active' ? null : 'manual' }),
            ...((edited.url !== undefined || isTurned) && asHealthy),
          })
          appendEvent({
            type: 'webhook.updated',
            data: {
              ...dataOf({ ...webhook, ...edited }),
              fields: [...changed, ...(isTurned ? ['status' as const] : [])],
              status: status ?? before,
            },
          })
        },
      )
      onDeliveries()
    },

    async resume(principal, path) {
      await changeWebhook(principal, path, 'webhooks.resume', async ({ tx, now, appendEvent }, webhook) => {
        if (webhook.disabledReason !== null) throw errors.webhookDisabled()
        if (await endPause(tx, webhook.id, now))
          appendEvent({ type: 'webhook.resumed', data: dataOf(webhook) })
      })
      onDeliveries()
    },

    async delete(principal, path) {
      return changeWebhook(
        principal,
        path,
        'webhooks.delete',
        async ({ tx, now, write, appendEvent }, webhook) => {
          const { id, url } = webhook
          const options = { requestId: principal.requestId, delaySeconds: removedAfterSeconds }
          await markWebhookDeleted(tx, id, now)
          write(() => jobs.enqueue(tx, 'remove_webhook', { webhookId: id }, options))
          appendEvent({ type: 'webhook.deleted', data: dataOf(webhook) })
          return hostOf(url)
        },
      )
    },

    async rotateSecret(principal, path, { overlapSeconds = overlapSecondsDefault }) {
      const secret = createWebhookSecret()
      return changeWebhook(
        principal,
        path,
        'webhooks.rotateSecret',
        async ({ tx, now, appendEvent }, webhook, workspaceId) => {
          const { id } = webhook
          assertExpected(principal, versionOfWebhook({ ...webhook, status: statusOfWebhook(webhook) }))
          const former = overlapSeconds > 0 ? await listSigning(tx, { webhook, workspaceId, now }) : []
          if (former.length >= formerSecretsMax) throw errors.webhookRotated()
          const before = await findWebhookSecrets(tx, { workspaceId, id, now })
          if (overlapSeconds > 0 && before)
            former.unshift({
              sealedSecret: before.sealedSecret,
              shownToUserId: webhook.shownToUserId,
              createdAt: now,
              signsUntil: new Date(now.getTime() + overlapSeconds * 1_000),
            })
          await replaceSecret(tx, id, {
            sealedSecret: secretBox.seal(secret),
            shownToUserId: principal.user.id,
            secretCreatedAt: now,
            former,
          })
          appendEvent({ type: 'webhook.secret_rotated', data: dataOf(webhook) })
          return { secret }
        },
      )
    },
  }
}

/** The former secrets that sign, with one that only the version before has written. The newest first. */
async function listSigning(
  tx: Executor,
  { webhook, workspaceId, now }: { webhook: WebhookRow; workspaceId: string; now: Date },
): Promise<FormerSecret[]> {
  const { id, previousSecretUntil: signsUntil } = webhook
  if (signsUntil === null) return []
  const former = await listFormerSecrets(tx, id, now)
  if (signsUntil <= now || former.some((each) => Number(each.signsUntil) === Number(signsUntil)))
    return former
  const { previousSealedSecret } = (await findWebhookSecrets(tx, { workspaceId, id, now })) ?? {}
  return previousSealedSecret
    ? [{ sealedSecret: previousSealedSecret, shownToUserId: null, createdAt: now, signsUntil }, ...former]
    : former
}

/** Until when each former secret signs, the last one first. Without `previousSecretUntil`, none signs. */
function listUntil({ previousSecretUntil, formerSecretsUntil }: WebhookRow, now: Date): string[] {
  if (previousSecretUntil === null) return []
  const times = new Set([previousSecretUntil.toISOString(), ...formerSecretsUntil])
  return [...times]
    .filter((time) => time > now.toISOString())
    .toSorted()
    .reverse()
}

/** What a webhook that works again begins with. */
const asHealthy = { failingSince: null, slowedCount: 0, pausedUntil: null, pauseReason: null }

function parseDescription(text: string | undefined): string | null {
  if (text === undefined || text === '') return null
  return requireLines(text, webhookDescriptionLengthMax, 'description')
}

function requireTypes(types: readonly string[] = []): string[] {
  const known: readonly string[] = requireEventTypes(types, 'types')
  // In the order of the table, so that the same types are the same list.
  return Object.keys(eventKinds).filter((type) => known.includes(type))
}

type Scopes = Partial<Record<WebhookScope, readonly string[]>>

/** Ids in one order, each once, so that the same are the same list. Throws `not_found` for what is no id. */
function parseIds(input: Scopes, scope: WebhookScope): string[] {
  const { [scope]: ids = [] } = input
  if (!ids.every(isId)) throw errors.notFound({ field: scope })
  return [...new Set(ids)].sort()
}

/** Throws `not_found` for an id of nothing in the workspace, unless the webhook has it already. */
async function requireScopes(
  tx: Executor,
  workspaceId: string,
  scopes: Scopes,
  webhook?: Required<Scopes>,
): Promise<void> {
  for (const scope of webhookScopes) {
    const ids = scopes[scope]?.filter((id) => !webhook?.[scope].includes(id)) ?? []
    if (ids.length > 0 && (await countInScope(tx, workspaceId, { scope, ids })) < ids.length)
      throw errors.notFound({ field: scope })
  }
}

/** The fields that can be edited. */
function fieldsOf({
  url,
  format,
  types,
  seedIds,
  teamIds,
  labelIds,
  description,
}: Pick<WebhookRow, 'url' | 'format' | 'types' | 'description' | WebhookScope>) {
  return { url, format, types, seedIds, teamIds, labelIds, description }
}

function toWebhook(row: WebhookRow, now: Date): Webhook {
  const { id, createdAt, disabledReason, lastDeliveryAt, lastFailureAt, failingSince } = row
  const { pausedUntil, pauseReason, secretCreatedAt } = row
  const isPaused =
    disabledReason === null && pauseReason !== null && pausedUntil !== null && pausedUntil > now
  return {
    id,
    ...fieldsOf(row),
    status: statusOfWebhook(row),
    disabledReason,
    createdAt: createdAt.toISOString(),
    lastDeliveryAt: lastDeliveryAt?.toISOString() ?? null,
    lastFailureAt: lastFailureAt?.toISOString() ?? null,
    failingSince: failingSince?.toISOString() ?? null,
    pausedUntil: isPaused ? pausedUntil.toISOString() : null,
    pauseReason: isPaused ? pauseReason : null,
    secretCreatedAt: secretCreatedAt.toISOString(),
    formerSecretsUntil: listUntil(row, now),
  }
}
