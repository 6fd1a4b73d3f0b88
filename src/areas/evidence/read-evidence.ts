import type { Database } from '../../db/client.ts'
import { evidenceFieldNames } from '../../domain/seeds.ts'
import { orderOf, readPage, type CreationSort, type Page, type PageRequest } from '../../kernel/pagination.ts'
import { versionOfFields } from '../../kernel/versions.ts'
import type { EvidenceFields } from './evidence-edits.repository.ts'
import { listEvidence, type EvidenceFilter, type EvidenceRow } from './evidence.repository.ts'
import type { Evidence } from './evidence.schemas.ts'

/** The filter, the order and the page of a list of evidence. */
export interface EvidenceRequest extends PageRequest, EvidenceFilter {
  /** By default `-createdAt`. */
  sort?: CreationSort
}

/** A page of the evidence of a seed, by default newest first. */
export function readEvidence(
  db: Database,
  seedId: string,
  { by, includeWithdrawn, sort = '-createdAt', ...page }: EvidenceRequest,
): Promise<Page<Evidence>> {
  const filter = { ...(by !== undefined && { by }), ...(includeWithdrawn && { includeWithdrawn }) }
  const order = orderOf(sort)
  const filters = [by, includeWithdrawn && 'withdrawn', order === 'oldestFirst' && sort]
  return readPage<Evidence>(page, {
    listId: ['seeds.listEvidence', seedId, ...filters].filter(Boolean).join(' '),
    order,
    read: (range) => listEvidence(db, { seedId, order, ...filter, ...range }),
    positionOf: ({ createdAt, id }) => ({ at: createdAt, id }),
  })
}

/** The version of evidence: of what its author can correct. */
export function versionOfEvidence(evidence: EvidenceFields): string {
  return versionOfFields(evidence, evidenceFieldNames)
}

/** Evidence as answers have it. */
export function toEvidence(row: Omit<EvidenceRow, 'withdrawnByUserId'>): Evidence {
  const { id, workspaceId, seedId, kind, verdict, summary, sourceUrl, authorUserId, authorName, agentName } =
    row
  return {
    id,
    workspaceId,
    seedId,
    kind,
    verdict,
    summary,
    sourceUrl,
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
