import { hash } from 'node:crypto'
import { html, type Content, type Html } from './html.ts'

/** A list, or `empty` if there are no rows. */
export function renderRows(rows: readonly Html[], empty: Content): Html {
  return rows.length === 0
    ? html`<div class="empty">${empty}</div>`
    : html`<ul class="rows">
        ${rows.map((row) => html`<li>${row}</li>`)}
      </ul>`
}

/** A query parameter: the last one if there are several, empty if there is none. */
export function readQuery({ query }: { query: unknown }, name: string): string {
  const value = (query as Record<string, string | string[] | undefined>)[name]
  return (typeof value === 'string' ? value : value?.at(-1)) ?? ''
}

/** A query parameter that has one of some values; undefined for any other one. */
export function readOneOf<Value extends string>(
  request: { query: unknown },
  name: string,
  values: readonly Value[],
): Value | undefined {
  const asked = readQuery(request, name)
  return values.find((value) => value === asked)
}

/** A path with the parameters that are not empty. */
export function withQuery(path: string, parameters: Record<string, string>): string {
  const filled = Object.entries(parameters).filter(([, value]) => value !== '')
  return filled.length === 0 ? path : `${path}?${new URLSearchParams(filled).toString()}`
}

/**
 * An action that takes a second click. Its button opens a question with the action: Escape, a click beside it and Cancel
 * close it, and only one is open at a time, without a script.
 */
export function renderConfirmed(options: {
  isInMenu?: boolean
  label: string
  description: Content
  question: Content
  action: Html
}): Html {
  const { isInMenu, label, description, question, action } = options
  const id = `confirm-${hash('sha256', action.toString()).slice(0, 12)}`
  return html`<button type="button" class="${!isInMenu && 'small quiet'}" popovertarget="${id}">
      ${label}<span class="visually-hidden"> ${description}</span>
    </button>
    <div class="confirm" id="${id}" popover role="dialog" aria-labelledby="${id}-question">
      <p id="${id}-question"><strong>${label} ${description}?</strong> ${question}</p>
      ${action}
      <button type="button" class="small quiet" popovertarget="${id}" popovertargetaction="hide" autofocus>
        Cancel
      </button>
    </div>`
}
