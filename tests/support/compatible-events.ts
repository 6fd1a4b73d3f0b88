import type { CataloguedEvent } from '../../scripts/event-catalogue.ts'
import type { Schema } from '../../scripts/description.ts'
import { compareSchemas } from './compatible-schemas.ts'

type Catalogue = Readonly<Record<string, CataloguedEvent>>

/** Fewest first. */
const readers = ['managers', 'grantors', 'everybody']

/**
 * Finds what in a catalogue of events breaks clients of a released one, a sentence each: `member.joined: data: the field role
 * is gone`. Types stay, each seen by those who saw it, or more; `data` may gain fields, as what responses have.
 */
export function findEventBreaks(released: Catalogue, present: Catalogue): string[] {
  return Object.entries(released).flatMap(([type, was]) => {
    const is = present[type]
    if (!is) return [`${type}: is gone`]
    const side = ({ data }: CataloguedEvent) => ({ schema: data as Schema, resolve: (part: Schema) => part })
    return [
      ...(readers.indexOf(is.readers) < readers.indexOf(was.readers)
        ? [`readers ${was.readers} became ${is.readers}`]
        : []),
      ...(['targetType', 'targetField'] as const)
        .filter((field) => is[field] !== was[field])
        .map((field) => `${field} ${was[field]} became ${is[field]}`),
      ...compareSchemas(side(was), side(is), 'output').map(
        ({ path, what }) => `data${path && ` ${path}`}: ${what}`,
      ),
    ].map((phrase) => `${type}: ${phrase}`)
  })
}
