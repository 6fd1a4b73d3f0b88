/** Where a seed stands. */
export const seedStatuses = ['open', 'validating', 'validated', 'dropped'] as const

export type SeedStatus = (typeof seedStatuses)[number]

/** What a piece of evidence is. */
export const evidenceKinds = ['interview', 'survey', 'experiment', 'metric', 'note'] as const

export type EvidenceKind = (typeof evidenceKinds)[number]

/** What a piece of evidence says of the seed. */
export const verdicts = ['supports', 'contradicts', 'neutral'] as const

export type Verdict = (typeof verdicts)[number]

/** Whether a seed is decided: nobody joins it any more. */
export function isClosed(status: SeedStatus): boolean {
  return status === 'validated' || status === 'dropped'
}
