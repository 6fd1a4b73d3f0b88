import { errors } from '../../kernel/errors.ts'
import type { EventDataOf } from '../../domain/events.ts'
import {
  reasonLengthMax,
  seedFieldNames,
  seedTextLengthMax,
  seedTitleLengthMax,
  successCriteriaMax,
  successCriterionLengthMax,
  type SeedStatus,
} from '../../domain/seeds.ts'
import { requireLine, requireLines } from '../../kernel/text.ts'
import { versionOfFields } from '../../kernel/versions.ts'
import type { SeedFields } from './seeds.repository.ts'

/** What people write about a seed. An empty text counts as none. */
export interface SeedInput {
  title: string
  /** May have several lines, like the fields below. */
  summary: string
  problem?: string
  audience?: string
  hypothesis?: string
  successCriteria?: string[]
}

/** Normalizes the texts of a new seed. Throws `text_invalid`. */
export function parseNewTexts(input: SeedInput): Omit<SeedFields, 'status' | 'leadUserId'> {
  return {
    title: requireTitle(input.title),
    summary: requireText(input.summary, 'summary'),
    problem: parseOptional(input.problem ?? '', 'problem'),
    audience: parseOptional(input.audience ?? '', 'audience'),
    hypothesis: parseOptional(input.hypothesis ?? '', 'hypothesis'),
    successCriteria: requireCriteria(input.successCriteria ?? []),
  }
}

/** Normalizes the given texts. Throws `text_invalid`. */
export function parseTexts(input: Partial<SeedInput>): Partial<SeedFields> {
  const { title, summary, problem, audience, hypothesis, successCriteria } = input
  return {
    ...(title !== undefined && { title: requireTitle(title) }),
    ...(summary !== undefined && { summary: requireText(summary, 'summary') }),
    ...(problem !== undefined && { problem: parseOptional(problem, 'problem') }),
    ...(audience !== undefined && { audience: parseOptional(audience, 'audience') }),
    ...(hypothesis !== undefined && { hypothesis: parseOptional(hypothesis, 'hypothesis') }),
    ...(successCriteria !== undefined && { successCriteria: requireCriteria(successCriteria) }),
  }
}

/** The version of a seed: of what people change in it, and not of its evidence. */
export function versionOfSeed(seed: SeedFields): string {
  return versionOfFields(seed, seedFieldNames)
}

/** What a change did, for the data of its event. `seed` is from before the change. */
export function describeChanges(
  seed: SeedFields,
  changed: Partial<SeedFields>,
): Omit<
  EventDataOf<'seed.updated'>,
  'seedId' | 'statusReason' | 'leadName' | 'leadUserIdBefore' | 'leadNameBefore'
> {
  const { title, status, leadUserId = null } = changed
  return {
    title: title ?? seed.title,
    titleBefore: title === undefined ? null : seed.title,
    fields: seedFieldNames.filter((name) => changed[name] !== undefined),
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

function requireCriteria(criteria: readonly string[]): string[] {
  const field = 'successCriteria'
  if (criteria.length > successCriteriaMax)
    throw errors.textInvalid({ field, message: `There are more than ${successCriteriaMax} criteria.` })
  return criteria.map((criterion) => requireLine(criterion, successCriterionLengthMax, field))
}
