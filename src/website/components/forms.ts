import type { FastifyRequest } from 'fastify'
import { errors, type ApiError } from '../../kernel/errors.ts'
import { findFault, labelLengthMax } from '../../kernel/text.ts'
import { html, type Content, type Html } from './html.ts'
import { csrfFieldName } from './sent-form.ts'
import { describeError } from './words.ts'
import type { WrittenField } from './written-texts.ts'

/** The submitted values and their error, for showing the form again. */
export interface FormState {
  /** The path that the form was sent to. */
  action?: string | undefined
  values: Record<string, string>
  error?: ApiError | undefined
}

export const emptyForm: FormState = { values: {} }

/** The state of one form of a page: empty if another one was sent. */
export function stateOf(state: FormState, action: string): FormState {
  return state.action === action ? state : emptyForm
}

// Only InvalidInput names its field.
const fieldOfCode: Record<string, string> = {
  already_invited: 'email',
  already_member: 'email',
  already_team_member: 'userId',
  label_name_taken: 'name',
  saved_filter_name_taken: 'name',
  slug_taken: 'slug',
  team_name_taken: 'name',
}

/** The field at fault, if there is one. */
function fieldOf({ field, code }: ApiError): string | undefined {
  return field ?? fieldOfCode[code]
}

/** A form with its CSRF token, and with an alert for an error that none of its fields shows. */
export function renderForm(options: {
  request: FastifyRequest
  action: string
  state?: FormState
  /** The fields that show their own errors. */
  fields?: readonly string[]
  body: Content
  className?: string
  /** Attributes that scripts read. */
  attributes?: Html
  isUpload?: boolean
}): Html {
  const { request, action, state = emptyForm, fields = [], body, className, attributes, isUpload } = options
  const { error } = state
  noteShown(request, error)
  if (error !== undefined && error === request.flash.state.error) request.flash.isFormShown = true
  const isFormError = error && !fields.includes(fieldOf(error) ?? '')
  return html`<form
    method="post"
    action="${action}"
    class="${className ?? 'stack'}"
    ${attributes}
    ${isUpload && html`enctype="multipart/form-data"`}
  >
    <input type="hidden" name="${csrfFieldName}" value="${request.visit.csrfToken}" />
    ${isFormError && renderAlert(error)} ${body}
  </form>`
}

/** The alert of a refused form that the page does not show as a form. */
export function renderRefusal(request: FastifyRequest): Content {
  const { error } = request.flash.state
  noteShown(request, error)
  return error && renderAlert(error)
}

/** Notes that the page shows the error of the refused form, so that it is not shown above the page too. */
function noteShown({ flash }: FastifyRequest, error: ApiError | undefined): void {
  if (error !== undefined && error === flash.state.error) flash.isErrorShown = true
}

/** An error message, which screen readers announce. */
export function renderAlert(problem: ApiError | string): Html {
  const text = typeof problem === 'string' ? problem : describeError(problem)
  return html`<p class="alert" role="alert">${text}</p>`
}

/** A form that consists of a button. */
export function renderAction(
  request: FastifyRequest,
  options: {
    action: string
    label: Content
    /** Completes the label for screen readers. */
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
        ${label}${description !== undefined && html`<span class="visually-hidden"> ${description}</span>`}
      </button>`,
  })
}

/** A field of one line, or of several, which are a text that is not lost with its form. */
export type FieldOptions = FieldOfAnyHeight &
  ({ name: WrittenField; /** The height. */ rows: number } | { name: string; rows?: undefined })

interface FieldOfAnyHeight {
  /** Required if the page has several fields of this name. */
  id?: string
  label: string
  state?: FormState
  /** The initial value. */
  value?: string
  type?: 'text' | 'email' | 'password' | 'file' | 'url' | 'date'
  hint?: string
  autocomplete?: string
  /** The keyboard of phones. */
  inputMode?: 'numeric'
  /** Attributes that public/site.js reads. */
  script?: Html
  minLength?: number
  maxLength?: number
  /** A regular expression for the whole value. */
  pattern?: string
  isOptional?: boolean
  /** Whether the field has the focus when the page opens, unless a form was refused. */
  isFirst?: boolean
  accept?: string
  /** What others have saved in this field since the form was opened, if the person has changed it too. */
  savedMeanwhile?: string | undefined
}

/** A field with its label, hint and error. Passwords are never shown again. */
export function renderField(options: FieldOptions): Html {
  const {
    name,
    id = name,
    label,
    state = emptyForm,
    type = 'text',
    hint,
    autocomplete,
    script,
    maxLength,
  } = options
  const value = type === 'password' ? '' : (state.values[name] ?? options.value ?? '')
  const error = findProblem(options)
  const hasErrorNote = error !== undefined || script !== undefined
  const isInvalid = error !== undefined
  const isOfError = state.error && fieldOf(state.error) === name
  const { savedMeanwhile } = options
  const notes = [
    ...(hasErrorNote ? [`${id}-error`] : []),
    ...(savedMeanwhile === undefined ? [] : [`${id}-saved`]),
    ...(hint === undefined ? [] : [`${id}-hint`]),
  ]
  const attributes = html`
    id="${id}" name="${name}" ${!options.isOptional && html`required`}
    ${autocomplete !== undefined && html`autocomplete="${autocomplete}"`}
    ${options.inputMode !== undefined && html`inputmode="${options.inputMode}"`}
    ${options.minLength !== undefined && html`minlength="${options.minLength}"`}
    ${maxLength !== undefined && renderLengthMax(maxLength, options.rows !== undefined)}
    ${options.pattern !== undefined && html`pattern="${options.pattern}"`}
    ${options.accept !== undefined && html`accept="${options.accept}"`}
    ${notes.length > 0 && html`aria-describedby="${notes.join(' ')}"`}
    ${isInvalid && html`aria-invalid="true" ${isOfError && html`autofocus`}`}
    ${options.isFirst === true && state.error === undefined && html`autofocus`} ${script}
  `
  return html`<div class="field">
    <label for="${id}">${label}${options.isOptional && html` <span class="hint">(optional)</span>`}</label>
    ${
      options.rows === undefined
        ? html`<input type="${type}" ${type !== 'file' && html`value="${value}"`} ${attributes} />`
        : html`<textarea data-text rows="${options.rows}" ${attributes}>${value}</textarea>`
    }
    ${
      hasErrorNote &&
      html`<p class="error" id="${id}-error" ${script && html`aria-live="polite"`}>${error}</p>`
    }
    ${
      savedMeanwhile !== undefined &&
      html`<div class="saved-meanwhile" id="${id}-saved">
        <p>Saved meanwhile:</p>
        <p class="prose"><bdi>${savedMeanwhile === '' ? '(nothing)' : savedMeanwhile}</bdi></p>
      </div>`
    }
    ${hint !== undefined && html`<p class="hint" id="${id}-hint">${hint}</p>`}
  </div>`
}

/** The line in which a thing of a workspace gets another name. */
export function renderNameForm(
  request: FastifyRequest,
  {
    action,
    state,
    name,
    more,
    button = 'Rename',
  }: {
    action: string
    state: FormState
    name: string
    /** Further fields. */
    more?: Content
    button?: string
  },
): Html {
  return renderForm({
    request,
    action,
    state,
    fields: ['name'],
    className: 'line',
    body: html`${renderField({
        name: 'name',
        label: 'Name',
        value: name,
        maxLength: labelLengthMax,
        autocomplete: 'off',
        state,
      })}${more}<button class="quiet">${button}</button>`,
  })
}

/** What is wrong with a field: the error, which is about one field, or for texts what would be the error after that. */
function findProblem(options: FieldOptions): string | undefined {
  const { name, state = emptyForm, type = 'text', rows, maxLength, isOptional = false } = options
  const { error, values } = state
  if (error === undefined) return undefined
  if (fieldOf(error) === name) return describeError(error)
  const text = values[name]?.replaceAll('\r\n', '\n')
  if (error.code !== errors.textInvalid.code || type !== 'text' || text === undefined) return undefined
  if (isOptional && text === '') return undefined
  const fault = findFault(text, rows === undefined ? 'line' : 'lines', maxLength)
  return fault && `This text ${fault}.`
}

// Browsers would cut a text of several lines that is pasted, without a word. public/texts.js counts it.
function renderLengthMax(lengthMax: number, isOfLines: boolean): Html {
  return isOfLines ? html`data-length-max="${lengthMax}"` : html`maxlength="${lengthMax}"`
}

/** A drop-down list. */
export function renderSelect(options: {
  name: string
  label: Content
  choices: readonly { value: string; label: string }[]
  value: string
  /** Required if the page has several fields of this name. */
  id?: string
  isLabelHidden?: boolean
  /** Attributes that public/site.js reads. */
  script?: Html
}): Html {
  const { name, label, choices, value, id = name, isLabelHidden, script } = options
  return html`<div class="field">
    <label for="${id}" class="${isLabelHidden ? 'visually-hidden' : ''}">${label}</label>
    <select id="${id}" name="${name}" ${script}>
      ${choices.map(
        (choice) =>
          html`<option value="${choice.value}" ${choice.value === value && html`selected`}>
            ${choice.label}
          </option>`,
      )}
    </select>
  </div>`
}

/** A choice of which all words are visible. Nothing is chosen at first. */
export function renderRadios(options: {
  name: string
  legend: string
  choices: readonly { value: string; label: string }[]
  value: string
}): Html {
  const { name, legend, choices, value } = options
  return html`<fieldset class="radios">
    <legend>${legend}</legend>
    ${choices.map(
      (choice) =>
        html`<div class="check">
          <input
            type="radio"
            id="${name}-${choice.value}"
            name="${name}"
            value="${choice.value}"
            required
            ${choice.value === value && html`checked`}
          />
          <label for="${name}-${choice.value}">${choice.label}</label>
        </div>`,
    )}
  </fieldset>`
}

/** A checkbox with its label. */
export function renderCheckbox(options: {
  name: string
  label: Content
  isChecked: boolean
  /** Required if the page has several fields of this name. */
  id?: string
}): Html {
  const { name, label, isChecked, id = name } = options
  return html`<div class="check">
    <input type="checkbox" id="${id}" name="${name}" ${isChecked && html`checked`} />
    <label for="${id}">${label}</label>
  </div>`
}
