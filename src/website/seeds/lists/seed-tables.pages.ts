import { Readable } from 'node:stream'
import type { Mapping } from '../../../areas/seeds/tables/imports.service.ts'
import { uploadBytesMax } from '../../../http/requests/uploads.ts'
import { ApiError, errors, ignoreNotFound } from '../../../kernel/errors.ts'
import type { Services } from '../../../services/services.ts'
import { notice } from '../../components/notice.ts'
import { readField, requireChoice } from '../../components/sent-form.ts'
import type { Download, UploadPages, WorkspacePages, WorkspaceVisit } from '../../plugins/workspace-visit.ts'
import { readChangesUrl } from '../../views/events.views.ts'
import {
  importActions,
  nameOfColumnField,
  renderImport,
  renderMapping,
  renderTableForm,
} from './seed-tables.views.ts'
import { readSeedSearch, statusOf, toFilter } from './seed-search.ts'

type ServicesOfTables = Pick<Services, 'events' | 'seedExports' | 'seedImports'>

/** Seeds from a table, in steps that need no script: the table, its columns, and how far its import is. Tables of seeds. */
export function seedTablesPages(
  { page, action, creation, download }: WorkspacePages,
  { events, seedExports, seedImports }: ServicesOfTables,
): void {
  page('/seeds/import', async (visit) => {
    if (!visit.may('seeds.import')) throw errors.roleInsufficient()
    return renderTableForm(visit, await seedImports.listRecent(visit.principal, visit.workspace.slug))
  })

  page('/seeds/imports/:id', async (visit) => {
    const { principal } = visit
    const path = pathOf(visit)
    // Before what it reports changes of.
    const changesUrl = await readChangesUrl({ events }, visit)
    const found = await seedImports.getStatus(principal, path).catch(ignoreNotFound)
    if (found) return renderImport(visit, found, changesUrl)
    if (!visit.may('seeds.import')) throw errors.notFound()
    return renderMapping(visit, await seedImports.getDraft(principal, path))
  })

  creation('/seeds/imports/:id', '/seeds/imports/:id', async (visit) => {
    const { base, principal, request } = visit
    const path = pathOf(visit)
    const shown = `${base}/seeds/imports/${path.importId}`
    const draft = await seedImports.getDraft(principal, path)
    const mapping = readMapping(
      request,
      draft.columns.map(({ name }) => name),
    )
    const chosen = requireChoice(request, 'do', importActions)
    if (chosen === 'check' || !isSame(mapping, draft.mapping)) {
      await seedImports.mapDraft(principal, path, mapping)
      // Nobody imports what they have not been shown.
      return chosen === 'check'
        ? shown
        : {
            path: shown,
            notice: notice`The columns have changed. Look at the rows again, and then import them.`,
          }
    }
    await seedImports
      .beginDraft(principal, path, { mapping, skipsFaults: chosen === 'skip' })
      .catch(toRefusal)
    return { path: shown, notice: notice`The import has begun.` }
  })

  action('/seeds/imports/:id/undo', '/seeds/imports/:id', async (visit) => {
    const path = pathOf(visit)
    const { keptCount } = await seedImports.undo(visit.principal, path)
    const kept = keptCount === 0 ? '' : ` ${keptCount} of its seeds stay, since others have added to them.`
    return {
      path: `${visit.base}/seeds/imports/${path.importId}`,
      notice: [`The import is being undone.${kept}`],
    }
  })

  download('/seeds/export.csv', async (visit) => {
    const { principal, request, workspace } = visit
    const search = readSeedSearch(request)
    const filter = { ...toFilter(search), ...statusOf(search) }
    return toDownload(await seedExports.exportSeeds(principal, workspace.slug, filter))
  })

  download('/seeds/:id/evidence.csv', async ({ principal, request }) =>
    toDownload(await seedExports.exportEvidence(principal, request.params.id)),
  )
}

/** The form that takes a table, as a file or pasted. */
export function seedTableForm({ upload }: UploadPages, { seedImports }: ServicesOfTables): void {
  upload('/seeds/import', '/seeds/import', async ({ base, principal, request, workspace }) => {
    const importId = await seedImports.keepDraft(principal, workspace.slug, readTable(request))
    return `${base}/seeds/imports/${importId}`
  })
}

function readTable(request: WorkspaceVisit['request']): Buffer {
  const pasted = Buffer.from(readField(request, 'table'))
  if (pasted.length > uploadBytesMax) throw errors.bodyTooLarge({ field: 'table' })
  return pasted.toString().trim() === '' ? request.takeFile() : pasted
}

const pathOf = ({ request, workspace }: WorkspaceVisit) => ({
  slug: workspace.slug,
  importId: request.params.id,
})

/** What the form says of each column. */
function readMapping(request: WorkspaceVisit['request'], columns: readonly string[]): Mapping {
  const entries = columns.map((name, i) => [name, readField(request, nameOfColumnField(i))] as const)
  return Object.fromEntries(entries.filter(([, field]) => field !== ''))
}

function isSame(one: Mapping, other: Mapping): boolean {
  const textOf = (mapping: Mapping) => JSON.stringify(Object.entries(mapping).sort())
  return textOf(one) === textOf(other)
}

/** Rows with faults are no error of the form: the page shows them. */
function toRefusal(error: unknown): never {
  if (!(error instanceof ApiError) || error.code !== errors.decodeError.code) throw error
  throw errors.tableInvalid({ message: error.message, cause: error })
}

function toDownload({ name, lines }: { name: string; lines: AsyncGenerator<string> }): Download {
  return { name, type: 'text/csv; charset=utf-8', content: Readable.from(lines) }
}
