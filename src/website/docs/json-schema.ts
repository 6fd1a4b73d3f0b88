/** The parts of a JSON Schema (draft 2020-12) that the API reference shows. */
export interface Schema {
  $ref?: string
  allOf?: Schema[]
  anyOf?: Schema[]
  oneOf?: Schema[]
  type?: string | string[]
  properties?: Record<string, Schema>
  required?: string[]
  items?: Schema
  enum?: unknown[]
  examples?: unknown[]
  description?: string
  format?: string
  pattern?: string
  minLength?: number
  maxLength?: number
  minItems?: number
  maxItems?: number
  minimum?: number
  maximum?: number
  [keyword: string]: unknown
}

/** A row of a table of fields. */
export interface Field {
  /** The path from the root, such as `seeds[].title`. */
  name: string
  type: string
  isRequired: boolean
  /** In Markdown, with the limits. */
  description: string
}

/** Reads the schemas of one document. */
export interface SchemaReader {
  /** Follows a `$ref`; returns everything else unchanged. Throws if the target does not exist. */
  resolve: <T>(part: T) => T
  /** The alternatives of a schema, each merged from its references and `allOf`. */
  listAlternatives: (schema: Schema) => Schema[]
  /** The type in words, such as `array of strings or null`. */
  describeType: (schema: Schema) => string
  /** All fields of a value, down to a fixed depth, since schemas may be recursive. */
  listFields: (schema: Schema) => Field[]
  /** The allowed values, if the schema lists them; empty otherwise. */
  listValues: (schema: Schema) => string[]
  /** The example of the schema, or a value of the required fields. */
  makeExample: (schema: Schema) => unknown
}

const depthMax = 6
const plural = /^(array|boolean|integer|number|object|string)\b/

export function createSchemaReader(document: object): SchemaReader {
  const resolve = <T>(part: T): T => {
    const { $ref } = part as { $ref?: string }
    if ($ref === undefined) return part
    // A JSON Pointer (RFC 6901 §6) in a fragment.
    const names = decodeURIComponent($ref).replace(/^#\//, '').split('/')
    const found = names
      .map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'))
      .reduce<unknown>((value, name) => (value as Record<string, unknown> | undefined)?.[name], document)
    if (found === undefined) throw new Error(`The description has no ${$ref}`)
    return resolve(found as T)
  }

  const listAlternatives = (schema: Schema): Schema[] => {
    const { $ref, allOf = [], anyOf, oneOf, ...own } = schema
    const parts = [...($ref === undefined ? [] : [resolve<Schema>({ $ref })]), ...allOf].map(listAlternatives)
    const choices = [anyOf, oneOf]
      .filter((list) => list !== undefined)
      .map((list) => list.flatMap(listAlternatives))
    return [...parts, ...choices, [own]].reduce((known, list) =>
      known.flatMap((first) => list.map((second) => merge(first, second))),
    )
  }

  const listValues = (schema: Schema): string[] =>
    listAlternatives(schema)
      .flatMap((one) => one.enum ?? ('const' in one ? [one.const] : []))
      .map(String)

  const describeOne = ({ type = [], items, format, ...one }: Schema): string[] => {
    if ('const' in one) return [JSON.stringify(one.const)]
    if (one.enum) return one.enum.map((value) => JSON.stringify(value))
    if (format === 'binary' || 'contentMediaType' in one) return ['file']
    return [type].flat().map((name) => {
      if (name === 'array' && items) return `array of ${describeType(items).replace(plural, '$&s')}`
      return name === 'string' && format !== undefined ? format : name
    })
  }
  const describeType = (schema: Schema): string =>
    [...new Set(listAlternatives(schema).flatMap(describeOne))].join(' or ') || 'any'

  const listFields = (schema: Schema, path = '', depth = 0): Field[] => {
    if (depth === depthMax) return []
    const fields = listAlternatives(schema).flatMap(({ items, properties = {}, required = [] }) => [
      ...(items ? listFields(items, path && `${path}[]`, depth + 1) : []),
      ...Object.entries(properties).flatMap(([key, property]) => {
        const name = path ? `${path}.${key}` : key
        const field = {
          name,
          type: describeType(property),
          isRequired: required.includes(key),
          description: describeValue(listAlternatives(property)[0] ?? {}),
        }
        return [field, ...listFields(property, name, depth + 1)]
      }),
    ])
    // Alternatives may share fields: the first one counts.
    return [...new Map(fields.toReversed().map((field) => [field.name, field])).values()].toReversed()
  }

  const makeExample = (schema: Schema, depth = 0): unknown => {
    const [{ examples = [], properties = {}, required = [], ...one } = {}] = listAlternatives(schema)
    const [given = one.const ?? one.default ?? one.enum?.[0]] = examples
    if (given !== undefined) return given
    const [type = ''] = [one.type ?? ''].flat()
    if (type !== 'object' || depth === depthMax)
      return { array: [], boolean: true, integer: 1, number: 1, string: 'string' }[type] ?? null
    const names = required.length > 0 ? required : Object.keys(properties)
    return Object.fromEntries(names.map((name) => [name, makeExample(properties[name] ?? {}, depth + 1)]))
  }

  return {
    resolve,
    listAlternatives,
    describeType,
    listFields: (schema) => listFields(schema),
    listValues,
    makeExample: (schema) => makeExample(schema),
  }
}

/** Merges two schemas. The second takes precedence. */
function merge(first: Schema, second: Schema): Schema {
  const properties = { ...first.properties }
  for (const [name, property] of Object.entries(second.properties ?? {})) {
    properties[name] = { allOf: [properties[name] ?? {}, property] }
  }
  const required = [...(first.required ?? []), ...(second.required ?? [])]
  return { ...first, ...second, properties, required }
}

function describeValue({ description = '', pattern, ...one }: Schema): string {
  const limits = [
    describeRange(one.minLength, one.maxLength, ' characters'),
    describeRange(one.minItems, one.maxItems, ' items'),
    describeRange(one.minimum, one.maximum, ''),
    description === '' && pattern !== undefined ? `matches \`${pattern}\`` : '',
    one.default === undefined ? '' : `default \`${JSON.stringify(one.default)}\``,
    // Without limits that the description states.
  ].filter((text) => text && !text.match(/\d+/g)?.every((number) => description.includes(number)))
  const sentences = [description, limits.join(', ')].filter(Boolean)
  return sentences
    .map((text) => text.replace(/^[a-z]/, (letter) => letter.toUpperCase()).replace(/\.?$/, '.'))
    .join(' ')
}

function describeRange(min: number | undefined, max: number | undefined, unit: string): string {
  if (min === undefined) return max === undefined ? '' : `at most ${max}${unit}`
  return max === undefined ? `at least ${min}${unit}` : `${min} to ${max}${unit}`
}
