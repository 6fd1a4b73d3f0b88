import type { Database } from '../../db/client.ts'
import { readPage, type Page, type PageRequest } from '../../kernel/pagination.ts'
import { listEvidence, type EvidenceFilter, type EvidenceRow } from './evidence.repository.ts'
import type { Evidence } from './evidence.schemas.ts'

/** The filter and the page of a list of evidence. */
export interface EvidenceRequest extends PageRequest, EvidenceFilter {}

/** A page of the evidence of a seed, newest first. */
export function readEvidence(
  db: Database,
  seedId: string,
  { by, includeWithdrawn, ...page }: EvidenceRequest,
): Promise<Page<Evidence>> {
  const filter = { ...(by !== undefined && { by }), ...(includeWithdrawn && { includeWithdrawn }) }
  return readPage<Evidence>(page, {
    listId: ['seeds.listEvidence', seedId, by, includeWithdrawn && 'withdrawn'].filter(Boolean).join(' '),
    order: 'newestFirst',
    read: (range) => listEvidence(db, { seedId, ...filter, ...range }),
    positionOf: ({ createdAt, id }) => ({ at: createdAt, id }),
  })
}

/** Evidence as answers have it. */
export function toEvidence(row: Omit<EvidenceRow, 'withdrawnByUserId'>): Evidence {
  const { id, seedId, kind, verdict, summary, sourceUrl, authorUserId, authorName, agentName } = row
  return {
    id,
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
