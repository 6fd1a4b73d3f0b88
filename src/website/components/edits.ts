import type { FastifyRequest } from 'fastify'
import { compareEdit, versionsOf, type FieldVersions } from '../../kernel/edits.ts'
import { type FormState } from './forms.ts'
import { readField } from './sent-form.ts'
import { html, type Html } from './html.ts'

/** The hidden field with the versions of what a form was opened with, as JSON. */
const openedField = 'opened'

/** What a form edits, merged with what others saved since it was opened. */
export interface MergedEdit<Fields> {
  /** The state of the form, with the values that the person changed. All others show what is stored. */
  state: FormState
  /** The fields that the person and others changed. */
  conflicts: (keyof Fields)[]
}

/** The hidden field of the versions that a form is opened with, for a script that makes the form. */
export function openedOf(fields: object): Record<string, string> {
  return { [openedField]: JSON.stringify(versionsOf(fields)) }
}

/** The versions of the fields that a form is opened with. */
export function renderOpened(fields: object): Html {
  return html`<input type="hidden" name="${openedField}" value="${openedOf(fields)[openedField]}" />`
}

/** The versions that a form was opened with; none if it does not say so. */
export function readOpened(request: Pick<FastifyRequest, 'body'>): FieldVersions {
  try {
    const opened: unknown = JSON.parse(readField(request, openedField))
    return typeof opened === 'object' && opened !== null ? (opened as FieldVersions) : {}
  } catch {
    return {}
  }
}

/**
 * Merges a refused form with what is stored now, so that sending it again saves what it shows. `read` reads the fields
 * of the form as the service has them.
 */
export function mergeEdit<Fields extends object>(
  state: FormState,
  current: Fields,
  read: (form: Pick<FastifyRequest, 'body'>) => Partial<Fields>,
): MergedEdit<Fields> {
  const form = { body: state.values }
  const opened = readOpened(form)
  if (Object.keys(opened).length === 0) return { state, conflicts: [] }
  const { changes, conflicts } = compareEdit(current, read(form), opened)
  const values = Object.entries(state.values).filter(([name]) => name in changes)
  return { state: { ...state, values: Object.fromEntries(values) }, conflicts }
}
