import { getTableColumns, sql } from 'drizzle-orm'
import type { Executor } from '../../db/client.ts'
import { attachmentsOfEvidence } from '../../db/sql/attachments-of.ts'
import { isPiece, type EvidenceKey } from '../../db/sql/seed-keys.ts'
import { prepared } from '../../db/sql/prepared.ts'
import { evidence } from '../../db/schema/seeds.ts'
import type { EvidenceKind, Verdict } from '../../domain/seeds.ts'
import type { EvidenceRow, EvidenceWithFiles } from './evidence.repository.ts'
import { isSeenByMe } from './seen-evidence.repository.ts'

/** What of evidence its author can correct. */
export interface EvidenceFields {
  kind: EvidenceKind
  verdict: Verdict
  summary: string
  sourceUrl: string | null
  criterionIds: string[]
}

const select = prepared((executor) =>
  executor
    .select({
      ...getTableColumns(evidence),
      attachments: sql<EvidenceWithFiles['attachments']>`${attachmentsOfEvidence(evidence.id)}`.as(
        'attachments',
      ),
      seenByMe: isSeenByMe(evidence.id).as('seen_by_me'),
    })
    .from(evidence)
    .where(isPiece)
    .prepare('evidence_select'),
)

/** Evidence for a person. */
export async function findEvidence(
  executor: Executor,
  key: EvidenceKey,
  userId: string,
): Promise<EvidenceWithFiles | undefined> {
  const [row] = await select(executor).execute({ ...key, userId })
  return row
}

const selectLocked = prepared((executor) =>
  executor.select().from(evidence).where(isPiece).for('no key update').prepare('evidence_lock'),
)

/** Reads evidence, and locks it until the transaction ends. Its seed is locked first. */
export async function lockEvidence(executor: Executor, key: EvidenceKey): Promise<EvidenceRow | undefined> {
  const [row] = await selectLocked(executor).execute({ ...key })
  return row
}

const setFields = prepared((executor) =>
  executor
    .update(evidence)
    .set({
      kind: sql`${sql.placeholder('kind')}`,
      verdict: sql`${sql.placeholder('verdict')}`,
      summary: sql`${sql.placeholder('summary')}`,
      sourceUrl: sql`${sql.placeholder('sourceUrl')}`,
      criterionIds: sql`${sql.placeholder('criterionIds')}::uuid[]`,
      editedAt: sql`${sql.placeholder('at')}::timestamptz`,
    })
    .where(isPiece)
    .prepare('evidence_correct'),
)

/** Stores what the author corrected. */
export async function updateEvidence(
  executor: Executor,
  key: EvidenceKey,
  { at, ...fields }: EvidenceFields & { at: Date },
): Promise<void> {
  await setFields(executor).execute({
    ...key,
    ...fields,
    at: at.toISOString(),
  })
}

const setWithdrawn = prepared((executor) =>
  executor
    .update(evidence)
    .set({
      withdrawnAt: sql`${sql.placeholder('at')}::timestamptz`,
      withdrawnByUserId: sql`${sql.placeholder('userId')}::uuid`,
      withdrawnByName: sql`${sql.placeholder('name')}`,
      withdrawnReason: sql`${sql.placeholder('reason')}`,
    })
    .where(isPiece)
    .prepare('evidence_withdraw'),
)

/** Marks evidence as withdrawn by a person. */
export async function withdrawEvidence(
  executor: Executor,
  key: EvidenceKey,
  { user, reason, at }: { user: { id: string; name: string }; reason: string | null; at: Date },
): Promise<void> {
  await setWithdrawn(executor).execute({
    ...key,
    userId: user.id,
    name: user.name,
    reason,
    at: at.toISOString(),
  })
}
