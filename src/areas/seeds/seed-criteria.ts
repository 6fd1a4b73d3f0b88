import type { Happening } from '../../domain/events.ts'
import type { Criterion, GivenCriterion } from '../../domain/criteria.ts'
import { successCriteriaMax, successCriterionLengthMax } from '../../domain/seeds.ts'
import { errors } from '../../kernel/errors.ts'
import { createId } from '../../kernel/ids.ts'
import { requireLine } from '../../kernel/text.ts'

/** The success criteria of an input: as texts alone, or with ids and states. Both at once throw `criteria_twice`. */
export interface CriteriaInput {
  successCriteria?: string[]
  criteria?: readonly GivenCriterion[]
}

/** The success criteria of a seed, in both forms. */
export interface CriteriaFields {
  successCriteria: string[]
  criteria: Criterion[]
}

/**
 * The given success criteria, of one line each; undefined if none are given. Throws `criteria_twice`, also for an id that is
 * there twice, and `text_invalid`, also for too many.
 */
export function parseCriteria({ successCriteria, criteria }: CriteriaInput): GivenCriterion[] | undefined {
  const field = criteria ? 'criteria' : 'successCriteria'
  if (successCriteria && criteria) throw errors.criteriaTwice({ field })
  const given = criteria ?? successCriteria?.map((text) => ({ text }))
  if (!given) return undefined
  if (given.length > successCriteriaMax)
    throw errors.textInvalid({ field, message: `There are more than ${successCriteriaMax} criteria.` })
  const ids = given.flatMap(({ id }: GivenCriterion) => id ?? [])
  if (new Set(ids).size < ids.length) throw errors.criteriaTwice({ field })
  return given.map((criterion) => ({
    ...criterion,
    text: requireLine(criterion.text, successCriterionLengthMax, field),
  }))
}

/**
 * What given success criteria make of those of a seed: a text without an id stays the criterion that has it. Throws
 * `criterion_not_found` for an id that the seed does not have.
 */
export function mergeCriteria(before: readonly Criterion[], given: readonly GivenCriterion[]): Criterion[] {
  const named = new Set(given.flatMap(({ id }) => id ?? []))
  const left = before.filter(({ id }) => !named.has(id))
  return given.map(({ id, text, state }) => {
    const known = id === undefined ? takeFirst(left, text) : before.find((criterion) => criterion.id === id)
    if (id !== undefined && !known) throw errors.criterionNotFound({ field: 'criteria' })
    return { id: known?.id ?? createId(), text, state: state ?? known?.state ?? 'open' }
  })
}

/** The texts of success criteria. */
export function textsOf(criteria: readonly Criterion[]): string[] {
  return criteria.map(({ text }) => text)
}

/** Both forms of the success criteria that an edit changes, if it changes one: the texts only if there are others, or in another order. */
export function completeCriteria(
  before: Pick<CriteriaFields, 'criteria'>,
  changed: Partial<CriteriaFields>,
): Partial<CriteriaFields> {
  if (changed.successCriteria) {
    const given = changed.successCriteria.map((text) => ({ text }))
    return { ...changed, criteria: mergeCriteria(before.criteria, given) }
  }
  if (!changed.criteria) return changed
  const wordsOf = (criteria: readonly Criterion[]) =>
    criteria.map(({ id, text }) => `${id} ${text}`).join('\n')
  const isReworded = wordsOf(changed.criteria) !== wordsOf(before.criteria)
  return { ...changed, ...(isReworded && { successCriteria: textsOf(changed.criteria) }) }
}

/** The events of the success criteria whose state is another one. A new one was open before. */
export function describeStates(
  { seedId, title }: { seedId: string; title: string },
  before: readonly Criterion[],
  after: readonly Criterion[],
): Extract<Happening, { type: 'seed.criterion_changed' }>[] {
  const states = new Map(before.map(({ id, state }) => [id, state]))
  return after.flatMap(({ id, text, state: to }) => {
    const from = states.get(id) ?? 'open'
    if (from === to) return []
    return [{ type: 'seed.criterion_changed', data: { seedId, title, criterionId: id, text, from, to } }]
  })
}

/**
 * The ids of success criteria that evidence speaks to, each once and in the order of the seed. Throws
 * `criterion_not_found` for one that the seed does not have.
 */
export function requireCriterionIds(criteria: readonly Criterion[], given: readonly string[]): string[] {
  const known = criteria.map(({ id }) => id)
  if (!given.every((id) => known.includes(id))) throw errors.criterionNotFound({ field: 'criterionIds' })
  return known.filter((id) => given.includes(id))
}

function takeFirst(criteria: Criterion[], text: string): Criterion | undefined {
  const place = criteria.findIndex((criterion) => criterion.text === text)
  return place < 0 ? undefined : criteria.splice(place, 1)[0]
}
