import { errors } from '../../kernel/errors.ts'
import {
  seedTextLengthMax,
  seedTitleLengthMax,
  successCriteriaMax,
  successCriterionLengthMax,
} from '../../kernel/seeds.ts'
import { requireLine, requireLines } from '../../kernel/text.ts'
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
export function parseNewTexts(input: SeedInput): Omit<SeedFields, 'status'> {
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

const fieldNames: Record<keyof SeedFields, string> = {
  title: 'the title',
  summary: 'the summary',
  problem: 'the problem',
  audience: 'the audience',
  hypothesis: 'the hypothesis',
  successCriteria: 'the success criteria',
  status: 'the status',
}

/** What a change did, for the summary of its event. `seed` is from before the change. */
export function describeChanges(seed: SeedFields, { status, ...texts }: Partial<SeedFields>): string {
  const names = [...Object.keys(texts), ...(status === undefined ? [] : ['status'])]
  const parts = names.map((name) => fieldNames[name as keyof SeedFields])
  const list =
    parts.length < 2 ? parts.join('') : `${parts.slice(0, -1).join(', ')} and ${String(parts.at(-1))}`
  const change = status === undefined ? '' : ` from ${seed.status} to ${status}`
  return `changed ${list} of the seed ${seed.title}${change}`
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
  if (criteria.length > successCriteriaMax) throw errors.textInvalid({ field })
  return criteria.map((criterion) => requireLine(criterion, successCriterionLengthMax, field))
}
