import { isId } from '../../kernel/ids.ts'
import type { AppSecret } from '../../platform/secrets/app-secret.port.ts'

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
 */
export function createUnsubscribeLinks(appSecret: AppSecret, webUrl: string): UnsubscribeLinks {
  const tags = appSecret.tagsOf('unsubscribe links', signatureBytes)
  return {
    urlOf(userId) {
      const id = Buffer.from(userId.replaceAll('-', ''), 'hex')
      return `${webUrl}/unsubscribe/${Buffer.concat([id, tags.create(id)]).toString('base64url')}`
    },
    userOf(token) {
      const bytes = Buffer.from(token, 'base64url')
      if (bytes.length !== idBytes + signatureBytes) return undefined
      const id = bytes.subarray(0, idBytes)
      if (!tags.isValid(id, bytes.subarray(idBytes))) return undefined
      const userId = id.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
      return isId(userId) ? userId : undefined
    },
  }
}
