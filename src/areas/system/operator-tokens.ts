import type { AppSecret } from '../../platform/secrets/app-secret.port.ts'

const lifetimeMs = 60_000

/**
 * Short-lived tokens by which `admin check` shows the service that it has the same APP_SECRET. They open nothing but the
 * service's answer to what it sees of the request.
 */
export interface OperatorTokens {
  create(now: Date): string
  isValid(token: string, now: Date): boolean
}

export function createOperatorTokens(appSecret: AppSecret): OperatorTokens {
  const tags = appSecret.tagsOf('operator tokens')
  return {
    create(now) {
      const expiresAt = String(now.getTime() + lifetimeMs)
      return `${expiresAt}.${tags.create(expiresAt).toString('base64url')}`
    },
    isValid(token, now) {
      const [, expiresAt, signature] = /^(\d{13})\.([\w-]{43})$/.exec(token) ?? []
      if (expiresAt === undefined || signature === undefined) return false
      const leftMs = Number(expiresAt) - now.getTime()
      // The clocks of the two machines may differ a little.
      if (leftMs <= 0 || leftMs > 2 * lifetimeMs) return false
      return tags.isValid(expiresAt, Buffer.from(signature, 'base64url'))
    },
  }
}
