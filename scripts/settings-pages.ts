import type { TSchema } from '@sinclair/typebox'
import { format, resolveConfig } from 'prettier'
import { ConfigSchema } from '../src/config/settings.ts'
import { secretNames } from '../src/config/secret-files.ts'

const settings = Object.entries<TSchema>(ConfigSchema.properties)

/** Renders .env.example: all settings with their defaults, commented out. */
export function renderEnvironmentExample(): string {
  const head =
    '# Copy this file to .env and uncomment the settings that you change. Environment variables override it. An empty\n' +
    '# value counts as unset.'
  const blocks = settings.map(
    ([name, schema]) => `# ${String(schema.description)}\n#${name}=${defaultOf(schema)}`,
  )
  return `${[head, ...blocks].join('\n\n')}\n`
}

/** Renders docs/configuration.md: the meaning, values and default of each setting. */
export async function renderSettingsPage(): Promise<string> {
  const rows = settings.map(([name, schema]) => {
    const value = defaultOf(schema)
    return `| \`${name}\` | ${value === '' ? '' : `\`${value}\``} | ${rangeOf(schema)} | ${toMarkdown(String(schema.description))} |`
  })
  const page = `# Configuration

Settings are environment variables, or lines of a file \`.env\` in the working directory. An environment variable overrides the file, and an empty value counts as unset. If settings are invalid, the process prints one line for each and exits with status 1. It does not print the values of \`APP_SECRET\`, \`APP_SECRET_PREVIOUS\`, \`OIDC_PROVIDERS\`, \`OUTGOING_PROXY\` and of variables that end in \`_URL\`, since they may contain secrets.

Secrets can be in files: \`NAME_FILE\` names the file with the value of NAME, such as \`DATABASE_URL_FILE=/run/secrets/database-url\`, for ${secretNames.map((name) => `\`${name}\``).join(', ')}. White space at the end of the file is ignored. A file that is empty or cannot be read, and a setting that is given both ways, are refused.

| Name | Default | Values | Meaning |
| --- | --- | --- | --- |
${rows.join('\n')}

This page and \`.env.example\` are written by \`npm run docs\` from \`ConfigSchema\` in \`src/config/settings.ts\`.
`
  return format(page, { ...(await resolveConfig(import.meta.filename)), parser: 'markdown' })
}

function defaultOf({ default: value }: TSchema): string {
  return value === undefined ? '' : String(value)
}

function rangeOf({ type, minimum, maximum, enum: words }: TSchema): string {
  if (Array.isArray(words)) return words.map((word) => `\`${word}\``).join(', ')
  if (type === 'boolean') return '`true`, `false`'
  if (minimum === undefined) return ''
  return maximum === undefined ? `from ${String(minimum)}` : `${String(minimum)} to ${String(maximum)}`
}

/** Marks names of variables, commands, URLs and JSON as code. */
function toMarkdown(text: string): string {
  return text.replaceAll(
    /`[^`]*`|\b(?:s3|smtps?|https?):\/\/[^\s,;]*[^\s,;.]|\{[^}]*\}|\b[A-Z]+(?:_[A-Z]+)+(?:\/[A-Za-z/-]+)?\b|\/ready\b/g,
    (part) => (part.startsWith('`') ? part : `\`${part}\``),
  )
}
