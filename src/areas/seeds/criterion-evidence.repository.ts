import { and, sql } from 'drizzle-orm'
import type { Executor } from '../../db/client.ts'
import { evidence } from '../../db/schema/seeds.ts'
import { isOfSeed, type SeedKey } from '../../db/sql/seed-keys.ts'
import { prepared } from '../../db/sql/prepared.ts'
import type { Verdict } from '../../domain/seeds.ts'
import { isCounted } from './evidence-counts.repository.ts'

const namedMax = sql.raw('3')
/** As much of a summary as a link shows, and more. */
const textLengthMax = sql.raw('200')

/** The evidence with one verdict that speaks to a success criterion. */
export interface CriterionEvidence {
  criterionId: string
  verdict: Verdict
  count: number
  /** The newest three, with the beginning of what was found. */
  newest: { id: string; summary: string }[]
}

const selectByCriterion = prepared((executor) => {
  const piece = sql`json_build_object('id', ${evidence.id}, 'summary', left(${evidence.summary}, ${textLengthMax}))`
  const newest = sql<CriterionEvidence['newest']>`to_json(
    (array_agg(${piece} order by ${evidence.createdAt} desc, ${evidence.id} desc))[1:${namedMax}])`
  return executor
    .select({
      criterionId: sql<string>`criterion.id`,
      verdict: evidence.verdict,
      count: sql<number>`count(*)::int`,
      newest,
    })
    .from(evidence)
    .crossJoin(sql`unnest(${evidence.criterionIds}) as criterion (id)`)
    .where(and(isOfSeed(evidence), isCounted))
    .groupBy(sql`criterion.id`, evidence.verdict)
    .prepare('evidence_select_by_criterion')
})

/** The evidence of a seed that speaks to its success criteria, by criterion and verdict. */
export function findCriterionEvidence(executor: Executor, seed: SeedKey): Promise<CriterionEvidence[]> {
  return selectByCriterion(executor).execute({ ...seed })
}
