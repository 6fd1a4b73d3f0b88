import { Type } from '@sinclair/typebox'
import type { FastifyRequest } from 'fastify'
import { ApiError, errors } from '../../kernel/errors.ts'
import { roles, type Role } from '../../domain/roles.ts'

/** The form field of the CSRF token. */
export const csrfFieldName = '_csrf'

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

// They are typed again. A code works once.
const unkeptFields = new Set([csrfFieldName, 'password', 'currentPassword', 'code', 'credential'])

/** The submitted values to show again: all but passwords and tokens. */
export function valuesOf({ body }: Pick<FastifyRequest, 'body'>): Record<string, string> {
  const names = Object.keys((body as object | undefined) ?? {}).filter((name) => !unkeptFields.has(name))
  return Object.fromEntries(names.map((name) => [name, readField({ body }, name)]))
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
