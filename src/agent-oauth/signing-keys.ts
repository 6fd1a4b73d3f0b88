import { generateKeyPairSync, type JsonWebKey } from 'node:crypto'
import type { Database } from '../db/client.ts'
import type { Clock } from '../kernel/clock.ts'
import { createId } from '../kernel/ids.ts'
import { deriveKey, seal, unseal } from '../kernel/sealing.ts'
import {
  insertSigningKey,
  listSigningKeys,
  retiredKeyLimit,
  retireOtherSigningKeys,
  type SigningKeyRow,
} from './signing-keys.repository.ts'

/** A key of JSON Web Signature as JWK (RFC 7517). */
export interface Jwk extends JsonWebKey {
  kid: string
  alg: 'ES256'
  use: 'sig'
}

/** What tokens are signed with now, and everything that verifies one. */
export interface SigningKeys {
  /** With its private part. */
  signing: Jwk
  /** Without private parts, the signing one among them. */
  verifying: Jwk[]
}

export interface SigningKeyStore {
  /** The keys as they are now; on an empty database it makes the first one. */
  load(): Promise<SigningKeys>
  /** Makes a new key that signs from now on. Tokens of the others stay valid until they expire. Returns its id. */
  rotate(): Promise<string>
}

export interface SigningKeyStoreOptions {
  db: Database
  clock: Clock
  appSecret: string
}

/**
 * Keeps the signing keys in the database, sealed, so that every replica signs with the same one. A process that has
 * another secret cannot open them and makes one of its own, which the others verify with all the same.
 */
export function createSigningKeyStore({ db, clock, appSecret }: SigningKeyStoreOptions): SigningKeyStore {
  const sealingKey = deriveKey(appSecret, 'signing key')

  async function add(): Promise<SigningKeyRow> {
    const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    const id = createId()
    const row = {
      id,
      publicJwk: { ...publicKey.export({ format: 'jwk' }) },
      sealedPrivateJwk: seal(JSON.stringify(privateKey.export({ format: 'jwk' })), sealingKey),
      isRetired: false,
      retiredAt: null,
      createdAt: clock.now(),
    }
    await insertSigningKey(db, row)
    return row
  }

  function open({ id, sealedPrivateJwk }: SigningKeyRow): Jwk | undefined {
    try {
      return toJwk(id, JSON.parse(unseal(sealedPrivateJwk, sealingKey)) as JsonWebKey)
    } catch {
      return undefined
    }
  }

  return {
    async load() {
      const limit = retiredKeyLimit(clock.now())
      const rows = (await listSigningKeys(db)).filter(
        ({ retiredAt }) => retiredAt === null || retiredAt > limit,
      )
      for (const row of rows) {
        const signing = row.isRetired ? undefined : open(row)
        if (signing) return { signing, verifying: rows.map(toPublicJwk) }
      }
      const added = await add()
      const signing = open(added)
      if (!signing) throw new Error('a signing key cannot be opened with the secret that has just sealed it')
      return { signing, verifying: [added, ...rows].map(toPublicJwk) }
    },

    async rotate() {
      const { id } = await add()
      await retireOtherSigningKeys(db, id, clock.now())
      return id
    },
  }
}

function toPublicJwk({ id, publicJwk }: SigningKeyRow): Jwk {
  return toJwk(id, publicJwk)
}

function toJwk(kid: string, jwk: JsonWebKey): Jwk {
  return { ...jwk, kid, alg: 'ES256', use: 'sig' }
}
