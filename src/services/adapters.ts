import { join } from 'node:path'
import type { Logger } from 'pino'
import type { Config } from '../config/config.ts'
import { loadAppSecret } from '../platform/app-secret.ts'
import type { Mailer } from '../platform/mail/mail.port.ts'
import { createFileMailer, createSmtpMailer } from '../platform/mail/nodemailer-mail.ts'
import { createAppSecret, type AppSecret } from '../platform/secrets/app-secret.port.ts'
import { createLocalStorage } from '../platform/storage/local-storage.ts'
import { createS3Storage, parseS3Url } from '../platform/storage/s3-storage.ts'
import type { FileStorage } from '../platform/storage/storage.port.ts'

/** APP_SECRET, or that of the data folder; and the one before. */
export function openAppSecret({ appSecret, appSecretPrevious, dataDir }: Config): AppSecret {
  return createAppSecret(() => loadAppSecret(appSecret, dataDir), appSecretPrevious)
}

/** Stores pictures in a bucket, or in the data folder without STORAGE_URL. */
export function createStorage({ storageUrl, dataDir }: Config): FileStorage {
  return storageUrl === undefined
    ? createLocalStorage(join(dataDir, 'uploads'))
    : createS3Storage(parseS3Url(storageUrl))
}

/** Sends mail over SMTP, or writes it to files without SMTP_URL. Logs its links only with the embedded database. */
export function createMailer(config: Config, log: Logger): Mailer {
  const { smtpUrl, mailFrom, dataDir, databaseUrl, secretNow } = config
  if (smtpUrl !== undefined) return createSmtpMailer(() => secretNow('SMTP_URL') ?? smtpUrl, mailFrom)
  const isEmbedded = databaseUrl === undefined
  return createFileMailer(join(dataDir, 'mail'), mailFrom, ({ to, subject, text }, path) => {
    // In production neither addresses nor links may be logged.
    const shown = isEmbedded ? { to: to.address, subject, links: text.match(/https?:\/\/\S+/g) } : {}
    log.info({ path, ...shown }, 'mail was written')
  })
}
