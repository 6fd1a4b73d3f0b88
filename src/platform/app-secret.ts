import { randomBytes } from 'node:crypto'
import { closeSync, fsyncSync, linkSync, mkdirSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'

// 32 bytes as base64url.
const secretLength = 43

/** The file of the secret is not one that the service has written. Keys sealed under it would be sealed under nothing. */
export class AppSecretError extends Error {
  override readonly name = 'AppSecretError'
}

/**
 * The secret that keys are sealed and cookies are signed under: that of APP_SECRET, or one that is made once and kept in
 * the data directory. Replicas need to share one to sign with the same keys, and to finish what another one began.
 * Throws AppSecretError for a file that is empty or cut short.
 */
export function loadAppSecret(configured: string | undefined, dataDir: string): string {
  if (configured !== undefined) return configured
  const file = fileOf(dataDir)
  const secret = read(file) ?? make(file, dataDir)
  assertWhole(secret, file)
  return secret
}

/** Fails at the start rather than when the first agent comes. Makes nothing. Throws AppSecretError. */
export function assertAppSecretUsable(configured: string | undefined, dataDir: string): void {
  const file = fileOf(dataDir)
  const secret = configured === undefined ? read(file) : undefined
  if (secret !== undefined) assertWhole(secret, file)
}

const fileOf = (dataDir: string) => join(dataDir, 'app-secret')

function assertWhole(secret: string, file: string): void {
  if (secret.length < secretLength)
    throw new AppSecretError(
      `${file} is too short to be the secret that was kept there. Restore it from a backup, or delete it: then a new ` +
        'one is made, and consents that are under way have to begin again.',
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

/** Appears under its name only when all of it is on the disk. Of several processes at once, one makes it for all. */
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
