import { Type } from '@sinclair/typebox'

/** The argument of tools that are about one seed. */
export const seedId = Type.String({ description: 'The id of a seed.' })

/** The advice for a `seedId` that does not exist. */
export const unknownSeed =
  'No seed of this workspace has this seedId. Call read_validation_kit to list the seeds.'

/** Hints of tools that change something. */
export const writingHints = { readOnlyHint: false, destructiveHint: false, openWorldHint: false } as const
