import {
  lockMembersWithCredential,
  type Changes,
  type Lock,
  type WorkspaceChangeContext,
} from '../../access/change.ts'
import type { WorkspaceAction } from '../../access/permissions.ts'
import type { AccessibleWorkspace, RequireWorkspace } from '../../access/workspace-access.ts'
import type { Database } from '../../db/client.ts'
import { errors } from '../../kernel/errors.ts'
import { isId } from '../../kernel/ids.ts'
import type { Principal } from '../../domain/principal.ts'
import { hostOf } from '../../domain/webhooks.ts'
import { findWebhook, type WebhookRow } from './webhooks.repository.ts'

/** A webhook and its workspace. Methods throw `not_found` for a webhook of another workspace. */
export interface WebhookPath {
  slug: string
  webhookId: string
}

export interface WebhookAccessOptions {
  db: Database
  changes: Changes
  requireWorkspace: RequireWorkspace
}

/** What all operations on one webhook begin with. */
export function createWebhookAccess({ db, changes, requireWorkspace }: WebhookAccessOptions) {
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
  async function changeWebhook<Result>(
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

  return { requireWebhook, changeWebhook, lockWebhook }
}

/** What all events about a webhook say of it. */
export function dataOf({ id, url }: { id: string; url: string }): { webhookId: string; host: string } {
  return { webhookId: id, host: hostOf(url) }
}
