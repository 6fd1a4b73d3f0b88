import { readFileSync } from 'node:fs'

/** The settings that may hold a secret. `NAME_FILE` names a file that has the value of each. */
export const secretNames = [
  'DATABASE_URL',
  'DATABASE_DIRECT_URL',
  'REDIS_URL',
  'SMTP_URL',
  'APP_SECRET',
  'APP_SECRET_PREVIOUS',
  'OIDC_PROVIDERS',
  'STORAGE_URL',
  'OUTGOING_PROXY',
] as const

export type SecretName = (typeof secretNames)[number]

/**
 * Returns a function that reads the value of a secret at this moment: that of its file, which may have been replaced since
 * the start, such as by a new password. While the file cannot be read or is empty, the value of the start counts.
 */
export function readSecretsAgain(
  given: NodeJS.ProcessEnv,
  atStart: Partial<Record<SecretName, string>>,
): (name: SecretName) => string | undefined {
  return (name) => {
    const path = given[`${name}_FILE`]
    try {
      if (path) return readFileSync(path, 'utf8').trimEnd() || atStart[name]
    } catch {
      // It is being replaced.
    }
    return atStart[name]
  }
}

/**
 * Reads the settings that are in files, as orchestrators mount secrets: `DATABASE_URL_FILE` for `DATABASE_URL`. White
 * space at the end of a file is no part of its value. Returns the environment with these values, and a line for each file
 * that cannot be used. No line contains what is in a file.
 */
export function readSecretFiles(environment: NodeJS.ProcessEnv): {
  environment: NodeJS.ProcessEnv
  problems: string[]
} {
  const read: Record<string, string> = {}
  const problems: string[] = []
  for (const name of secretNames) {
    const path = environment[`${name}_FILE`]
    if (!path) continue
    if (environment[name]) problems.push(`${name} and ${name}_FILE are both set: set only one of them.`)
    else {
      try {
        read[name] = readFileSync(path, 'utf8').trimEnd()
        if (read[name] === '') problems.push(`${name}_FILE names an empty file, ${path}.`)
      } catch (error) {
        problems.push(`${name}_FILE cannot be read: ${(error as Error).message}.`)
      }
    }
  }
  return { environment: { ...environment, ...read }, problems }
}
