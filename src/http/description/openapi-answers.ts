import { errors, findOnlyCode, statusOfTag, type ErrorFactory, type ErrorTag } from '../../kernel/errors.ts'
import { responseHeaders, type ResponseHeader } from '../answers/response-headers.ts'
import { findErrorExample } from './schemas.ts'

/** An object of the description: a Response Object, a Schema Object or the like. */
export type Part = Record<string, unknown>

const titles: Record<number, string> = {
  400: 'The request is malformed or its input is invalid.',
  401: 'A valid credential is required.',
  403: 'The caller may not do this.',
  404: 'The target does not exist, or the caller may not see it.',
  409: 'The request conflicts with the current state.',
  412: 'What the request would change was changed since it was read.',
  413: 'The request is too large.',
  415: 'The request body has the wrong content type.',
  429: 'Too many requests.',
  500: 'The service failed.',
  503: 'The service is not available at the moment.',
}

/** The errors that an operation with `inPlace` lists even if it does not return them. */
const promised: readonly ErrorTag[] = [
  'HttpApiDecodeError',
  'InvalidInput',
  'Unauthorized',
  'Forbidden',
  'NotFound',
  'Conflict',
  'Internal',
]

/**
 * Describes the error responses of an operation, by status. Each is a reference into `components.responses`, which
 * `shared` collects, under a name made of its codes, so that equal responses of two operations are one component. With
 * `inPlace` the promised ones are inlined.
 */
export function describeErrors(
  thrown: readonly ErrorFactory[],
  inPlace: boolean,
  shared: Record<string, Part>,
): Record<string, Part> {
  const codesOfTags = new Map<ErrorTag, Set<string>>()
  if (inPlace) for (const tag of promised) codesOfTags.set(tag, new Set())
  for (const { tag, code } of thrown) codesOfTags.set(tag, (codesOfTags.get(tag) ?? new Set()).add(code))

  const answers: Record<string, Part> = {}
  for (const status of new Set([...codesOfTags.keys()].map((tag) => statusOfTag[tag]))) {
    const parts = [...codesOfTags]
      .filter(([tag]) => statusOfTag[tag] === status)
      .map(([tag, codes]): TagCodes => ({ tag, codes: [...codes].sort() }))
    const answer = describeError(
      status,
      parts,
      thrown.filter(({ tag }) => statusOfTag[tag] === status),
    )
    if (inPlace && parts.some(({ tag }) => promised.includes(tag))) {
      answers[status] = answer
      continue
    }
    const name = nameOf(parts)
    shared[name] = answer
    answers[status] = { $ref: `#/components/responses/${name}` }
  }
  return answers
}

/** Describes the headers of a response, by reference into `components.headers`. */
export function describeHeaders(names: readonly ResponseHeader[]): Part {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))
}

/** Describes all headers, for `components.headers`. */
export function describeHeaderComponents(): Record<string, Part> {
  return structuredClone(responseHeaders)
}

interface TagCodes {
  tag: ErrorTag
  codes: string[]
}

function describeError(status: number, parts: TagCodes[], thrown: readonly ErrorFactory[]): Part {
  const conditions = new Map(thrown.map(({ code, when }) => [code, when]))
  const lines = [...conditions].sort().map(([code, when]) => `- \`${code}\`: ${when}`)
  const headers = headersOfError(status, thrown)
  const schemas = parts.map(refine)
  const example = findErrorExample(thrown)
  return {
    description: [titles[status], ...lines].join('\n'),
    ...(headers.length > 0 && { headers: describeHeaders(headers) }),
    content: {
      'application/json': {
        schema: schemas.length === 1 ? schemas[0] : { anyOf: schemas },
        ...(example && { example }),
      },
    },
  }
}

/** The headers that only an error has, not the successful responses of its operation. */
export function headersOfError(status: number, thrown: readonly ErrorFactory[] = []): ResponseHeader[] {
  if (status === 401 || (status === 403 && thrown.includes(errors.insufficientScope)))
    return ['WWW-Authenticate']
  if (status === 415) return ['Accept-Encoding']
  const mayBeRetried = status === 429 || status === 503 || thrown.includes(errors.idempotencyInFlight)
  return mayBeRetried ? ['Retry-After'] : []
}

/**
 * The named schema of an error, narrowed to the codes of the operation. The second part has only `code`, since the
 * named schema is closed. `oneOf` with one branch is equivalent to `allOf`: client generators narrow `code` by both,
 * but tools that list the schemas of a response look only into `anyOf` and `oneOf`.
 */
function refine({ tag, codes }: TagCodes): Part {
  const named = { $ref: `#/components/schemas/${tag}` }
  if (codes.length === 0 || findOnlyCode(tag) !== undefined) return named
  return { oneOf: [named], properties: { code: { enum: codes } } }
}

function nameOf(parts: TagCodes[]): string {
  const codes = parts.flatMap(({ tag, codes }) => (findOnlyCode(tag) === undefined ? codes : []))
  return [parts.at(-1)?.tag, ...codes].join('.')
}
