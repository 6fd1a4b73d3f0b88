import { Type, type Static, type TObject, type TProperties, type TSchema } from '@sinclair/typebox'
import { linePattern, linesPattern } from '../kernel/text.ts'

/** A closed object: unknown fields are refused in requests and left out of answers. */
export function closed<P extends TProperties>(
  properties: P,
  options: { $id?: string; description?: string } = {},
): TObject<P> {
  return Type.Object(properties, { ...options, additionalProperties: false })
}

/**
 * A closed object with a name of its own under `components.schemas`. It must be in the list of its area's schemas,
 * which app.ts hands to Fastify, and is used through `ref`.
 */
export function named<P extends TProperties>(name: string, properties: P, description?: string): TObject<P> {
  return closed(properties, { $id: name, ...(description && { description }) })
}

/** Refers to a named schema, typed as what it refers to: Type.Ref would type it as unknown. */
export function ref<T extends TSchema>(schema: T) {
  if (schema.$id === undefined) throw new Error('only a named schema can be referred to')
  return Type.Unsafe<Static<T>>({ $ref: `${schema.$id}#` })
}

/** A schema as plain JSON Schema in which what it refers to, which is among the `parts`, stands in place. */
export function inlined(schema: TSchema, parts: readonly TSchema[]): Record<string, unknown> {
  const inline = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(inline)
    if (typeof value !== 'object' || value === null) return value
    const { $id, $ref, ...rest } = value as { $id?: string; $ref?: string }
    if ($ref === undefined) {
      return Object.fromEntries(Object.entries(rest).map(([name, part]) => [name, inline(part)]))
    }
    const part = parts.find((candidate) => $ref === `${candidate.$id}#`)
    if (!part) throw new Error(`${$ref} is none of the parts of ${$id}`)
    return inline(part)
  }
  return inline(schema) as Record<string, unknown>
}

/** A string or null. One type list, not a union: the serializer need not try each branch. */
export function nullableString(options: { description?: string; format?: string } = {}) {
  return Type.Unsafe<string | null>({ type: ['string', 'null'], ...options })
}

/** One of a fixed list of strings. */
export function stringEnum<const T extends readonly string[]>(
  values: T,
  options: { description?: string; default?: T[number] } = {},
) {
  return Type.Unsafe<T[number]>({ type: 'string', enum: [...values], ...options })
}

/** An instant as RFC 3339 in UTC with milliseconds. */
export const timestampOptions = { format: 'date-time', examples: ['2026-11-21T03:04:05.678Z'] }
export const Timestamp = Type.String(timestampOptions)
export const NullableTimestamp = nullableString(timestampOptions)

/** A pattern for text that is only compared: PostgreSQL refuses to look at NUL. */
export const noControlCharacters = '^[^\\p{Cc}]*$'

/** A line of text that people write, of 1 to `maxLength` characters. Services store it through `normalizeText`. */
export function line(maxLength: number) {
  return Type.String({
    minLength: 1,
    maxLength,
    pattern: linePattern,
    description: `1 to ${maxLength} characters, not blank, without control characters`,
  })
}

/** Text of several lines that people write, of 1 to `maxLength` characters. Services store it through `normalizeLines`. */
export function lines(maxLength: number) {
  return Type.String({
    minLength: 1,
    maxLength,
    pattern: linesPattern,
    description: `1 to ${maxLength} characters, not blank, without control characters but line breaks`,
  })
}

/** As `lines`, or the empty string, which stands for none. */
export function optionalLines(maxLength: number) {
  return Type.String({
    maxLength,
    pattern: `^$|${linesPattern}`,
    description: `empty, or 1 to ${maxLength} characters, not blank, without control characters but line breaks`,
  })
}

/** The answer to a change that has nothing to tell. */
export const Ok = named('Ok', { ok: Type.Literal(true) })

const errorFields = {
  code: Type.String({ description: 'Stable and machine-readable: see the error catalogue.' }),
  message: Type.String({ description: 'For people; it may change.' }),
}
const requestId = Type.String({ description: 'The x-request-id of the answer.' })

const HttpApiDecodeError = named('HttpApiDecodeError', {
  _tag: Type.Literal('HttpApiDecodeError'),
  code: Type.Literal('decode_error'),
  message: Type.String(),
  issues: Type.Array(
    closed({
      _tag: stringEnum(['Missing', 'Unexpected', 'Type', 'Refinement']),
      path: Type.Array(Type.Unsafe<string | number>({ type: ['string', 'integer'] })),
      message: Type.String(),
    }),
  ),
  requestId,
})

const InvalidInput = named('InvalidInput', {
  _tag: Type.Literal('InvalidInput'),
  ...errorFields,
  field: nullableString({ description: 'The field at fault, if it is one.' }),
  requestId,
})

function errorSchema(tag: string) {
  return named(tag, { _tag: Type.Literal(tag), ...errorFields, requestId })
}

/** The schemas that every area shares: the plain success and the errors. */
export const sharedSchemas: TSchema[] = [
  Ok,
  HttpApiDecodeError,
  InvalidInput,
  ...[
    'Unauthorized',
    'Forbidden',
    'NotFound',
    'Conflict',
    'PayloadTooLarge',
    'UnsupportedMediaType',
    'TooManyRequests',
    'Internal',
    'ServiceUnavailable',
  ].map(errorSchema),
]
