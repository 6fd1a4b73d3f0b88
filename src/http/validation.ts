import { SerializerSelector } from '@fastify/fast-json-stringify-compiler'
import { Ajv, type AnySchemaObject, type ErrorObject, type Options, type ValidateFunction } from 'ajv'
import ajvFormats from 'ajv-formats'
import type { FastifyServerOptions } from 'fastify'
import type { FastifyRouteSchemaDef } from 'fastify/types/schema.js'
import type { DecodeIssue } from '../kernel/errors.ts'

const strictOptions: Options = {
  // Fastify's own choice is to drop unknown fields and to turn 5 into "5": a typing error would pass in silence.
  removeAdditional: false,
  coerceTypes: false,
  useDefaults: true,
  // Every fault at once, as far as issuesMax.
  allErrors: true,
  allowUnionTypes: true,
  // Gives the fault its schema, whose description says what a pattern means.
  verbose: true,
  // To check our own schemas, Ajv would compile JSON Schema's meta-schema at each start, a third of the time that building
  // the app takes. tests/contract/schemas.test.ts checks them instead.
  validateSchema: false,
}

type SchemaController = NonNullable<FastifyServerOptions['schemaController']>
type CompilersFactory = NonNullable<SchemaController['compilersFactory']>
type BuildValidator = NonNullable<CompilersFactory['buildValidator']>

/**
 * Ajv and fast-json-stringify for Fastify. Bodies are taken as they are; query strings, which hold only text, may become
 * numbers and booleans. Each schema is compiled at its first use: compiling the hundreds of all routes is a quarter of
 * the time that the process takes to start. tests/contract/schemas.test.ts compiles them all.
 */
export const schemaController: SchemaController = {
  compilersFactory: {
    // Fastify declares its compilers by the shape of its own Ajv package, which is not that of what it calls.
    buildValidator: buildValidator as unknown as BuildValidator,
    buildSerializer: (sharedSchemas, options) => {
      const compile = SerializerSelector()(sharedSchemas, options)
      return (definition) => {
        const serialize = once(() => compile(definition))
        return (data) => serialize()(data)
      }
    },
  },
}

type Check = (data: unknown) => ErrorObject[] | undefined

function buildValidator(sharedSchemas: Record<string, AnySchemaObject>) {
  const strict = once(() => createAjv(sharedSchemas, strictOptions))
  const coercing = once(() =>
    // "Infinity" becomes a number too. Strict about numbers, Ajv would not hold it against the maximum.
    createAjv(sharedSchemas, { ...strictOptions, coerceTypes: true, strictNumbers: false }),
  )
  return ({ schema, httpPart }: FastifyRouteSchemaDef<AnySchemaObject>) => {
    const check =
      httpPart === 'body' ? checkerOfBody(strict, schema) : once(() => toCheck(coercing().compile(schema)))
    const validate = Object.assign(
      (data: unknown): boolean => {
        const faults = check()(data)
        validate.errors = faults ?? null
        return faults === undefined
      },
      { errors: null as ErrorObject[] | null, schema },
    )
    return validate
  }
}

/**
 * Holds a body against its schema so that the lengths of arrays are checked before their items: the faults of an array
 * that is too long are as many as fit into the body, and take longer to collect than anything else that it could hold.
 */
function checkerOfBody(ajv: () => Ajv, schema: AnySchemaObject): () => Check {
  const withoutItems = dropItems(schema)
  const hasItems = JSON.stringify(withoutItems) !== JSON.stringify(schema)
  return once(() => {
    const check = toCheck(ajv().compile(schema))
    if (!hasItems) return check
    const checkLengths = toCheck(ajv().compile(withoutItems))
    return (body) => {
      const faults = checkLengths(body)
      return faults?.some(({ keyword }) => keyword === 'maxItems') === true ? faults : check(body)
    }
  })
}

function toCheck(validate: ValidateFunction): Check {
  return (data) => (validate(data) ? undefined : (validate.errors ?? []))
}

function once<T>(make: () => T): () => T {
  let made: { value: T } | undefined
  return () => (made ??= { value: make() }).value
}

/** A schema without what it says of the items of arrays. Their number has to be bounded. */
function dropItems(schema: AnySchemaObject): AnySchemaObject {
  const entries = Object.entries(schema as Record<string, unknown>).map(
    ([name, value]): [string, unknown] => {
      if (Array.isArray(value))
        return [name, value.map((part: unknown) => (isObject(part) ? dropItems(part) : part))]
      return [name, isObject(value) ? dropItems(value) : value]
    },
  )
  const copy = Object.fromEntries(entries) as AnySchemaObject
  if (schema.type !== 'array') return copy
  if (schema.maxItems === undefined) throw new Error('an array in a body has no maxItems')
  delete copy.items
  return copy
}

const isObject = (value: unknown): value is AnySchemaObject => typeof value === 'object' && value !== null

function createAjv(sharedSchemas: Record<string, AnySchemaObject>, options: Options): Ajv {
  const ajv = new Ajv(options)
  ajvFormats.default(ajv)
  for (const schema of Object.values(sharedSchemas)) ajv.addSchema(schema)
  return ajv
}

/** The most issues that one answer reports: more help nobody, and a body has room for tens of thousands. */
export const issuesMax = 100

/** Translates Ajv's faults into the contract's issues, one for each fault of each field, up to `issuesMax`. */
export function toDecodeIssues(faults: readonly ErrorObject[]): DecodeIssue[] {
  const issues = new Map<string, DecodeIssue>()
  for (const fault of faults) {
    const issue = toDecodeIssue(fault)
    const key = JSON.stringify([issue._tag, issue.path])
    // The branches of a union, or a length and a pattern, fault the same field in the same way: the first one tells.
    if (!issues.has(key)) issues.set(key, issue)
    if (issues.size === issuesMax) break
  }
  return [...issues.values()]
}

function toDecodeIssue({
  keyword,
  instancePath,
  params,
  message = '',
  parentSchema,
}: ErrorObject): DecodeIssue {
  const path = parsePointer(instancePath)
  switch (keyword) {
    case 'required':
      return { _tag: 'Missing', path: [...path, String(params.missingProperty)], message: 'is required' }
    case 'additionalProperties':
      return {
        _tag: 'Unexpected',
        path: [...path, String(params.additionalProperty)],
        message: 'is not a known field',
      }
    case 'type':
    case 'const':
    case 'anyOf':
    case 'oneOf':
      return { _tag: 'Type', path, message }
    case 'enum':
      return {
        _tag: 'Type',
        path,
        message: `must be one of ${(params.allowedValues as unknown[]).join(', ')}`,
      }
    case 'pattern': {
      const rule = (parentSchema as { description?: string } | undefined)?.description
      return { _tag: 'Refinement', path, message: rule ? `must be ${rule}` : message }
    }
    default:
      return { _tag: 'Refinement', path, message }
  }
}

/** RFC 6901, except that a number is taken for an array's index: our objects have no such fields. */
function parsePointer(pointer: string): (string | number)[] {
  return pointer
    .split('/')
    .slice(1)
    .map((part) => (/^\d+$/.test(part) ? Number(part) : part.replaceAll('~1', '/').replaceAll('~0', '~')))
}
