import type { Executor } from '../../db/client.ts'
import { actingKeyMs } from '../../domain/key-restrictions.ts'
import { notifyManagers, type Notice } from '../notifications/notify.repository.ts'
import { listActingKeysOfMember } from './workspace-keys.repository.ts'

/** A member who leaves, and who made them. */
interface Departure {
  workspaceId: string
  userId: string
  /** Null: the service. */
  actor: Notice['actor']
  now: Date
}

/**
 * Tells the owners and admins of a workspace of the keys of a member that act in it, in the transaction in which the member
 * leaves: afterwards they stop there. Is called before the membership is deleted, which takes along what its person was
 * told. Returns the data of an event for each key.
 */
export async function tellStoppedKeys(
  tx: Executor,
  { workspaceId, userId, actor, now }: Departure,
): Promise<{ apiKeyId: string; userId: string }[]> {
  const changedSince = new Date(now.getTime() - actingKeyMs)
  const keys = await listActingKeysOfMember(tx, { workspaceId, userId, now, changedSince })
  const [first] = keys
  if (!first) return []
  const data = { key: `${first.tokenPrefix}…${first.lastFour}`, count: keys.length }
  await notifyManagers(tx, { kind: 'key_stopped', data, workspaceId, actor, at: now })
  return keys.map(({ id }) => ({ apiKeyId: id, userId }))
}
