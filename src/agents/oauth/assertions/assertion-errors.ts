import { errors } from 'oidc-provider'
import { documentRetryAfterSeconds } from '../protocol.ts'

/** An assertion gives no access (RFC 7521 §4.1.1). The client is told why; oidc-provider would keep that to itself. */
export class AssertionUnusable extends errors.CustomOIDCProviderError {
  constructor(description: string) {
    super('invalid_grant', description)
  }
}

/** The provider of an assertion cannot be asked. The client may try again. */
export class AssertionUnverifiable extends errors.CustomOIDCProviderError {
  override readonly statusCode = 503
  readonly retryAfterSeconds = documentRetryAfterSeconds

  constructor() {
    super('temporarily_unavailable', 'The identity provider could not be reached. Try again later.')
  }
}
