import { noLock, type Changes, type WorkspaceOfChange } from '../../../access/change.ts'
import { isAllowed } from '../../../access/permissions.ts'
import type { RequireWorkspace } from '../../../access/workspace-access.ts'
import type { Database, Executor } from '../../../db/client.ts'
import type { ChangeCall, Principal } from '../../../domain/principal.ts'
import { importSliceRows, importsUndoneMs, shownImportStates } from '../../../domain/seed-imports.ts'
import type { Clock } from '../../../kernel/clock.ts'
import { ApiError, errors, type DecodeIssue } from '../../../kernel/errors.ts'
import { createId, isId } from '../../../kernel/ids.ts'
import type { JobQueue } from '../../../platform/jobs/jobs.port.ts'
import { readColumns, readTable, type Mapping, type ReadTable, type TableColumn } from './import-rows.ts'
import {
  countKept,
  findDraft,
  findImport,
  insertDraft,
  insertImport,
  insertSlices,
  listImports,
  lockImport,
  setMapping,
  updateImport,
  type ImportRow,
} from './imports.repository.ts'
import type { SeedImport, SeedImportPreview } from './seed-tables.schemas.ts'

export type { Mapping, SeedImport, SeedImportPreview, TableColumn }

/** A table to import. */
export interface TableInput {
  content: Buffer
  /** Which field each column is; absent: by the names of the columns. */
  mapping?: Mapping
  /** Whether nothing is imported: the answer says what would be. */
  isDryRun?: boolean
  /** Whether rows with faults are left out. Otherwise nothing is imported if there are any. */
  skipsFaults?: boolean
}

/** A table that waits on the website, with what an import of it would do. */
export interface ImportDraft {
  columns: TableColumn[]
  mapping: Mapping
  /** Undefined if the mapping does not fit the table. */
  preview: SeedImportPreview | undefined
  /** Why it does not. */
  error: ApiError | undefined
}

/** Where an import is. */
export interface ImportPath {
  slug: string
  importId: string
}

/**
 * Imports of seeds from tables in CSV. All methods throw what access to a workspace throws. Those with a table throw
 * `table_invalid` and `mapping_invalid`, and those with a path `not_found`.
 */
export interface SeedImportsService {
  /**
   * Begins an import, which a job makes: each seed is created as its creator would have by `seeds.create`, and then has its
   * status. Throws `decode_error` with the faults if rows have any, and `import_in_progress`.
   */
  import(
    principal: ChangeCall,
    slug: string,
    table: TableInput,
  ): Promise<{ importId: string | null; preview: SeedImportPreview }>
  /** How far an import is. */
  getStatus(principal: Principal, path: ImportPath): Promise<SeedImport>
  /** The newest imports that can be undone. */
  listRecent(principal: Principal, slug: string): Promise<SeedImport[]>
  /**
   * Begins to delete the seeds of an import that nobody else has added to. For who imported them, owners and admins. Returns
   * how many seeds stay. Throws `import_in_progress`, `import_undone` and `import_expired`.
   */
  undo(principal: ChangeCall, path: ImportPath): Promise<{ keptCount: number }>
  /** Keeps a table of the website, in place of an earlier one of the person. Returns the id of its import. */
  keepDraft(principal: Principal, slug: string, content: Buffer): Promise<string>
  /** The table of the caller, which has not begun. */
  getDraft(principal: Principal, path: ImportPath): Promise<ImportDraft>
  /** Sets which field each column of a draft is. Throws `mapping_invalid` only when the draft is shown. */
  mapDraft(principal: Principal, path: ImportPath, mapping: Mapping): Promise<void>
  /** Begins the import of a draft, as `import` does. */
  beginDraft(
    principal: ChangeCall,
    path: ImportPath,
    how: { mapping: Mapping; skipsFaults: boolean },
  ): Promise<void>
}

export interface SeedImportsServiceOptions {
  db: Database
  clock: Clock
  changes: Changes
  requireWorkspace: RequireWorkspace
  jobs: JobQueue
}

const recentMax = 20

export function createSeedImportsService(options: SeedImportsServiceOptions): SeedImportsService {
  const { db, clock, changes, requireWorkspace, jobs } = options

  /** Starts the job, after the change. */
  const enqueue = (tx: Executor, { source, apiKeyId, requestId }: Principal, importId: string) =>
    jobs.enqueue(tx, 'run_seed_import', { importId, source, apiKeyId }, { requestId })

  async function begin(
    principal: ChangeCall,
    workspace: WorkspaceOfChange,
    { read, skipsFaults, id }: { read: ReadTable; skipsFaults: boolean; id: string },
  ) {
    const { seeds, faultyCount, faults } = read
    if (faultyCount > 0 && (!skipsFaults || seeds.length === 0)) throw toFaultsError(read)
    return changes.makeIn(principal, workspace, noLock, async ({ tx, now, appendEvent }) => {
      await insertImport(tx, {
        ...{ id, workspaceId: workspace.id, createdByUserId: principal.user.id, createdAt: now },
        ...{ total: seeds.length, faultyCount, faults },
      })
      await insertSlices(tx, id, toSlices(seeds))
      await enqueue(tx, principal, id)
      const data = { workspaceId: workspace.id, importId: id, seedCount: seeds.length }
      appendEvent({ type: 'workspace.imported', data })
      return { importId: id, preview: toPreview(read) }
    })
  }

  async function requireDraft(principal: Principal, { slug, importId }: ImportPath) {
    const workspace = await requireWorkspace(principal, slug, 'seeds.import')
    const userId = principal.user.id
    const draft = isId(importId)
      ? await findDraft(db, { importId, workspaceId: workspace.id, userId })
      : undefined
    if (!draft) throw errors.notFound()
    return { workspace, content: Buffer.from(draft.content), mapping: draft.mapping ?? undefined }
  }

  return {
    async import(principal, slug, { content, mapping, isDryRun = false, skipsFaults = false }) {
      const workspace = await requireWorkspace(principal, slug, 'seeds.import')
      const read = await readTable(content, mapping)
      if (isDryRun)
        return changes.makeAtOnce(principal, async () => ({ importId: null, preview: toPreview(read) }))
      return begin(principal, workspace, { read, skipsFaults, id: createId() })
    },

    async getStatus(principal, { slug, importId }) {
      const { id: workspaceId } = await requireWorkspace(principal, slug, 'seeds.importStatus')
      const found = isId(importId) ? await findImport(db, { importId, workspaceId }) : undefined
      if (!found) throw errors.notFound()
      return toSeedImport(found)
    },

    async listRecent(principal, slug) {
      const { id: workspaceId } = await requireWorkspace(principal, slug, 'seeds.importStatus')
      const since = new Date(clock.now().getTime() - importsUndoneMs)
      const found = await listImports(db, { workspaceId, since, limit: recentMax })
      return found.map(toSeedImport)
    },

    async undo(principal, { slug, importId }) {
      const workspace = await requireWorkspace(principal, slug, 'seeds.undoImport')
      if (!isId(importId)) throw errors.notFound()
      const lock = (tx: Executor) => lockImport(tx, { importId, workspaceId: workspace.id })
      return changes.makeIn(principal, workspace, lock, async ({ tx, now, appendEvent }, found) => {
        const { state, createdByUserId, createdAt } = found
        if (createdByUserId !== principal.user.id && !isAllowed(workspace.role, 'seeds.undoImportOthers'))
          throw errors.roleInsufficient()
        if (state === 'running' || state === 'undoing') throw errors.importInProgress()
        if (state === 'undone') throw errors.importUndone()
        if (now.getTime() - createdAt.getTime() > importsUndoneMs) throw errors.importExpired()
        const keptCount = await countKept(tx, importId)
        // Counted anew by the job: others may add to a seed meanwhile.
        const undoing = { state: 'undoing' as const, undoneByUserId: principal.user.id }
        await updateImport(tx, importId, { ...undoing, keptCount: 0, removedCount: 0 })
        await enqueue(tx, principal, importId)
        appendEvent({
          type: 'workspace.import_undone',
          data: { workspaceId: workspace.id, importId, keptCount },
        })
        return { keptCount }
      })
    },

    async keepDraft(principal, slug, content) {
      const workspace = await requireWorkspace(principal, slug, 'seeds.import')
      // Refused before it is kept, if it is no table.
      await readColumns(content)
      return changes.makeIn(principal, workspace, noLock, async ({ tx, now }) => {
        const draft = { id: createId(), workspaceId: workspace.id, createdByUserId: principal.user.id }
        await insertDraft(tx, { ...draft, createdAt: now, content: content.toString('utf8') })
        return draft.id
      })
    },

    async getDraft(principal, path) {
      const { content, mapping } = await requireDraft(principal, path)
      try {
        const read = await readTable(content, mapping)
        const preview = toPreview(read)
        return { columns: read.columns, mapping: read.mapping, preview, error: undefined }
      } catch (error) {
        if (!(error instanceof ApiError) || error.code !== errors.mappingInvalid.code) throw error
        const read = await readColumns(content)
        return { columns: read.columns, mapping: mapping ?? read.mapping, preview: undefined, error }
      }
    },

    async mapDraft(principal, path, mapping) {
      const { workspace } = await requireDraft(principal, path)
      await changes.makeIn(principal, workspace, noLock, ({ tx }) => setMapping(tx, path.importId, mapping))
    },

    async beginDraft(principal, path, { mapping, skipsFaults }) {
      const { workspace, content } = await requireDraft(principal, path)
      const read = await readTable(content, mapping)
      await begin(principal, workspace, { read, skipsFaults, id: path.importId })
    },
  }
}

function toSlices<Row>(rows: readonly Row[]): Row[][] {
  const count = Math.ceil(rows.length / importSliceRows)
  return Array.from({ length: count }, (_, i) => rows.slice(i * importSliceRows, (i + 1) * importSliceRows))
}

function toPreview({ mapping, total, faultyCount, faults }: ReadTable): SeedImportPreview {
  const columns = Object.entries(mapping).map(([column, field]) => ({ column, field }))
  return { mapping: columns, total, faultyCount, faults }
}

/** The error for a table of which nothing is imported. */
function toFaultsError({ total, faultyCount, faults }: ReadTable): ApiError {
  const issues = faults.map(({ row, field, message }): DecodeIssue => ({
    _tag: 'Refinement',
    path: ['rows', row, ...(field === null ? [] : [field])],
    message,
  }))
  const rows =
    faultyCount === 1 ? '1 row of the table has a fault' : `${faultyCount} rows of the table have faults`
  return errors.decodeError({ message: `${rows}, of ${total}. Nothing was imported.`, issues })
}

function toSeedImport(row: ImportRow): SeedImport {
  const state = shownImportStates.find((each) => each === row.state)
  if (state === undefined) throw new Error('a draft is not shown')
  return {
    ...row,
    state,
    createdAt: row.createdAt.toISOString(),
    finishedAt: row.finishedAt?.toISOString() ?? null,
  }
}
