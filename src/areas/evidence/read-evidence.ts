import type { Database } from '../../db/client.ts'
import type { SeedKey } from '../../db/sql/seed-keys.ts'
import { orderOf, readPage, type CreationSort, type Page, type PageRequest } from '../../kernel/pagination.ts'
import { versionOfFields } from '../../kernel/versions.ts'
import { versionedFiles } from '../../domain/attachments.ts'
import type { EvidenceFields } from './evidence-edits.repository.ts'
import { listEvidence, type EvidenceFilter, type EvidenceWithFiles } from './evidence.repository.ts'
import type { Evidence } from './evidence.schemas.ts'

/** The filter, the order and the page of a list of evidence. */
export interface EvidenceRequest extends PageRequest, EvidenceFilter {
  /** By default `-createdAt`. */
  sort?: CreationSort
}

/** A page of the evidence of a seed for a person, by default newest first. */
export function readEvidence(
  db: Database,
  { workspaceId, seedId, userId }: SeedKey & { userId: string },
  { by, includeWithdrawn, sort = '-createdAt', ...page }: EvidenceRequest,
): Promise<Page<Evidence>> {
  const filter = { ...(by !== undefined && { by }), ...(includeWithdrawn && { includeWithdrawn }) }
  const order = orderOf(sort)
  const filters = [by, includeWithdrawn && 'withdrawn', order === 'oldestFirst' && sort]
  return readPage<Evidence>(page, {
    listId: ['seeds.listEvidence', seedId, ...filters].filter(Boolean).join(' '),
    order,
    read: (range) => listEvidence(db, { workspaceId, seedId, userId, order, ...filter, ...range }),
    positionOf: ({ createdAt, id }) => ({ at: createdAt, id }),
  })
}

/** The version of evidence: of what its author can correct. */
export function versionOfEvidence(
  evidence: EvidenceFields & { attachments: readonly { id: string }[] },
): string {
  const { kind, verdict, summary, sourceUrl, criterionIds } = evidence
  return versionOfFields({
    ...{ kind, verdict, summary, sourceUrl },
    // It counts once there are some, so that versions from before it stay valid.
    ...(criterionIds.length > 0 && { criterionIds }),
    ...versionedFiles(evidence.attachments),
  })
}

/** Evidence as answers have it. */
export function toEvidence(row: Omit<EvidenceWithFiles, 'withdrawnByUserId'>): Evidence {
  const { id, workspaceId, seedId, kind, verdict, summary, sourceUrl, criterionIds } = row
  const { authorUserId, authorName, agentName } = row
  return {
    id,
    workspaceId,
    seedId,
    kind,
    verdict,
    summary,
    sourceUrl,
    criterionIds,
    attachments: row.attachments,
    seenByCount: row.seenByCount,
    seenByMe: row.seenByMe,
    authorUserId,
    authorName,
    agentName,
    createdAt: row.createdAt.toISOString(),
    editedAt: row.editedAt?.toISOString() ?? null,
    withdrawnAt: row.withdrawnAt?.toISOString() ?? null,
    withdrawnByName: row.withdrawnByName,
    withdrawnReason: row.withdrawnReason,
  }
}
