import type { RouteOptions } from 'fastify'
import {
  describeErrors,
  describeHeaderComponents,
  describeHeaders,
  headersOfError,
  type Part,
} from './openapi-answers.ts'

/** The parts of the document of @fastify/swagger that are completed here. */
export interface OpenApiDocument {
  paths: Record<string, Record<string, Operation>>
  components: {
    schemas: Record<string, Part>
    parameters?: Record<string, Part>
    responses?: Record<string, Part>
    headers?: Record<string, Part>
  }
}

interface Operation {
  operationId: string
  parameters?: Part[]
  requestBody?: Part
  responses: Record<string, Part & { content?: Record<string, Part> }>
}

/**
 * Adds what @fastify/swagger does not generate: errors, headers, the examples of named schemas and optional bodies.
 * Parts that several operations share become components.
 */
export function completeDocument(
  { paths, components }: OpenApiDocument,
  routes: ReadonlyMap<string, RouteOptions>,
): void {
  const operations = Object.values(paths).flatMap((methods) => Object.values(methods))
  const responses: Record<string, Part> = {}
  const showExample = createExamples(components.schemas)
  for (const operation of operations) {
    const { schema, config, method } = routes.get(operation.operationId) ?? {}
    const { errors = [], headers = [] } = config?.answers ?? {}
    if (config?.optionalBody) Object.assign(operation.requestBody ?? {}, { required: false })
    for (const [status, answer] of Object.entries(operation.responses)) {
      const isSuccess = status.startsWith('2')
      const names = isSuccess ? headers : headersOfError(Number(status))
      if (isSuccess && schema?.returns !== undefined) answer.description = schema.returns
      if (names.length > 0) answer.headers = describeHeaders(names)
      if (isSuccess) Object.values(answer.content ?? {}).forEach(showExample)
    }
    if (config?.isVersioned && method === 'GET')
      operation.responses[304] = {
        description: 'The client has the current response, by a tag in `If-None-Match`.',
        headers: describeHeaders(headers),
      }
    const thrown = [...errors, ...(schema?.errors ?? [])]
    operation.responses = {
      ...describeErrors(thrown, schema?.inPlace ?? false, responses),
      ...operation.responses,
    }
  }
  components.parameters = shareParameters(
    operations.filter(({ operationId }) => !routes.get(operationId)?.schema?.inPlace),
  )
  components.responses = sortByName(responses)
  components.headers = describeHeaderComponents()
}

/** Prints the document as indented JSON, with each reference on one line. */
export function printOpenApi(document: object): string {
  return `${JSON.stringify(document, null, 2).replace(/\{\s+("\$ref": "[^"]+")\s+\}/g, '{ $1 }')}\n`
}

/**
 * Sets the example of a response from the example of its named schema, or of the items of its list, and removes it from
 * the schema, so that it is shown once.
 */
function createExamples(schemas: Record<string, Part>): (media: Part) => void {
  const taken = new Map<string, unknown>()
  const take = ($ref: string): unknown => {
    const schema = schemas[$ref.slice($ref.lastIndexOf('/') + 1)]
    if (schema?.examples) {
      taken.set($ref, (schema.examples as unknown[])[0])
      delete schema.examples
    }
    return taken.get($ref)
  }
  return (media) => {
    const schema = media.schema as { $ref?: string; items?: { $ref?: string } }
    if (schema.$ref !== undefined) media.example = take(schema.$ref)
    else if (schema.items?.$ref !== undefined) media.example = [take(schema.items.$ref)]
  }
}

/** Replaces parameters that several operations share by references. Returns the components. */
function shareParameters(operations: readonly Operation[]): Record<string, Part> {
  const uses = new Map<string, number>()
  const all = operations.flatMap(({ parameters = [] }) => parameters)
  for (const text of all.map(toText)) uses.set(text, (uses.get(text) ?? 0) + 1)

  const shared: Record<string, Part> = {}
  for (const operation of operations) {
    if (!operation.parameters) continue
    operation.parameters = operation.parameters.map((parameter) => {
      if (uses.get(toText(parameter)) === 1) return parameter
      const name = `${String(parameter.in)}.${String(parameter.name)}`
      if (shared[name] && toText(shared[name]) !== toText(parameter)) return parameter
      shared[name] = parameter
      return { $ref: `#/components/parameters/${name}` }
    })
  }
  return sortByName(shared)
}

function toText(part: Part): string {
  return JSON.stringify(part)
}

function sortByName(parts: Record<string, Part>): Record<string, Part> {
  return Object.fromEntries(Object.entries(parts).sort(([a], [b]) => (a < b ? -1 : 1)))
}
