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
  /** Whether the provider has verified the address, and may verify addresses of its domain. */
  isEmailVerified: boolean
  name: string | undefined
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
  /** Reads the provider's document anew. Throws if that fails, if it names another issuer, or lacks what a sign-in needs. */
  check(): Promise<void>
}
