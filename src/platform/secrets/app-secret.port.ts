import { createHmac, timingSafeEqual } from 'node:crypto'
import { deriveKey, seal, unseal } from '../../kernel/sealing.ts'

/** What keys are derived for. Part of the derivation: a changed text is another key. */
export type Purpose =
  | 'answers to authorization requests'
  | 'authenticator apps'
  | 'challenges of passkeys'
  | 'confirmations of calls'
  | 'drafts'
  | 'links to files'
  | 'oauth cookies'
  | 'operator tokens'
  | 'origins of clients'
  | 'origins of refresh tokens'
  | 'renewed sessions'
  | 'secrets of webhooks'
  | 'signing key'
  | 'unsubscribe links'

/**
 * APP_SECRET and, while it is being replaced, APP_SECRET_PREVIOUS. Only this file knows that there may be two: what is
 * made is made with the first, and what was made with either is accepted.
 */
export interface AppSecret {
  /** Encrypts texts of a purpose. */
  boxOf(purpose: Purpose): SecretBox
  /** Authenticates texts of a purpose, by tags of a length in bytes (default: 32). */
  tagsOf(purpose: Purpose, length?: number): Tags
  /** The keys of a purpose, that of APP_SECRET first. */
  keysOf(purpose: Purpose): readonly [Buffer, ...Buffer[]]
}

/** Encrypts texts under APP_SECRET. */
export interface SecretBox {
  seal(text: string): Buffer
  /** Undefined if the text was sealed under another secret, or was altered. */
  open(sealed: Buffer): string | undefined
  /** Under which secret a text was sealed. */
  secretOf(sealed: Buffer): 'current' | 'previous' | 'unknown'
}

/** Authenticates texts by HMAC-SHA-256 under APP_SECRET. */
export interface Tags {
  create(text: string | Buffer): Buffer
  isValid(text: string | Buffer, tag: Buffer): boolean
}

/** `load` is called once, by the first use: an installation that keeps nothing secret needs no secret. */
export function createAppSecret(load: () => string, previous?: string): AppSecret {
  let loaded: readonly [string, ...string[]] | undefined
  const derived = new Map<Purpose, readonly [Buffer, ...Buffer[]]>()
  function keysOf(purpose: Purpose): readonly [Buffer, ...Buffer[]] {
    const known = derived.get(purpose)
    if (known) return known
    loaded ??= previous === undefined ? [load()] : [load(), previous]
    const [first, ...others] = loaded
    const keys = [deriveKey(first, purpose), ...others.map((secret) => deriveKey(secret, purpose))] as const
    derived.set(purpose, keys)
    return keys
  }
  return {
    keysOf,

    boxOf: (purpose) => ({
      seal: (text) => seal(text, keysOf(purpose)[0]),
      open: (sealed) => openByFirst(sealed, keysOf(purpose))?.text,
      secretOf(sealed) {
        const place = openByFirst(sealed, keysOf(purpose))?.place
        return place === undefined ? 'unknown' : place === 0 ? 'current' : 'previous'
      },
    }),

    tagsOf(purpose, length = 32) {
      const tagOf = (text: string | Buffer, key: Buffer) =>
        createHmac('sha256', key).update(text).digest().subarray(0, length)
      return {
        create: (text) => tagOf(text, keysOf(purpose)[0]),
        isValid: (text, tag) => keysOf(purpose).some((key) => isSame(tagOf(text, key), tag)),
      }
    },
  }
}

/** The text, and the place of the first key that opens it. */
function openByFirst(sealed: Buffer, keys: readonly Buffer[]): { text: string; place: number } | undefined {
  for (const [place, key] of keys.entries()) {
    try {
      return { text: unseal(sealed, key), place }
    } catch {
      // Sealed under another key, or altered.
    }
  }
  return undefined
}

function isSame(one: Buffer, other: Buffer): boolean {
  return one.length === other.length && timingSafeEqual(one, other)
}
