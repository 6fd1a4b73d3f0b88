import type { FastifyRequest } from 'fastify'
import { errors } from '../../kernel/errors.ts'
import { html, type Content } from './html.ts'
import { csrfFieldName, labelFieldOf, readField, readText } from './sent-form.ts'

/**
 * What the person wrote in a form that is not shown again, to copy: in the form that this request sent, or in the refused
 * one that led here. Fields say with their label that they want it (`renderField`). Nothing for a form without a token of the session.
 */
export function renderWrittenTexts(request: FastifyRequest): Content {
  const form = findForm(request)
  if (form === undefined) return false
  const texts = Object.keys((form.body ?? {}) as object)
    .map((name) => ({ name, label: readField(form, labelFieldOf(name)), text: readText(form, name) }))
    .filter(({ label, text }) => label !== '' && text.trim() !== '')
  if (texts.length === 0) return false
  return html`<section class="stack" aria-labelledby="written">
    <h2 id="written">What you wrote</h2>
    <p>It was not saved. Copy it from here.</p>
    ${texts.map(
      ({ name, label, text }) =>
        html`<div class="field">
          <label for="written-${name}">${label}</label>
          <textarea id="written-${name}" rows="${countRows(text)}" readonly data-copy>${text}</textarea>
        </div>`,
    )}
  </section>`
}

function findForm(request: FastifyRequest): Pick<FastifyRequest, 'body'> | undefined {
  // Null if the request was refused before they were read.
  const visit = request.visit as typeof request.visit | null | undefined
  const refused = (request.flash as typeof request.flash | null | undefined)?.state
  if (visit?.sessionId === undefined) return undefined
  if (request.method === 'POST')
    return visit.isCsrfToken(readField(request, csrfFieldName)) ? request : undefined
  // It had no token of this session.
  if (refused?.error === undefined || refused.error.code === errors.formExpired.code) return undefined
  return request.flash.isFormShown === true ? undefined : { body: refused.values }
}

// By the lines that it takes at the width of a form.
function countRows(text: string): number {
  const lines = text.split('\n').reduce((sum, line) => sum + 1 + Math.floor(line.length / 70), 0)
  return Math.min(Math.max(lines, 1), 12)
}
