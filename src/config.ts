import { existsSync, readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { parseEnv } from 'node:util'
import { Type, type Static } from '@sinclair/typebox'
import { Ajv, type ErrorObject } from 'ajv'

const origin = '^https?://[^/?#\\s]+$'

/** Every environment variable that the service reads. `npm run docs` writes .env.example and docs/configuration.md from it. */
export const ConfigSchema = Type.Object({
  NODE_ENV: Type.Optional(Type.String({ description: 'With production, DATABASE_URL is required.' })),
  HOST: Type.String({ default: '127.0.0.1', description: 'The address to listen on.' }),
  PORT: Type.Integer({ default: 3000, minimum: 1, maximum: 65535, description: 'The port to listen on.' }),
  BASE_URL: Type.Optional(
    Type.String({
      pattern: origin,
      description: 'The public origin of the API, without a path. Default: http://localhost:PORT.',
    }),
  ),
  WEB_URL: Type.Optional(
    Type.String({
      pattern: origin,
      description:
        'The public origin of the website, without a path: links in mails lead there. Default: BASE_URL.',
    }),
  ),
  DATABASE_URL: Type.Optional(
    Type.String({
      pattern: '^postgres(ql)?://',
      description:
        'The PostgreSQL server (15 or later). Default: one of its own in DATA_DIR, for trying things out.',
    }),
  ),
  DATABASE_POOL_MAX: Type.Integer({
    default: 10,
    minimum: 4,
    maximum: 1000,
    description: 'The most database connections of one process; two or three of them are for jobs.',
  }),
  REQUESTS_AT_ONCE_MAX: Type.Integer({
    default: 100,
    minimum: 1,
    description:
      'How many requests one process works on at once before it answers 503 to what comes on top; ten times as many ' +
      'while it keeps up.',
  }),
  SHUTDOWN_DELAY_SECONDS: Type.Number({
    default: 0,
    minimum: 0,
    maximum: 60,
    description:
      'How long a process that is told to stop serves on, /ready being 503, so that load balancers notice.',
  }),
  MIGRATE_ON_START: Type.Boolean({
    default: true,
    description: 'Whether to bring the database up to date at start. With false, run `admin migrate` first.',
  }),
  DATA_DIR: Type.String({
    default: '.data',
    description: 'Where files are kept that no other setting places.',
  }),
  REDIS_URL: Type.Optional(
    Type.String({
      pattern: '^rediss?://',
      description: 'The Redis server that replicas count requests in. Default: each process counts its own.',
    }),
  ),
  TRUST_PROXY: Type.String({
    default: 'false',
    format: 'proxies',
    description:
      'The proxies whose X-Forwarded-For counts: addresses, CIDR ranges, loopback, linklocal, uniquelocal, separated by ' +
      'commas; or false.',
  }),
  CORS_ORIGINS: Type.String({
    default: '*',
    description: 'The origins that browsers may call the API from: * or a list separated by commas.',
  }),
  APP_SECRET: Type.Optional(
    Type.String({
      minLength: 32,
      description:
        'What keys are sealed and cookies are signed under: at least 32 random characters, the same for all replicas. ' +
        'Default: one is made and kept in DATA_DIR.',
    }),
  ),
  AGENT_ORIGINS: Type.String({
    default: 'https://claude.ai,https://chatgpt.com,https://vscode.dev',
    description:
      'The origins of pages that agents run in, separated by commas; our own and local ones are added.',
  }),
  ACCESS_TOKEN_LIFETIME_SECONDS: Type.Integer({
    default: 900,
    minimum: 1,
    maximum: 86400,
    description: "How long an agent's access token can be used before it is refreshed.",
  }),
  REGISTRATION_LIMIT_PER_MINUTE: Type.Integer({
    default: 60,
    minimum: 0,
    description: 'Registrations of agents a minute from each client address; 0 = no limit.',
  }),
  AUTHORIZE_LIMIT_PER_MINUTE: Type.Integer({
    default: 60,
    minimum: 0,
    description: 'Requests of agents for access a minute from each client address; 0 = no limit.',
  }),
  AGENT_LIMIT_PER_MINUTE: Type.Integer({
    default: 600,
    minimum: 0,
    description:
      'Requests of agents a minute for each grant, and ten times as many for each agent and for each client address; ' +
      '0 = no limit.',
  }),
  API_KEY_PREFIX: Type.String({
    default: 'wsk',
    pattern: '^[a-z][a-z0-9]{1,15}$',
    description: 'What new API keys start with.',
  }),
  RATE_LIMIT_PER_MINUTE: Type.Optional(
    Type.Integer({
      minimum: 0,
      description:
        'Requests a minute for each API key; 0 = no limit. Default: 6000, and 0 without DATABASE_URL.',
    }),
  ),
  BAD_KEY_LIMIT_PER_MINUTE: Type.Integer({
    default: 600,
    minimum: 0,
    description:
      'Requests with a bad API key, or with a bad access token, a minute for each client address; 0 = no limit.',
  }),
  UPLOAD_LIMIT_PER_HOUR: Type.Integer({
    default: 60,
    minimum: 0,
    description: 'Uploads an hour for each person; 0 = no limit.',
  }),
  INVITE_LIMIT_PER_HOUR: Type.Integer({
    default: 200,
    minimum: 0,
    description: 'Invites an hour from each workspace, sent again ones among them; 0 = no limit.',
  }),
  SIGN_IN_LIMIT_PER_MINUTE: Type.Integer({
    default: 10,
    minimum: 0,
    description:
      'Failed attempts to sign in a minute for each account from one client address, and ten times as many for ' +
      'each account and for each address; 0 = no limit.',
  }),
  MAIL_LIMIT_PER_HOUR: Type.Integer({
    default: 5,
    minimum: 0,
    description:
      'Emails with links an hour to each recipient, invites counted apart, and ten times as many requested from each ' +
      'client address; 0 = no limit.',
  }),
  OIDC_PROVIDERS: Type.Optional(
    Type.String({
      format: 'providers',
      description:
        'Identity providers that people can sign in with, by OpenID Connect: a JSON list of ' +
        '{"id", "name", "issuer", "clientId", "clientSecret"}. With "domains", a list, the provider is believed ' +
        'only about addresses of these domains. Its redirect URI is WEB_URL/sign-in/with/ID/callback.',
    }),
  ),
  SMTP_URL: Type.Optional(
    Type.String({
      pattern: '^smtps?://',
      description:
        'The mail server: smtp://USER:PASSWORD@HOST:587, or smtps://…. Default: mail is written into the folder mail in ' +
        'DATA_DIR.',
    }),
  ),
  MAIL_FROM: Type.String({
    default: 'Workspace <no-reply@localhost>',
    pattern: '^([^<>\\r\\n]*<[^@<>\\s]+@[^@<>\\s]+>|[^@<>\\s]+@[^@<>\\s]+)$',
    description: 'Whom mail comes from.',
  }),
  STORAGE_URL: Type.Optional(
    Type.String({
      pattern: '^s3://[a-z0-9][a-z0-9.-]+(/[^?#]*)?([?][^#]*)?$',
      description:
        'Where pictures are kept: s3://BUCKET/PREFIX?endpoint=URL&region=NAME&pathStyle=true, with the credentials ' +
        'where the AWS SDK looks for them. Default: the folder uploads in DATA_DIR.',
    }),
  ),
  LOG_LEVEL: Type.String({
    default: 'info',
    pattern: '^(fatal|error|warn|info|debug|trace|silent)$',
    description: 'The least severe level that is logged: fatal, error, warn, info, debug, trace or silent.',
  }),
})

const OidcProviders = Type.Array(
  Type.Object(
    {
      id: Type.String({ pattern: '^[a-z0-9][a-z0-9-]{0,31}$' }),
      name: Type.String({ minLength: 1, maxLength: 50 }),
      // Plain http only where nobody can listen.
      issuer: Type.String({
        pattern: '^(https://|http://(localhost|127\\.0\\.0\\.1|\\[::1\\])[:/])[^?#\\s]*$',
      }),
      clientId: Type.String({ minLength: 1 }),
      clientSecret: Type.String({ minLength: 1 }),
      // The domains whose addresses it may vouch for; without them, of all.
      domains: Type.Optional(
        Type.Array(Type.String({ pattern: '^[a-z0-9-]+([.][a-z0-9-]+)+$' }), { minItems: 1, maxItems: 100 }),
      ),
    },
    { additionalProperties: false },
  ),
)

/** An identity provider, and what we are to it. */
export type OidcProvider = Static<typeof OidcProviders>[number]

type Name = keyof typeof ConfigSchema.properties
type Variables = Static<typeof ConfigSchema>
type CamelCase<Text extends string> = Text extends `${infer Head}_${infer Rest}`
  ? `${Lowercase<Head>}${Capitalize<CamelCase<Rest>>}`
  : Lowercase<Text>

/** The settings of a process, checked, complete and frozen: each variable by its name in camelCase. */
export type Config = Readonly<ReturnType<typeof toConfig>>

/** Environment variables that cannot be used, one line each. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
  readonly problems: readonly string[]

  constructor(problems: readonly string[]) {
    super(problems.join('\n'))
    this.problems = problems
  }
}

/** The environment: that of the process over that of a file `.env` in the working directory. Empty values are unset. */
export function readEnvironment(): NodeJS.ProcessEnv {
  const file = existsSync('.env') ? parseEnv(readFileSync('.env', 'utf8')) : {}
  return { ...file, ...withoutEmpty(process.env) }
}

/** Makes the configuration from environment variables, or throws a ConfigError that names every bad one. */
export function loadConfig(environment: NodeJS.ProcessEnv): Config {
  const variables = parse(environment)
  if (variables.NODE_ENV === 'production' && variables.DATABASE_URL === undefined) {
    throw new ConfigError([
      'DATABASE_URL is required with NODE_ENV=production: the embedded database is for development.',
    ])
  }
  return Object.freeze(toConfig(variables))
}

function toConfig(variables: Variables) {
  const settings = toCamelCase(variables)
  const baseUrl = settings.baseUrl ?? `http://localhost:${settings.port}`
  const { trustProxy, corsOrigins, databaseUrl } = settings
  return {
    ...settings,
    baseUrl,
    webUrl: settings.webUrl ?? baseUrl,
    trustProxy: trustProxy === 'false' ? (false as const) : trustProxy,
    corsOrigins: corsOrigins === '*' ? ('*' as const) : toList(corsOrigins),
    agentOrigins: toList(settings.agentOrigins),
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

function parse(environment: NodeJS.ProcessEnv): Static<typeof ConfigSchema> {
  const ajv = new Ajv({
    allErrors: true,
    // The environment holds much that is not for us.
    removeAdditional: 'all',
    useDefaults: true,
    coerceTypes: true,
    // As for requests: tests/contract/schemas.test.ts checks it.
    validateSchema: false,
  })
  ajv.addFormat('proxies', isProxyList)
  ajv.addFormat('providers', (text: string) => parseProviders(text) !== undefined)
  const variables: unknown = withoutEmpty(environment)
  if (ajv.validate<Static<typeof ConfigSchema>>(ConfigSchema, variables)) return variables
  throw new ConfigError([...new Set((ajv.errors ?? []).map((fault) => describe(fault, environment)))])
}

function describe({ keyword, instancePath, message }: ErrorObject, environment: NodeJS.ProcessEnv): string {
  const name = instancePath.slice(1)
  const schema = ConfigSchema.properties[name as keyof typeof ConfigSchema.properties]
  // A URL may hold a password, as do providers: only what cannot is shown.
  const shown = /_URL$|SECRET|PROVIDERS/.test(name) ? '' : ` (it is ${JSON.stringify(environment[name])})`
  const rule = keyword === 'pattern' || keyword === 'format' ? 'has the wrong form' : message
  return `${name} ${rule}${shown}. ${schema.description ?? ''}`
}

function withoutEmpty(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ''))
}

/** The providers of a JSON list, or undefined for what is none. */
function parseProviders(text: string): OidcProvider[] | undefined {
  try {
    const list: unknown = JSON.parse(text)
    if (!new Ajv().validate<OidcProvider[]>(OidcProviders, list)) return undefined
    const ids = new Set(list.map(({ id }) => id))
    return ids.size === list.length && list.every(({ issuer }) => URL.canParse(issuer)) ? list : undefined
  } catch {
    return undefined
  }
}

/** Whether a text names proxies. A number of hops does not: any client can pretend to be behind as many. */
function isProxyList(text: string): boolean {
  return text === 'false' || text.split(',').every((part) => isProxy(part.trim()))
}

function isProxy(text: string): boolean {
  if (['loopback', 'linklocal', 'uniquelocal'].includes(text)) return true
  const [address = '', prefix, ...rest] = text.split('/')
  const bits = isIP(address) === 4 ? 32 : 128
  const isPrefix = prefix === undefined || (/^[1-9][0-9]{0,2}$/.test(prefix) && Number(prefix) <= bits)
  return isIP(address) !== 0 && isPrefix && rest.length === 0
}
