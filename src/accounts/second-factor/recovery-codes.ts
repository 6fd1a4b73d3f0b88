import { randomBytes } from 'node:crypto'
import { hashSecret } from '../../kernel/tokens.ts'

/** The number of recovery codes that are made at once. */
export const recoveryCodesCount = 10

// Without letters and digits that look alike: 32 characters, 5 bits each.
const alphabet = 'abcdefghijkmnpqrstuvwxyz23456789'
const codeLength = 16

/** Creates recovery codes of 80 random bits, in groups of four characters. */
export function createRecoveryCodes(): string[] {
  return Array.from({ length: recoveryCodesCount }, createRecoveryCode)
}

function createRecoveryCode(): string {
  const characters = Array.from(randomBytes(codeLength), (byte) => alphabet.charAt(byte % alphabet.length))
  return characters.join('').replaceAll(/(.{4})(?!$)/g, '$1-')
}

/**
 * Hashes a recovery code for storage, ignoring case, spaces and hyphens. Undefined for text that is no recovery code.
 * With 80 random bits, a fast hash is sufficient.
 */
export function hashRecoveryCode(text: string): Buffer | undefined {
  const code = text.replaceAll(/[\s-]/g, '').toLowerCase()
  const isCode = code.length === codeLength && Array.from(code).every((letter) => alphabet.includes(letter))
  return isCode ? hashSecret(code) : undefined
}

/** Whether a text has the form of a recovery code, which no code of an authenticator app has. */
export function isRecoveryCode(text: string): boolean {
  return hashRecoveryCode(text) !== undefined
}
