import { hash } from 'node:crypto'
import { html, type Content, type Html } from './html.ts'

const notices = new Map([
  ['saved', 'Saved.'],
  ['added', 'Member added.'],
  ['removed', 'Member removed.'],
  ['left', 'You left the team.'],
  ['deleted', 'Team deleted.'],
  ['revoked', 'Revoked.'],
  ['seed-created', 'Seed created. Join it to add evidence.'],
  ['seed-joined', 'You joined the seed.'],
  ['seed-left', 'You left the seed. Your evidence stays.'],
  ['status-changed', 'Status changed.'],
  ['evidence-added', 'Evidence added.'],
  ['ended', 'Signed out on that device.'],
  ['others-ended', 'Signed out on all other devices.'],
  ['password-changed', 'Password changed. You are signed out on all other devices.'],
  ['email-asked', 'We sent you an email. Open the link in it.'],
  ['email-changed', 'Email address changed.'],
  ['email-cancelled', 'Change cancelled. Your email address stays the same.'],
  ['provider-linked', 'Account linked.'],
  ['provider-unlinked', 'Account unlinked.'],
  ['passkey-added', 'Passkey added.'],
  ['passkey-removed', 'Passkey removed.'],
  ['two-step-off', 'Two-step sign-in is off.'],
  ['mail-sent', 'We sent you an email. Open the link in it to set a password.'],
])

/** The notice that the `done` parameter of the URL names. Unknown names show nothing. */
export function renderDone({ query }: { query: unknown }): Content {
  const text = notices.get((query as { done?: string } | undefined)?.done ?? '')
  return text !== undefined && html`<p class="notice" role="status">${text}</p>`
}

/** A list, or `empty` if there are no rows. */
export function renderRows(rows: readonly Html[], empty: Content): Html {
  return rows.length === 0
    ? html`<div class="empty">${empty}</div>`
    : html`<ul class="rows">
        ${rows.map((row) => html`<li>${row}</li>`)}
      </ul>`
}

/** The links to the pages before and after one. `linkTo` makes the URL of a page from its query parameter. */
export function renderPageLinks(
  { previousCursor, nextCursor }: { previousCursor?: string | null; nextCursor: string | null },
  linkTo: (position: { cursor: string } | { before: string }) => string,
): Content {
  const hasPrevious = previousCursor !== null && previousCursor !== undefined
  if (!hasPrevious && nextCursor === null) return false
  return html`<nav class="line" aria-label="Pages">
    ${
      hasPrevious &&
      html`<a class="button quiet" rel="prev" href="${linkTo({ before: previousCursor })}">Previous page</a>`
    }
    ${
      nextCursor !== null &&
      html`<a class="button quiet" rel="next" href="${linkTo({ cursor: nextCursor })}">Next page</a>`
    }
  </nav>`
}

/** A query parameter: the last one if there are several, empty if there is none. */
export function readQuery({ query }: { query: unknown }, name: string): string {
  const value = (query as Record<string, string | string[] | undefined>)[name]
  return (typeof value === 'string' ? value : value?.at(-1)) ?? ''
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
  label: string
  description: Content
  question: Content
  action: Html
}): Html {
  const { label, description, question, action } = options
  const id = `confirm-${hash('sha256', action.toString()).slice(0, 12)}`
  return html`<button type="button" class="small quiet" popovertarget="${id}">
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
