import { isId } from '../../kernel/ids.ts'

/** Whom or what a job is about: the ids of its payload, which has names and addresses too. */
export function subjectsOf(payload: unknown): Record<string, string> {
  if (typeof payload !== 'object' || payload === null) return {}
  return Object.fromEntries(
    Object.entries(payload).filter(
      (entry): entry is [string, string] =>
        entry[0].endsWith('Id') && typeof entry[1] === 'string' && isId(entry[1]),
    ),
  )
}
