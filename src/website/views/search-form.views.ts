import { cleanLine } from '../../kernel/text.ts'
import { html, type Html } from '../components/html.ts'
import { readQuery } from '../components/lists.ts'

/** The longest text that the pages search people for. */
export const searchLengthMax = 100

/** Reads what a search form asks for from the query string; empty if it cannot be searched for. */
export function readSearch(
  request: { query: unknown },
  { name = 'q', maxLength = searchLengthMax }: { name?: string; maxLength?: number } = {},
): string {
  return cleanLine(readQuery(request, name), maxLength) ?? ''
}

/** A form that searches the list below it. */
export function renderSearchForm(options: {
  path: string
  label: string
  value: string
  maxLength?: number
  /** Further parameters of the page that a new search keeps; empty ones are left out. */
  kept?: Record<string, string>
}): Html {
  const { path, label, value, maxLength = searchLengthMax, kept = {} } = options
  return html`<form class="search" role="search" action="${path}">
    ${Object.entries(kept).map(([name, keptValue]) => keptValue !== '' && html`<input type="hidden" name="${name}" value="${keptValue}" />`)}
    <label class="visually-hidden" for="q">${label}</label>
    <input
      id="q"
      name="q"
      type="search"
      value="${value}"
      maxlength="${maxLength}"
      placeholder="${label}"
      autocomplete="off"
    />
    <button class="quiet">Search</button>
    ${value !== '' && html`<a class="button quiet" href="${path}">Clear</a>`}
  </form>`
}
