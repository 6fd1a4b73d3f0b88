import type { FastifyRequest } from 'fastify'
import { html, type Content, type Html } from './html.ts'

/** What has been done, in a sentence that is shown once. Text and names take turns, beginning with text. */
export type Notice = readonly string[]

/** Makes a notice from a template. Its values are names, which `renderDone` isolates. */
export function notice(texts: TemplateStringsArray, ...names: string[]): Notice {
  return texts.flatMap((text, i) => [text, ...names.slice(i, i + 1)])
}

/** The notice that the form which led to the page left. */
export function renderDone({ flash }: FastifyRequest): Content {
  return (
    flash.notice &&
    html`<div class="notice" role="status">
      <p>${flash.notice.map((part, i) => (i % 2 === 0 ? part : html`<bdi>${part}</bdi>`))}</p>
    </div>`
  )
}

/** A secret that is shown once, with a field to copy it from and what that is called. */
export function renderNewSecret({
  text,
  label,
  secret,
}: {
  text: Html
  label: Content
  secret: string
}): Html {
  return html`<div class="notice" role="status">
    <p>${text}</p>
    <p class="copy">
      <label class="visually-hidden" for="secret">${label}</label>
      <input id="secret" class="mono" readonly value="${secret}" data-copy autocomplete="off" />
    </p>
  </div>`
}
