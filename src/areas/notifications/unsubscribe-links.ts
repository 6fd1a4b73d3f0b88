import { createHmac, timingSafeEqual } from 'node:crypto'
import { isId } from '../../kernel/ids.ts'
import { deriveKey } from '../../kernel/sealing.ts'

/** The links in mails that turn off mails about workspaces, without a sign-in (RFC 8058). */
export interface UnsubscribeLinks {
  /** The link of a person. It does not expire: mails are kept for years. */
  urlOf(userId: string): string
  /** The person of the token of a link; undefined if the service did not sign it. */
  userOf(token: string): string | undefined
}

const idBytes = 16
const signatureBytes = 16

/**
 * Links that are signed under APP_SECRET, so that nothing is stored of them. All that they allow is to turn off mails.
 * The secret is loaded at first use.
 */
export function createUnsubscribeLinks(loadAppSecret: () => string, webUrl: string): UnsubscribeLinks {
  let loaded: Buffer | undefined
  const key = () => (loaded ??= deriveKey(loadAppSecret(), 'unsubscribe links'))
  const sign = (id: Buffer) => createHmac('sha256', key()).update(id).digest().subarray(0, signatureBytes)
  return {
    urlOf(userId) {
      const id = Buffer.from(userId.replaceAll('-', ''), 'hex')
      return `${webUrl}/unsubscribe/${Buffer.concat([id, sign(id)]).toString('base64url')}`
    },
    userOf(token) {
      const bytes = Buffer.from(token, 'base64url')
      if (bytes.length !== idBytes + signatureBytes) return undefined
      const id = bytes.subarray(0, idBytes)
      if (!timingSafeEqual(sign(id), bytes.subarray(idBytes))) return undefined
      const userId = id.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
      return isId(userId) ? userId : undefined
    },
  }
}
