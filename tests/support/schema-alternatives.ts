import type { Schema } from '../../scripts/description.ts'

/** One of the forms that values of a schema have: of one type, without references and choices. */
export interface Alternative {
  /** The name of the component that it is. */
  name?: string
  /** Absent: any. */
  type?: string
  values?: unknown[]
  /** Whether `values` is a constant. */
  isConstant: boolean
  properties: Record<string, Schema>
  required: string[]
  /** Absent: none. */
  items?: Schema
  additionalProperties: unknown
  /** Bounds, formats and all other keywords that restrict values. */
  restrictions: Record<string, unknown>
  default?: unknown
}

type Resolve = (schema: Schema) => Schema
type Keywords = Schema & Record<string, unknown>

/** What is said of a schema apart from the values that it has, or is read by itself. */
const others = ['type', '$id', 'title', 'description', 'examples', 'example', 'deprecated']

/**
 * The alternatives of a schema. Two descriptions of the same values, such as `type: [string, null]` and `anyOf` of both,
 * have the same.
 */
export function readAlternatives(schema: Schema, resolve: Resolve): Alternative[] {
  return readChoices(schema, resolve).flatMap(({ name, keywords }) => {
    const types = [keywords.type].flat()
    return types.map((type) => toAlternative(name, type, types.length > 1, keywords))
  })
}

interface Choice {
  name?: string | undefined
  keywords: Keywords
}

/** The choices of a schema, each with the keywords beside it. */
function readChoices(schema: Schema, resolve: Resolve): Choice[] {
  const { $ref, anyOf, oneOf, allOf = [], ...keywords } = schema
  const read = (part: Schema) => readChoices(part, resolve)
  const named = (ref: string): Choice[] =>
    read(resolve({ $ref: ref })).map((choice) => ({ name: ref.split('/').at(-1), ...choice }))
  const parts = [
    ...($ref === undefined ? [] : [named($ref)]),
    ...[anyOf, oneOf].flatMap((branches) => (branches ? [branches.flatMap(read)] : [])),
    ...allOf.map(read),
  ]
  return parts.reduce<Choice[]>(
    (choices, part) => choices.flatMap((choice) => part.map((branch) => merge(branch, choice))),
    [{ keywords }],
  )
}

/** A choice with the keywords of another, which restrict it further. */
function merge(choice: Choice, further: Choice): Choice {
  const [a, b] = [choice.keywords, further.keywords]
  const properties = { ...a.properties }
  for (const [field, schema] of Object.entries(b.properties ?? {}))
    properties[field] = { ...properties[field], ...schema }
  const required = [...(a.required ?? []), ...(b.required ?? [])]
  return { name: choice.name ?? further.name, keywords: { ...a, ...b, properties, required } }
}

function toAlternative(
  name: string | undefined,
  type: string | undefined,
  isOneOfTypes: boolean,
  keywords: Keywords,
): Alternative {
  const { const: constant, enum: words, properties = {}, required = [], items, ...further } = keywords
  const { additionalProperties = true, default: ifAbsent, ...rest } = further
  const values = constant === undefined ? words : [constant]
  const ofType = isOneOfTypes ? values?.filter((value) => (value === null) === (type === 'null')) : values
  const restrictions = Object.entries(rest).filter(([keyword]) => !others.includes(keyword))
  const isNull = type === 'null'
  return {
    ...(name !== undefined && { name }),
    ...(type !== undefined && { type }),
    ...(ofType && !isNull && { values: ofType }),
    isConstant: constant !== undefined,
    properties,
    required,
    ...(items && { items }),
    additionalProperties,
    restrictions: isNull ? {} : Object.fromEntries(restrictions),
    ...(ifAbsent !== undefined && { default: ifAbsent }),
  }
}
