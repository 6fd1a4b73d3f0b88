import { randomBytes } from 'node:crypto'
import { availableParallelism } from 'node:os'
import argon2 from 'argon2'
import pLimit from 'p-limit'
import { isCommonPassword } from './common-passwords.ts'
import type { PasswordHasher } from './passwords.port.ts'

// The OWASP Password Storage Cheat Sheet's parameters for argon2id: 19 MiB, two passes, one lane.
const parameters = { memoryCost: 19_456, timeCost: 2, parallelism: 1 }

// Of libuv's thread pool, which files and DNS use as well.
const poolThreads = 4

/**
 * Hashes passwords by argon2id, at most as many at once as there are threads to do it: a crowd of attempts waits here,
 * where each costs a closure, not 19 MiB.
 */
export function createArgon2Passwords(): PasswordHasher {
  const limit = pLimit(Math.min(availableParallelism(), poolThreads))
  return {
    hash: (password) => limit(() => argon2.hash(password, { ...parameters, type: argon2.argon2id })),
    verify: (hash, password) => limit(() => argon2.verify(hash ?? makeUpHash(), password)),
    isOutdated: (hash) => argon2.needsRehash(hash, parameters),
    isCommon: isCommonPassword,
  }
}

/** A hash of no password that anybody knows, with the same parameters, and so the same work to check. */
function makeUpHash(): string {
  const { memoryCost, timeCost, parallelism } = parameters
  const encode = (bytes: number) => randomBytes(bytes).toString('base64').replaceAll('=', '')
  return `$argon2id$v=19$m=${memoryCost},t=${timeCost},p=${parallelism}$${encode(16)}$${encode(32)}`
}
