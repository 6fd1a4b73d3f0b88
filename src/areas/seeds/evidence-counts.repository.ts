import { and, isNull, sql } from 'drizzle-orm'
import type { Executor } from '../../db/client.ts'
import { evidence } from '../../db/schema/seeds.ts'
import { isOfSeed, type SeedKey } from '../../db/sql/seed-keys.ts'
import { prepared } from '../../db/sql/prepared.ts'
import type { Verdict } from '../../domain/seeds.ts'

/** Whether evidence counts. */
export const isCounted = isNull(evidence.withdrawnAt)

/** The pieces of evidence with one verdict on one day. */
export interface EvidenceCount {
  /** In UTC, as `YYYY-MM-DD`. */
  day: string
  verdict: Verdict
  count: number
}

const selectEvidenceCounts = prepared((executor) => {
  const day = sql<string>`to_char(${evidence.createdAt} at time zone 'UTC', 'YYYY-MM-DD')`
  return executor
    .select({ day: day.as('day'), verdict: evidence.verdict, count: sql<number>`count(*)::int` })
    .from(evidence)
    .where(and(isOfSeed(evidence), isCounted))
    .groupBy(sql`day`, evidence.verdict)
    .orderBy(sql`day`)
    .prepare('evidence_count_by_day')
})

/** The numbers of pieces of evidence of a seed, the earliest day first. */
export function countEvidence(executor: Executor, seed: SeedKey): Promise<EvidenceCount[]> {
  return selectEvidenceCounts(executor).execute({ ...seed })
}
