import type { FastifyRequest } from 'fastify'
import { errors } from '../../kernel/errors.ts'
import { html, type Content } from './html.ts'
import { csrfFieldName, readField, readText } from './sent-form.ts'

/**
 * The fields with texts that take long to write, which are shown to copy when their form is gone, and what they are called
 * then. A field of several lines has one of these names (`FieldOptions`).
 */
const writtenFields = {
  title: 'Title',
  summary: 'Summary',
  problem: 'Problem',
  audience: 'Audience',
  hypothesis: 'Hypothesis',
  successCriteria: 'Success criteria',
  body: 'Comment',
  email: 'Email addresses',
  statusReason: 'Reason',
  reason: 'Reason',
  question: 'Question',
} as const

export type WrittenField = keyof typeof writtenFields

/**
 * What the person wrote in a form that is not shown again, to copy: in the form that this request sent, or in the refused
 * one that led here. Nothing for a form without a token of the session.
 */
export function renderWrittenTexts(request: FastifyRequest): Content {
  const form = findForm(request)
  const texts = Object.entries(writtenFields).filter(
    ([name]) => form !== undefined && readField(form, name).trim() !== '',
  )
  if (form === undefined || texts.length === 0) return false
  return html`<section class="stack" aria-labelledby="written">
    <h2 id="written">What you wrote</h2>
    <p>It was not saved. Copy it from here.</p>
    ${texts.map(([name, label]) => {
      const text = readText(form, name)
      return html`<div class="field">
        <label for="written-${name}">${label}</label>
        <textarea id="written-${name}" rows="${countRows(text)}" readonly data-copy>${text}</textarea>
      </div>`
    })}
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
