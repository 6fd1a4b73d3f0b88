/** What a sign-in with a provider needs to know again when the browser comes back. It stays in the browser. */
export interface IdentityFlow {
  state: string
  nonce: string
  codeVerifier: string
}

/** Whom a provider says that somebody is. */
export interface ExternalIdentity {
  issuer: string
  /** The provider's name for the person, for good. */
  subject: string
  email: string | undefined
  /** Whether the provider vouches for the address being the person's. */
  isEmailVerified: boolean
  name: string | undefined
}

/** A service that tells who somebody is. */
export interface IdentityProvider {
  /** Its name in URLs. */
  id: string
  /** Its name for people. */
  name: string
  /** Where the browser is to go. */
  begin(): Promise<{ url: string; flow: IdentityFlow }>
  /** Who it is that came back to a URL. Throws for whatever does not hold, whoever's fault it is. */
  finish(url: URL, flow: IdentityFlow): Promise<ExternalIdentity>
}
