/** The state of a sign-in with a provider, which the browser keeps until the callback. */
export interface IdentityFlow {
  state: string
  nonce: string
  codeVerifier: string
}

/** The identity that a provider asserts. */
export interface ExternalIdentity {
  issuer: string
  /** The permanent id of the person at the provider. */
  subject: string
  email: string | undefined
  /** Why the address does not count as verified. Undefined: the provider has verified it, and may do so for its domain. */
  emailFault: EmailFault | undefined
  name: string | undefined
}

/** The claim that an address is not taken for verified by, for the log. */
export interface EmailFault {
  claim: 'email' | 'email_verified'
  reason: string
}

/** What a provider asserts of a person to let an agent in (Identity Assertion JWT Authorization Grant, ID-JAG). */
export interface AgentAssertion {
  /** The issuer, as stored identities have it. */
  issuer: string
  /** The permanent id of the person at the provider. */
  subject: string
  /** The client that it was made for. */
  clientId: string
  /** What the client may access (RFC 8707). */
  resources: readonly string[]
  /** The scopes that the provider allows; undefined if it names none. */
  scope: string | undefined
  /** Its id, which the issuer uses once. */
  id: string
  expiresAt: Date
}

/** An assertion is not valid. The message says why, for the client. */
export class AssertionRefused extends Error {
  override readonly name = 'AssertionRefused'
}

/** The document or the keys of a provider cannot be fetched. */
export class ProviderUnreachable extends Error {
  override readonly name = 'ProviderUnreachable'
}

/** Whether two texts name the same issuer. */
export function isSameIssuer(one: string, other: string): boolean {
  return URL.canParse(one) && URL.canParse(other) && new URL(one).href === new URL(other).href
}

/** A service that people sign in with. */
export interface IdentityProvider {
  /** The id in URLs. */
  id: string
  /** The name for display. */
  name: string
  /** The issuer, which identifies the provider in stored identities. */
  issuer: string
  /** Starts a sign-in. Returns the URL to redirect the browser to. */
  begin(): Promise<{ url: string; flow: IdentityFlow }>
  /** Finishes a sign-in with the URL of the callback. Throws if anything cannot be verified. */
  finish(url: URL, flow: IdentityFlow): Promise<ExternalIdentity>
  /** Whether the operator trusts it to let agents in for people. */
  isTrustedForAgents: boolean
  /**
   * Verifies an assertion that lets an agent in. `audience` is our issuer. Throws AssertionRefused, and ProviderUnreachable.
   */
  readAssertion(assertion: string, expected: { audience: string; now: Date }): Promise<AgentAssertion>
  /** Reads the provider's document anew. Throws if that fails, if it names another issuer, or lacks what a sign-in needs. */
  check(): Promise<void>
}
