import { SerializerSelector } from '@fastify/fast-json-stringify-compiler'
import {
  Ajv,
  type AnySchemaObject,
  type ErrorObject,
  type FuncKeywordDefinition,
  type Options,
  type ValidateFunction,
} from 'ajv'
import ajvFormats from 'ajv-formats'
import type { FastifyServerOptions } from 'fastify'
import type { FastifyRouteSchemaDef } from 'fastify/types/schema.js'
import type { DecodeIssue } from '../../kernel/errors.ts'
import { ownKeywords, type OwnKeywords } from '../../kernel/schemas.ts'
import { blank, faultOfLength, findFault, type TextRule } from '../../kernel/text.ts'

const strictOptions: Options = {
  // By default Fastify removes unknown fields and coerces 5 to "5", which would hide the errors of clients.
  removeAdditional: false,
  coerceTypes: false,
  useDefaults: true,
  // All violations, of which `issuesMax` are reported.
  allErrors: true,
  allowUnionTypes: true,
  // Adds the schema to errors, which has the sentence for them.
  verbose: true,
  // Checking our own schemas would compile the JSON Schema meta-schema at each start, a third of the time that it takes
  // to build the app. tests/contract/schemas.test.ts checks them instead.
  validateSchema: false,
}

type SchemaController = NonNullable<FastifyServerOptions['schemaController']>
type CompilersFactory = NonNullable<SchemaController['compilersFactory']>
type BuildValidator = NonNullable<CompilersFactory['buildValidator']>

/**
 * Ajv and fast-json-stringify for Fastify. Bodies are not coerced; query strings are, to integers and booleans. Each
 * schema is compiled on first use: compiling all of them takes a quarter of the start. tests/contract/schemas.test.ts
 * compiles them all.
 */
export const schemaController: SchemaController = {
  compilersFactory: {
    // The types of Fastify describe the compilers of its own Ajv package, not the interface that it calls.
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

/**
 * Makes a check that finds the violations of a schema as the body of a request would have them; it is compiled at the
 * first call. The schema must be self-contained.
 */
export function createBodyCheck(schema: AnySchemaObject): (data: unknown) => DecodeIssue[] {
  const check = checkerOfBody(bodyAjv, schema)
  return (data) => toDecodeIssues(check()(data) ?? [])
}

const bodyAjv = once(() => createAjv({}))

function buildValidator(sharedSchemas: Record<string, AnySchemaObject>) {
  const strict = once(() => createAjv(sharedSchemas))
  return ({ schema, httpPart }: FastifyRouteSchemaDef<AnySchemaObject>) => {
    const check =
      httpPart === 'body' ? checkerOfBody(strict, schema) : once(() => toCheck(strict().compile(schema)))
    const validate = Object.assign(
      (data: unknown): boolean => {
        if (httpPart === 'querystring') coerceQuery(data, schema)
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
 * Validates a body with the lengths of arrays first, before their items: collecting the violations of all items of a
 * long array would be the slowest validation of any body.
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

/** Copies a schema without the schemas of array items. Throws for an array without `maxItems`. */
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

/**
 * Gives the values of a query string the types of its schema. Integers are of digits only: Ajv would take `0x10`, `1e2` and
 * ` 1` as well. A list may have one value: `?types=a`.
 */
function coerceQuery(query: unknown, { properties }: AnySchemaObject): void {
  if (!isObject(query)) return
  for (const [name, { type }] of Object.entries((properties ?? {}) as Record<string, AnySchemaObject>)) {
    const value: unknown = query[name]
    if (typeof value !== 'string') continue
    if (type === 'integer' && /^-?\d+$/.test(value)) query[name] = Number(value)
    if (type === 'boolean' && /^(?:true|false)$/.test(value)) query[name] = value === 'true'
    if (type === 'array') query[name] = [value]
  }
}

function createAjv(sharedSchemas: Record<string, AnySchemaObject>): Ajv {
  const ajv = new Ajv(strictOptions)
  ajvFormats.default(ajv)
  ajv.addVocabulary(ownKeywords.filter((keyword) => keyword !== 'x-text'))
  ajv.addKeyword({ keyword: 'x-text', type: 'string', errors: true, compile: compileText })
  for (const schema of Object.values(sharedSchemas)) ajv.addSchema(schema)
  return ajv
}

type CompileKeyword = NonNullable<FuncKeywordDefinition['compile']>

const compileText: CompileKeyword = (rule: TextRule) => {
  const validate: ReturnType<CompileKeyword> = (text: string) => {
    // Whether it may be empty is said by `minLength`.
    const fault = text === '' ? undefined : findFault(text, rule)
    validate.errors = fault === undefined ? [] : [{ keyword: 'x-text', message: fault }]
    return fault === undefined
  }
  return validate
}

/** The maximum number of issues in a response. A body can have tens of thousands. */
export const issuesMax = 100

/** Converts the errors of Ajv to issues, one for each tag and field, up to `issuesMax`. */
export function toDecodeIssues(faults: readonly ErrorObject[]): DecodeIssue[] {
  const issues = new Map<string, DecodeIssue>()
  for (const fault of faults) {
    const issue = toDecodeIssue(fault)
    const key = JSON.stringify([issue._tag, issue.path])
    // The branches of a union, or a length and a pattern, report the same field twice. The first one is kept, unless the
    // schema has a sentence for all branches.
    if (!issues.has(key) || (fault.keyword === 'anyOf' && ownFaultOf(fault) !== undefined))
      issues.set(key, issue)
    if (issues.size === issuesMax) break
  }
  return [...issues.values()]
}

function ownFaultOf({ parentSchema }: ErrorObject): string | undefined {
  return (parentSchema as OwnKeywords | undefined)?.['x-fault']
}

function toDecodeIssue(fault: ErrorObject): DecodeIssue {
  const { keyword, instancePath, params, message = '', parentSchema } = fault
  const path = parsePointer(instancePath)
  const ownFault = ownFaultOf(fault)
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
    case 'oneOf':
      return { _tag: 'Type', path, message }
    case 'anyOf':
      return {
        _tag: listsFormats(parentSchema) ? 'Refinement' : 'Type',
        path,
        message: ownFault ?? message,
      }
    case 'enum':
      return {
        _tag: 'Type',
        path,
        message: `must be one of ${(params.allowedValues as unknown[]).join(', ')}`,
      }
    case 'pattern':
    case 'format':
      return { _tag: 'Refinement', path, message: ownFault ?? message }
    case 'minLength':
      return { _tag: 'Refinement', path, message: params.limit === 1 ? blank : message }
    case 'maxLength':
      return { _tag: 'Refinement', path, message: faultOfLength(Number(params.limit)) }
    default:
      return { _tag: 'Refinement', path, message }
  }
}

/** Whether the branches of a union are all texts, in several formats. */
function listsFormats(schema: ErrorObject['parentSchema']): boolean {
  const branches = (schema?.anyOf ?? []) as { type?: unknown; format?: unknown }[]
  return branches.every(({ type, format }) => type === 'string' && format !== undefined)
}

/**
 * Parses a JSON Pointer (RFC 6901). A number is always an array index, since no object here has numeric field names.
 */
function parsePointer(pointer: string): (string | number)[] {
  return pointer
    .split('/')
    .slice(1)
    .map((part) => (/^\d+$/.test(part) ? Number(part) : part.replaceAll('~1', '/').replaceAll('~0', '~')))
}
