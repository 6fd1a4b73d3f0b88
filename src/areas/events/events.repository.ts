import type { Executor } from '../../db/client.ts'
import { events } from '../../db/schema/events.ts'
import { createId } from '../../kernel/ids.ts'
import type { Principal } from '../../kernel/principal.ts'

/** The kinds of change that a workspace's feed tells of: `target.what_happened`. */
export type EventType = 'workspace.created' | 'workspace.updated' | 'workspace.icon_changed'

export interface NewEvent {
  workspaceId: string
  type: EventType
  target?: { type: 'workspace'; id: string }
  /** What happened, in words that a person understands, the actor's name first. */
  summary: string
  at: Date
}

/** Adds an event to a workspace's feed. Give it the transaction of the change itself: neither stands without the other. */
export async function appendEvent(
  transaction: Executor,
  principal: Principal,
  event: NewEvent,
): Promise<void> {
  const { user, source, apiKeyId, grantId } = principal
  await transaction.insert(events).values({
    id: createId(),
    workspaceId: event.workspaceId,
    type: event.type,
    actorType: source === 'mcp' ? 'agent' : source === 'system' ? 'system' : 'user',
    actorUserId: user.id,
    actorName: user.name,
    grantId,
    apiKeyId,
    source,
    targetType: event.target?.type ?? null,
    targetId: event.target?.id ?? null,
    summary: event.summary,
    createdAt: event.at,
  })
}
