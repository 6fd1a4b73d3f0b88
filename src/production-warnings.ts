import type { Config } from './config/config.ts'
import { isLoopback } from './domain/webhooks.ts'

/** What an operator probably did not intend, a sentence each. Empty unless NODE_ENV is `production`. */
export function listProductionWarnings(config: Config): string[] {
  if (config.nodeEnv !== 'production') return []
  return [
    config.isOutgoing &&
      config.smtpUrl === undefined &&
      'SMTP_URL is not set: mails are written to files, so nobody can verify an email address or receive an invite',
    isLoopback(new URL(config.baseUrl).hostname) &&
      'BASE_URL names this machine: links in mails, and agents, will not reach the service from elsewhere',
    config.appSecret === undefined &&
      'APP_SECRET is not set: the service uses a generated one in DATA_DIR, which other replicas do not have',
  ].filter((warning) => warning !== false)
}
