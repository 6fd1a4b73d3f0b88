import { createDescriptionReader, type Description, type Operation, type Schema } from './description.ts'

/**
 * What clients of a release stand on (docs/design/errors.md#compatibility). Types are written as in `Array<Seed>` or
 * `string | null`.
 */
export interface Promises {
  /** By operation id. */
  operations: Record<string, PromisedOperation>
  /** The types of the fields of objects in responses, by the name of the object. */
  objects: Record<string, Record<string, string>>
  /** The objects that may get further fields. */
  openObjects: string[]
}

interface PromisedOperation {
  /** Method and path. */
  route: string
  /** Whether each parameter, and each field of the body, must be sent. */
  inputs: Record<string, 'optional' | 'required'>
  /** The types of the successful responses, by status. */
  responses: Record<string, string>
}

/** Finds what an API description promises. */
export function findPromises(description: object): Promises {
  const { document, resolve, answerOf } = createDescriptionReader(description)

  const inputsOf = (operation: Operation): PromisedOperation['inputs'] => {
    const parameters = (operation.parameters ?? []).map(resolve).map(({ in: place, name, required }) => ({
      name: `${place} ${name}`,
      required,
    }))
    const fields = Object.entries(operation.requestBody?.content ?? {}).flatMap(([, { schema }]) => {
      const { properties = {}, required = [] } = resolve(schema)
      return Object.keys(properties).map((name) => ({
        name: `body ${name}`,
        required: required.includes(name),
      }))
    })
    return Object.fromEntries(
      [...parameters, ...fields].map(({ name, required }) => [name, required ? 'required' : 'optional']),
    )
  }

  const responsesOf = (operation: Operation): PromisedOperation['responses'] =>
    Object.fromEntries(
      Object.keys(operation.responses)
        .filter((status) => status.startsWith('2'))
        .map((status) => {
          const content = Object.entries(answerOf(operation, status)?.content ?? {})
          return [status, content.map(([type, { schema }]) => `${type}: ${nameType(schema)}`).join(', ')]
        }),
    )

  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]): [string, PromisedOperation] => [
      operation.operationId,
      {
        route: `${method.toUpperCase()} ${path}`,
        inputs: inputsOf(operation),
        responses: responsesOf(operation),
      },
    ]),
  )
  const objects = Object.entries(document.components.schemas).filter(([, { properties }]) => properties)
  return {
    operations: Object.fromEntries(operations),
    objects: Object.fromEntries(objects.map(([name, schema]) => [name, nameFields(schema)])),
    openObjects: findOpen(document),
  }
}

function findOpen({ components }: Description): string[] {
  return Object.entries(components.schemas)
    .filter(([, { properties, additionalProperties }]) => properties && additionalProperties !== false)
    .map(([name]) => name)
}

function nameFields({ properties = {}, required = [] }: Schema): Record<string, string> {
  return Object.fromEntries(
    Object.entries(properties).map(([name, schema]) => [
      required.includes(name) ? name : `${name}?`,
      nameType(schema),
    ]),
  )
}

function nameType(schema: Schema): string {
  const { $ref, const: value, enum: values, type, items, properties, anyOf, oneOf } = schema
  if ($ref !== undefined) return $ref.split('/').at(-1) ?? ''
  if (value !== undefined) return JSON.stringify(value)
  if (values) return values.map((each) => JSON.stringify(each)).join(' | ')
  const choices = anyOf ?? oneOf
  if (choices) return choices.map(nameType).join(' | ')
  if (items) return `${[type].flat().includes('null') ? 'null | ' : ''}Array<${nameType(items)}>`
  if (properties)
    return `{ ${Object.entries(nameFields(schema))
      .map(([name, each]) => `${name}: ${each}`)
      .join(', ')} }`
  return [type ?? 'anything'].flat().join(' | ')
}
