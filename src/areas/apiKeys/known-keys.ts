import { isAllowed } from '../../access/permissions.ts'
import type { Executor } from '../../db/client.ts'
import type { EventDataOf } from '../../domain/events.ts'
import type { Principal } from '../../domain/principal.ts'
import type { Role } from '../../domain/roles.ts'
import { notifyManagers } from '../notifications/notify.repository.ts'
import { listKnownKeys } from './apiKeys.repository.ts'

/** Somebody who is no longer what they were in a workspace. */
export interface FormerManager {
  workspaceId: string
  userId: string
  /** What the event calls them. */
  name: string
  from: Role
  /** Null: they are no longer a member. */
  to: Role | null
  /** Who did it. Null: the service. */
  actor: Pick<Principal, 'user' | 'agentName'> | null
  now: Date
}

/**
 * Tells the owners and admins of a workspace which keys of service accounts somebody was shown who no longer is one of them,
 * so that they rotate the keys. To be called after the change. Returns what the event says; undefined if there is nothing to
 * tell.
 */
export async function tellOfKnownKeys(
  tx: Executor,
  { workspaceId, userId, name, from, to, actor, now }: FormerManager,
): Promise<EventDataOf<'service_account.keys_known'> | undefined> {
  const mayManage = (role: Role | null) => role !== null && isAllowed(role, 'serviceAccounts.createKey')
  if (!mayManage(from) || mayManage(to)) return undefined
  const known = await listKnownKeys(tx, { userId, workspaceId, now })
  if (known.length === 0) return undefined
  const about = { workspaceId, actor, at: now, hasOwnMail: true }
  await notifyManagers(tx, { kind: 'keys_known', data: { keys: known }, ...about }, actor?.user.id)
  return { userId, name, keys: known }
}
