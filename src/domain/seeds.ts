import { findFault } from '../kernel/text.ts'

/** The statuses of a seed. */
export const seedStatuses = ['open', 'validating', 'validated', 'dropped'] as const

export type SeedStatus = (typeof seedStatuses)[number]

/** What of a seed can be changed. */
export const seedFieldNames = [
  'title',
  'summary',
  'problem',
  'audience',
  'hypothesis',
  'successCriteria',
  'status',
  'leadUserId',
] as const

export type SeedField = (typeof seedFieldNames)[number]

/** The times by which seeds can be sorted, the latest first. */
export const seedSorts = ['createdAt', 'updatedAt', 'activityAt'] as const

export type SeedSort = (typeof seedSorts)[number]

/** The maximum length of the text that seeds are searched for. */
export const seedQueryLengthMax = 100

/** The kinds of evidence. */
export const evidenceKinds = ['interview', 'survey', 'experiment', 'metric', 'note'] as const

export type EvidenceKind = (typeof evidenceKinds)[number]

/** What of evidence can be corrected. */
export const evidenceFieldNames = ['kind', 'verdict', 'summary', 'sourceUrl'] as const

/** How long the author can correct evidence. */
export const correctableMs = 15 * 60 * 1000

/** How long a deleted seed can be restored. */
export const deletedSeedsKeptMs = 14 * 24 * 60 * 60 * 1000

/** Who added evidence: people themselves, or agents for them. */
export const evidenceAuthors = ['people', 'agents'] as const

export type EvidenceAuthors = (typeof evidenceAuthors)[number]

/** Whether evidence is for or against its seed. */
export const verdicts = ['supports', 'contradicts', 'neutral'] as const

export type Verdict = (typeof verdicts)[number]

/** The start of the titles of the example seeds that the first start creates. */
export const exampleTitlePrefix = 'Example: '

/** The maximum lengths of the texts of seeds and evidence, in code points. */
export const seedTitleLengthMax = 120
export const seedTextLengthMax = 2000
export const successCriterionLengthMax = 300
export const evidenceSummaryLengthMax = 4000
/** Of the reason for a status, and for withdrawing evidence. */
export const reasonLengthMax = 300
/** The maximum number of success criteria of a seed. */
export const successCriteriaMax = 20

export const sourceUrlLengthMax = 2048

/** Whether a text is an http or https URL without a user name and a password. */
export function isSourceUrl(text: string): boolean {
  if (findFault(text, 'url', sourceUrlLengthMax) !== undefined || !URL.canParse(text)) return false
  const { username, password } = new URL(text)
  return username === '' && password === ''
}

/** The statuses in which a seed is decided, so that it can no longer be joined. */
export const closedStatuses = ['validated', 'dropped'] as const satisfies SeedStatus[]

export function isClosed(status: SeedStatus): boolean {
  return (closedStatuses as readonly SeedStatus[]).includes(status)
}

/** What somebody can be asked to join a seed as. */
export const askedAs = ['participant', 'lead'] as const
export type AskedAs = (typeof askedAs)[number]

/** How many people an agent asks to join seeds in 24 hours at most. */
export const asksOfAgentMax = 20
