import type {
  ImportDraft,
  SeedImport,
  SeedImportPreview,
} from '../../../areas/seeds/tables/imports.service.ts'
import { importedColumns } from '../../../areas/seeds/tables/seed-columns.ts'
import { importRowsMax, importsUndoneMs } from '../../../domain/seed-imports.ts'
import { shorten } from '../../../kernel/text.ts'
import { renderAction, renderAlert, renderForm, renderSelect } from '../../components/forms.ts'
import { html, type Content, type Html } from '../../components/html.ts'
import { renderConfirmed, renderRows, withQuery } from '../../components/lists.ts'
import { renderDone } from '../../components/notice.ts'
import { countOf, pictureSizeMax, renderTime } from '../../components/words.ts'
import type { Page } from '../../plugins/pages.ts'
import { sectionOf, type WorkspaceVisit } from '../../plugins/workspace-visit.ts'

/** What the form of a mapping does: shows the rows again, imports all, or all without faults. */
export const importActions = ['check', 'import', 'skip'] as const

/** The name of the field for a column, by its place. */
export const nameOfColumnField = (place: number) => `column-${place}`

const exampleLengthMax = 80
const faultsShownMax = 20

const stateNames: Record<SeedImport['state'], string> = {
  running: 'Being imported',
  done: 'Imported',
  stopped: 'Stopped before the end',
  undoing: 'Being undone',
  undone: 'Undone',
}

/** The links to tables below the list of seeds. */
export function renderTableLinks({ base, may }: WorkspaceVisit, parameters: Record<string, string>): Content {
  return html`${may('seeds.import') && html`<a href="${base}/seeds/import">Import from a table</a> · `}<a
      href="${withQuery(`${base}/seeds/export.csv`, parameters)}"
      download
      >Export CSV</a
    >`
}

/** The form that takes a table, with earlier imports. */
export function renderTableForm(visit: WorkspaceVisit, recent: readonly SeedImport[]): Page {
  const { base, request, state } = visit
  return {
    title: 'Import seeds',
    section: sectionOf(visit, 'Seeds'),
    body: html`<p><a href="${base}/seeds">All seeds</a></p>
      <h1>Import seeds</h1>
      <p class="lead">
        Each row of a table becomes a seed. You choose what its columns are, and see all rows with faults,
        before anything is imported.
      </p>
      ${renderForm({
        request,
        action: `${base}/seeds/import`,
        state,
        isUpload: true,
        body: html`<div class="field">
            <label for="file">File <span class="hint">(CSV)</span></label>
            <input
              id="file"
              name="file"
              type="file"
              accept=".csv,.tsv,.txt,text/csv"
              aria-describedby="file-hint"
            />
            <p class="hint" id="file-hint">
              UTF-8, up to ${pictureSizeMax} and ${importRowsMax.toLocaleString('en')} rows, with the names of
              the columns in the first one. From Excel, save it as “CSV UTF-8”.
            </p>
          </div>
          <div class="field">
            <label for="table">Or paste the table</label>
            <textarea id="table" name="table" rows="8" class="mono" spellcheck="false"></textarea>
          </div>
          <button>Continue</button>`,
      })}
      ${recent.length > 0 && renderRecent(base, recent)}`,
  }
}

function renderRecent(base: string, recent: readonly SeedImport[]): Html {
  return html`<section aria-labelledby="recent">
    <h2 id="recent">Earlier imports</h2>
    ${renderRows(
      recent.map(
        ({ id, state, total, createdAt, createdByName }) =>
          html`<div class="row">
            <div class="grow">
              <a href="${base}/seeds/imports/${id}">${countOf(total, 'seed')}</a>
              <p class="hint">
                ${createdByName !== null && html`<bdi>${createdByName}</bdi>, `}${renderTime(createdAt)}
              </p>
            </div>
            <span class="hint">${stateNames[state]}</span>
          </div>`,
      ),
      null,
    )}
  </section>`
}

/** Which field each column is, with what an import would do. */
export function renderMapping(visit: WorkspaceVisit, draft: ImportDraft): Page {
  const { base, request, state } = visit
  const { columns, mapping, preview, error } = draft
  const choices = [
    { value: '', label: 'Not imported' },
    ...importedColumns.map(({ field, heading }) => ({ value: field, label: heading })),
  ]
  return {
    title: 'Import seeds: columns',
    section: sectionOf(visit, 'Seeds'),
    body: html`<p><a href="${base}/seeds/import">Another table</a></p>
      <h1>What the columns are</h1>
      ${renderDone(request)}
      ${renderForm({
        request,
        action: `${base}/seeds/imports/${request.params.id}`,
        state,
        body: html`${columns.map(
            ({ name, example }, i) =>
              html`<div>
                ${renderSelect({
                  name: nameOfColumnField(i),
                  label: html`<bdi>${name}</bdi>`,
                  value: mapping[name] ?? '',
                  choices,
                })}
                ${
                  example !== '' &&
                  html`<p class="hint">For example <bdi>${shorten(example, exampleLengthMax)}</bdi></p>`
                }
              </div>`,
          )}
          ${error && renderAlert(error)} ${preview && renderPreview(preview)}
          <div class="line">
            ${preview && renderImportButtons(preview)}
            <button name="do" value="check" class="quiet">Check again</button>
          </div>`,
      })}`,
  }
}

function renderImportButtons({ total, faultyCount }: SeedImportPreview): Content {
  const good = total - faultyCount
  if (faultyCount === 0)
    return html`<button name="do" value="import">Import ${countOf(total, 'seed')}</button>`
  return (
    good > 0 &&
    html`<button name="do" value="skip">
      Import ${countOf(good, 'seed')}, and leave out ${countOf(faultyCount, 'row')}
    </button>`
  )
}

function renderPreview({ total, faultyCount, faults }: SeedImportPreview): Html {
  return html`<section aria-labelledby="preview">
    <h2 id="preview">Rows</h2>
    ${
      faultyCount === 0
        ? html`<p>${countOf(total, 'row')}, all without faults.</p>`
        : html`<p>${countOf(faultyCount, 'row')} of ${total} ${faultyCount === 1 ? 'has' : 'have'} faults:</p>
            ${renderFaults(faults)}`
    }
  </section>`
}

function renderFaults(faults: SeedImport['faults']): Html {
  const headingOf = (field: string) =>
    importedColumns.find((column) => column.field === field)?.heading ?? field
  const left = faults.length - faultsShownMax
  return html`<ul class="bullets">
    ${faults
      .slice(0, faultsShownMax)
      .map(
        ({ row, field, message }) =>
          html`<li>Row ${row}${field !== null && html`, ${headingOf(field)}`}: ${message}</li>`,
      )}
    ${left > 0 && html`<li>${left}${faults.length === 100 && ' or more'} further faults</li>`}
  </ul>`
}

/** How far an import is, with the button that undoes it. */
export function renderImport(visit: WorkspaceVisit, found: SeedImport, changesUrl: string): Page {
  const { base, request } = visit
  const { state, createdByName, createdAt, faultyCount, faults } = found
  const isWorking = state === 'running' || state === 'undoing'
  return {
    title: 'Import of seeds',
    section: sectionOf(visit, 'Seeds'),
    isLive: isWorking,
    body: html`<p><a href="${base}/seeds">All seeds</a></p>
      <h1>Import of seeds</h1>
      ${renderDone(request)}
      <p class="hint">
        ${createdByName !== null && html`<bdi>${createdByName}</bdi>, `}${renderTime(createdAt)}
      </p>
      <div class="stack" id="progress" data-live="${changesUrl}">
        ${renderProgress(found)}
        ${isWorking && html`<p><a href="${base}/seeds/imports/${found.id}">Show how far it is now</a></p>`}
      </div>
      ${
        faultyCount > 0 &&
        html`<section aria-labelledby="left">
          <h2 id="left">Left out: ${countOf(faultyCount, 'row')}</h2>
          ${renderFaults(faults)}
        </section>`
      }
      ${renderUndoing(visit, found)}`,
  }
}

function renderProgress({ state, total, done, removedCount, keptCount }: SeedImport): Html {
  const created = `${done} of ${countOf(total, 'seed')}`
  if (state === 'undoing' || state === 'undone')
    return html`<p>
      <strong>${stateNames[state]}:</strong> ${countOf(removedCount ?? 0, 'seed')} deleted, which can be
      restored for 14
      days${(keptCount ?? 0) > 0 && html`; ${keptCount} stayed, since others have added to them`}.
    </p>`
  return html`<p><strong>${stateNames[state]}:</strong> ${created}</p>
    <progress value="${done}" max="${Math.max(total, 1)}" aria-label="Seeds that were created"></progress>`
}

function renderUndoing({ base, may, principal, request }: WorkspaceVisit, found: SeedImport): Content {
  const isOwn = found.createdByUserId === principal.user.id && may('seeds.undoImport')
  const isInTime = Date.now() - Date.parse(found.createdAt) < importsUndoneMs
  const isOver = found.state === 'done' || found.state === 'stopped'
  if (!isOver || !isInTime || !(isOwn || may('seeds.undoImportOthers'))) return false
  return html`<div class="line">
    ${renderConfirmed({
      label: 'Undo',
      description: 'this import',
      question:
        'Its seeds are deleted, except those that others have added to. They can be restored for 14 days.',
      action: renderAction(request, {
        action: `${base}/seeds/imports/${found.id}/undo`,
        label: 'Undo the import',
        isDangerous: true,
      }),
    })}
  </div>`
}
