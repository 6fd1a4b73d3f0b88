import type { AnswerToKeep } from './idempotency.ts'

/** The user of a request, read in the same round trip as the credential. */
export interface PrincipalUser {
  id: string
  name: string
  email: string
  emailVerifiedAt: Date | null
  imageKey: string | null
}

/** The caller: the user, and the credential that was used. Services take it with every call. */
export interface Principal {
  user: PrincipalUser
  /** `system` is a command of an operator, or the service itself. */
  source: 'web' | 'api' | 'mcp' | 'system'
  apiKeyId: string | null
  /** The session on the website. */
  sessionId: string | null
  grantId: string | null
  /**
   * Whether the object lives no longer than one request. Several service calls of a page then look up a workspace once;
   * like a single call, they see the role that the caller had at the start of the request.
   */
  isOfOneRequest?: boolean
  /** Called with the current slug of a workspace that was requested by a former one. */
  onSlugMoved?: (currentSlug: string) => void
  /** Makes the response to store for a request with an `Idempotency-Key`, from the result of its change. */
  answerOf?: (result: unknown) => AnswerToKeep
}
