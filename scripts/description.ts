/** A schema of the API description. */
export interface Schema {
  $ref?: string
  description?: string
  type?: string | string[]
  format?: string
  pattern?: string
  maxLength?: number
  maximum?: number
  default?: unknown
  const?: unknown
  enum?: unknown[]
  properties?: Record<string, Schema>
  required?: string[]
  additionalProperties?: unknown
  items?: Schema
  anyOf?: Schema[]
  oneOf?: Schema[]
  allOf?: Schema[]
  examples?: unknown[]
}

export interface Media {
  schema: Schema
  example?: unknown
}

export interface Parameter {
  name: string
  in: string
  description?: string
  required?: boolean
  style?: string
  explode?: boolean
  schema: Schema
}

/** A response of an operation. */
export interface Answer {
  description: string
  headers?: Record<string, { $ref: string }>
  content?: Record<string, Media>
}

export type Reference<T> = Partial<T> & { $ref?: string }

export interface Operation {
  operationId: string
  tags: string[]
  summary: string
  description: string
  security: Record<string, string[]>[]
  parameters?: Reference<Parameter>[]
  requestBody?: { required?: boolean; content: Record<string, Media> }
  responses: Record<string, Reference<Answer>>
}

/** The API description. */
export interface Description {
  openapi: string
  info: { version: string }
  tags: { name: string; description: string; externalDocs: { url: string } }[]
  paths: Record<string, Record<string, Operation>>
  webhooks: Record<string, Record<string, Operation>>
  components: {
    schemas: Record<string, Schema>
    parameters: Record<string, Parameter>
    responses: Record<string, Answer>
    headers: Record<string, { description: string; schema: Schema; example: unknown }>
    securitySchemes: Record<string, unknown>
  }
}

/** Reads the API description like a client, by following its references. */
export function createDescriptionReader(swagger: object) {
  const document = JSON.parse(JSON.stringify(swagger)) as Description
  const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods))

  /** Resolves a reference. Returns a part without a reference itself. */
  function resolve<T extends { $ref?: string }>(part: T): T {
    if (part.$ref === undefined) return part
    const steps = part.$ref.replace('#/', '').split('/')
    const found = steps.reduce<unknown>(
      (at, step) => (at as Record<string, unknown> | undefined)?.[step],
      document,
    )
    if (found === undefined) throw new Error(`${part.$ref} does not exist`)
    return found as T
  }

  /** The response of an operation with a status, if it has one. */
  function answerOf(operation: Operation, status: number | string): Reference<Answer> | undefined {
    const answer = operation.responses[status]
    return answer && resolve(answer)
  }

  return { document, operations, resolve, answerOf }
}

/** The codes of an error response, of all its schemas. */
export function codesOf(answer: Reference<Answer>, resolve: (schema: Schema) => Schema): string[] {
  const schema = answer.content?.['application/json']?.schema ?? {}
  const collect = (part: Schema): unknown[] => {
    const { code } = part.properties ?? {}
    if (code?.enum) return code.enum
    if (code?.const !== undefined) return [code.const]
    return [...(part.anyOf ?? []), ...(part.oneOf ?? [])].map(resolve).flatMap(collect)
  }
  return collect(resolve(schema)) as string[]
}
