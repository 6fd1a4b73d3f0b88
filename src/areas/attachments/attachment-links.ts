import { attachmentLinkMs } from '../../domain/attachments.ts'
import type { Clock } from '../../kernel/clock.ts'
import { isId } from '../../kernel/ids.ts'
import type { AppSecret } from '../../platform/secrets/app-secret.port.ts'

/** Links to the contents of files, which work without a credential for some minutes. */
export interface AttachmentLinks {
  create(attachmentId: string): { url: string; expiresAt: Date }
  /** The id of the file that a token is for; undefined if it is not ours, or has expired. */
  read(token: string): string | undefined
}

/** The path of links, before the token. */
export const attachmentLinkPath = '/v1/attachment-links'

/** Makes links that are signed under APP_SECRET, and reads their tokens: `ID.SECONDS.SIGNATURE`. */
export function createAttachmentLinks({
  appSecret,
  clock,
  baseUrl,
}: {
  appSecret: AppSecret
  clock: Clock
  baseUrl: string
}): AttachmentLinks {
  const tags = appSecret.tagsOf('links to files', 24)
  return {
    create(attachmentId) {
      const seconds = Math.floor((clock.now().getTime() + attachmentLinkMs) / 1000)
      const signed = `${attachmentId}.${seconds}`
      const token = `${signed}.${tags.create(signed).toString('base64url')}`
      return { url: `${baseUrl}${attachmentLinkPath}/${token}`, expiresAt: new Date(seconds * 1000) }
    },

    read(token) {
      const [, attachmentId = '', seconds = '', signature = ''] =
        /^([0-9a-f-]{36})\.(\d{10,11})\.([\w-]{32})$/.exec(token) ?? []
      const isOurs = tags.isValid(`${attachmentId}.${seconds}`, Buffer.from(signature, 'base64url'))
      if (!isOurs || !isId(attachmentId)) return undefined
      return Number(seconds) * 1000 > clock.now().getTime() ? attachmentId : undefined
    },
  }
}
