import type { TSchema } from '@sinclair/typebox'
import { eventKinds, kindOf, type EventType } from '../src/domain/events.ts'
import type { EventReaders, EventTargetType } from '../src/domain/events/kind.ts'

/** What programs know about a type of events. */
export interface CataloguedEvent {
  readers: EventReaders
  targetType: EventTargetType
  /** The field of `data` that has the `targetId`. */
  targetField: string
  /** The JSON Schema of `data`. */
  data: TSchema
}

/** The catalogue of events, by type. */
export function catalogueEvents(): Record<string, CataloguedEvent> {
  const entries = (Object.keys(eventKinds) as EventType[]).map((type): [string, CataloguedEvent] => {
    const { readers, target, data } = kindOf(type)
    return [type, { readers, targetType: target[0], targetField: target[1], data }]
  })
  return Object.fromEntries(entries)
}
