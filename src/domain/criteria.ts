/** Whether a success criterion of a seed is met: it is not known yet, it is, or it was missed. */
export const criterionStates = ['open', 'met', 'missed'] as const

export type CriterionState = (typeof criterionStates)[number]

/** A success criterion of a seed. */
export interface Criterion {
  id: string
  text: string
  state: CriterionState
}

/** What a success criterion is to be: one of the seed by its id, else the one with this text, else a new one. */
export interface GivenCriterion {
  id?: string
  text: string
  /** By default that which it has; of a new one, `open`. */
  state?: CriterionState
}
