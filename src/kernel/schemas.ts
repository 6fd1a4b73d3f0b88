import { filterIdsMax } from './ids.ts'
import { Type, type Static, type TObject, type TProperties, type TSchema } from '@sinclair/typebox'
import { nameLengthMax, type TextRule } from './text.ts'

/** A closed object: unknown fields are refused in requests and left out of answers. */
export function closed<P extends TProperties>(
  properties: P,
  options: { $id?: string; description?: string; examples?: Static<TObject<P>>[] } = {},
): TObject<P> {
  return Type.Object(properties, { ...options, additionalProperties: false })
}

/**
 * A closed object with a name of its own under `components.schemas`, and an example, of which the examples of operations
 * are made. It must be in the list of its area's schemas, which app.ts hands to Fastify, and is used through `ref`.
 * One that is a field of others needs a description: a reference cannot have its own.
 */
export function named<P extends TProperties>(
  name: string,
  properties: P,
  example: Static<TObject<P>>,
  description?: string,
): TObject<P> {
  return closed(properties, {
    $id: name,
    examples: [example],
    ...(description !== undefined && { description }),
  })
}

/** The example of a named schema. */
export function exampleOf<T extends TSchema>(schema: T): Static<T> {
  const [example] = (schema.examples ?? []) as Static<T>[]
  if (example === undefined) throw new Error(`${schema.$id} has no example`)
  return example
}

/** Refers to a named schema, typed as what it refers to: Type.Ref would type it as unknown. */
export function ref<T extends TSchema>(schema: T) {
  if (schema.$id === undefined) throw new Error('only a named schema can be referred to')
  return Type.Unsafe<Static<T>>({ $ref: `${schema.$id}#` })
}

/** The same schema with another description, for people and for models. */
export function described<T extends TSchema>(schema: T, description: string): T {
  return { ...schema, description, 'x-model': undefined }
}

/** The same schema with what models are told of it. Its description for people stays. */
export function told<T extends TSchema>(schema: T, text: string): T {
  return { ...schema, 'x-model': text }
}

/** The first field of the answer to a change. */
export const ok = Type.Literal(true, { description: 'Always true: an error has another status.' })

/**
 * A schema as plain JSON Schema, without examples and with the `parts` that it refers to in place. What stands beside a
 * reference replaces that of the part.
 */
export function inlined(schema: TSchema, parts: readonly TSchema[]): Record<string, unknown> {
  const inline = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(inline)
    if (typeof value !== 'object' || value === null) return value
    const { $id, $ref, ...rest } = value as { $id?: string; $ref?: string }
    if ($ref === undefined) {
      const entries = Object.entries(rest).filter(
        ([name, part]) => !(name === 'examples' && Array.isArray(part)),
      )
      return Object.fromEntries(entries.map(([name, part]) => [name, inline(part)]))
    }
    const part = parts.find((candidate) => $ref === `${candidate.$id}#`)
    if (!part) throw new Error(`${$ref} is none of the parts of ${$id}`)
    return inline({ ...part, ...rest })
  }
  return inline(schema) as Record<string, unknown>
}

/**
 * An input without the fields of the schema that are null or the empty string, which models send for what they leave out.
 * In `emptied` fields the empty string is a value. Other input is returned as it is, to be refused by the schema.
 */
export function withoutBlanks(input: unknown, schema: TObject, emptied: readonly string[] = []): unknown {
  if (typeof input !== 'object' || input === null || Array.isArray(input)) return input
  const isBlank = ([name, value]: [string, unknown]) =>
    Object.hasOwn(schema.properties, name) && (value === null || (value === '' && !emptied.includes(name)))
  return Object.fromEntries(Object.entries(input).filter((entry) => !isBlank(entry)))
}

/** A string or null. One type list, not a union: the serializer need not try each branch. */
export function nullableString(options: { description?: string; format?: string } = {}) {
  return Type.Unsafe<string | null>({ type: ['string', 'null'], ...options })
}

/** A number without a fraction, or null. */
export function nullableInteger(description?: string) {
  return Type.Unsafe<number | null>({
    type: ['integer', 'null'],
    ...(description !== undefined && { description }),
  })
}

/** A list of a named schema, or null. */
export function nullableArray<T extends TSchema>(item: T, description: string) {
  return Type.Unsafe<Static<T>[] | null>({ type: ['array', 'null'], items: ref(item), description })
}

/** One of a fixed list of strings. */
export function stringEnum<const T extends readonly string[]>(
  values: T,
  options: { description?: string; default?: T[number] } = {},
) {
  return Type.Unsafe<T[number]>({ type: 'string', enum: [...values], ...options })
}

/** One of some words, or null. */
export function nullableEnum<Word extends string>(words: readonly Word[], description: string) {
  // Not null in `enum`: generators of validators make no code of it that compiles.
  return Type.Unsafe<Word | null>({
    anyOf: [{ type: 'string', enum: [...words] }, { type: 'null' }],
    description,
  })
}

/** A named schema, or null. */
export function nullableRef<T extends TSchema>(schema: T, description: string) {
  return Type.Unsafe<Static<T> | null>({ anyOf: [ref(schema), { type: 'null' }], description })
}

/** One or several of some words. Models are told of the list alone. */
export function oneOrSeveral<const T extends readonly string[]>(values: T, description: string) {
  const one = stringEnum(values)
  return Type.Unsafe<T[number] | T[number][]>({
    anyOf: [one, Type.Array(one, { maxItems: values.length })],
    'x-fault': `must be one or several of ${values.join(', ')}`,
    description,
  })
}

/** The same, in a query: the parameter may be repeated. */
export function severalOf<const T extends readonly string[]>(values: T, description: string) {
  return oneOrSeveral(values, `${description} The parameter may be repeated.`)
}

/** The list among the alternatives of `oneOrSeveral`; undefined for any other schema. */
export function listIn(schema: TSchema): TSchema | undefined {
  const parts = (schema.anyOf ?? []) as TSchema[]
  return parts.find(({ type }) => type === 'array')
}

/** Ids in a query, at most `filterIdsMax`: the parameter is repeated, or has several. `parseFilterIds` reads them. */
export function severalIds(description: string) {
  return Type.Array(Type.String({ maxLength: 4000, 'x-text': 'query' }), {
    maxItems: filterIdsMax,
    description: `${description} At most ${filterIdsMax}: repeat the parameter, or separate them by commas.`,
  })
}

/** An instant as RFC 3339 in UTC with milliseconds. */
export const timestampOptions = { format: 'date-time', examples: ['2026-11-21T03:04:05.678Z'] }
export const Timestamp = Type.String(timestampOptions)

/** A `Timestamp` of which the description says what happened then. */
export function timestamp(description: string) {
  return Type.String({ ...timestampOptions, description })
}

/** A time of a filter. A date without a time is its start in UTC; `parseTime` reads both. */
export function dateOrTime(description: string) {
  return Type.Unsafe<string>({
    // The type in each branch: some generators of clients write no type for a branch without one.
    anyOf: [
      { type: 'string', format: 'date-time' },
      { type: 'string', format: 'date' },
    ],
    'x-fault': 'must be a date or a time (RFC 3339)',
    description,
    examples: timestampOptions.examples,
  })
}

/** As `timestamp`, or null, of which the description says the meaning too. */
export function nullableTimestamp(description: string) {
  return nullableString({ ...timestampOptions, description })
}

/** What is wrong with a date that `calendarDate` refuses, as the end of a sentence. */
export const faultOfDate = 'must be a date, as 2026-11-21'

/** A date that people give, or null for none, of the years 1000 to 9999. Services check it by `isDate`. */
export function calendarDate(description: string) {
  return Type.Unsafe<string | null>({
    ...{ type: ['string', 'null'], format: 'date', pattern: '^[1-9]' },
    'x-fault': faultOfDate,
    description,
  })
}

/** The keywords of our own in schemas. `withoutOwnKeywords` removes them from what is published. */
export interface OwnKeywords {
  /** What the text may contain, unless it is empty: the rule is validated, and its message says what is wrong. */
  'x-text'?: TextRule
  /** What is wrong with a value that breaks `pattern`, `format` or `anyOf`, as the end of a sentence: `must be …`. */
  'x-fault'?: string
  /** What models are told in place of the description; empty: nothing, since the length says it. */
  'x-model'?: string
}

export const ownKeywords = ['x-text', 'x-fault', 'x-model'] as const satisfies (keyof OwnKeywords)[]

/** A copy of a description or a schema without the keywords of our own. */
export function withoutOwnKeywords<T>(value: T): T {
  if (Array.isArray(value)) return value.map(withoutOwnKeywords) as T
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).filter(([name]) => !(ownKeywords as readonly string[]).includes(name))
  return Object.fromEntries(entries.map(([name, part]) => [name, withoutOwnKeywords<unknown>(part)])) as T
}

/** Text with a rule, of at most `maxLength` characters. Its description says the rule to people; models see the length. */
function text(
  rule: keyof typeof rulesInWords,
  { minLength, maxLength }: { minLength?: number; maxLength: number },
) {
  const least = minLength === undefined ? 'Empty, or 1' : '1'
  return Type.String({
    ...{ ...(minLength !== undefined && { minLength }), maxLength },
    ...({ 'x-text': rule, 'x-model': '' } satisfies OwnKeywords),
    description: `${least} to ${maxLength} characters, not blank. ${rulesInWords[rule]}`,
  })
}

const rulesInWords = {
  line: 'White space becomes single spaces. Control characters and invisible formatting are refused.',
  name:
    'White space becomes single spaces. Control characters, invisible formatting and web addresses (`://`, `www.`, or a ' +
    'domain followed by `/`) are refused.',
  lines: 'Tabs and line breaks are kept. Other control characters are refused.',
}

/** A line of text that people write, of 1 to `maxLength` characters. Services store it through `requireLine`. */
export function line(maxLength: number) {
  return text('line', { minLength: 1, maxLength })
}

/** The name of a person or a workspace. Services store it through `requireName`. */
export const name = text('name', { minLength: 1, maxLength: nameLengthMax })

/** As `line`, or the empty string, which stands for none. */
export function optionalLine(maxLength: number) {
  return text('line', { maxLength })
}

/** As `optionalLine`, or null, which stands for none too. */
export function nullableLine(maxLength: number) {
  return Type.Unsafe<string | null>({ ...optionalLine(maxLength), type: ['string', 'null'] })
}

/** Text of several lines that people write, of 1 to `maxLength` characters. Services store it through `requireLines`. */
export function lines(maxLength: number) {
  return text('lines', { minLength: 1, maxLength })
}

/** As `lines`, or the empty string, which stands for none. */
export function optionalLines(maxLength: number) {
  return text('lines', { maxLength })
}
