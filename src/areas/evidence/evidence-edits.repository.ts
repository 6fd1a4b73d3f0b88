import { eq, sql } from 'drizzle-orm'
import type { Executor } from '../../db/client.ts'
import { prepared } from '../../db/sql/prepared.ts'
import { evidence } from '../../db/schema/seeds.ts'
import type { EvidenceKind, Verdict } from '../../domain/seeds.ts'
import type { EvidenceRow } from './evidence.repository.ts'

/** What of evidence its author can correct. */
export interface EvidenceFields {
  kind: EvidenceKind
  verdict: Verdict
  summary: string
  sourceUrl: string | null
}

const isOfId = eq(evidence.id, sql.placeholder('evidenceId'))

const select = prepared((executor) =>
  executor.select().from(evidence).where(isOfId).prepare('evidence_select'),
)

export async function findEvidence(executor: Executor, evidenceId: string): Promise<EvidenceRow | undefined> {
  const [row] = await select(executor).execute({ evidenceId })
  return row
}

const selectLocked = prepared((executor) =>
  executor.select().from(evidence).where(isOfId).for('no key update').prepare('evidence_lock'),
)

/** Reads evidence, and locks it until the transaction ends. Its seed is locked first. */
export async function lockEvidence(executor: Executor, evidenceId: string): Promise<EvidenceRow | undefined> {
  const [row] = await selectLocked(executor).execute({ evidenceId })
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
      editedAt: sql`${sql.placeholder('at')}::timestamptz`,
    })
    .where(isOfId)
    .prepare('evidence_correct'),
)

/** Stores what the author corrected. */
export async function updateEvidence(
  executor: Executor,
  evidenceId: string,
  { kind, verdict, summary, sourceUrl, at }: EvidenceFields & { at: Date },
): Promise<void> {
  await setFields(executor).execute({
    evidenceId,
    kind,
    verdict,
    summary,
    sourceUrl,
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
    .where(isOfId)
    .prepare('evidence_withdraw'),
)

/** Marks evidence as withdrawn by a person. */
export async function withdrawEvidence(
  executor: Executor,
  evidenceId: string,
  { user, reason, at }: { user: { id: string; name: string }; reason: string | null; at: Date },
): Promise<void> {
  await setWithdrawn(executor).execute({
    evidenceId,
    userId: user.id,
    name: user.name,
    reason,
    at: at.toISOString(),
  })
}
