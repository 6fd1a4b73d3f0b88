import { html, type Content, type Html } from './html.ts'

const notices = new Map([
  ['saved', 'Saved.'],
  ['added', 'Member added.'],
  ['removed', 'Member removed.'],
  ['left', 'You left the team.'],
  ['deleted', 'Team deleted.'],
  ['revoked', 'Revoked.'],
  ['ended', 'Signed out on that device.'],
  ['others-ended', 'Signed out on all other devices.'],
  ['password-changed', 'Password changed. You are signed out on all other devices.'],
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

/** The link to the next page of a list. */
export function renderMore(path: string, nextCursor: string | null): Content {
  return (
    nextCursor !== null &&
    html`<p><a class="button quiet" href="${path}?cursor=${encodeURIComponent(nextCursor)}">Show more</a></p>`
  )
}

/** An action that cannot be undone and takes a second click. */
export function renderConfirmed(options: {
  label: string
  description: Content
  question: Content
  action: Html
}): Html {
  const { label, description, question, action } = options
  return html`<details class="confirm">
    <summary>${label}<span class="visually-hidden"> ${description}</span></summary>
    <div>
      <p>${question}</p>
      ${action}
    </div>
  </details>`
}
