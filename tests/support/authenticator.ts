import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto'
import { isoCBOR } from '@simplewebauthn/server/helpers'

/** What the browser and the authenticator do otherwise than they should. */
export interface Deviation {
  origin?: string
  rpId?: string
  /** Whether the authenticator asked for the fingerprint or the PIN. */
  isUserVerified?: boolean
  signCount?: number
}

/** A passkey in software: an ES256 key, as WebAuthn Level 3 describes it. */
export function createAuthenticator({ origin: ownOrigin }: { origin: string }) {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const { x = '', y = '' } = publicKey.export({ format: 'jwk' })
  const id = randomBytes(16)
  let signCount = 0

  const toClientData = (type: string, challenge: string, origin = ownOrigin) =>
    Buffer.from(JSON.stringify({ type, challenge, origin, crossOrigin: false }))

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
    /** Answers `navigator.credentials.create`. */
    create({ challenge }: { challenge: string }, { origin, rpId, isUserVerified = true }: Deviation = {}) {
      const key = new Map<number, number | Uint8Array>([
        [1, 2],
        [3, -7],
        [-1, 1],
        [-2, new Uint8Array(Buffer.from(x, 'base64url'))],
        [-3, new Uint8Array(Buffer.from(y, 'base64url'))],
      ])
      const authData = Buffer.concat([
        toAuthenticatorData(isUserVerified ? 0x45 : 0x41, signCount, rpId),
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
        clientDataJSON: toClientData('webauthn.create', challenge, origin).toString('base64url'),
        attestationObject: Buffer.from(isoCBOR.encode(attestation)).toString('base64url'),
        transports: ['internal'],
      })
    },

    /** Answers `navigator.credentials.get`. */
    get({ challenge }: { challenge: string }, deviation: Deviation = {}) {
      const { origin, rpId, isUserVerified = true } = deviation
      signCount += 1
      const authData = toAuthenticatorData(
        isUserVerified ? 0x05 : 0x01,
        deviation.signCount ?? signCount,
        rpId,
      )
      const clientData = toClientData('webauthn.get', challenge, origin)
      const signed = Buffer.concat([authData, createHash('sha256').update(clientData).digest()])
      return toCredential({
        clientDataJSON: clientData.toString('base64url'),
        authenticatorData: authData.toString('base64url'),
        signature: sign('sha256', signed, privateKey).toString('base64url'),
      })
    },
  }
}
