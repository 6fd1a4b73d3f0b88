import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server'
import type { PasskeyRow } from './passkeys.repository.ts'

/** A passkey that an authenticator has created. */
export type NewCredential = Pick<PasskeyRow, 'credentialId' | 'publicKey' | 'signCount' | 'transports'>

/** What the browser answers, as `PublicKeyCredential.toJSON` writes it. */
export interface CredentialResponse {
  /** The id of the credential, in base64url. */
  id: string
  /** Of any form. */
  response?: { clientDataJSON?: unknown } | null
}

/** The ceremonies of WebAuthn Level 3, for the website as relying party. */
export interface WebAuthn {
  /** Options for `navigator.credentials.create`: a passkey that can be found without a name and verifies its user. */
  createRegistration(user: {
    id: string
    email: string
    name: string
    existing: readonly Pick<PasskeyRow, 'credentialId' | 'transports'>[]
  }): Promise<{ options: object; challenge: string }>
  /** Undefined if the response is invalid. */
  verifyRegistration(response: CredentialResponse, challenge: string): Promise<NewCredential | undefined>
  /** Options for `navigator.credentials.get`, for any passkey of the website. */
  createAuthentication(): Promise<{ options: object; challenge: string }>
  /**
   * Returns the new count of signatures; undefined if the response is invalid, names another user than that of the
   * passkey, or the count has not grown.
   */
  verifyAuthentication(
    response: CredentialResponse,
    challenge: string,
    passkey: NewCredential & Pick<PasskeyRow, 'userId'>,
  ): Promise<number | undefined>
}

const relyingPartyName = 'Workspace'
/** How long the browser waits for the person. */
const timeout = 5 * 60 * 1000

export function createWebAuthn(webUrl: string): WebAuthn {
  const rpID = new URL(webUrl).hostname
  const expected = { expectedOrigin: webUrl, expectedRPID: rpID, requireUserVerification: true }
  // Loaded on first use, since it is slow to load.
  const load = () => import('@simplewebauthn/server')

  return {
    async createRegistration({ id, email, name, existing }) {
      const { generateRegistrationOptions } = await load()
      const options = await generateRegistrationOptions({
        rpName: relyingPartyName,
        rpID,
        userID: new Uint8Array(toUserHandle(id)),
        userName: email,
        userDisplayName: name,
        timeout,
        excludeCredentials: existing.map(({ credentialId, transports }) => ({
          id: credentialId,
          transports,
        })),
        authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
      })
      return { options, challenge: options.challenge }
    },

    async verifyRegistration(response, expectedChallenge) {
      if (isFramed(response)) return undefined
      const { verifyRegistrationResponse } = await load()
      const { registrationInfo } = await orNothing(() =>
        verifyRegistrationResponse({
          response: response as RegistrationResponseJSON,
          expectedChallenge,
          ...expected,
        }),
      )
      if (!registrationInfo) return undefined
      const { id, publicKey, counter, transports = [] } = registrationInfo.credential
      return {
        credentialId: id,
        publicKey: Buffer.from(publicKey),
        signCount: counter,
        transports: transports.filter((name) => /^[a-z-]{1,20}$/.test(name)).slice(0, 10),
      }
    },

    async createAuthentication() {
      const { generateAuthenticationOptions } = await load()
      const options = await generateAuthenticationOptions({ rpID, timeout, userVerification: 'required' })
      return { options, challenge: options.challenge }
    },

    async verifyAuthentication(response, expectedChallenge, passkey) {
      const answer = response as AuthenticationResponseJSON
      if (isFramed(answer) || !isOfUser(answer, passkey)) return undefined
      const { verifyAuthenticationResponse } = await load()
      const { verified, authenticationInfo } = await orNothing(() =>
        verifyAuthenticationResponse({
          response: answer,
          expectedChallenge,
          ...expected,
          credential: {
            id: passkey.credentialId,
            publicKey: new Uint8Array(passkey.publicKey),
            counter: passkey.signCount,
          },
        }),
      )
      return verified ? authenticationInfo?.newCounter : undefined
    },
  }
}

/** Parses a response of the browser. Undefined for text that is none. */
export function parseCredential(text: string): CredentialResponse | undefined {
  try {
    const { id } = JSON.parse(text) as { id?: unknown }
    return typeof id === 'string' && /^[\w-]{1,1400}$/.test(id)
      ? (JSON.parse(text) as CredentialResponse)
      : undefined
  } catch {
    return undefined
  }
}

const toUserHandle = (userId: string) => Buffer.from(userId)

/**
 * Whether the page was in a frame of another origin, which no page of the website can be (WebAuthn Level 3 §7.1 and §7.2).
 * The library looks only at the name of that origin, which not every browser tells, and not when a passkey is created.
 */
function isFramed({ response }: CredentialResponse): boolean {
  try {
    const text = Buffer.from(String(response?.clientDataJSON), 'base64url').toString()
    const { crossOrigin, topOrigin } = JSON.parse(text) as { crossOrigin?: unknown; topOrigin?: unknown }
    return (crossOrigin ?? false) !== false || topOrigin !== undefined
  } catch {
    return true
  }
}

/** Whether the authenticator names the user of the passkey (§7.2). Those that keep no user name none. */
function isOfUser(
  { response }: Partial<AuthenticationResponseJSON>,
  { userId }: { userId: string },
): boolean {
  const handle: unknown = response?.userHandle ?? undefined
  return handle === undefined || handle === toUserHandle(userId).toString('base64url')
}

/** The library throws for each fault of a response, which may have any form. */
async function orNothing<Result extends object>(verify: () => Promise<Result>): Promise<Partial<Result>> {
  try {
    return await verify()
  } catch {
    return {}
  }
}
