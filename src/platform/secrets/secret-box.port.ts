import { deriveKey, seal, unseal } from '../../kernel/sealing.ts'

/** Encrypts the secrets of people under APP_SECRET. */
export interface SecretBox {
  seal(text: string): Buffer
  /** Undefined if the text was sealed under another APP_SECRET, or was altered. */
  open(sealed: Buffer): string | undefined
}

/** Loads the secret on first use, since a service without authenticator apps and passkeys needs none. */
export function createSecretBox(loadAppSecret: () => string, purpose: string): SecretBox {
  let loaded: Buffer | undefined
  const key = () => (loaded ??= deriveKey(loadAppSecret(), purpose))
  return {
    seal: (text) => seal(text, key()),
    open(sealed) {
      try {
        return unseal(sealed, key())
      } catch {
        return undefined
      }
    },
  }
}
