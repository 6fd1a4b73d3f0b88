import type { AnswerToKeep } from './idempotency.ts'

/** The person on whose behalf a request acts, read in the same round trip as the credential. */
export interface PrincipalUser {
  id: string
  name: string
  email: string
  emailVerifiedAt: Date | null
  imageKey: string | null
}

/** Who acts, and through what. Services receive one with every call. */
export interface Principal {
  user: PrincipalUser
  /** `system`: an operator's command, or the service itself. */
  source: 'web' | 'api' | 'mcp' | 'system'
  apiKeyId: string | null
  /** The session of the website. */
  sessionId: string | null
  grantId: string | null
  /** Told the present slug of a workspace that was reached by another one, so that the caller can be told. */
  onSlugMoved?: (presentSlug: string) => void
  /** The answer to a request with an `Idempotency-Key`, made of what its change returns, to be stored with the change. */
  answerOf?: (result: unknown) => AnswerToKeep
}
