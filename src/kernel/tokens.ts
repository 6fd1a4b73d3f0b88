import { hash, randomBytes } from 'node:crypto'
import { crc32 } from 'node:zlib'

const base62Alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const randomLength = 30
const checksumLength = 6
const apiKeyPattern = /^([a-z][a-z0-9]*_[0-9A-Za-z]{30})([0-9A-Za-z]{6})$/

/** A new API key, and the parts of it that can be shown later. */
export interface ApiKeySecret {
  secret: string
  /** `<prefix>_` and the first four random characters. */
  tokenPrefix: string
  lastFour: string
}

/**
 * Creates an API key: `<prefix>_`, 30 random base62 characters (about 178 bits) and a six-character checksum, the
 * base62 CRC-32 of the rest. With the checksum, mistyped keys are rejected without a query.
 */
export function createApiKeySecret(prefix: string): ApiKeySecret {
  const rest = `${prefix}_${randomBase62(randomLength)}`
  const secret = rest + checksum(rest)
  return { secret, tokenPrefix: rest.slice(0, prefix.length + 5), lastFour: secret.slice(-4) }
}

/** Whether a string has the form of an API key and a valid checksum. The key may still be unknown or revoked. */
export function isWellFormedApiKey(candidate: string): boolean {
  if (candidate.length > 128) return false
  const [, rest, sum] = apiKeyPattern.exec(candidate) ?? []
  return rest !== undefined && sum === checksum(rest)
}

/** Creates a token for a link: 256 random bits in base64url. */
export function createToken(): string {
  return randomBytes(32).toString('base64url')
}

/**
 * Hashes a random secret for storage, by SHA-256. Slow hashes are for passwords: a random secret of 128 bits or more
 * cannot be guessed, however fast the hash is.
 */
export function hashSecret(secret: string): Buffer {
  return hash('sha256', secret, 'buffer')
}

/** Uniformly random base62. Bytes from 248 up are discarded, since 256 is not a multiple of 62. */
function randomBase62(length: number): string {
  let text = ''
  while (text.length < length) {
    for (const byte of randomBytes(length * 2)) {
      if (byte < 248 && text.length < length) text += base62Alphabet.charAt(byte % 62)
    }
  }
  return text
}

function checksum(text: string): string {
  let rest = crc32(text)
  let digits = ''
  for (let i = 0; i < checksumLength; i++) {
    digits = base62Alphabet.charAt(rest % 62) + digits
    rest = Math.floor(rest / 62)
  }
  return digits
}
