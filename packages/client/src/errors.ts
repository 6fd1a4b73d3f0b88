import type { operations } from './api.ts'

/** Leaves out what is any text: an error of which only the schema is declared. */
type Named<Code extends string> = string extends Code ? never : Code

type ErrorsOf<Operation> = Operation extends { responses: infer Responses }
  ? {
      [Status in keyof Responses]: Responses[Status] extends {
        content: { 'application/json': infer Body extends { code: string } }
      }
        ? Named<Body['code']>
        : never
    }[keyof Responses]
  : never

/** What the API answers instead of a success: the code of the condition, which never changes. A newer service may have more. */
export type ErrorCode = { [Id in keyof operations]: ErrorsOf<operations[Id]> }[keyof operations]

interface Issue {
  _tag: 'Missing' | 'Unexpected' | 'Type' | 'Refinement'
  path: (string | number)[]
  message: string
}

/** An error that the service answered. `code` says which: `if (error.code === 'slug_taken')`. */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  /** `unknown` when the answer is not one of the service, such as a page of a proxy. */
  readonly code: ErrorCode | 'unknown'
  readonly status: number
  /** The id of the request, as in the log of the service. */
  readonly requestId: string | undefined
  /** The field that is invalid, if it is one. */
  readonly field: string | undefined
  /** What is wrong with the request, if it does not have the form that the operation takes. */
  readonly issues: readonly Issue[]
  /** How long the service asks to wait before the request is sent again (`Retry-After`), in milliseconds. */
  readonly retryAfterMs: number | undefined
  /**
   * Whether the change may have taken effect in spite of this error: an attempt before it, or this one, ended without an
   * answer or with a 5xx. Such is 412 for a PATCH that was sent again: read the object to find out.
   */
  readonly mayHaveHappened: boolean

  constructor({ status, headers }: Response, body: unknown, mayHaveHappened = false) {
    const fields = (typeof body === 'object' && body !== null ? body : {}) as {
      code?: ErrorCode
      message?: string
      field?: string | null
      issues?: Issue[]
    }
    super(fields.message ?? `The answer has the status ${status}.`)
    this.code = fields.code ?? 'unknown'
    this.status = status
    this.requestId = headers.get('x-request-id') ?? undefined
    this.field = fields.field ?? undefined
    this.issues = fields.issues ?? []
    this.retryAfterMs = readRetryAfter(headers)
    this.mayHaveHappened = mayHaveHappened
  }
}

/** How long the service asks to wait, in milliseconds (RFC 9110 §10.2.3). */
function readRetryAfter(headers: Headers): number | undefined {
  const retryAfter = headers.get('retry-after')
  if (retryAfter === null) return undefined
  const seconds = Number(retryAfter)
  const waitMs = Number.isNaN(seconds) ? Date.parse(retryAfter) - Date.now() : seconds * 1000
  return Number.isNaN(waitMs) ? undefined : Math.max(0, waitMs)
}
