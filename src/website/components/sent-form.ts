import { Type } from '@sinclair/typebox'
import type { FastifyRequest } from 'fastify'
import { ApiError, errors } from '../../kernel/errors.ts'
import { roles, type Role } from '../../domain/roles.ts'

/** The form field of the CSRF token. */
export const csrfFieldName = '_csrf'

/** The form field of the ids of files, of which a form has any number. */
export const attachmentsField = 'attachmentIds'

/** The form field of the ids of labels, of which a form has any number, and the one which says that it shows labels. */
export const labelIdsField = 'labelIds'
export const labelsShownField = 'labelsShown'

/** The body of a form: text fields. */
export const formSchema = {
  body: Type.Record(Type.String(), Type.Union([Type.String(), Type.Array(Type.String(), { maxItems: 100 })])),
}

/** Accepts unknown fields, which browsers may add. */
export const formConfig = { openBody: true }

/** The route options of a form. */
export const form = { schema: formSchema, config: formConfig }

/** Whether a script of a page sent the request, and reads JSON. Pages are asked for by browsers. */
export function isOfScript({ headers }: Pick<FastifyRequest, 'headers'>): boolean {
  const { accept = '' } = headers
  return !accept.includes('text/html') && /application\/json|text\/event-stream/.test(accept)
}

/** The value of a field: the last one if there are several, empty if there is none. */
export function readField({ body }: Pick<FastifyRequest, 'body'>, name: string): string {
  const value = (body as Record<string, string | string[]> | undefined)?.[name]
  return (typeof value === 'string' ? value : value?.at(-1)) ?? ''
}

/** The values of several fields. */
export function readFields<const Name extends string>(
  request: Pick<FastifyRequest, 'body'>,
  ...names: Name[]
): Record<Name, string> {
  return Object.fromEntries(names.map((name) => [name, readField(request, name)])) as Record<Name, string>
}

/** The files that a form names, which may be a field each; undefined if it knows of none. */
export function readAttachmentIds({ body }: Pick<FastifyRequest, 'body'>): string[] | undefined {
  const value = (body as Record<string, string | string[]> | undefined)?.[attachmentsField]
  return value === undefined ? undefined : [value].flat().flatMap((ids) => ids.split(' ').filter(Boolean))
}

/** The labels that a form names, which may be a field each; undefined if it shows none. */
export function readLabelIds({ body }: Pick<FastifyRequest, 'body'>): string[] | undefined {
  const values = (body ?? {}) as Record<string, string | string[]>
  const chosen = values[labelIdsField]
  if (chosen === undefined) return values[labelsShownField] === undefined ? undefined : []
  return [chosen].flat().flatMap((ids) => ids.split(' ').filter(Boolean))
}

/** The text of a field of several lines, with LF as line break as people count it: browsers send CRLF. */
export function readText(request: Pick<FastifyRequest, 'body'>, name: string): string {
  return readField(request, name).replaceAll('\r\n', '\n')
}

/** The chosen one of several words. Throws `form_expired` for another one, which our pages do not offer. */
export function requireChoice<const Word extends string>(
  request: Pick<FastifyRequest, 'body'>,
  name: string,
  words: readonly Word[],
): Word {
  const chosen = words.find((word) => word === readField(request, name))
  if (chosen === undefined) throw errors.formExpired()
  return chosen
}

// They are typed again, or pasted if they are large. A code works once.
const unkeptFields = new Set([csrfFieldName, 'password', 'currentPassword', 'code', 'credential', 'table'])

/** The submitted values to show again: all but passwords and tokens. */
export function valuesOf({ body }: Pick<FastifyRequest, 'body'>): Record<string, string> {
  const names = Object.keys((body as object | undefined) ?? {}).filter((name) => !unkeptFields.has(name))
  const ids = readAttachmentIds({ body })
  const labelIds = readLabelIds({ body })
  return {
    ...Object.fromEntries(names.map((name) => [name, readField({ body }, name)])),
    ...(ids && { [attachmentsField]: ids.join(' ') }),
    ...(labelIds && { [labelIdsField]: labelIds.join(' ') }),
  }
}

/** The chosen role. Throws `form_expired` for an unknown one. */
export function requireRole(request: Pick<FastifyRequest, 'body'>): Role {
  return requireChoice(request, 'role', roles)
}

// Errors that people can correct in the form.
const correctableTags = new Set(['InvalidInput', 'Conflict', 'PayloadTooLarge', 'TooManyRequests'])
const correctableCodes = new Set([
  'role_too_high',
  'invite_email_mismatch',
  'email_unverified',
  'not_a_participant',
  'attachment_not_found',
])

/** Runs the action of a form. Returns errors that the person can correct, and throws all others. */
export async function attempt<T>(
  run: () => Promise<T>,
): Promise<{ result: T; error?: undefined } | { result?: undefined; error: ApiError }> {
  try {
    return { result: await run() }
  } catch (error) {
    if (error instanceof ApiError && (correctableTags.has(error.tag) || correctableCodes.has(error.code)))
      return { error }
    throw error
  }
}
