import { existsSync, readFileSync } from 'node:fs'
import { parseEnv } from 'node:util'
import type { Static, TSchema } from '@sinclair/typebox'
import { Ajv, type ErrorObject } from 'ajv'
import type { EntryRules } from '../domain/accounts.ts'
import { isLoopback } from '../domain/webhooks.ts'
import { isHostList, isProxyList, isProxyUrl } from './network-lists.ts'
import { readSecretFiles, readSecretsAgain, type SecretName } from './secret-files.ts'
import { ConfigSchema, OidcProviders, type OidcProvider } from './settings.ts'

type Name = keyof typeof ConfigSchema.properties
type Variables = Static<typeof ConfigSchema>
type CamelCase<Text extends string> = Text extends `${infer Head}_${infer Rest}`
  ? `${Lowercase<Head>}${Capitalize<CamelCase<Rest>>}`
  : Lowercase<Text>

/** The validated settings of a process, with defaults: each variable by its name in camelCase. */
export type Config = Readonly<
  ReturnType<typeof toConfig> & {
    /** The value of a secret at this moment, for new connections: its file may have been replaced since the start. */
    secretNow: (name: SecretName) => string | undefined
  }
>

/** Invalid environment variables, with one line for each. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
  readonly problems: readonly string[]

  constructor(problems: readonly string[]) {
    super(problems.join('\n'))
    this.problems = problems
  }
}

/**
 * The environment of the process, and below it that of a file `.env` in the working directory. Empty values count as
 * unset.
 */
export function readEnvironment(): NodeJS.ProcessEnv {
  const file = existsSync('.env') ? parseEnv(readFileSync('.env', 'utf8')) : {}
  return { ...file, ...withoutEmpty(process.env) }
}

// Longer than deliveries are kept (src/services/jobs.ts).
const eventsKeptDaysMin = 31

/**
 * Reads the configuration from environment variables, and from the files that they name. Throws a ConfigError that names
 * all invalid ones.
 */
export function loadConfig(given: NodeJS.ProcessEnv): Config {
  const { environment, problems } = readSecretFiles(given)
  if (problems.length > 0) throw new ConfigError(problems)
  const variables = parse(environment)
  if (variables.NODE_ENV === 'production' && variables.DATABASE_URL === undefined) {
    throw new ConfigError([
      'DATABASE_URL is required with NODE_ENV=production: the embedded database is for development.',
    ])
  }
  const several = (['DATABASE_URL', 'DATABASE_DIRECT_URL'] as const).filter((name) =>
    hasSeveralHosts(variables[name] ?? ''),
  )
  if (several.length > 0)
    throw new ConfigError(
      several.map(
        (name) =>
          `${name} must name one host. Of several servers, use one name that leads to the primary: of a pooler or proxy ` +
          '(PgBouncer, HAProxy), a virtual address, or a DNS name of the cluster.',
      ),
    )
  if (variables.DATABASE_POOLER === 'transaction' && !hasDirectUrl(variables))
    throw new ConfigError([
      'DATABASE_POOLER=transaction requires DATABASE_DIRECT_URL, another URL than DATABASE_URL: the lock of migrations and ' +
        'the queue of jobs need a session.',
    ])
  if (variables.METRICS_PORT === variables.PORT)
    throw new ConfigError(['METRICS_PORT must not be PORT: metrics are not for the public.'])
  const { APP_SECRET: secret, APP_SECRET_PREVIOUS: previous } = variables
  // Otherwise a machine without the file of the secret would generate a third one.
  if (previous !== undefined && (secret === undefined || secret === previous))
    throw new ConfigError(['APP_SECRET_PREVIOUS requires APP_SECRET, another secret.'])
  const { EVENTS_KEPT_DAYS: keptDays } = variables
  if (keptDays > 0 && keptDays < eventsKeptDaysMin)
    throw new ConfigError([
      `EVENTS_KEPT_DAYS must be 0, or at least ${eventsKeptDaysMin} (it is "${keptDays}"): deliveries to webhooks need the events of 30 days.`,
    ])
  const config = { ...toConfig(variables), secretNow: readSecretsAgain(given, variables) }
  if (!config.entry.hasPasswords && config.oidcProviders.length === 0)
    throw new ConfigError(['PASSWORDS=off requires OIDC_PROVIDERS: people would have no way to sign up.'])
  return Object.freeze(config)
}

/** Whether a URL of PostgreSQL names several hosts, as libpq accepts them, and node-postgres does not. */
function hasSeveralHosts(url: string): boolean {
  const [, host = ''] = /^\w+:\/\/(?:[^/?#]*@)?([^/?#]*)/.exec(url) ?? []
  return host.includes(',') || /[?&]host=[^&]*(,|%2c)/i.test(url)
}

function hasDirectUrl({ DATABASE_URL: url, DATABASE_DIRECT_URL: directUrl }: Variables): boolean {
  return url !== undefined && directUrl !== undefined && directUrl !== url
}

function toConfig(variables: Variables) {
  const settings = toCamelCase(variables)
  const baseUrl = settings.baseUrl ?? `http://localhost:${settings.port}`
  const { trustProxy, corsOrigins, databaseUrl } = settings
  const isOutgoing = settings.outgoing === 'on'
  return {
    ...settings,
    baseUrl,
    webUrl: settings.webUrl ?? baseUrl,
    databaseDirectUrl: settings.databaseDirectUrl ?? databaseUrl,
    trustProxy: trustProxy === 'false' ? (false as const) : trustProxy,
    corsOrigins: corsOrigins === '*' ? ('*' as const) : toList(corsOrigins),
    agentOrigins: toList(settings.agentOrigins),
    webhookAllowedHosts: toList(settings.webhookAllowedHosts ?? '').filter(Boolean),
    outgoingProxy: settings.outgoingProxy === undefined ? undefined : new URL(settings.outgoingProxy),
    isOutgoing,
    /** Whether the storage may be that of another installation, and keeps its files. */
    keepsFiles: !isOutgoing && settings.storageUrl !== undefined && settings.outgoingStorage !== 'own',
    areDocumentsOn: settings.clientMetadataDocuments === 'on',
    isDevelopment: settings.nodeEnv !== 'production' && isLoopback(new URL(baseUrl).hostname),
    entry: {
      signUp: settings.signUp,
      hasPasswords: settings.passwords === 'on',
      hasWorkspaceCreation: settings.workspaceCreation === 'everybody',
    } satisfies EntryRules,
    rateLimitPerMinute: settings.rateLimitPerMinute ?? (databaseUrl === undefined ? 0 : 6000),
    oidcProviders: parseProviders(settings.oidcProviders ?? '[]') ?? [],
  }
}

function toCamelCase(variables: Variables) {
  const names = Object.keys(ConfigSchema.properties) as Name[]
  return Object.fromEntries(
    names.map((name) => [
      name.toLowerCase().replaceAll(/_(.)/g, (_match, letter: string) => letter.toUpperCase()),
      variables[name],
    ]),
  ) as { [Each in Name as CamelCase<Each>]: Variables[Each] }
}

function toList(text: string): readonly string[] {
  return text.split(',').map((part) => part.trim())
}

// Made once, as it compiles its schema: tests read settings hundreds of times.
let settingsCheck: Ajv | undefined

function createSettingsCheck(): Ajv {
  const ajv = new Ajv({
    allErrors: true,
    // The environment has variables of other programs.
    removeAdditional: 'all',
    useDefaults: true,
    coerceTypes: true,
    // As for requests: tests/contract/schemas.test.ts checks it.
    validateSchema: false,
  })
  ajv.addFormat('proxies', isProxyList)
  ajv.addFormat('hosts', isHostList)
  ajv.addFormat('proxy-url', isProxyUrl)
  ajv.addFormat('providers', (text: string) => parseProviders(text) !== undefined)
  return ajv
}

function parse(environment: NodeJS.ProcessEnv): Static<typeof ConfigSchema> {
  const ajv = (settingsCheck ??= createSettingsCheck())
  const variables: unknown = withoutEmpty(environment)
  if (ajv.validate<Static<typeof ConfigSchema>>(ConfigSchema, variables)) return variables
  throw new ConfigError([...new Set((ajv.errors ?? []).map((fault) => describe(fault, environment)))])
}

function describe({ instancePath }: ErrorObject, environment: NodeJS.ProcessEnv): string {
  const name = instancePath.slice(1)
  const schema = ConfigSchema.properties[name as keyof typeof ConfigSchema.properties]
  // URLs, secrets, providers and the outgoing proxy are not shown: they may contain passwords.
  const shown = /_URL$|SECRET|PROVIDERS|^OUTGOING_PROXY$/.test(name)
    ? ''
    : ` (it is ${JSON.stringify(environment[name])})`
  return `${name} must be ${expectedValue(schema)}${shown}. ${schema.description ?? ''}`
}

function expectedValue({ title, type, minimum, maximum, minLength }: TSchema): string {
  if (title !== undefined) return title
  if (type === 'boolean') return 'true or false'
  if (type === 'string') return `at least ${String(minLength)} characters long`
  const bounds =
    maximum === undefined ? `of at least ${String(minimum)}` : `from ${String(minimum)} to ${String(maximum)}`
  return `a ${type === 'integer' ? 'whole ' : ''}number ${bounds}`
}

function withoutEmpty(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ''))
}

/** Parses a JSON list of providers. Returns undefined if it is invalid. */
function parseProviders(text: string): OidcProvider[] | undefined {
  try {
    const list: unknown = JSON.parse(text)
    if (!new Ajv({ validateSchema: false }).validate<OidcProvider[]>(OidcProviders, list)) return undefined
    const ids = new Set(list.map(({ id }) => id))
    return ids.size === list.length && list.every(({ issuer }) => URL.canParse(issuer)) ? list : undefined
  } catch {
    return undefined
  }
}
