import { findFault } from '../kernel/text.ts'
import { dateOf } from '../kernel/times.ts'

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
  'question',
  'decideBy',
  'teamId',
] as const

export type SeedField = (typeof seedFieldNames)[number]

/** The times by which seeds can be sorted, the latest first. */
export const seedTimes = ['createdAt', 'updatedAt', 'activityAt'] as const

export type SeedTime = (typeof seedTimes)[number]

/** The sorts of the validation kit: the latest first, or the oldest. */
export const kitSorts = [...seedTimes, '-createdAt'] as const

/** How lists of seeds can be sorted: by a time, or by the date to decide by, the earliest or the latest first. */
export const seedSorts = [...seedTimes, 'decideBy', '-decideBy'] as const

export type SeedSort = (typeof seedSorts)[number]

/** How seeds can be due by their date: before today, or today and in the six days after it, in UTC. */
export const datedDues = ['overdue', 'week'] as const

export type DatedDue = (typeof datedDues)[number]

/** Why seeds that are not decided are due: by their date, or for want of evidence. */
export const seedDues = [...datedDues, 'silent'] as const

export type SeedDue = (typeof seedDues)[number]

const dayMs = 24 * 60 * 60 * 1000

/** For how many days a silent seed has had no new evidence, or has existed without any. */
export const silentDays = 30

/** How many days before the date to decide by people are reminded. */
export const remindedDays = 3

/** The date some days after today, in UTC. */
export function dayAfter(days: number, now: Date): string {
  return dateOf(new Date(now.getTime() + days * dayMs))
}

/** The dates to decide by of seeds that are due then: `from` (absent: any) to `to`, both included. */
export function datesOfDue(due: DatedDue, now: Date): { from?: string; to: string } {
  return due === 'overdue' ? { to: dayAfter(-1, now) } : { from: dayAfter(0, now), to: dayAfter(6, now) }
}

/** The time since which silent seeds have had no new evidence. */
export function silentSince(now: Date): Date {
  return new Date(now.getTime() - silentDays * dayMs)
}

/** What seeds that are due have: a date to decide by among these, or no evidence since a time. */
export type DueCondition = { from?: string; to: string } | { silentSince: Date }

/** What seeds that are due then have. */
export function conditionOfDue(due: SeedDue, now: Date): DueCondition {
  return due === 'silent' ? { silentSince: silentSince(now) } : datesOfDue(due, now)
}

/** When a seed is due by its date; undefined if it is decided, has no date to decide by, or is due later. */
export function dueOf(
  { status, decideBy }: { status: SeedStatus; decideBy: string | null },
  now: Date,
): DatedDue | undefined {
  if (decideBy === null || isClosed(status)) return undefined
  return datedDues.find((due) => {
    const { from = '', to } = datesOfDue(due, now)
    return from <= decideBy && decideBy <= to
  })
}

/** The maximum length of the text that seeds are searched for. */
export const seedQueryLengthMax = 100

/** The kinds of evidence. */
export const evidenceKinds = ['interview', 'survey', 'experiment', 'metric', 'note'] as const

export type EvidenceKind = (typeof evidenceKinds)[number]

/** What of evidence can be corrected. */
export const evidenceFieldNames = ['kind', 'verdict', 'summary', 'sourceUrl', 'criterionIds'] as const

/** What events say was changed of seeds and of evidence: labels and files too. */
export const changedOfSeed = [...seedFieldNames, 'labelIds', 'attachmentIds'] as const
export const changedOfEvidence = [...evidenceFieldNames, 'attachmentIds'] as const

/** What the evidence of a seed says on balance: more for it, more against it, as much for as against it, or no evidence. */
export const seedBalances = ['for', 'against', 'even', 'none'] as const

export type SeedBalance = (typeof seedBalances)[number]

/** In place of the id of a person in filters: the caller; of the lead, also nobody. */
export const idOfCaller = 'me'
export const idOfNobody = 'none'

/** How long the author can correct evidence. */
export const correctableMs = 15 * 60 * 1000

/** How long a deleted seed can be restored. */
export const deletedSeedsKeptMs = 14 * 24 * 60 * 60 * 1000

/** How long a merge of seeds can be undone. */
export const mergesUndoneMs = 14 * 24 * 60 * 60 * 1000

/** The most similar seeds that are named to who writes a title. */
export const similarSeedsMax = 5

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
export const questionLengthMax = 300
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
