import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server'
import type { PasskeyRow } from './passkeys.repository.ts'

/** A passkey that an authenticator has created. */
export type NewCredential = Pick<PasskeyRow, 'credentialId' | 'publicKey' | 'signCount' | 'transports'>

/** What the browser answers, as `PublicKeyCredential.toJSON` writes it. */
export interface CredentialResponse {
  /** The id of the credential, in base64url. */
  id: string
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
  /** Returns the new count of signatures; undefined if the response is invalid, or the count has not grown. */
  verifyAuthentication(
    response: CredentialResponse,
    challenge: string,
    passkey: NewCredential,
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
        userID: new TextEncoder().encode(id),
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
      const { verifyAuthenticationResponse } = await load()
      const { verified, authenticationInfo } = await orNothing(() =>
        verifyAuthenticationResponse({
          response: response as AuthenticationResponseJSON,
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

/** The library throws for each fault of a response, which may have any form. */
async function orNothing<Result extends object>(verify: () => Promise<Result>): Promise<Partial<Result>> {
  try {
    return await verify()
  } catch {
    return {}
  }
}
