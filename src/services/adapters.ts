import { join } from 'node:path'
import type { Logger } from 'pino'
import type { Config } from '../config/config.ts'
import { loadAppSecret } from '../platform/app-secret.ts'
import type { Mailer } from '../platform/mail/mail.port.ts'
import { createFileMailer, createSmtpMailer } from '../platform/mail/nodemailer-mail.ts'
import { createAppSecret, type AppSecret } from '../platform/secrets/app-secret.port.ts'
import { createKeptStorage } from '../platform/storage/kept-storage.ts'
import { createLocalStorage } from '../platform/storage/local-storage.ts'
import { createS3Storage, parseS3Url } from '../platform/storage/s3-storage.ts'
import type { FileStorage } from '../platform/storage/storage.port.ts'

/** APP_SECRET, or that of the data folder; and the one before. */
export function openAppSecret({ appSecret, appSecretPrevious, dataDir }: Config): AppSecret {
  return createAppSecret(() => loadAppSecret(appSecret, dataDir), appSecretPrevious)
}

/** Stores pictures in a bucket, or in the data folder without STORAGE_URL. Keeps the files of a bucket that may be another's. */
export function createStorage({ storageUrl, dataDir, keepsFiles }: Config): FileStorage {
  if (storageUrl === undefined) return createLocalStorage(join(dataDir, 'uploads'))
  const bucket = createS3Storage(parseS3Url(storageUrl))
  return keepsFiles ? createKeptStorage(bucket) : bucket
}

/** Sends mail over SMTP, or writes it to files without SMTP_URL and with OUTGOING=off. Logs its links only with the embedded database. */
export function createMailer(config: Config, log: Logger): Mailer {
  const { smtpUrl, mailFrom, dataDir, databaseUrl, isOutgoing, secretNow } = config
  if (smtpUrl !== undefined && isOutgoing)
    return createSmtpMailer(() => secretNow('SMTP_URL') ?? smtpUrl, mailFrom)
  const isEmbedded = databaseUrl === undefined
  return createFileMailer(join(dataDir, 'mail'), mailFrom, ({ to, subject, text }, path) => {
    // In production neither addresses nor links may be logged.
    const shown = isEmbedded ? { to: to.address, subject, links: text.match(/https?:\/\/\S+/g) } : {}
    log.info({ path, ...shown }, 'mail was written')
  })
}
