import { digest } from './versions.ts'

/** A version of each field: a digest of its value, which is the same for equal values. */
export type FieldVersions = Readonly<Record<string, string>>

/** What an edit changes, beside what others changed since it was begun. */
export interface ComparedEdit<Fields> {
  /** The given fields that the editor changed and that differ from the current ones. */
  changes: Partial<Fields>
  /** Those of `changes` whose current value is another one than the editor began with. */
  conflicts: (keyof Fields)[]
}

/** The version of each field, for an editor to send back with the edit. */
export function versionsOf(fields: object): FieldVersions {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, versionOf(value)]))
}

/**
 * Compares the given values of fields with the current ones. `opened` has the versions of the fields when the edit was
 * begun: a field that still has this version was not edited, whatever it is now. A field without a version counts as
 * edited, and has no conflicts.
 */
export function compareEdit<Fields extends object>(
  current: Fields,
  given: Partial<Fields>,
  opened: FieldVersions = {},
): ComparedEdit<Fields> {
  const names = (Object.keys(given) as (keyof Fields & string)[]).filter((name) => {
    const version = versionOf(given[name])
    return version !== opened[name] && version !== versionOf(current[name])
  })
  return {
    changes: Object.fromEntries(names.map((name) => [name, given[name]])) as Partial<Fields>,
    conflicts: names.filter(
      (name) => opened[name] !== undefined && opened[name] !== versionOf(current[name]),
    ),
  }
}

function versionOf(value: unknown): string {
  return digest(JSON.stringify(value ?? null))
}
