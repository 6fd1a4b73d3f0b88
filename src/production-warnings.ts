import type { Config } from './config.ts'

/** What an operator probably did not intend, a sentence each. Empty unless NODE_ENV is `production`. */
export function listProductionWarnings(config: Config): string[] {
  if (config.nodeEnv !== 'production') return []
  const isLocal = /^(localhost|127\..*|\[::1\])$/.test(new URL(config.baseUrl).hostname)
  return [
    config.smtpUrl === undefined &&
      'SMTP_URL is not set: mails are written to files, so nobody can verify an email address or receive an invite',
    isLocal &&
      'BASE_URL names this machine: links in mails, and agents, will not reach the service from elsewhere',
    config.appSecret === undefined &&
      'APP_SECRET is not set: the service uses a generated one in DATA_DIR, which other replicas do not have',
  ].filter((warning) => warning !== false)
}
