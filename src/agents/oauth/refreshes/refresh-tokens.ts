import { randomBytes } from 'node:crypto'
import { deriveKey, seal, unseal } from '../../../kernel/sealing.ts'
import type { AppSecret } from '../../../platform/secrets/app-secret.port.ts'

/** What a refresh token belongs to. */
export interface RefreshTokenOrigin {
  grantId: string
  /**
   * When the code of its chain was exchanged, in seconds since 1970. A grant has a chain for each installation of its
   * client. Undefined for tokens of earlier releases.
   */
  chain: number | undefined
  /** How many exchanges of its chain were before it: 0 for the token of a code. */
  generation: number
}

/** Makes refresh tokens that say what they belong to, so that they are known when their records are deleted. */
export interface RefreshTokens {
  create(origin: RefreshTokenOrigin): string
  /** What a token belongs to; undefined if this service did not make it, or made it before tokens said so. */
  read(token: string): RefreshTokenOrigin | undefined
}

const tagBytes = 16
// 192 random bits, which nobody guesses.
const randomnessBytes = 24
const headBytes = tagBytes + randomnessBytes + 4

/**
 * A token is the base64url of a tag, random bytes, its generation, its grant and its chain. The tag shows that this service made it:
 * otherwise anybody who knows the id of a grant could pretend to have an old token of it.
 */
export function createRefreshTokens(appSecret: AppSecret): RefreshTokens {
  const tags = appSecret.tagsOf('origins of refresh tokens', tagBytes)
  return {
    create({ grantId, chain, generation }) {
      const head = randomBytes(randomnessBytes + 4)
      head.writeUInt32BE(generation, randomnessBytes)
      const body = Buffer.concat([head, Buffer.from(chain === undefined ? grantId : `${grantId}.${chain}`)])
      return Buffer.concat([tags.create(body), body]).toString('base64url')
    },

    read(token) {
      const bytes = Buffer.from(token, 'base64url')
      if (bytes.length <= headBytes) return undefined
      if (!tags.isValid(bytes.subarray(tagBytes), bytes.subarray(0, tagBytes))) return undefined
      const [grantId = '', chain] = bytes.toString('utf8', headBytes).split('.')
      return {
        grantId,
        chain: chain === undefined ? undefined : Number(chain),
        generation: bytes.readUInt32BE(headBytes - 4),
      }
    },
  }
}

/** Encrypts the successor of a refresh token, so that only who has the token can read it. */
export function sealSuccessor(successor: string, token: string): Buffer {
  return seal(successor, keyOf(token))
}

/** Decrypts the output of `sealSuccessor`. Throws for another token. */
export function unsealSuccessor(sealed: Buffer, token: string): string {
  return unseal(sealed, keyOf(token))
}

const keyOf = (token: string) => deriveKey(token, 'successor of a refresh token')
