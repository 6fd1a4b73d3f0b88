import { and, desc, eq, gte, lt, sql, type SQL } from 'drizzle-orm'
import type { Executor } from '../../db/client.ts'
import { events } from '../../db/schema/events.ts'
import { createId } from '../../kernel/ids.ts'
import type { Position } from '../../kernel/pagination.ts'
import type { Principal } from '../../kernel/principal.ts'

/** The kinds of change that a workspace's feed tells of: `target.what_happened`. */
export type EventType =
  | 'workspace.created'
  | 'workspace.updated'
  | 'workspace.icon_changed'
  | 'member.joined'
  | 'member.role_changed'
  | 'member.removed'
  | 'member.left'
  | 'invite.created'
  | 'invite.resent'
  | 'invite.accepted'
  | 'invite.revoked'
  | 'invite.role_changed'
  | 'team.created'
  | 'team.renamed'
  | 'team.deleted'
  | 'team.member_added'
  | 'team.member_removed'
  | 'integration.granted'
  | 'seed.created'
  | 'seed.updated'
  | 'seed.joined'
  | 'seed.left'
  | 'evidence.added'
  | 'integration.revoked'

export interface NewEvent {
  workspaceId: string
  type: EventType
  target?: {
    type: 'workspace' | 'user' | 'invite' | 'team' | 'seed' | 'evidence' | 'integration'
    id: string
  }
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

/** Adds an event that nobody did but the service, such as the end of access that was used twice. */
export async function appendServiceEvent(transaction: Executor, event: NewEvent): Promise<void> {
  await transaction.insert(events).values({
    id: createId(),
    workspaceId: event.workspaceId,
    type: event.type,
    actorType: 'system',
    actorUserId: null,
    actorName: 'The service',
    grantId: event.target?.type === 'integration' ? event.target.id : null,
    apiKeyId: null,
    source: 'system',
    targetType: event.target?.type ?? null,
    targetId: event.target?.id ?? null,
    summary: event.summary,
    createdAt: event.at,
  })
}

export type EventRow = Omit<typeof events.$inferSelect, 'workspaceId'>

export interface EventFilter {
  type?: string
  actorUserId?: string
  since?: Date
  until?: Date
}

/** Events of a workspace, newest first, from before a position on. `since` is inclusive, `until` is not. */
export async function listEvents(
  executor: Executor,
  input: { workspaceId: string; filter: EventFilter; before: Position | undefined; limit: number },
): Promise<EventRow[]> {
  const { workspaceId, filter, before, limit } = input
  const conditions: (SQL | undefined)[] = [
    eq(events.workspaceId, workspaceId),
    filter.type === undefined ? undefined : eq(events.type, filter.type),
    filter.actorUserId === undefined ? undefined : eq(events.actorUserId, filter.actorUserId),
    filter.since && gte(events.createdAt, filter.since),
    filter.until && lt(events.createdAt, filter.until),
    before && sql`(${events.createdAt}, ${events.id}) < (${before[0]}::timestamptz, ${before[1]}::uuid)`,
  ]
  return executor
    .select({
      id: events.id,
      type: events.type,
      actorType: events.actorType,
      actorUserId: events.actorUserId,
      actorName: events.actorName,
      grantId: events.grantId,
      apiKeyId: events.apiKeyId,
      source: events.source,
      targetType: events.targetType,
      targetId: events.targetId,
      summary: events.summary,
      createdAt: events.createdAt,
    })
    .from(events)
    .where(and(...conditions))
    .orderBy(desc(events.createdAt), desc(events.id))
    .limit(limit)
}
