import type { TSchema } from '@sinclair/typebox'
import { format } from 'prettier'
import { ConfigSchema } from '../src/config.ts'

const settings = Object.entries<TSchema>(ConfigSchema.properties)

/** Makes .env.example: every setting with its default, commented out. */
export function renderEnvironmentExample(): string {
  const head =
    '# Copy this file to .env and uncomment what you change. Variables of the process win over it, and an empty value\n' +
    '# counts as unset.'
  const blocks = settings.map(
    ([name, schema]) => `# ${String(schema.description)}\n#${name}=${defaultOf(schema)}`,
  )
  return `${[head, ...blocks].join('\n\n')}\n`
}

/** Makes docs/configuration.md: what each setting means, what it may be, and what it is when it is not set. */
export async function renderSettingsPage(): Promise<string> {
  const rows = settings.map(([name, schema]) => {
    const value = defaultOf(schema)
    return `| \`${name}\` | ${value === '' ? '' : `\`${value}\``} | ${rangeOf(schema)} | ${toMarkdown(String(schema.description))} |`
  })
  const page = `# Configuration

Settings are environment variables, or lines of a file \`.env\` in the working directory. A variable of the process wins over the file, and an empty value counts as unset. At a bad value the program names every bad variable, one line each, and exits with status 1. Values of \`APP_SECRET\`, \`OIDC_PROVIDERS\` and of variables whose names end in \`_URL\` are not printed, since they are or may hold secrets.

| Name | Default | Values | Meaning |
| --- | --- | --- | --- |
${rows.join('\n')}

This page and \`.env.example\` are written by \`npm run docs\` from \`ConfigSchema\` in \`src/config.ts\`.
`
  return format(page, { parser: 'markdown' })
}

function defaultOf({ default: value }: TSchema): string {
  return value === undefined ? '' : String(value)
}

function rangeOf({ type, minimum, maximum }: TSchema): string {
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
