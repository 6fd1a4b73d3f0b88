import type { SavedFilter } from '../../../areas/savedFilters/savedFilters.service.ts'
import { savedFiltersMax } from '../../../domain/saved-filters.ts'
import { labelLengthMax } from '../../../kernel/text.ts'
import {
  renderAction,
  renderField,
  renderForm,
  renderNameForm,
  renderSelect,
  stateOf,
} from '../../components/forms.ts'
import { html, type Content, type Html } from '../../components/html.ts'
import { renderConfirmed, renderRows, withQuery } from '../../components/lists.ts'
import { renderDone } from '../../components/notice.ts'
import type { Page } from '../../plugins/pages.ts'
import { sectionOf, type WorkspaceVisit } from '../../plugins/workspace-visit.ts'
import { fromSaved, isFilter, parametersOf, pathOfSearch, type SeedSearch } from './seed-search.ts'

/** The form field with what is saved, as the query of the page of seeds. */
export const savedQueryField = 'query'

/** How many saved filters are above a list, besides its own. */
const linksMax = 12

/** Whom a saved filter is for, in forms. */
export const filterReaders = ['me', 'workspace'] as const

const readerNames = { me: 'Only me', workspace: 'Everybody in the workspace' }

/** Saved filters as people look for them: their own first. */
export function sortFilters(filters: readonly SavedFilter[]): SavedFilter[] {
  return filters.toSorted(
    (a, b) =>
      Number(a.shared) - Number(b.shared) || a.name.localeCompare(b.name, undefined, { numeric: true }),
  )
}

/** The path of the seeds that a saved filter finds. */
export const pathOfFilter = (base: string, { filters }: SavedFilter) => pathOfSearch(base, fromSaved(filters))

/** The saved filters above a list of seeds, and the form that saves those of the list. */
export function renderSavedFilters(
  visit: WorkspaceVisit,
  search: SeedSearch,
  filters: readonly SavedFilter[],
): Content {
  const { base } = visit
  const current = pathOfSearch(base, search)
  const links = sortFilters(filters).map((filter) => ({ filter, path: pathOfFilter(base, filter) }))
  const isSaved = links.some(({ path }) => path === current)
  const shown = links.filter(({ path }, i) => i < linksMax || path === current)
  return html`${
    links.length > 0 &&
    html`<nav class="saved-filters" aria-labelledby="saved-filters">
      <h2 class="hint" id="saved-filters">Saved filters</h2>
      <ul>
        ${shown.map(
          ({ filter, path }) =>
            html`<li>
              <a class="tag" href="${path}" ${path === current && html`aria-current="true"`}
                ><bdi>${filter.name}</bdi>${filter.shared && html`<span class="hint"> shared</span>`}</a
              >
            </li>`,
        )}
        <li>
          <a class="hint" href="${base}/filters"
            >${shown.length < links.length ? `All ${links.length}` : 'Manage'}<span class="visually-hidden">
              saved filters</span
            ></a
          >
        </li>
      </ul>
    </nav>`
  }
  ${renderSaving(visit, search, { isSaved, filters })}`
}

function renderSaving(
  visit: WorkspaceVisit,
  search: SeedSearch,
  { isSaved, filters }: { isSaved: boolean; filters: readonly SavedFilter[] },
): Content {
  const { base, may, request } = visit
  const state = stateOf(visit.state, `${base}/filters`)
  const isRefused = state.error !== undefined
  if (!isRefused && (isSaved || !isFilter(search))) return false
  const query = state.values[savedQueryField] ?? withQuery('', parametersOf(search)).slice(1)
  return html`<details class="reveal" ${isRefused && html`open`}>
    <summary>Save these filters</summary>
    ${renderForm({
      request,
      action: `${base}/filters`,
      state,
      fields: ['name'],
      className: 'line',
      body: html`<input type="hidden" name="${savedQueryField}" value="${query}" /> ${renderField({
          name: 'name',
          label: 'Filter name',
          maxLength: labelLengthMax,
          autocomplete: 'off',
          state,
        })}
        ${may('savedFilters.share') && renderReaders(state.values.for ?? 'me')}<button>Save</button>`,
    })}
    ${renderReplacing(visit, query, filters)}
  </details>`
}

/** The form that gives these filters to a saved filter, in place of its own. */
function renderReplacing(visit: WorkspaceVisit, query: string, filters: readonly SavedFilter[]): Content {
  const { base, request } = visit
  const changeable = sortFilters(filters).filter((filter) => mayChange(visit, filter))
  if (changeable.length === 0) return false
  const action = `${base}/filters/replace`
  const state = stateOf(visit.state, action)
  return renderForm({
    request,
    action,
    state,
    fields: ['filterId'],
    className: 'line',
    body: html`<input type="hidden" name="${savedQueryField}" value="${query}" />${renderSelect({
        name: 'filterId',
        label: 'Or in place of those of',
        value: state.values.filterId ?? '',
        choices: changeable.map(({ id, name, shared }) => ({
          value: id,
          label: shared ? `${name} (shared)` : name,
        })),
      })}<button class="quiet">Replace</button>`,
  })
}

function renderReaders(value: string): Html {
  return renderSelect({
    name: 'for',
    label: 'Shown to',
    value,
    choices: filterReaders.map((reader) => ({ value: reader, label: readerNames[reader] })),
  })
}

/** The page of saved filters. */
export function renderFilterList(visit: WorkspaceVisit, filters: readonly SavedFilter[]): Page {
  const { base, request } = visit
  const sorted = sortFilters(filters)
  const render = (filter: SavedFilter) =>
    html`<div class="row">
      <div class="grow">
        <a class="title" href="${pathOfFilter(base, filter)}"><bdi>${filter.name}</bdi></a>
      </div>
      ${
        mayChange(visit, filter) &&
        html`<a class="button small quiet" href="${base}/filters/${filter.id}"
          >Edit<span class="visually-hidden"> <bdi>${filter.name}</bdi></span></a
        >`
      }
    </div>`
  const own = sorted.filter(({ shared }) => !shared)
  const shared = sorted.filter((filter) => filter.shared)
  const count = (shown: readonly SavedFilter[]) =>
    shown.length > 0 && html`<p class="hint">${shown.length} of ${savedFiltersMax}</p>`
  return {
    title: 'Saved filters',
    section: sectionOf(visit, 'Seeds'),
    body: html`<p><a href="${base}/seeds">All seeds</a></p>
      <h1>Saved filters</h1>
      ${renderDone(request)}
      <section aria-labelledby="own">
        <h2 id="own">Yours</h2>
        ${count(own)}
        ${renderRows(
          own.map(render),
          html`<p>None yet. Filter the seeds, and choose “Save these filters”.</p>`,
        )}
      </section>
      <section aria-labelledby="shared">
        <h2 id="shared">Shared</h2>
        ${count(shared)}
        ${renderRows(shared.map(render), html`<p>None is shared with everybody in the workspace.</p>`)}
      </section>`,
  }
}

/** Whether the person may change a saved filter. */
export function mayChange({ may, principal }: WorkspaceVisit, filter: SavedFilter): boolean {
  if (!filter.shared || may('savedFilters.changeShared')) return true
  return filter.createdByUserId === principal.user.id && may('savedFilters.share')
}

/** The page of a saved filter. */
export function renderFilter(visit: WorkspaceVisit, filter: SavedFilter): Page {
  const { base, may, principal, request } = visit
  const { id, name, shared } = filter
  const path = `${base}/filters/${id}`
  const state = stateOf(visit.state, `${path}/edit`)
  const isOwn = filter.createdByUserId === principal.user.id
  return {
    title: name,
    section: sectionOf(visit, 'Seeds'),
    body: html`<p><a href="${base}/filters">All saved filters</a></p>
      <h1><bdi>${name}</bdi></h1>
      ${renderDone(request)}
      <p><a href="${pathOfFilter(base, filter)}">Seeds with these filters</a></p>
      ${renderNameForm(request, {
        action: `${path}/edit`,
        state,
        name,
        button: 'Save',
        more:
          isOwn &&
          may('savedFilters.share') &&
          renderReaders(state.values.for ?? (shared ? 'workspace' : 'me')),
      })}
      ${renderConfirmed({
        label: 'Delete saved filter',
        description: html`<bdi>${name}</bdi>`,
        question: shared ? 'Nobody in the workspace has it any more.' : 'The seeds stay.',
        action: renderAction(request, {
          action: `${path}/delete`,
          label: 'Delete saved filter',
          isDangerous: true,
        }),
      })}`,
  }
}
