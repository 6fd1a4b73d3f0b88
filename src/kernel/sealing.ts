import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'

const algorithm = 'aes-256-gcm'
const ivLength = 12
const tagLength = 16

/** Derives a 256-bit key for one purpose from a secret of high entropy, by HKDF (RFC 5869). */
export function deriveKey(secret: string | Buffer, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, '', purpose, 32))
}

/** Encrypts and authenticates a text by AES-256-GCM, under a key of `deriveKey`. */
export function seal(text: string, key: Buffer): Buffer {
  const iv = randomBytes(ivLength)
  const cipher = createCipheriv(algorithm, key, iv)
  const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
  return Buffer.concat([iv, cipher.getAuthTag(), sealed])
}

/** Decrypts the output of `seal`. Throws when it was altered, or encrypted under another key. */
export function unseal(sealed: Buffer, key: Buffer): string {
  const decipher = createDecipheriv(algorithm, key, sealed.subarray(0, ivLength), {
    authTagLength: tagLength,
  })
  decipher.setAuthTag(sealed.subarray(ivLength, ivLength + tagLength))
  return decipher.update(sealed.subarray(ivLength + tagLength), undefined, 'utf8') + decipher.final('utf8')
}
