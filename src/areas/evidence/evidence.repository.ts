import { and, desc, eq, isNotNull, isNull, lt, sql, type SQL } from 'drizzle-orm'
import type { Executor } from '../../db/client.ts'
import { itemColumns, readOne, selectJsonRows } from '../../db/sql/json-rows.ts'
import { placeRows } from '../../db/sql/placed-rows.ts'
import { placeholdersOf, prepared } from '../../db/sql/prepared.ts'
import { evidenceBytes } from '../../db/sql/text-bytes.ts'
import { evidence } from '../../db/schema/seeds.ts'
import { pageBytesMax, type JsonRows, type PageRange } from '../../kernel/pagination.ts'
import type { EvidenceAuthors } from '../../domain/seeds.ts'
import { isCounted } from '../seeds/evidence-counts.repository.ts'
import type { Evidence } from './evidence.schemas.ts'

const evidenceColumns = {
  id: evidence.id,
  seedId: evidence.seedId,
  kind: evidence.kind,
  verdict: evidence.verdict,
  summary: evidence.summary,
  sourceUrl: evidence.sourceUrl,
  authorUserId: evidence.authorUserId,
  authorName: evidence.authorName,
  agentName: evidence.agentName,
  createdAt: evidence.createdAt,
  editedAt: evidence.editedAt,
  withdrawnAt: evidence.withdrawnAt,
  withdrawnByName: evidence.withdrawnByName,
  withdrawnReason: evidence.withdrawnReason,
}

const selectCounted = prepared((executor) =>
  prepareEvidence(executor, { name: 'evidence_select_of_seed', filter: isCounted }),
)
const selectAll = prepared((executor) => prepareEvidence(executor, { name: 'evidence_select_all_of_seed' }))

/** Without a name, the statement is for one use. */
function prepareEvidence(executor: Executor, { name = '', filter }: { name?: string; filter?: SQL }) {
  const isOfSeed = and(eq(evidence.seedId, sql.placeholder('seedId')), filter)
  const placed = placeRows(executor, evidence, evidenceBytes, isOfSeed)
  const rows = executor
    .select(itemColumns<Evidence>(evidenceColumns))
    .from(placed)
    .innerJoin(evidence, eq(evidence.id, placed.id))
    .where(lt(placed.bytesBefore, pageBytesMax))
    .orderBy(desc(evidence.createdAt), desc(evidence.id))
  return selectJsonRows(executor, rows).prepare(name)
}

/** Which evidence of a seed a list contains. */
export interface EvidenceFilter {
  by?: EvidenceAuthors
  /** Also what was withdrawn. */
  includeWithdrawn?: boolean
}

/** Evidence of a seed, newest first; no more than `pageBytesMax`. */
export function listEvidence(
  executor: Executor,
  { by, includeWithdrawn = false, ...values }: { seedId: string } & EvidenceFilter & PageRange,
): Promise<JsonRows> {
  if (by !== undefined) {
    const isBy = by === 'agents' ? isNotNull(evidence.agentName) : isNull(evidence.agentName)
    const filter = and(isBy, includeWithdrawn ? undefined : isCounted)
    return readOne(prepareEvidence(executor, { ...(filter && { filter }) }).execute(values))
  }
  return readOne((includeWithdrawn ? selectAll : selectCounted)(executor).execute(values))
}

/** The columns that new evidence does not have. */
const laterColumns = [
  'editedAt',
  'withdrawnAt',
  'withdrawnByUserId',
  'withdrawnByName',
  'withdrawnReason',
] as const

const insertIntoEvidence = prepared((executor) =>
  executor
    .insert(evidence)
    .values(placeholdersOf(evidence, ...laterColumns))
    .prepare('evidence_insert'),
)

export type EvidenceRow = typeof evidence.$inferSelect

export async function insertEvidence(
  executor: Executor,
  row: Omit<EvidenceRow, (typeof laterColumns)[number]>,
): Promise<void> {
  await insertIntoEvidence(executor).execute(row)
}

/** Changes a person's name on all evidence that they added or withdrew. Returns the names that it replaced. */
export async function renameAuthor(executor: Executor, userId: string, name: string): Promise<string[]> {
  const isAuthor = eq(evidence.authorUserId, userId)
  const isWithdrawer = eq(evidence.withdrawnByUserId, userId)
  const authors = await executor.selectDistinct({ name: evidence.authorName }).from(evidence).where(isAuthor)
  const withdrawers = await executor
    .selectDistinct({ name: evidence.withdrawnByName })
    .from(evidence)
    .where(isWithdrawer)
  await executor.update(evidence).set({ authorName: name }).where(isAuthor)
  await executor.update(evidence).set({ withdrawnByName: name }).where(isWithdrawer)
  return [...authors, ...withdrawers].flatMap((row) => row.name ?? [])
}
