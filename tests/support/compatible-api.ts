import {
  createDescriptionReader,
  type Answer,
  type Description,
  type Media,
  type Operation,
  type Parameter,
  type Reference,
  type Schema,
} from '../../scripts/description.ts'
import { compareSchemas, type Break, type Position } from './compatible-schemas.ts'
import { specifiedIds } from './specified-operations.ts'

type Reader = ReturnType<typeof createDescriptionReader>

interface Placed {
  route: string
  operation: Operation
}

/** What breaks, as the end of a sentence that begins with the id of the operation. */
type Phrase = string

/**
 * Finds what in an API description breaks clients of a released one (docs/design/errors.md#compatibility), a sentence each:
 * `seeds.create: body title: maxLength 120 became 10`.
 *
 * This is our own, since the tools of others that read OpenAPI 3.1 know neither that some objects are fixed and others
 * grow, nor the codes of errors.
 */
export function findApiBreaks(released: object, present: object): string[] {
  const [was, is] = [createDescriptionReader(released), createDescriptionReader(present)]
  const compare = comparerOf(was, is)
  const ofPart = (
    [before, after]: [Paths | undefined, Paths | undefined],
    phrasesOf: (from: Operation, to: Operation) => Phrase[],
  ) => {
    const now = placeAll(after)
    return [...placeAll(before)].flatMap(([id, { route, operation }]) => {
      const found = now.get(id)
      if (!found) return [`${id}: is gone`]
      const moved = found.route === route ? [] : [`${route} became ${found.route}`]
      return [...moved, ...phrasesOf(operation, found.operation)].map((phrase) => `${id}: ${phrase}`)
    })
  }
  return [
    ...new Set([
      ...ofPart([was.document.paths, is.document.paths], compare.operation),
      ...ofPart([was.document.webhooks, is.document.webhooks], compare.webhook),
      ...compareSchemes(was.document, is.document),
    ]),
  ]
}

type Paths = Description['paths']

/** Operations by their ids, with method and path. */
function placeAll(paths: Paths = {}): Map<string, Placed> {
  return new Map(
    Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]): [string, Placed] => [
        operation.operationId,
        { route: `${method.toUpperCase()} ${path}`, operation },
      ]),
    ),
  )
}

/** What compares the operations of two descriptions, and the requests of their webhooks. */
function comparerOf(was: Reader, is: Reader) {
  const compared = new Map<string, Break[]>()

  // Most operations have the same errors, headers and parameters: those are compared once.
  function compareAt(at: string, before: Schema, after: Schema, position: Position): Phrase[] {
    const key = JSON.stringify([position, before, after])
    const sides = [
      { schema: before, resolve: was.resolve },
      { schema: after, resolve: is.resolve },
    ] as const
    const breaks = compared.get(key) ?? compareSchemas(...sides, position)
    compared.set(key, breaks)
    return breaks.map(({ path, what }) => `${at}${path && ` ${path}`}: ${what}`)
  }

  function compareParameters(from: Operation, to: Operation, position: Position): Phrase[] {
    const [before, after] = [parametersOf(from, was), parametersOf(to, is)]
    const isInput = position === 'input'
    const added = [...after].filter(([at, { required }]) => isInput && required && !before.has(at))
    return [
      ...[...before].flatMap(([at, parameter]) => {
        const now = after.get(at)
        if (!now) return [`${at}: is gone`]
        return [
          ...compareRequired(at, parameter, now, isInput),
          ...(['style', 'explode'] as const)
            .filter((key) => parameter[key] !== now[key])
            .map((key) => `${at}: has another ${key}`),
          ...compareAt(at, parameter.schema, now.schema, position),
        ]
      }),
      ...added.map(([at]) => `${at}: is required`),
    ]
  }

  function compareContent(
    at: string,
    before: Record<string, Media> = {},
    after: Record<string, Media> = {},
    position: Position,
  ): Phrase[] {
    return Object.entries(before).flatMap(([type, { schema }]) => {
      const now = after[type]
      return now ? compareAt(at, schema, now.schema, position) : [`${at}: ${type} is gone`]
    })
  }

  function compareBody(from: Operation, to: Operation, position: Position): Phrase[] {
    const [before, after] = [from.requestBody, to.requestBody]
    return [
      ...compareRequired('body', before, after, position === 'input'),
      ...compareContent('body', before?.content, after?.content, position),
    ]
  }

  function compareAnswers(from: Operation, to: Operation, position: (status: string) => Position): Phrase[] {
    const added = Object.keys(to.responses).filter((status) => !(status in from.responses))
    return [
      ...Object.keys(from.responses).flatMap((status) => {
        const [before, after] = [was.answerOf(from, status), is.answerOf(to, status)]
        if (!after) return [`${status}: is gone`]
        return [
          ...compareHeaders(status, before ?? {}, after),
          ...compareContent(status, before?.content, after.content, position(status)),
        ]
      }),
      ...added.filter((status) => status.startsWith('2')).map((status) => `${status}: is new`),
    ]
  }

  function compareHeaders(status: string, before: Reference<Answer>, after: Reference<Answer>): Phrase[] {
    return Object.entries(before.headers ?? {}).flatMap(([name, header]) => {
      const now = after.headers?.[name]
      const at = `${status} ${name}`
      if (!now) return [`${at}: is gone`]
      return compareAt(at, headerOf(header, was).schema, headerOf(now, is).schema, 'output')
    })
  }

  return {
    operation: (from: Operation, to: Operation): Phrase[] => {
      const position = (status: string): Position => {
        if (!status.startsWith('2')) return 'error'
        return specifiedIds.includes(from.operationId) ? 'fixed' : 'output'
      }
      return [
        ...compareSecurity(from, to),
        ...compareParameters(from, to, 'input'),
        ...compareBody(from, to, 'input'),
        ...compareAnswers(from, to, position),
      ]
    },
    // The service sends it: what goes in there comes out of the service, and the other way round.
    webhook: (from: Operation, to: Operation): Phrase[] => [
      ...compareParameters(from, to, 'output'),
      ...compareBody(from, to, 'output'),
      ...compareAnswers(from, to, () => 'input'),
    ],
  }
}

/** An input does not become required, nor what the service sends optional. */
function compareRequired(at: string, was: Requirable = {}, is: Requirable = {}, isInput: boolean): Phrase[] {
  const [needed, needs] = [was.required === true, is.required === true]
  return needed !== needs && needs === isInput ? [`${at}: is ${needs ? 'required' : 'optional'}`] : []
}

interface Requirable {
  required?: boolean
}

/** The parameters of an operation, by place and name: `query limit`. */
function parametersOf({ parameters = [] }: Operation, { resolve }: Reader): Map<string, Parameter> {
  return new Map(
    parameters.map((each) => {
      const parameter = resolve(each) as Parameter
      return [`${parameter.in} ${parameter.name}`, parameter]
    }),
  )
}

function headerOf(header: { $ref: string }, { resolve }: Reader): { schema: Schema } {
  return resolve(header) as unknown as { schema: Schema }
}

/** Each way in stays: the same schemes suffice, with no further scope. */
function compareSecurity({ security: before }: Operation, { security: after }: Operation): Phrase[] {
  const [ways, waysNow] = [before, after].map((each) => (each.length === 0 ? [{}] : each)) as [
    Record<string, string[]>[],
    Record<string, string[]>[],
  ]
  return ways
    .filter(
      (way) =>
        !waysNow.some((now) =>
          Object.entries(now).every(
            ([scheme, scopes]) => scopes.every((scope) => way[scheme]?.includes(scope)) && scheme in way,
          ),
        ),
    )
    .map((way) => `security ${Object.keys(way).join(' and ') || 'none'}: is gone`)
}

/** The schemes keep what they have, but for words. */
function compareSchemes({ components: before }: Description, { components: after }: Description): string[] {
  const differing = (was: unknown, is: unknown, path: string): string[] => {
    if (path.endsWith('.description') || path.includes('.scopes.'))
      return is === undefined ? [`${path} is gone`] : []
    if (typeof was !== 'object' || was === null)
      return was === is ? [] : [`${path} ${String(was)} became ${String(is)}`]
    if (is === undefined) return [`${path} is gone`]
    return Object.entries(was).flatMap(([key, part]) =>
      differing(part, (is as Record<string, unknown>)[key], `${path}.${key}`),
    )
  }
  return differing(before.securitySchemes, after.securitySchemes, 'securitySchemes')
}
