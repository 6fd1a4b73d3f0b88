import type { Executor } from '../db/client.ts'
import { events } from '../db/schema/events.ts'
import { placeholdersOf, prepared } from '../db/sql/prepared.ts'
import type { grantEventTypes, inviteEventTypes } from '../kernel/events.ts'
import { createId } from '../kernel/ids.ts'
import type { Principal } from '../kernel/principal.ts'

/** The types of events: `target.what_happened`. */
export type EventType =
  | 'workspace.created'
  | 'workspace.updated'
  | 'workspace.icon_changed'
  | 'member.joined'
  | 'member.role_changed'
  | 'member.removed'
  | 'member.left'
  | (typeof inviteEventTypes)[number]
  | 'invite.accepted'
  | 'team.created'
  | 'team.renamed'
  | 'team.deleted'
  | 'team.member_added'
  | 'team.member_removed'
  | 'seed.created'
  | 'seed.updated'
  | 'seed.joined'
  | 'seed.left'
  | 'seed.deleted'
  | 'evidence.added'
  | (typeof grantEventTypes)[number]

export interface NewEvent {
  workspaceId: string
  type: EventType
  target?: {
    type: 'workspace' | 'user' | 'invite' | 'team' | 'seed' | 'evidence' | 'integration'
    id: string
  }
  /** A sentence for people that begins with the actor's name. */
  summary: string
  at: Date
}

const insert = prepared((executor) =>
  executor.insert(events).values(placeholdersOf(events)).prepare('events_insert'),
)

/** Appends an event to a workspace's feed, in the transaction of the change that it describes. */
export async function insertEvent(
  transaction: Executor,
  { user, source, apiKeyId, grantId }: Principal,
  event: NewEvent,
): Promise<void> {
  await append(transaction, event, {
    actorType: source === 'mcp' ? 'agent' : source === 'system' ? 'system' : 'user',
    actorUserId: user.id,
    actorName: user.name,
    grantId,
    apiKeyId,
    source,
  })
}

/** Appends an event caused by the service, such as a grant that ended because a refresh token was reused. */
export async function insertServiceEvent(transaction: Executor, event: NewEvent): Promise<void> {
  await append(transaction, event, {
    actorType: 'system',
    actorUserId: null,
    actorName: 'The service',
    grantId: event.target?.type === 'integration' ? event.target.id : null,
    apiKeyId: null,
    source: 'system',
  })
}

type Actor = Pick<
  typeof events.$inferInsert,
  'actorType' | 'actorUserId' | 'actorName' | 'grantId' | 'apiKeyId' | 'source'
>

async function append(
  transaction: Executor,
  { workspaceId, type, target, summary, at }: NewEvent,
  actor: Actor,
): Promise<void> {
  await insert(transaction).execute({
    ...{ id: createId(), workspaceId, type, ...actor },
    ...{ targetType: target?.type ?? null, targetId: target?.id ?? null, summary, createdAt: at },
  })
}
