/** The name of an error schema, sent as `_tag`. */
export type ErrorTag =
  | 'HttpApiDecodeError'
  | 'InvalidInput'
  | 'Unauthorized'
  | 'Forbidden'
  | 'NotFound'
  | 'Conflict'
  | 'PreconditionFailed'
  | 'PayloadTooLarge'
  | 'UnsupportedMediaType'
  | 'TooManyRequests'
  | 'Internal'
  | 'ServiceUnavailable'

/** The HTTP status (RFC 9110 §15) of each error schema. */
export const statusOfTag = {
  HttpApiDecodeError: 400,
  InvalidInput: 400,
  Unauthorized: 401,
  Forbidden: 403,
  NotFound: 404,
  Conflict: 409,
  PreconditionFailed: 412,
  PayloadTooLarge: 413,
  UnsupportedMediaType: 415,
  TooManyRequests: 429,
  Internal: 500,
  ServiceUnavailable: 503,
} as const satisfies Record<ErrorTag, number>

/** One violation of a JSON Schema in a request body, query or path. `path` leads from the root to the field. */
export interface DecodeIssue {
  _tag: 'Missing' | 'Unexpected' | 'Type' | 'Refinement'
  path: (string | number)[]
  message: string
}

/** What one occurrence of an error adds to its catalogue entry. */
export interface ErrorDetails {
  /** Says it more exactly than the message of the catalogue, which it replaces. */
  message?: string
  /** The invalid field of the request; InvalidInput only. */
  field?: string
  /** All violations found; HttpApiDecodeError only. */
  issues?: DecodeIssue[]
  /** A sentence that is added to the message, such as names that the person needs to know. */
  addition?: string
  /** Sent as `Retry-After` (RFC 9110 §10.2.3). */
  retryAfterSeconds?: number
  /** Logged, never sent. */
  cause?: unknown
}

/** An error that the API sends to the client. Any other error that is thrown becomes an Internal without details. */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  readonly tag: ErrorTag
  readonly code: string
  readonly status: number
  readonly field: string | null
  readonly issues: DecodeIssue[]
  readonly retryAfterSeconds: number | undefined

  constructor(tag: ErrorTag, code: string, message: string, details: ErrorDetails = {}) {
    super(
      details.addition === undefined ? message : `${message} ${details.addition}`,
      details.cause === undefined ? undefined : { cause: details.cause },
    )
    this.tag = tag
    this.code = code
    this.status = statusOfTag[tag]
    this.field = details.field ?? null
    this.issues = details.issues ?? []
    this.retryAfterSeconds = details.retryAfterSeconds
  }
}

/** Creates an ApiError of one catalogue entry, and has the properties of the entry. */
export interface ErrorFactory<Tag extends ErrorTag = ErrorTag, Code extends string = string> {
  (details?: ErrorDetails): ApiError
  readonly tag: Tag
  readonly code: Code
  readonly message: string
  /** The condition, as docs/errors.md describes it, in Markdown. */
  readonly when: string
}

/** An entry of the catalogue. */
export function error<Tag extends ErrorTag, Code extends string>(
  tag: Tag,
  code: Code,
  message: string,
  when: string,
): ErrorFactory<Tag, Code> {
  return Object.assign(
    (details?: ErrorDetails) => new ApiError(tag, code, details?.message ?? message, details),
    {
      tag,
      code,
      message,
      when,
    },
  )
}
