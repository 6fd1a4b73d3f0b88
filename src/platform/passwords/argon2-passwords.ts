import { randomBytes } from 'node:crypto'
import { availableParallelism } from 'node:os'
import argon2 from 'argon2'
import pLimit from 'p-limit'
import { isCommonPassword } from './common-passwords.ts'
import type { PasswordHasher } from './passwords.port.ts'

/** The cost of a hash: memory in KiB, passes and lanes. */
export interface Argon2Parameters {
  memoryCost: number
  timeCost: number
  parallelism: number
}

// The parameters of the OWASP Password Storage Cheat Sheet for argon2id: 19 MiB, two passes, one lane.
const recommended: Argon2Parameters = { memoryCost: 19_456, timeCost: 2, parallelism: 1 }

// The size of libuv's thread pool.
const poolThreads = 4

/** Hashes passwords by argon2id. Concurrency is limited to the number of threads, since each hash takes 19 MiB. */
export function createArgon2Passwords(parameters = recommended): PasswordHasher {
  const limit = pLimit(Math.min(availableParallelism(), poolThreads))
  return {
    hash: (password) => limit(() => argon2.hash(password, { ...parameters, type: argon2.argon2id })),
    verify: (hash, password) => limit(() => argon2.verify(hash ?? createDummyHash(parameters), password)),
    isOutdated: (hash) => argon2.needsRehash(hash, parameters),
    isCommon: isCommonPassword,
  }
}

/** A random hash with the same parameters, so that verifying takes the same time as for an existing account. */
function createDummyHash({ memoryCost, timeCost, parallelism }: Argon2Parameters): string {
  const encode = (bytes: number) => randomBytes(bytes).toString('base64').replaceAll('=', '')
  return `$argon2id$v=19$m=${memoryCost},t=${timeCost},p=${parallelism}$${encode(16)}$${encode(32)}`
}
