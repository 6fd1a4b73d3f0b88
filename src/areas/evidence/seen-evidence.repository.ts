import { and, eq, isNull, sql, type Column } from 'drizzle-orm'
import type { Executor } from '../../db/client.ts'
import { memberships } from '../../db/schema/memberships.ts'
import { evidence, evidenceSeen, seeds } from '../../db/schema/seeds.ts'
import { isPiece, type EvidenceKey } from '../../db/sql/seed-keys.ts'
import { prepared } from '../../db/sql/prepared.ts'
import { subquery } from '../../db/schema/subquery.ts'

/** Whether the statement's `userId` has said that they saw what a piece of evidence found, too. */
export function isSeenByMe(evidenceId: Column) {
  const isOfUser = and(
    eq(evidenceSeen.evidenceId, evidenceId),
    eq(evidenceSeen.userId, sql`${sql.placeholder('userId')}::uuid`),
  )
  return subquery(sql<boolean>`exists (select from ${evidenceSeen} where ${isOfUser})`)
}

const selectMembership = prepared((executor) =>
  executor
    .select({ userId: memberships.userId })
    .from(memberships)
    .where(
      and(
        eq(memberships.workspaceId, sql.placeholder('workspaceId')),
        eq(memberships.userId, sql.placeholder('userId')),
      ),
    )
    .for('key share')
    .prepare('memberships_keep'),
)

/**
 * Whether a person is a member of a workspace, whose membership cannot end before the transaction does. Before the evidence:
 * who is removed is no longer counted in it.
 */
export async function keepMembership(
  executor: Executor,
  workspaceId: string,
  userId: string,
): Promise<boolean> {
  const rows = await selectMembership(executor).execute({ workspaceId, userId })
  return rows.length > 0
}

const selectSeenPiece = prepared((executor) =>
  executor
    .select({
      seedId: seeds.id,
      title: seeds.title,
      kind: evidence.kind,
      verdict: evidence.verdict,
      authorUserId: evidence.authorUserId,
      withdrawnAt: evidence.withdrawnAt,
    })
    .from(evidence)
    .innerJoin(seeds, and(eq(seeds.id, evidence.seedId), isNull(seeds.deletedAt)))
    .where(isPiece)
    .for('no key update', { of: evidence })
    .prepare('evidence_lock_seen'),
)

/** A piece of evidence that somebody saw too. */
export interface SeenPiece extends Pick<
  typeof evidence.$inferSelect,
  'seedId' | 'kind' | 'verdict' | 'authorUserId' | 'withdrawnAt'
> {
  /** Of its seed. */
  title: string
}

/**
 * Reads evidence, and locks it until the transaction ends, so that it is not withdrawn meanwhile. Its seed is not locked: a
 * removal of a member locks the membership, and then the seeds that they are in.
 */
export async function lockSeenPiece(executor: Executor, key: EvidenceKey): Promise<SeenPiece | undefined> {
  const [piece] = await selectSeenPiece(executor).execute({ ...key })
  return piece
}

const insertIntoSeen = prepared((executor) =>
  executor
    .insert(evidenceSeen)
    .values({
      evidenceId: sql.placeholder('evidenceId'),
      userId: sql.placeholder('userId'),
      workspaceId: sql.placeholder('workspaceId'),
      seenAt: sql`${sql.placeholder('at')}::timestamptz`,
    })
    .onConflictDoNothing()
    .prepare('evidence_seen_insert'),
)

/** Stores that a person saw it too. Returns false when that is stored already. */
export async function insertSeen(
  executor: Executor,
  { at, ...row }: { evidenceId: string; userId: string; workspaceId: string; at: Date },
): Promise<boolean> {
  const { rowCount } = await insertIntoSeen(executor).execute({ ...row, at: at.toISOString() })
  return rowCount === 1
}

const deleteFromSeen = prepared((executor) =>
  executor
    .delete(evidenceSeen)
    .where(
      and(
        eq(evidenceSeen.workspaceId, sql.placeholder('workspaceId')),
        eq(evidenceSeen.evidenceId, sql.placeholder('evidenceId')),
        eq(evidenceSeen.userId, sql.placeholder('userId')),
      ),
    )
    .prepare('evidence_seen_delete'),
)

/** Returns whether it was stored that the person saw it too. */
export async function deleteSeen(executor: Executor, key: EvidenceKey, userId: string): Promise<boolean> {
  const { rowCount } = await deleteFromSeen(executor).execute({ ...key, userId })
  return rowCount === 1
}
