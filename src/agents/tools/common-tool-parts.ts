import { shorten } from '../../kernel/text.ts'
import { Type } from '@sinclair/typebox'
import { told } from '../../kernel/schemas.ts'

/** An argument that is an id, by the words for what it is of. */
export function idOf(words: string) {
  // Its name tells models that it is an id.
  return told(Type.String({ description: `The id of ${words}.` }), `${words.replace(/^a/, 'A')}.`)
}

/** The argument of tools that are about one seed. */
export const seedId = idOf('a seed')

/** The argument of tools that are about one piece of evidence. */
export const evidenceId = idOf('evidence')

/** The argument of tools that are about one request. */
export const requestId = Type.String({ description: 'From inbox.' })

/** The advice for a `requestId` that does not exist, and for one that has ended. */
export const unknownRequest = 'You have no request with this requestId, on this seed. Call inbox.'
export const endedRequest = 'Somebody answered, declined or cancelled it, or it is too late. Call inbox.'

/** The advice for a `seedId` that does not exist. */
export const unknownSeed =
  'No seed of this workspace has this seedId. Call read_validation_kit to list the seeds.'

/** The advice for a success criterion that does not exist. */
export const unknownCriterion = 'Call read_validation_kit with seedId for the ids of its criteria.'

/** Hints of tools that change something. */
export const writingHints = { readOnlyHint: false, destructiveHint: false, openWorldHint: false } as const

const quotedMax = 120

/** What people wrote, as it is shown to a person who confirms a call: one line, with its beginning only. */
export function quote(text: string): string {
  return `“${shorten(text.replaceAll(/\s+/g, ' ').trim(), quotedMax)}”`
}
