import { errors } from '../../kernel/errors.ts'
import type { EventDataOf } from '../../domain/events.ts'
import { versionedFiles } from '../../domain/attachments.ts'
import {
  changedOfSeed,
  questionLengthMax,
  reasonLengthMax,
  seedFieldNames,
  seedTextLengthMax,
  seedTitleLengthMax,
  type SeedField,
  type SeedStatus,
} from '../../domain/seeds.ts'
import { faultOfDate } from '../../kernel/schemas.ts'
import { requireLine, requireLines } from '../../kernel/text.ts'
import { isDate } from '../../kernel/times.ts'
import { versionOfFields } from '../../kernel/versions.ts'
import { mergeCriteria, parseCriteria, textsOf, type CriteriaInput } from './seed-criteria.ts'
import type { SeedFields } from './seeds.repository.ts'

/** What people write about a seed. An empty text counts as none. */
export interface SeedInput extends CriteriaInput {
  title: string
  /** May have several lines, like the fields below. */
  summary: string
  problem?: string
  audience?: string
  hypothesis?: string
  /** One line. Null: none. */
  question?: string | null
  /** A date, as `2026-11-21`. Null or empty: none. */
  decideBy?: string | null
}

/** Normalizes the texts of a new seed. Throws `text_invalid`, `criteria_twice` and `criterion_not_found`. */
export function parseNewTexts(
  input: SeedInput,
): Omit<SeedFields, 'status' | 'leadUserId' | 'teamId' | 'labelIds'> {
  const criteria = mergeCriteria([], parseCriteria(input) ?? [])
  return {
    title: requireTitle(input.title),
    summary: requireText(input.summary, 'summary'),
    problem: parseOptional(input.problem ?? '', 'problem'),
    audience: parseOptional(input.audience ?? '', 'audience'),
    hypothesis: parseOptional(input.hypothesis ?? '', 'hypothesis'),
    successCriteria: textsOf(criteria),
    criteria,
    question: parseQuestion(input.question ?? null),
    decideBy: parseDecideBy(input.decideBy ?? null),
  }
}

/** Normalizes the given texts, but for the success criteria. Throws `text_invalid`. */
export function parseTexts(input: Partial<SeedInput>): Partial<SeedFields> {
  const { title, summary, problem, audience, hypothesis, question, decideBy } = input
  return {
    ...(title !== undefined && { title: requireTitle(title) }),
    ...(summary !== undefined && { summary: requireText(summary, 'summary') }),
    ...(problem !== undefined && { problem: parseOptional(problem, 'problem') }),
    ...(audience !== undefined && { audience: parseOptional(audience, 'audience') }),
    ...(hypothesis !== undefined && { hypothesis: parseOptional(hypothesis, 'hypothesis') }),
    ...(question !== undefined && { question: parseQuestion(question) }),
    ...(decideBy !== undefined && { decideBy: parseDecideBy(decideBy) }),
  }
}

const laterFields: readonly SeedField[] = ['question', 'decideBy', 'teamId']

/**
 * The version of a seed: of what people change in it, and not of its evidence. Fields that were added later count once they
 * have a value, so that versions from before them stay valid.
 */
export function versionOfSeed(
  seed: Omit<SeedFields, 'labelIds'> & Record<'labels' | 'attachments', readonly { id: string }[]>,
): string {
  const isUnused = (name: SeedField) => laterFields.includes(name) && seed[name] === null
  const labelIds = seed.labels.map(({ id }) => id).sort()
  const hasStates = seed.criteria.some(({ state }) => state !== 'open')
  const files = versionedFiles(seed.attachments)
  return versionOfFields({ ...seed, labelIds, ...files }, [
    ...seedFieldNames.filter((name) => !isUnused(name)),
    ...(hasStates ? (['criteria'] as const) : []),
    ...(labelIds.length > 0 ? (['labelIds'] as const) : []),
    ...(Object.keys(files) as (keyof typeof files)[]),
  ])
}

/** The fields of the event for the team and the labels. */
type SortingOfEvent = Pick<
  EventDataOf<'seed.updated'>,
  'teamId' | 'teamName' | 'teamIdBefore' | 'teamNameBefore' | 'labelIds'
>

/** What a change did, for the data of its event. `seed` is from before the change. */
export function describeChanges(
  seed: SeedFields,
  changed: Partial<SeedFields> & { attachmentIds?: readonly string[] | undefined },
): Omit<
  EventDataOf<'seed.updated'>,
  'seedId' | 'statusReason' | 'leadName' | 'leadUserIdBefore' | 'leadNameBefore' | keyof SortingOfEvent
> {
  const { title, status, leadUserId = null } = changed
  return {
    title: title ?? seed.title,
    titleBefore: title === undefined ? null : seed.title,
    fields: changedOfSeed.filter((name) => changed[name] !== undefined),
    status: status === undefined ? null : { from: seed.status, to: status },
    leadUserId,
  }
}

/** Normalizes the reason for a status. Throws `text_invalid`, and `reason_without_status` without a status. */
export function parseStatusReason({
  status,
  statusReason = '',
}: {
  status?: SeedStatus
  statusReason?: string
}): string | null {
  const field = 'statusReason'
  if (statusReason === '') return null
  if (status === undefined) throw errors.reasonWithoutStatus({ field })
  return requireLine(statusReason, reasonLengthMax, field)
}

function requireTitle(text: string): string {
  return requireLine(text, seedTitleLengthMax, 'title')
}

function requireText(text: string, field: string): string {
  return requireLines(text, seedTextLengthMax, field)
}

function parseOptional(text: string, field: string): string | null {
  return text === '' ? null : requireText(text, field)
}

function parseQuestion(text: string | null): string | null {
  return text === null || text === '' ? null : requireLine(text, questionLengthMax, 'question')
}

function parseDecideBy(text: string | null): string | null {
  if (text === null || text === '') return null
  if (!isDate(text)) throw errors.textInvalid({ field: 'decideBy', message: `This ${faultOfDate}.` })
  return text
}
