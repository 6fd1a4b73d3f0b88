import type { SecretBox } from '../../accounts/second-factor/secret-box.ts'
import {
  lockMembersWithCredential,
  type Changes,
  type Lock,
  type WorkspaceChangeContext,
} from '../../access/change.ts'
import type { WorkspaceAction } from '../../access/permissions.ts'
import type { AccessibleWorkspace, RequireWorkspace } from '../../access/workspace-access.ts'
import type { Database, Executor } from '../../db/client.ts'
import type { Clock } from '../../kernel/clock.ts'
import { compareEdit, type FieldVersions } from '../../kernel/edits.ts'
import { errors } from '../../kernel/errors.ts'
import { eventKinds, isEventType } from '../../kernel/events.ts'
import { createId, isId } from '../../kernel/ids.ts'
import { readPage, type Page, type PageRequest } from '../../kernel/pagination.ts'
import type { Principal } from '../../kernel/principal.ts'
import { requireLines } from '../../kernel/text.ts'
import { parseTime } from '../../kernel/times.ts'
import { createTurns } from '../../kernel/turns.ts'
import {
  webhookDescriptionLengthMax,
  webhooksMax,
  type DeliveryStatus,
  type SendWebhook,
  type WebhookStatus,
} from '../../kernel/webhooks.ts'
import type { JobQueue } from '../../platform/jobs/jobs.port.ts'
import { listDeliveries, redeliver, redeliverBetween } from './deliveries.repository.ts'
import { judgeAnswer } from './delivery-outcomes.ts'
import { makeWebhookRequest } from './webhook-requests.ts'
import { createWebhookSecret } from './webhook-signatures.ts'
import { hostOf, requireWebhookUrl } from './webhook-urls.ts'
import {
  countWebhooks,
  findWebhook,
  findWebhookSecrets,
  insertWebhook,
  listWebhooks,
  markWebhookDeleted,
  updateWebhook,
  type WebhookRow,
} from './webhooks.repository.ts'
import type { Webhook, WebhookDelivery, WebhookTest } from './webhooks.schemas.ts'

export type { Webhook, WebhookDelivery, WebhookTest }

/** A webhook and its workspace. Methods throw `not_found` for a webhook of another workspace. */
export interface WebhookPath {
  slug: string
  webhookId: string
}

/** What can be set of a webhook. An empty description removes it; no types stand for all. */
export interface WebhookInput {
  url: string
  types: readonly string[]
  description: string
}

export interface DeliveriesRequest extends PageRequest {
  status?: DeliveryStatus
}

/** The webhooks of workspaces, for those who manage them. */
export interface WebhooksService {
  /** Oldest first. */
  list(principal: Principal, slug: string): Promise<Webhook[]>
  get(principal: Principal, path: WebhookPath): Promise<Webhook>
  /**
   * Returns the webhook with its secret, which cannot be read again. Throws `webhook_url_invalid`,
   * `event_type_unknown` and `webhook_limit`.
   */
  create(
    principal: Principal,
    slug: string,
    input: Pick<WebhookInput, 'url'> & Partial<WebhookInput>,
  ): Promise<{ webhook: Webhook; secret: string }>
  /**
   * A webhook that is enabled forgets that it was failing. `opened`: the versions of the fields when a form was opened. Throws
   * `webhook_url_invalid` and `event_type_unknown`, and with `opened` `changed_meanwhile`.
   */
  update(
    principal: Principal,
    path: WebhookPath,
    input: Partial<WebhookInput> & { status?: WebhookStatus },
    opened?: FieldVersions,
  ): Promise<void>
  /** Returns the host of its URL. */
  delete(principal: Principal, path: WebhookPath): Promise<string>
  /** Returns the new secret. The old one signs too for `overlapSeconds`, by default a day. */
  rotateSecret(
    principal: Principal,
    path: WebhookPath,
    input: { overlapSeconds?: number },
  ): Promise<{ secret: string }>
  /** Sends a test, and waits for the answer. */
  test(principal: Principal, path: WebhookPath): Promise<WebhookTest>
  /** Newest first. */
  listDeliveries(
    principal: Principal,
    path: WebhookPath,
    request: DeliveriesRequest,
  ): Promise<Page<WebhookDelivery>>
  /** Makes a delivery pending again. Throws `webhook_disabled`, and `not_found` for a delivery of another webhook. */
  redeliver(principal: Principal, path: WebhookPath, deliveryId: string): Promise<void>
  /** Makes the deliveries of all events of a time. Returns their number. Throws `webhook_disabled` and `too_many_deliveries`. */
  redeliverSince(
    principal: Principal,
    path: WebhookPath,
    input: { since: string; until?: string },
  ): Promise<number>
}

export interface WebhooksServiceOptions {
  db: Database
  clock: Clock
  changes: Changes
  requireWorkspace: RequireWorkspace
  jobs: JobQueue
  secretBox: SecretBox
  send: SendWebhook
  userAgent: string
  /** Whether URLs on this machine may be http. */
  isDevelopment: boolean
  /** Called when deliveries have become due. */
  onDeliveries: () => void
}

/** The most events of one `redeliverSince`. */
export const redeliveriesMax = 10_000
const overlapSecondsDefault = 24 * 60 * 60
// Longer than any change takes that may still refer to the webhook.
const removedAfterSeconds = 120

export function createWebhooksService(options: WebhooksServiceOptions): WebhooksService {
  const { db, clock, changes, requireWorkspace, jobs, secretBox, send, isDevelopment, onDeliveries } = options
  // A test is a request of this process to any server. So they do not become many.
  const testTurns = createTurns({ atOnceMax: 1, waitingMax: 4, waitMsMax: 2_500 })

  async function requireWebhook(
    principal: Principal,
    { slug, webhookId }: WebhookPath,
    action: WorkspaceAction,
  ): Promise<{ workspace: AccessibleWorkspace; webhook: WebhookRow }> {
    const workspace = await requireWorkspace(principal, slug, action)
    const webhook = isId(webhookId) ? await findWebhook(db, workspace.id, webhookId) : undefined
    if (!webhook) throw errors.notFound()
    return { workspace, webhook }
  }

  /** Changes a webhook, one change of a workspace after the other. */
  async function change<Result>(
    principal: Principal,
    { slug, webhookId }: WebhookPath,
    action: WorkspaceAction,
    run: (context: WorkspaceChangeContext, webhook: WebhookRow, workspaceId: string) => Promise<Result>,
  ): Promise<Result> {
    const workspace = await requireWorkspace(principal, slug, action)
    if (!isId(webhookId)) throw errors.notFound()
    return changes.makeIn(principal, workspace, lockWebhook(webhookId), (context, webhook) =>
      run(context, webhook, workspace.id),
    )
  }

  /** Serializes the changes of webhooks of a workspace, by a caller who may make them and whose credential is valid. */
  function lockWebhook(webhookId: string): Lock<WebhookRow> {
    return async (tx, input) => {
      await lockMembersWithCredential(tx, input)
      return findWebhook(tx, input.workspace.id, webhookId)
    }
  }

  /** Asks the receiver of a webhook. */
  async function sendTest(workspaceId: string, webhook: WebhookRow): Promise<WebhookTest> {
    const secrets = await findWebhookSecrets(db, workspaceId, webhook.id)
    if (!secrets) throw errors.notFound()
    const now = clock.now()
    const request = makeWebhookRequest(options, {
      url: webhook.url,
      id: createId(),
      payload: {
        type: 'webhook.test',
        timestamp: now.toISOString(),
        data: { webhookId: webhook.id, workspaceId },
        cursor: null,
      },
      secrets,
      now,
    })
    const answer = request ? await send(request, neverAborted) : { error: 'secret_unreadable' as const }
    const outcome = judgeAnswer(answer, { attempts: 1, slowedCount: 0, now, random: () => 0 })
    const { lastStatus, lastError } = outcome
    return { delivered: outcome.status === 'delivered', status: lastStatus, error: lastError }
  }

  return {
    async list(principal, slug) {
      const { id } = await requireWorkspace(principal, slug, 'webhooks.list')
      return (await listWebhooks(db, id)).map(toWebhook)
    },

    async get(principal, path) {
      return toWebhook((await requireWebhook(principal, path, 'webhooks.get')).webhook)
    },

    async create(principal, slug, input) {
      const workspace = await requireWorkspace(principal, slug, 'webhooks.create')
      const secret = createWebhookSecret()
      const shown = {
        id: createId(),
        url: requireWebhookUrl(input.url, { isDevelopment }),
        description: parseDescription(input.description),
        types: requireTypes(input.types),
      }
      const lock: Lock<unknown> = async (tx, lockInput) => {
        await lockMembersWithCredential(tx, lockInput)
        if ((await countWebhooks(tx, workspace.id)) >= webhooksMax) throw errors.webhookLimit()
        return true
      }
      return changes.makeIn(principal, workspace, lock, async ({ tx, now, appendEvent }) => {
        await insertWebhook(tx, {
          ...shown,
          workspaceId: workspace.id,
          sealedSecret: secretBox.seal(secret),
          createdAt: now,
        })
        appendEvent({ type: 'webhook.created', data: dataOf(shown) })
        const unused = { disabledReason: null, createdAt: now, lastDeliveryAt: null, lastFailureAt: null }
        return { webhook: toWebhook({ ...shown, ...unused }), secret }
      })
    },

    async update(principal, path, input, opened) {
      const { status } = input
      const url = input.url === undefined ? undefined : requireWebhookUrl(input.url, { isDevelopment })
      const fields = {
        ...(url !== undefined && { url }),
        ...(input.types !== undefined && { types: requireTypes(input.types) }),
        ...(input.description !== undefined && { description: parseDescription(input.description) }),
      }
      await change(principal, path, 'webhooks.update', async ({ tx, appendEvent }, webhook) => {
        const { changes: edited, conflicts } = compareEdit(fieldsOf(webhook), fields, opened)
        if (conflicts.length > 0) throw errors.changedMeanwhile()
        const changed = Object.keys(edited) as (keyof typeof edited)[]
        const isTurned = status !== undefined && status !== statusOf(webhook)
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
            status: status ?? statusOf(webhook),
          },
        })
      })
      onDeliveries()
    },

    async delete(principal, path) {
      return change(principal, path, 'webhooks.delete', async ({ tx, now, write, appendEvent }, webhook) => {
        const { id, url } = webhook
        await markWebhookDeleted(tx, id, now)
        write(() =>
          jobs.enqueue(tx, 'remove_webhook', { webhookId: id }, { delaySeconds: removedAfterSeconds }),
        )
        appendEvent({ type: 'webhook.deleted', data: dataOf(webhook) })
        return hostOf(url)
      })
    },

    async rotateSecret(principal, path, { overlapSeconds = overlapSecondsDefault }) {
      const secret = createWebhookSecret()
      return change(
        principal,
        path,
        'webhooks.rotateSecret',
        async ({ tx, now, appendEvent }, webhook, workspaceId) => {
          const { id } = webhook
          const before = await findWebhookSecrets(tx, workspaceId, id)
          await updateWebhook(tx, id, {
            sealedSecret: secretBox.seal(secret),
            previousSealedSecret: overlapSeconds > 0 ? (before?.sealedSecret ?? null) : null,
            previousSecretUntil: overlapSeconds > 0 ? new Date(now.getTime() + overlapSeconds * 1_000) : null,
          })
          appendEvent({ type: 'webhook.secret_rotated', data: dataOf(webhook) })
          return { secret }
        },
      )
    },

    async test(principal, path) {
      const { workspace, webhook } = await requireWebhook(principal, path, 'webhooks.test')
      const end = await testTurns.take(workspace.id, principal.user.id)
      let result: WebhookTest
      try {
        result = await sendTest(workspace.id, webhook)
      } finally {
        end()
      }
      return changes.makeIn(principal, workspace, lockWebhook(webhook.id), async ({ appendEvent }) => {
        const { delivered } = result
        appendEvent({ type: 'webhook.tested', data: { ...dataOf(webhook), delivered } })
        return result
      })
    },

    async listDeliveries(principal, path, { status, ...page }) {
      const { webhook } = await requireWebhook(principal, path, 'webhooks.listDeliveries')
      return readPage<WebhookDelivery>(page, {
        listId: `webhooks.listDeliveries ${webhook.id} ${status ?? ''}`,
        order: 'newestFirst',
        read: (range) => listDeliveries(db, { webhookId: webhook.id, status, ...range }),
        positionOf: ({ createdAt, id }) => ({ at: createdAt, id }),
      })
    },

    async redeliver(principal, path, deliveryId) {
      await change(principal, path, 'webhooks.redeliver', async ({ tx, now, appendEvent }, webhook) => {
        const delivery = { webhookId: webhook.id, eventId: deliveryId, now }
        if (!isId(deliveryId) || !(await redeliver(tx, delivery))) throw errors.notFound()
        if (webhook.disabledReason !== null) throw errors.webhookDisabled()
        appendEvent({ type: 'webhook.redelivered', data: { ...dataOf(webhook), events: 1 } })
      })
      onDeliveries()
    },

    async redeliverSince(principal, path, { since, until }) {
      const deliveries = await change(
        principal,
        path,
        'webhooks.redeliverSince',
        async ({ tx, now, appendEvent }, webhook, workspaceId) => {
          if (webhook.disabledReason !== null) throw errors.webhookDisabled()
          const count = await redeliverAll(tx, webhook, {
            workspaceId,
            since: parseTime(since),
            until: until === undefined ? now : parseTime(until),
            now,
          })
          appendEvent({ type: 'webhook.redelivered', data: { ...dataOf(webhook), events: count } })
          return count
        },
      )
      onDeliveries()
      return deliveries
    },
  }
}

const neverAborted = new AbortController().signal

/** What a webhook that works again begins with. */
const asHealthy = { failingSince: null, slowedCount: 0, pausedUntil: null }

async function redeliverAll(
  tx: Executor,
  { id, types }: WebhookRow,
  range: { workspaceId: string; since: Date; until: Date; now: Date },
): Promise<number> {
  const count = await redeliverBetween(tx, { ...range, webhookId: id, types, limit: redeliveriesMax })
  if (count === undefined) throw errors.tooManyDeliveries()
  return count
}

function parseDescription(text: string | undefined): string | null {
  if (text === undefined || text === '') return null
  return requireLines(text, webhookDescriptionLengthMax, 'description')
}

function requireTypes(types: readonly string[] = []): string[] {
  if (!types.every(isEventType)) throw errors.eventTypeUnknown({ field: 'types' })
  // In the order of the table, so that the same types are the same list.
  return Object.keys(eventKinds).filter((type) => (types as readonly string[]).includes(type))
}

/** The fields that can be edited. */
function fieldsOf({ url, types, description }: WebhookRow) {
  return { url, types, description }
}

/** What all events about a webhook say of it. */
function dataOf({ id, url }: { id: string; url: string }): { webhookId: string; host: string } {
  return { webhookId: id, host: hostOf(url) }
}

function statusOf({ disabledReason }: WebhookRow): WebhookStatus {
  return disabledReason === null ? 'active' : 'disabled'
}

function toWebhook(row: WebhookRow): Webhook {
  const { createdAt, lastDeliveryAt, lastFailureAt, ...rest } = row
  return {
    ...rest,
    status: statusOf(row),
    createdAt: createdAt.toISOString(),
    lastDeliveryAt: lastDeliveryAt?.toISOString() ?? null,
    lastFailureAt: lastFailureAt?.toISOString() ?? null,
  }
}
