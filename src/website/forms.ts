import { Type } from '@sinclair/typebox'
import type { FastifyRequest } from 'fastify'
import { ApiError, errors } from '../kernel/errors.ts'
import { roles, type Role } from '../kernel/roles.ts'
import { html, type Content, type Html } from './html.ts'
import { csrfFieldName } from './web-session.ts'
import { describeError } from './words.ts'

/** The body of a form: the fields that were filled in, as text. */
export const formSchema = {
  body: Type.Record(Type.String(), Type.Union([Type.String(), Type.Array(Type.String(), { maxItems: 100 })])),
}

/** Forms have the fields that their page has, and what browsers add to them is nobody's fault. */
export const formConfig = { openBody: true }

/** How a route takes a form. */
export const form = { schema: formSchema, config: formConfig }

/** What was typed, for showing it again, and what was wrong with it. */
export interface FormState {
  values: Record<string, string>
  error?: ApiError | undefined
}

export const emptyForm: FormState = { values: {} }

/** A field of a form that was sent; empty when it is missing, and the last one of several. */
export function readField({ body }: Pick<FastifyRequest, 'body'>, name: string): string {
  const value = (body as Record<string, string | string[]> | undefined)?.[name]
  return (typeof value === 'string' ? value : value?.at(-1)) ?? ''
}

/** Several fields of a form that was sent. */
export function readFields<const Name extends string>(
  request: Pick<FastifyRequest, 'body'>,
  ...names: Name[]
): Record<Name, string> {
  return Object.fromEntries(names.map((name) => [name, readField(request, name)])) as Record<Name, string>
}

const mendable = new Set(['InvalidInput', 'Conflict', 'PayloadTooLarge', 'TooManyRequests'])
const mendableCodes = new Set(['role_too_high', 'invite_email_mismatch', 'email_unverified'])

// What the rules of a workspace refuse is known by its code; the form knows which field it is about.
const fieldOfCode: Record<string, string> = {
  already_invited: 'email',
  already_member: 'email',
  already_team_member: 'userId',
  slug_taken: 'slug',
  team_name_taken: 'name',
}

/** The field that an error is about, if it is about one. */
function fieldOf({ field, code }: ApiError): string | undefined {
  return field ?? fieldOfCode[code]
}

/** What was typed into a form. */
export function valuesOf({ body }: Pick<FastifyRequest, 'body'>): Record<string, string> {
  const names = Object.keys((body as object | undefined) ?? {}).filter((name) => name !== csrfFieldName)
  return Object.fromEntries(names.map((name) => [name, readField({ body }, name)]))
}

/** A role that was chosen. */
export function requireRole(request: Pick<FastifyRequest, 'body'>): Role {
  const role = roles.find((candidate) => candidate === readField(request, 'role'))
  // There is no other in the list: it was not chosen on our page.
  if (!role) throw errors.formExpired()
  return role
}

/** Does what a form asks for; returns what the person can mend, which the form shows, and throws everything else. */
export async function attempt<T>(
  run: () => Promise<T>,
): Promise<{ result: T; error?: undefined } | { result?: undefined; error: ApiError }> {
  try {
    return { result: await run() }
  } catch (error) {
    if (error instanceof ApiError && (mendable.has(error.tag) || mendableCodes.has(error.code)))
      return { error }
    throw error
  }
}

/** A form with the token that it is taken by, and what was wrong that is no field's fault. */
export function renderForm(options: {
  request: FastifyRequest
  action: string
  state?: FormState
  /** The fields that show their own faults. */
  fields?: readonly string[]
  body: Content
  className?: string
  isUpload?: boolean
}): Html {
  const { request, action, state = emptyForm, fields = [], body, className, isUpload } = options
  const { error } = state
  const isOwnFault = error && !fields.includes(fieldOf(error) ?? '')
  return html`<form
    method="post"
    action="${action}"
    class="${className ?? 'stack'}"
    ${isUpload && html`enctype="multipart/form-data"`}
  >
    <input type="hidden" name="${csrfFieldName}" value="${request.visit.csrfToken}" />
    ${isOwnFault && renderAlert(error)} ${body}
  </form>`
}

/** Something that people should notice at once. */
export function renderAlert(problem: ApiError | string): Html {
  const text = typeof problem === 'string' ? problem : describeError(problem)
  return html`<p class="alert" role="alert">${text}</p>`
}

/** A button that does one thing, at once. */
export function renderAction(
  request: FastifyRequest,
  options: {
    action: string
    label: Content
    /** What the button says to those who do not see what it stands beside. */
    description?: Content
    fields?: Record<string, string>
    isDangerous?: boolean
  },
): Html {
  const { action, label, description, fields = {}, isDangerous } = options
  return renderForm({
    request,
    action,
    className: 'inline',
    body: html`${Object.entries(fields).map(
        ([name, value]) => html`<input type="hidden" name="${name}" value="${value}" />`,
      )}<button class="${isDangerous ? 'small danger' : 'small'}">
        ${label}${description !== undefined && html`<span class="unseen"> ${description}</span>`}
      </button>`,
  })
}

export interface FieldOptions {
  name: string
  label: string
  state?: FormState
  /** Shown before anything was typed. */
  value?: string
  type?: 'text' | 'email' | 'password' | 'file'
  hint?: string
  autocomplete?: string
  /** What the field is for the script, if anything. */
  role?: Html
  maxLength?: number
  isOptional?: boolean
  accept?: string
}

/** A field with its label, its hint and what is wrong with it. Passwords are not shown again. */
export function renderField(options: FieldOptions): Html {
  const { name, label, state = emptyForm, type = 'text', hint, autocomplete, role, maxLength } = options
  const value = type === 'password' ? '' : (state.values[name] ?? options.value ?? '')
  const error = state.error && fieldOf(state.error) === name ? describeError(state.error) : undefined
  const hasErrorNote = error !== undefined || role !== undefined
  const notes = [...(hasErrorNote ? [`${name}-error`] : []), ...(hint === undefined ? [] : [`${name}-hint`])]
  return html`<div class="field">
    <label for="${name}">${label}${options.isOptional && html` <span class="hint">(optional)</span>`}</label>
    <input
      id="${name}"
      name="${name}"
      type="${type}"
      ${type !== 'file' && html`value="${value}"`}
      ${!options.isOptional && html`required`}
      ${autocomplete !== undefined && html`autocomplete="${autocomplete}"`}
      ${maxLength !== undefined && html`maxlength="${maxLength}"`}
      ${options.accept !== undefined && html`accept="${options.accept}"`}
      ${notes.length > 0 && html`aria-describedby="${notes.join(' ')}"`}
      ${error !== undefined && html`aria-invalid="true"`}
      ${role}
    />
    ${
      hasErrorNote &&
      html`<p class="error" id="${name}-error" ${role && html`aria-live="polite"`}>${error}</p>`
    }
    ${hint !== undefined && html`<p class="hint" id="${name}-hint">${hint}</p>`}
  </div>`
}

/** A choice from a list. */
export function renderSelect(options: {
  name: string
  label: Content
  choices: readonly { value: string; label: string }[]
  value: string
  /** Tells apart several of the same name on one page. */
  id?: string
  isLabelUnseen?: boolean
}): Html {
  const { name, label, choices, value, id = name, isLabelUnseen } = options
  return html`<div class="field">
    <label for="${id}" class="${isLabelUnseen ? 'unseen' : ''}">${label}</label>
    <select id="${id}" name="${name}">
      ${choices.map(
        (choice) =>
          html`<option value="${choice.value}" ${choice.value === value && html`selected`}>
            ${choice.label}
          </option>`,
      )}
    </select>
  </div>`
}
