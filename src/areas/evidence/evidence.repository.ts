import { and, eq, isNotNull, isNull, lt, type Column, type SQL } from 'drizzle-orm'
import type { Executor } from '../../db/client.ts'
import { itemColumns, readOne, selectJsonRows, type Columns } from '../../db/sql/json-rows.ts'
import { keysetOf } from '../../db/sql/keyset.ts'
import { selectPageBytes } from '../../db/sql/page-bytes.ts'
import { isOfSeed, type SeedKey } from '../../db/sql/seed-keys.ts'
import { placeholdersOf, prepared } from '../../db/sql/prepared.ts'
import { evidenceBytes } from '../../db/sql/text-bytes.ts'
import { evidence } from '../../db/schema/seeds.ts'
import { attachmentsOfEvidence } from '../../db/sql/attachments-of.ts'
import { pageBytesMax, type JsonRows, type ListOrder, type PageRange } from '../../kernel/pagination.ts'
import type { EvidenceAuthors } from '../../domain/seeds.ts'
import { isCounted } from '../seeds/evidence-counts.repository.ts'
import type { Evidence } from './evidence.schemas.ts'
import { isSeenByMe } from './seen-evidence.repository.ts'

/** The columns of evidence as answers to the statement's `userId` have it. */
export const evidenceColumns = {
  id: evidence.id,
  workspaceId: evidence.workspaceId,
  seedId: evidence.seedId,
  kind: evidence.kind,
  verdict: evidence.verdict,
  summary: evidence.summary,
  sourceUrl: evidence.sourceUrl,
  criterionIds: evidence.criterionIds,
  attachments: attachmentsOfEvidence(evidence.id),
  seenByCount: evidence.seenByCount,
  seenByMe: isSeenByMe(evidence.id),
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
function prepareEvidence(
  executor: Executor,
  { name = '', filter, order }: { name?: string; filter?: SQL | undefined; order?: ListOrder },
) {
  return selectEvidencePage<Evidence>(executor, evidenceColumns, filter, order).prepare(name)
}

/** A page of the evidence of the statement's `workspaceId` and `seedId`, by default newest first; no more than `pageBytesMax`. */
export function selectEvidencePage<Item>(
  executor: Executor,
  columns: Columns<Item>,
  filter: SQL | undefined,
  order: ListOrder = 'newestFirst',
) {
  const isListed = and(isOfSeed(evidence), filter)
  const page = selectPageBytes(executor, evidence, evidenceBytes, isListed, evidence.createdAt, order)
  const rows = executor
    .select(itemColumns<Item>(columns))
    .from(page)
    .innerJoin(evidence, eq(evidence.id, page.id))
    .where(lt(page.bytesBefore, pageBytesMax))
    .orderBy(...keysetOf(order, evidence.createdAt, evidence.id).orderBy)
  return selectJsonRows(executor, rows)
}

/** Whether people wrote something themselves, or agents for them. */
export function isBy(by: EvidenceAuthors, agentName: Column): SQL {
  return by === 'agents' ? isNotNull(agentName) : isNull(agentName)
}

/** Which evidence of a seed a list contains. */
export interface EvidenceFilter {
  by?: EvidenceAuthors
  /** Also what was withdrawn. */
  includeWithdrawn?: boolean
}

/** Evidence of a seed, for a person; no more than `pageBytesMax`. */
export function listEvidence(
  executor: Executor,
  query: SeedKey & { userId: string; order: ListOrder } & EvidenceFilter & PageRange,
): Promise<JsonRows> {
  const { by, includeWithdrawn = false, order, ...values } = query
  if (by !== undefined || order !== 'newestFirst') {
    const isByAuthor = by && isBy(by, evidence.agentName)
    const filter = and(isByAuthor, includeWithdrawn ? undefined : isCounted)
    return readOne(prepareEvidence(executor, { filter, order }).execute(values))
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
  'seenByCount',
] as const

const insertIntoEvidence = prepared((executor) =>
  executor
    .insert(evidence)
    .values(placeholdersOf(evidence, ...laterColumns))
    .prepare('evidence_insert'),
)

export type EvidenceRow = typeof evidence.$inferSelect

/** A piece of evidence with its files, and whether somebody saw it too. */
export type EvidenceWithFiles = EvidenceRow & Pick<Evidence, 'attachments' | 'seenByMe'>

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
