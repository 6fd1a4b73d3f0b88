import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto'
import { isoCBOR } from '@simplewebauthn/server/helpers'

/** What the browser and the authenticator do otherwise than they should. */
export interface Deviation {
  origin?: string
  rpId?: string
  /** Whether the authenticator asked for the fingerprint or the PIN. */
  isUserVerified?: boolean
  /** Whether somebody touched the authenticator. */
  isUserPresent?: boolean
  signCount?: number
  /** The ceremony that the browser names. */
  type?: string
  /** Whether the page was in a frame of another origin; and which, as some browsers tell. */
  crossOrigin?: boolean
  topOrigin?: string
  /** The user that the authenticator names, in base64url. */
  userHandle?: string
}

/** A passkey in software: an ES256 key, as WebAuthn Level 3 describes it. `id` is that of the credential. */
export function createAuthenticator({
  origin: ownOrigin,
  id = randomBytes(16),
}: {
  origin: string
  id?: Buffer
}) {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const { x = '', y = '' } = publicKey.export({ format: 'jwk' })
  let signCount = 0

  const toClientData = (
    challenge: string,
    { type, origin = ownOrigin, crossOrigin = false, topOrigin }: Deviation,
  ) => Buffer.from(JSON.stringify({ type, challenge, origin, crossOrigin, topOrigin }))

  const toFlags = ({ isUserPresent = true, isUserVerified = true }: Deviation, more = 0) =>
    (isUserPresent ? 0x01 : 0) | (isUserVerified ? 0x04 : 0) | more

  const toAuthenticatorData = (flags: number, count: number, rpId = new URL(ownOrigin).hostname) => {
    const counter = Buffer.alloc(4)
    counter.writeUInt32BE(count)
    return Buffer.concat([createHash('sha256').update(rpId).digest(), Buffer.from([flags]), counter])
  }

  const toCredential = (response: Record<string, unknown>) =>
    JSON.stringify({
      id: id.toString('base64url'),
      rawId: id.toString('base64url'),
      type: 'public-key',
      clientExtensionResults: {},
      response,
    })

  return {
    id,

    /** Answers `navigator.credentials.create`. */
    create({ challenge }: { challenge: string }, deviation: Deviation = {}) {
      const key = new Map<number, number | Uint8Array>([
        [1, 2],
        [3, -7],
        [-1, 1],
        [-2, new Uint8Array(Buffer.from(x, 'base64url'))],
        [-3, new Uint8Array(Buffer.from(y, 'base64url'))],
      ])
      const authData = Buffer.concat([
        toAuthenticatorData(toFlags(deviation, 0x40), deviation.signCount ?? signCount, deviation.rpId),
        Buffer.alloc(16),
        Buffer.from([0, id.length]),
        id,
        isoCBOR.encode(key),
      ])
      const attestation = new Map<string, string | Uint8Array | Map<string, string>>([
        ['fmt', 'none'],
        ['attStmt', new Map<string, string>()],
        ['authData', new Uint8Array(authData)],
      ])
      return toCredential({
        clientDataJSON: toClientData(challenge, { type: 'webauthn.create', ...deviation }).toString(
          'base64url',
        ),
        attestationObject: Buffer.from(isoCBOR.encode(attestation)).toString('base64url'),
        transports: ['internal'],
      })
    },

    /** Answers `navigator.credentials.get`. */
    get({ challenge }: { challenge: string }, deviation: Deviation = {}) {
      signCount += 1
      const authData = toAuthenticatorData(
        toFlags(deviation),
        deviation.signCount ?? signCount,
        deviation.rpId,
      )
      const clientData = toClientData(challenge, { type: 'webauthn.get', ...deviation })
      const signed = Buffer.concat([authData, createHash('sha256').update(clientData).digest()])
      return toCredential({
        clientDataJSON: clientData.toString('base64url'),
        authenticatorData: authData.toString('base64url'),
        signature: sign('sha256', signed, privateKey).toString('base64url'),
        userHandle: deviation.userHandle,
      })
    },
  }
}
