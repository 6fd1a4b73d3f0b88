import { and, desc, eq, getTableColumns, isNotNull, isNull, lt, sql, type SQL } from 'drizzle-orm'
import type { Executor } from '../../db/client.ts'
import { itemColumns, readOne, selectJsonRows } from '../../db/sql/json-rows.ts'
import { placeRows } from '../../db/sql/placed-rows.ts'
import { placeholdersOf, prepared } from '../../db/sql/prepared.ts'
import { evidenceBytes } from '../../db/sql/text-bytes.ts'
import { evidence } from '../../db/schema/seeds.ts'
import { pageBytesMax, type JsonRows, type PageRange } from '../../kernel/pagination.ts'
import type { EvidenceAuthors, Verdict } from '../../kernel/seeds.ts'
import type { Evidence } from './evidence.schemas.ts'

const selectEvidence = prepared((executor) => prepareEvidence(executor, { name: 'evidence_select_of_seed' }))

/** Without a name, the statement is for one use. */
function prepareEvidence(executor: Executor, { name = '', filter }: { name?: string; filter?: SQL }) {
  const isOfSeed = and(eq(evidence.seedId, sql.placeholder('seedId')), filter)
  const placed = placeRows(executor, evidence, evidenceBytes, isOfSeed)
  const rows = executor
    .select(itemColumns<Evidence>(getTableColumns(evidence)))
    .from(placed)
    .innerJoin(evidence, eq(evidence.id, placed.id))
    .where(lt(placed.bytesBefore, pageBytesMax))
    .orderBy(desc(evidence.createdAt), desc(evidence.id))
  return selectJsonRows(executor, rows).prepare(name)
}

/** Evidence of a seed, newest first; no more than `pageBytesMax`. */
export function listEvidence(
  executor: Executor,
  { by, ...values }: { seedId: string; by?: EvidenceAuthors } & PageRange,
): Promise<JsonRows> {
  if (by !== undefined) {
    const filter = by === 'agents' ? isNotNull(evidence.agentName) : isNull(evidence.agentName)
    return readOne(prepareEvidence(executor, { filter }).execute(values))
  }
  return readOne(selectEvidence(executor).execute(values))
}

const insertIntoEvidence = prepared((executor) =>
  executor.insert(evidence).values(placeholdersOf(evidence)).prepare('evidence_insert'),
)

export async function insertEvidence(executor: Executor, row: typeof evidence.$inferSelect): Promise<void> {
  await insertIntoEvidence(executor).execute(row)
}

/** Changes the author's name on all their evidence. Returns the names that it replaced. */
export async function renameAuthor(executor: Executor, userId: string, name: string): Promise<string[]> {
  const isAuthor = eq(evidence.authorUserId, userId)
  const names = await executor.selectDistinct({ name: evidence.authorName }).from(evidence).where(isAuthor)
  await executor.update(evidence).set({ authorName: name }).where(isAuthor)
  return names.map((row) => row.name)
}

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
    .where(eq(evidence.seedId, sql.placeholder('seedId')))
    .groupBy(sql`day`, evidence.verdict)
    .orderBy(sql`day`)
    .prepare('evidence_count_by_day')
})

/** The numbers of pieces of evidence of a seed, the earliest day first. */
export function countEvidence(executor: Executor, seedId: string): Promise<EvidenceCount[]> {
  return selectEvidenceCounts(executor).execute({ seedId })
}
