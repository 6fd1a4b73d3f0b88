import type { RequireWorkspace, RequireWorkspaceOfSeed } from '../../../access/workspace-access.ts'
import type { LookUpCall, Principal } from '../../../domain/principal.ts'
import { byteOrderMark, toCsvLine } from '../../../kernel/csv-cells.ts'
import type { Clock } from '../../../kernel/clock.ts'
import { parseJson } from '../../../kernel/json-text.ts'
import { pageLimitMax, type Page, type PageRequest } from '../../../kernel/pagination.ts'
import { dateOf } from '../../../kernel/times.ts'
import type { SeedsFilter } from '../seed-lists.ts'
import type { Seed } from '../seeds.service.ts'
import { seedColumns } from './seed-columns.ts'

/** A table that is read while it is sent. */
export interface CsvExport {
  /** The name of its file, in ASCII. */
  name: string
  lines: AsyncGenerator<string>
}

/** A piece of evidence, as far as tables have it. */
interface Evidence {
  id: string
  verdict: string
  kind: string
  summary: string
  sourceUrl: string | null
  authorName: string
  agentName: string | null
  createdAt: string
  editedAt: string | null
  withdrawnAt: string | null
  withdrawnByName: string | null
  withdrawnReason: string | null
  attachments: readonly { name: string }[]
  seenByCount: number
}

/** Tables of seeds and of their evidence. */
export interface SeedExportsService {
  /**
   * The seeds that a list has with these filters, newest first. It is read page by page, as the caller may see it then.
   * Throws what access to a workspace throws, and `id_limit`.
   */
  exportSeeds(principal: Principal, slug: string, filter: SeedsFilter): Promise<CsvExport>
  /** The evidence of a seed, also withdrawn, oldest first. Throws `not_found`. */
  exportEvidence(principal: Principal, seedId: string): Promise<CsvExport>
}

export interface SeedExportsServiceOptions {
  clock: Clock
  requireWorkspace: RequireWorkspace
  requireWorkspaceOfSeed: RequireWorkspaceOfSeed
  /** The list of seeds. */
  listSeeds: (principal: Principal, slug: string, request: SeedsFilter & PageRequest) => Promise<Page<Seed>>
  /** The list of evidence. */
  listEvidence: (
    principal: Principal,
    seedId: string,
    request: PageRequest & { includeWithdrawn: boolean; sort: 'createdAt' },
  ) => Promise<Page<Evidence>>
}

const evidenceColumns: readonly { heading: string; write: (evidence: Evidence) => string | number | null }[] =
  [
    { heading: 'Verdict', write: ({ verdict }) => verdict },
    { heading: 'Kind', write: ({ kind }) => kind },
    { heading: 'Summary', write: ({ summary }) => summary },
    { heading: 'Source', write: ({ sourceUrl }) => sourceUrl },
    { heading: 'Author', write: ({ authorName }) => authorName },
    { heading: 'Agent', write: ({ agentName }) => agentName },
    { heading: 'Added at', write: ({ createdAt }) => createdAt },
    { heading: 'Corrected at', write: ({ editedAt }) => editedAt },
    { heading: 'Withdrawn at', write: ({ withdrawnAt }) => withdrawnAt },
    { heading: 'Withdrawn by', write: ({ withdrawnByName }) => withdrawnByName },
    { heading: 'Reason for withdrawing', write: ({ withdrawnReason }) => withdrawnReason },
    { heading: 'Seen too by', write: ({ seenByCount }) => seenByCount },
    { heading: 'Files', write: ({ attachments }) => attachments.map(({ name }) => name).join('\n') },
    { heading: 'Id', write: ({ id }) => id },
  ]

export function createSeedExportsService(options: SeedExportsServiceOptions): SeedExportsService {
  const { clock, requireWorkspace, requireWorkspaceOfSeed, listSeeds, listEvidence } = options
  const nameOf = (slug: string, what: string) => `${slug}-${what}-${dateOf(clock.now())}.csv`
  return {
    async exportSeeds(principal, slug, filter) {
      const workspace = await requireWorkspace(principal, slug, 'seeds.exportCsv')
      // By the time of creation, which never changes: a seed that is edited meanwhile is neither missed nor there twice.
      const caller = forget(principal)
      const read = (page: PageRequest) => listSeeds(caller, workspace.slug, { ...filter, ...page })
      return { name: nameOf(workspace.slug, 'seeds'), lines: await toLines(seedColumns, read) }
    },

    async exportEvidence(principal, id) {
      const { seedId, slug } = await requireWorkspaceOfSeed(principal, id, 'seeds.exportEvidenceCsv')
      const caller = forget(principal)
      const read = (page: PageRequest) =>
        listEvidence(caller, seedId, { includeWithdrawn: true, sort: 'createdAt', ...page })
      return { name: nameOf(slug, 'evidence'), lines: await toLines(evidenceColumns, read) }
    },
  }
}

/** A caller whose access is looked up again for each page: reading a table may take long, and who is removed reads no more. */
function forget(principal: LookUpCall): Principal {
  return { ...principal, ...{ read: undefined, isOfOneRequest: false } }
}

/**
 * The lines of a table. Its first page is read at once, so that what is wrong with a filter is answered as an error; each
 * further one when the reader has taken the one before, without holding a connection while it waits.
 */
async function toLines<Item>(
  columns: readonly { heading: string; write: (item: Item) => string | number | null }[],
  read: (page: PageRequest) => Promise<Page<Item>>,
): Promise<AsyncGenerator<string>> {
  const first = await read({ limit: pageLimitMax })
  async function* lines(): AsyncGenerator<string> {
    yield byteOrderMark + toCsvLine(columns.map(({ heading }) => heading))
    let page = first
    for (;;) {
      const items = parseJson(page.items)
      if (items.length > 0)
        yield items.map((item) => toCsvLine(columns.map(({ write }) => write(item)))).join('')
      const cursor = page.nextCursor
      if (cursor == null) return
      page = await read({ limit: pageLimitMax, cursor })
    }
  }
  return lines()
}
