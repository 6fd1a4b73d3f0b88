import { errors } from './errors.ts'
import { filterIdsMax, isId } from './ids.ts'

/**
 * The ids of a filter that must all match, sorted, each once: malformed ones too, with which nothing matches. Throws `id_limit`
 * for more than `filterIdsMax`.
 */
export function parseAllIds(texts: readonly string[], field: string): string[] {
  const asked = new Set(texts.flatMap((text) => text.split(',')).filter((text) => text !== ''))
  if (asked.size > filterIdsMax) throw errors.idLimit({ field })
  return [...asked].toSorted()
}

/**
 * The ids of a filter, sorted, each once: each text may have several, separated by commas. Malformed ones are left out, since
 * nothing has them. Throws `id_limit` for more than `filterIdsMax`.
 */
export function parseFilterIds(texts: readonly string[], field: string): string[] {
  const asked = new Set(texts.flatMap((text) => text.split(',')))
  if (asked.size > filterIdsMax) throw errors.idLimit({ field })
  return [...asked].filter(isId).toSorted()
}
