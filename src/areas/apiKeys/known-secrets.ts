import { isAllowed } from '../../access/permissions.ts'
import type { Executor } from '../../db/client.ts'
import { together } from '../../db/together.ts'
import type { EventDataOf } from '../../domain/events.ts'
import type { Principal } from '../../domain/principal.ts'
import type { Role } from '../../domain/roles.ts'
import { hostOf } from '../../domain/webhooks.ts'
import { notifyManagers } from '../notifications/notify.repository.ts'
import {
  findKnownOutside,
  listKnownClients,
  listKnownKeys,
  listKnownWebhooks,
} from './known-secrets.repository.ts'

/** Somebody who is no longer what they were in a workspace. */
export interface FormerManager {
  workspaceId: string
  userId: string
  /** What the event calls them. */
  name: string
  from: Role
  /** Null: they are no longer a member, or suspended. */
  to: Role | null
  isSuspended?: boolean
  /** Who did it. Null: the service. */
  actor: Pick<Principal, 'user' | 'agentName'> | null
  now: Date
}

/**
 * Tells the owners and admins of a workspace which of its secrets somebody was shown who no longer is one of them, so that
 * they replace these. To be called after the change. Returns what the event says; undefined if there is nothing to tell.
 */
export async function tellOfKnownSecrets(
  tx: Executor,
  { workspaceId, userId, name, from, to, isSuspended = false, actor, now }: FormerManager,
): Promise<EventDataOf<'service_account.keys_known'> | undefined> {
  const mayManage = (role: Role | null) => role !== null && isAllowed(role, 'serviceAccounts.createKey')
  if (!mayManage(from) || mayManage(to)) return undefined
  const of = { userId, workspaceId, now }
  const [keys, clients, hooks] = await together([
    listKnownKeys(tx, of),
    listKnownClients(tx, of),
    listKnownWebhooks(tx, of),
  ])
  if (keys.length + clients.length + hooks.length === 0) return undefined
  const webhooks = hooks.map(({ id, url }) => ({ webhookId: id, host: hostOf(url) }))
  const known = { keys, ...(clients.length > 0 && { clients }), ...(webhooks.length > 0 && { webhooks }) }
  const about = { workspaceId, actor, at: now, hasOwnMail: true }
  const data = { ...known, ...(isSuspended && { isSuspended }) }
  await notifyManagers(tx, { kind: 'keys_known', data, ...about }, actor?.user.id ?? userId)
  return { userId, name, ...known }
}

/**
 * Tells the owners and admins of an invite that a service account makes with a key or client which somebody was shown who is
 * no longer one of them: they may have invited themselves. Does nothing for any other invite.
 */
export async function tellOfInviteByKnown(
  tx: Executor,
  principal: Principal,
  { workspaceId, inviteId, now }: { workspaceId: string; inviteId: string; now: Date },
): Promise<void> {
  const known = principal.isService ? await findKnownOutside(tx, { workspaceId, now }, principal) : undefined
  if (!known) return
  const about = { workspaceId, actor: principal, at: now, hasOwnMail: true }
  await notifyManagers(tx, { kind: 'keys_known', data: { ...known, inviteId }, ...about })
}
