import { randomBytes } from 'node:crypto'
import { closeSync, fsyncSync, linkSync, mkdirSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'

// 32 bytes as base64url.
const secretLength = 43

/** The file of the secret is truncated. Encrypting with it would be insecure. */
export class AppSecretError extends Error {
  override readonly name = 'AppSecretError'
}

/**
 * The secret that encrypts signing keys and signs cookies: APP_SECRET, or one that is generated once and stored in the
 * data directory. Replicas must share it. Throws AppSecretError for an empty or truncated file.
 */
export function loadAppSecret(configured: string | undefined, dataDir: string): string {
  if (configured !== undefined) return configured
  const file = fileOf(dataDir)
  const secret = read(file) ?? make(file, dataDir)
  assertWhole(secret, file)
  return secret
}

/** Checks an existing secret at start. Creates none. Throws AppSecretError. */
export function assertAppSecretUsable(configured: string | undefined, dataDir: string): void {
  const file = fileOf(dataDir)
  const secret = configured === undefined ? read(file) : undefined
  if (secret !== undefined) assertWhole(secret, file)
}

const fileOf = (dataDir: string) => join(dataDir, 'app-secret')

function assertWhole(secret: string, file: string): void {
  if (secret.length < secretLength)
    throw new AppSecretError(
      `${file} is truncated. Restore it from a backup, or delete it: the service then generates a new secret, and ` +
        'pending consents to agents must start again.',
    )
}

function read(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8').trim()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

/** Creates the file atomically. Of several concurrent processes one creates it, and all read it. */
function make(file: string, dataDir: string): string {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  const unfinished = `${file}.${randomBytes(8).toString('hex')}`
  try {
    const descriptor = openSync(unfinished, 'wx', 0o600)
    try {
      writeSync(descriptor, randomBytes(32).toString('base64url'))
      fsyncSync(descriptor)
    } finally {
      closeSync(descriptor)
    }
    linkSync(unfinished, file)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  } finally {
    rmSync(unfinished, { force: true })
  }
  return read(file) ?? ''
}
