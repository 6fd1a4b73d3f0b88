import { errors } from '../kernel/errors.ts'
import { eventKinds, isEventType, type EventType } from './events.ts'

/** The types in texts, each of which may have several, separated by commas. Empty ones are kept. */
export function splitEventTypes(texts: readonly string[]): string[] {
  const types = texts.flatMap((text) => text.split(',')).map((type) => type.trim())
  return [...new Set(types)]
}

/** The types among texts. Throws `event_type_unknown`, with the field that they are from, if one is none. */
export function requireEventTypes(types: readonly string[], field: string): EventType[] {
  if (!types.every(isEventType)) throw errors.eventTypeUnknown({ field })
  return [...types] as EventType[]
}

/** The most types that are named in place of one that does not exist. */
const nearestMax = 6

/** The types that a text may have meant, the nearest first. */
export function findNearestEventTypes(text: string): EventType[] {
  const [target = ''] = text.split('.')
  const likenessOf = (type: string) => likeness(text, type) + likeness(target, type.split('.')[0] ?? '')
  return (Object.keys(eventKinds) as EventType[])
    .map((type) => ({ type, score: likenessOf(type) }))
    .sort((one, other) => other.score - one.score)
    .slice(0, nearestMax)
    .map(({ type }) => type)
}

/** How many of the pairs of letters of two texts are in both: from 0 to 1 (the coefficient of Dice). */
function likeness(one: string, other: string): number {
  const [pairs, others] = [pairsOf(one), pairsOf(other)]
  const both = [...pairs].filter((pair) => others.has(pair)).length
  return (2 * both) / Math.max(1, pairs.size + others.size)
}

function pairsOf(text: string): Set<string> {
  const letters = text.toLowerCase()
  return new Set(Array.from({ length: Math.max(0, letters.length - 1) }, (_, i) => letters.slice(i, i + 2)))
}
