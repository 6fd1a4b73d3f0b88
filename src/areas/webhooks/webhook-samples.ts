import { kindOf, seedIdOf, type EventType } from '../../domain/events.ts'
import { exampleIds } from '../../domain/example-ids.ts'
import { toEventUrl } from '../../domain/page-urls.ts'
import type { Event } from '../events/events.schemas.ts'

/**
 * An event of a type with the data of the documentation (docs/events.md), as if somebody had caused it now. What it names does
 * not exist.
 */
export function makeSample(
  type: EventType,
  {
    id,
    workspaceId,
    now,
    seedUrlPrefix,
  }: { id: string; workspaceId: string; now: Date; seedUrlPrefix: string },
): Event {
  const { example, summarize, target } = kindOf(type)
  const [targetType, idField] = target
  const actorName = 'Grace Hopper'
  const targetId = String((example as Record<string, unknown>)[idField])
  return {
    ...{ id, workspaceId, type, actorType: 'user', actorUserId: exampleIds.user, actorName },
    ...{ grantId: null, apiKeyId: null, source: 'web', targetType, targetId },
    url: toEventUrl({ seedId: seedIdOf(example), targetType, targetId }, seedUrlPrefix),
    summary: summarize(example, actorName),
    data: example,
    createdAt: now.toISOString(),
  }
}
