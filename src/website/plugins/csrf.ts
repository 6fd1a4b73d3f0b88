import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'

const tokenBytes = 32

/**
 * Creates a CSRF token that is bound to a secret of the browser, such as its session. Each is different, as it is masked
 * with random bytes: a part that is the same in several compressed pages could be guessed from their lengths (BREACH).
 */
export function createCsrfToken(secret: string): string {
  const mask = randomBytes(tokenBytes)
  return Buffer.concat([mask, xor(mask, derive(secret))]).toString('base64url')
}

/** Whether a value is a token that `createCsrfToken` made from the secret. */
export function isCsrfToken(value: unknown, secret: string): boolean {
  if (typeof value !== 'string') return false
  const bytes = Buffer.from(value, 'base64url')
  if (bytes.length !== 2 * tokenBytes) return false
  return timingSafeEqual(xor(bytes.subarray(0, tokenBytes), bytes.subarray(tokenBytes)), derive(secret))
}

function derive(secret: string): Buffer {
  return createHmac('sha256', secret).update('csrf').digest()
}

function xor(a: Buffer, b: Buffer): Buffer {
  return Buffer.from(a.map((byte, i) => byte ^ (b[i] ?? 0)))
}
