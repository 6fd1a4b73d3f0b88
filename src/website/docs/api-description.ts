import { createSchemaReader, type Field, type Schema, type SchemaReader } from './json-schema.ts'

/** The parts of an OpenAPI 3.1 document that the reference shows. Each may be a `$ref` instead. */
interface OpenApiDocument {
  info: { title: string; version: string; description?: string }
  servers: { url: string }[]
  tags: { name: string; description: string; externalDocs?: { url: string } }[]
  paths: Record<string, Record<string, OpenApiOperation>>
  webhooks?: Record<string, Record<string, OpenApiOperation>>
}

interface OpenApiOperation {
  operationId: string
  tags: string[]
  summary: string
  description?: string
  security?: Record<string, string[]>[]
  parameters?: OpenApiParameter[]
  requestBody?: OpenApiBody & { required?: boolean }
  responses: Record<string, OpenApiBody & { description?: string; headers?: object }>
}

interface OpenApiParameter {
  name: string
  in: string
  required?: boolean
  description?: string
  schema?: Schema
  example?: string
}

interface OpenApiBody {
  content?: Record<string, { schema?: Schema; example?: unknown }>
}

/** The first page of the reference: all operations, by their tag. */
export interface ApiDescription {
  title: string
  version: string
  description: string
  baseUrl: string
  groups: Group<OperationSummary>[]
}

/** The operations of a tag. */
export interface Group<Described> {
  name: string
  description: string
  /** The path of the guide to its operations. */
  guide: string | undefined
  operations: Described[]
  /** The requests that the service sends. */
  requests: Described[]
}

export interface OperationSummary {
  id: string
  method: string
  path: string
  summary: string
}

export interface Operation extends OperationSummary {
  description: string
  credential: 'apiKey' | 'agentToken' | 'none'
  parameters: Parameter[]
  body: { type: string; isRequired: boolean; fields: Field[]; example: unknown } | undefined
  /** Whether the successful response is a stream of events, which does not end. */
  isStream: boolean
  /** The successful responses. */
  answers: {
    status: string
    description: string
    type: string
    headers: string[]
    fields: Field[]
    example: unknown
  }[]
  /** `names` are codes, or the names of schemas if no codes are declared. */
  errors: { status: string; description: string; names: string[] }[]
}

export interface Parameter extends Field {
  in: string
  /** The allowed values, if the schema lists them. */
  values: string[]
  example: string | undefined
}

/** Reads an OpenAPI 3.1 document. */
export function readApiDescription(document: object): ApiDescription {
  const { info, servers, tags } = document as OpenApiDocument
  return {
    title: info.title,
    version: info.version,
    description: info.description ?? '',
    baseUrl: servers[0]?.url ?? '',
    groups: tags.map(({ name }) => readGroup(document, name, summarizeOperation)),
  }
}

/** Reads the operations of a tag, with their references resolved. Throws if the document has no such tag. */
export function readGroupOfApi(document: object, name: string): Group<Operation> {
  const reader = createSchemaReader(document)
  return readGroup(document, name, (...place) => readOperation(...place, reader))
}

type ReadOperation<Described> = (method: string, path: string, declared: OpenApiOperation) => Described

function readGroup<Described>(
  document: object,
  name: string,
  read: ReadOperation<Described>,
): Group<Described> {
  const { tags, paths, webhooks = {} } = document as OpenApiDocument
  const tag = tags.find((one) => one.name === name)
  if (!tag) throw new Error(`The description has no tag ${name}`)
  const readAll = (places: OpenApiDocument['paths']) =>
    Object.entries(places).flatMap(([path, methods]) =>
      Object.entries(methods)
        .filter(([, operation]) => operation.tags.includes(name))
        .map(([method, operation]) => read(method.toUpperCase(), path, operation)),
    )
  return {
    name,
    description: tag.description,
    guide: tag.externalDocs && pathOf(tag.externalDocs.url),
    operations: readAll(paths),
    requests: readAll(webhooks),
  }
}

function summarizeOperation(
  method: string,
  path: string,
  { operationId, summary }: OpenApiOperation,
): OperationSummary {
  return { id: operationId, method, path, summary }
}

function pathOf(url: string): string {
  const { pathname, hash } = new URL(url)
  return pathname + hash
}

function readOperation(
  method: string,
  path: string,
  declared: OpenApiOperation,
  reader: SchemaReader,
): Operation {
  const { description = '', security = [], parameters = [], requestBody = {}, responses } = declared
  const schemes = security.flatMap(Object.keys)
  const answers = Object.entries(responses).map(([status, response]) => {
    const { description = '', headers = {}, content = {} } = reader.resolve(response)
    const [[mediaType, media] = []] = Object.entries(content)
    return { status, description, headers: Object.keys(headers), mediaType, ...media }
  })
  const isSuccess = ({ status }: { status: string }) => status.startsWith('2')
  return {
    ...summarizeOperation(method, path, declared),
    description,
    credential: schemes.includes('apiKey') ? 'apiKey' : schemes.length > 0 ? 'agentToken' : 'none',
    parameters: parameters
      .map((parameter) => readParameter(reader.resolve(parameter), reader))
      .toSorted((a, b) => Number(b.in === 'path') - Number(a.in === 'path')),
    body: readBody(reader.resolve(requestBody), reader),
    isStream: answers.some(({ mediaType }) => mediaType === 'text/event-stream'),
    answers: answers.filter(isSuccess).map(({ schema = {}, status, description, headers, example }) => ({
      status,
      description,
      headers,
      example,
      type: reader.describeType(schema),
      fields: reader.listFields(schema),
    })),
    errors: answers
      .filter((answer) => !isSuccess(answer))
      .map(({ schema = {}, status, description }) => ({
        status,
        // The lines after the first list the codes.
        description: description.replace(/\n.*/s, ''),
        names: reader.listAlternatives(schema).flatMap(({ properties = {} }) => {
          const codes = reader.listValues(properties.code ?? {})
          return codes.length > 0 ? codes : reader.listValues(properties._tag ?? {})
        }),
      })),
  }
}

function readBody(
  { required = false, content = {} }: OpenApiBody & { required?: boolean },
  reader: SchemaReader,
): Operation['body'] {
  const [media] = Object.entries(content)
  if (!media) return undefined
  const [type, { schema = {}, example = reader.makeExample(schema) }] = media
  return { type, isRequired: required, fields: reader.listFields(schema), example }
}

function readParameter(
  { name, in: place, required = false, description, schema = {}, example }: OpenApiParameter,
  reader: SchemaReader,
): Parameter {
  const described = description === undefined ? schema : { allOf: [schema], description }
  const [field] = reader.listFields({ properties: { [name]: described }, required: required ? [name] : [] })
  if (!field) throw new Error(`The parameter ${name} cannot be described`)
  const [given = example] = (schema.examples ?? []) as (string | undefined)[]
  return {
    ...field,
    in: place,
    values: reader.listValues(schema),
    example: given,
  }
}
