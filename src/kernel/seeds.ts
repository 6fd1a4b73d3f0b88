/** Where a seed stands. */
export const seedStatuses = ['open', 'validating', 'validated', 'dropped'] as const

export type SeedStatus = (typeof seedStatuses)[number]

/** What a piece of evidence is. */
export const evidenceKinds = ['interview', 'survey', 'experiment', 'metric', 'note'] as const

export type EvidenceKind = (typeof evidenceKinds)[number]

/** What a piece of evidence says of the seed. */
export const verdicts = ['supports', 'contradicts', 'neutral'] as const

export type Verdict = (typeof verdicts)[number]

/** What the titles of the first run's example seeds begin with. */
export const exampleTitlePrefix = 'Example: '

/** The longest texts of a seed and its evidence, in characters (code points). */
export const seedTitleLengthMax = 120
export const seedTextLengthMax = 2000
export const successCriterionLengthMax = 300
export const evidenceSummaryLengthMax = 4000
/** The most success criteria of a seed. */
export const successCriteriaMax = 20

/** Where evidence comes from: an http or https URL without blanks or control characters. An ECMA-262 pattern for the `u` flag. */
export const sourceUrlPattern = '^[hH][tT][tT][pP][sS]?://[^\\s\\p{Cc}\\p{Cf}\\p{Cs}]+$'
export const sourceUrlLengthMax = 2048

/** Whether a text is the address of a web page, without a user name or a password in it. */
export function isSourceUrl(text: string): boolean {
  if (Array.from(text).length > sourceUrlLengthMax || !new RegExp(sourceUrlPattern, 'u').test(text))
    return false
  if (!URL.canParse(text)) return false
  const { username, password } = new URL(text)
  return username === '' && password === ''
}

/** Whether a seed is decided: nobody joins it any more. */
export function isClosed(status: SeedStatus): boolean {
  return status === 'validated' || status === 'dropped'
}
