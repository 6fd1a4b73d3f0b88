import type { Database } from '../../db/client.ts'
import { readPage, type Page, type PageRequest } from '../../kernel/pagination.ts'
import type { EvidenceAuthors } from '../../kernel/seeds.ts'
import { listEvidence } from './evidence.repository.ts'
import type { Evidence } from './evidence.schemas.ts'

/** The filter and the page of a list of evidence. */
export interface EvidenceRequest extends PageRequest {
  by?: EvidenceAuthors
}

/** A page of the evidence of a seed, newest first. */
export function readEvidence(
  db: Database,
  seedId: string,
  { by, ...page }: EvidenceRequest,
): Promise<Page<Evidence>> {
  const query = { seedId, ...(by !== undefined && { by }) }
  return readPage<Evidence>(page, {
    listId: `seeds.listEvidence ${seedId}${by === undefined ? '' : ` ${by}`}`,
    order: 'newestFirst',
    read: (range) => listEvidence(db, { ...query, ...range }),
    positionOf: ({ createdAt, id }) => ({ at: createdAt, id }),
  })
}
