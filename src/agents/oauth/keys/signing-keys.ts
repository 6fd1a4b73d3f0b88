import { generateKeyPairSync, type JsonWebKey } from 'node:crypto'
import type { Database } from '../../../db/client.ts'
import type { Clock } from '../../../kernel/clock.ts'
import { createId } from '../../../kernel/ids.ts'
import type { AppSecret } from '../../../platform/secrets/app-secret.port.ts'
import {
  insertSigningKey,
  listSigningKeys,
  retiredKeyLimit,
  retireOtherSigningKeys,
  type SigningKeyRow,
} from './signing-keys.repository.ts'

/** A signing key as JWK (RFC 7517). */
export interface Jwk extends JsonWebKey {
  kid: string
  alg: 'ES256'
  use: 'sig'
}

/** The current signing key, and all keys that verify. */
export interface SigningKeys {
  /** Includes the private part. */
  signing: Jwk
  /** The public parts, also of the signing key. */
  verifying: Jwk[]
}

export interface SigningKeyStore {
  /** Loads the keys. Creates the first one if there is none. */
  load(): Promise<SigningKeys>
  /**
   * Creates a new signing key and retires the others, whose tokens stay valid until they expire. Returns its id;
   * undefined if there are keys that sign and none can be decrypted, or there are none and the secret is foreign: the other
   * processes have another secret then, and could not decrypt the new one.
   */
  rotate(): Promise<string | undefined>
}

export interface SigningKeyStoreOptions {
  db: Database
  clock: Clock
  appSecret: AppSecret
  /** Whether the secret does not open something that is stored in the database. */
  isSecretForeign: () => Promise<boolean>
}

/**
 * Stores the signing keys in the database, encrypted, so that all replicas sign with the same one. A process with
 * another secret cannot decrypt them and creates a key of its own, with which the others verify as well.
 */
export function createSigningKeyStore(options: SigningKeyStoreOptions): SigningKeyStore {
  const { db, clock, appSecret, isSecretForeign } = options
  const box = appSecret.boxOf('signing key')

  async function add(): Promise<SigningKeyRow> {
    const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    const id = createId()
    const row = {
      id,
      publicJwk: { ...publicKey.export({ format: 'jwk' }) },
      sealedPrivateJwk: box.seal(JSON.stringify(privateKey.export({ format: 'jwk' }))),
      isRetired: false,
      retiredAt: null,
      createdAt: clock.now(),
    }
    await insertSigningKey(db, row)
    return row
  }

  function open({ id, sealedPrivateJwk }: SigningKeyRow): Jwk | undefined {
    const opened = box.open(sealedPrivateJwk)
    return opened === undefined ? undefined : toJwk(id, JSON.parse(opened) as JsonWebKey)
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
      if (!signing) throw new Error('cannot decrypt a signing key that was just encrypted')
      return { signing, verifying: [added, ...rows].map(toPublicJwk) }
    },

    async rotate() {
      const active = (await listSigningKeys(db)).filter(({ isRetired }) => !isRetired)
      const isForeign = active.length > 0 ? !active.some(open) : await isSecretForeign()
      if (isForeign) return undefined
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
