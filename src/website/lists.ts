import { html, type Content, type Html } from './html.ts'

const notices = new Map([
  ['saved', 'Saved.'],
  ['removed', 'Done: removed.'],
  ['revoked', 'Done: revoked.'],
  ['ended', 'Done: signed out there.'],
  ['added', 'Done: added.'],
  ['password-changed', 'Your password is changed. You are signed out everywhere else.'],
  ['mail-sent', 'We have sent you a mail. Follow the link in it.'],
])

/** Says what was just done, by a word of the address that only known texts go with. */
export function renderDone({ query }: { query: unknown }): Content {
  const text = notices.get((query as { done?: string } | undefined)?.done ?? '')
  return text !== undefined && html`<p class="notice" role="status">${text}</p>`
}

/** A list of things, or what to say where there are none. */
export function renderRows(rows: readonly Html[], empty: Content): Html {
  return rows.length === 0
    ? html`<div class="empty">${empty}</div>`
    : html`<ul class="rows">
        ${rows.map((row) => html`<li>${row}</li>`)}
      </ul>`
}

/** Leads to the rest of a list. */
export function renderMore(path: string, nextCursor: string | null): Content {
  return (
    nextCursor !== null &&
    html`<p><a class="button quiet" href="${path}?cursor=${encodeURIComponent(nextCursor)}">Show more</a></p>`
  )
}

/** Something that cannot be taken back: a second click does it. */
export function renderConfirmed(options: {
  label: string
  description: Content
  question: Content
  action: Html
}): Html {
  const { label, description, question, action } = options
  return html`<details class="confirm">
    <summary>${label}<span class="unseen"> ${description}</span></summary>
    <div>
      <p>${question}</p>
      ${action}
    </div>
  </details>`
}
