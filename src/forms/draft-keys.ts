import { createHmac } from 'node:crypto'
import type { AppSecret } from '../platform/secrets/app-secret.port.ts'

/** By which the browser of a person encrypts texts, and finds them again. Base64. */
export interface KeysOfDrafts {
  tag: string
  textKey: string
  nameKey: string
}

/**
 * The keys of the texts that people have begun, which browsers keep encrypted (docs/design/forms.md#drafts). They are the
 * same in all sessions of a person. Nothing is stored of them.
 */
export interface DraftKeys {
  /**
   * Tells which texts in a browser are the person's. No secret. While APP_SECRET is replaced there are two, separated by a
   * space, that of the present one first.
   */
  tagsOf(userId: string): string
  /** Only for sessions of the person. `former` are those of the APP_SECRET before. */
  keysOf(userId: string): KeysOfDrafts & { former: KeysOfDrafts[] }
}

export function createDraftKeys(appSecret: AppSecret): DraftKeys {
  const all = (userId: string) => {
    const [first, ...others] = appSecret.keysOf('drafts')
    return [deriveKeys(first, userId), ...others.map((key) => deriveKeys(key, userId))] as const
  }
  return {
    tagsOf: (userId) =>
      all(userId)
        .map(({ tag }) => tag)
        .join(' '),
    keysOf(userId) {
      const [keys, ...former] = all(userId)
      return { ...keys, former }
    },
  }
}

function deriveKeys(key: Buffer, userId: string): KeysOfDrafts {
  const derive = (purpose: string) => createHmac('sha256', key).update(`${purpose} of ${userId}`).digest()
  return {
    tag: derive('tag').toString('base64url').slice(0, 16),
    textKey: derive('texts').toString('base64'),
    nameKey: derive('names').toString('base64'),
  }
}
