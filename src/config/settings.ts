import { Type, type Static } from '@sinclair/typebox'
import { signUpPolicies } from '../domain/accounts.ts'

const origin = {
  pattern: '^https?://[^/?#\\s]+$',
  title: 'an origin such as https://api.example.com, without a path and a trailing slash',
}

/** One of some words. */
function oneOf<const Word extends string>(
  words: readonly Word[],
  options: { default: Word; description: string },
) {
  return Type.Unsafe<Word>({ type: 'string', enum: words, title: `one of ${words.join(', ')}`, ...options })
}

/**
 * All environment variables that the service reads. `npm run docs` writes .env.example and docs/configuration.md from
 * it. A `title` says what a value must be, for error messages.
 */
export const ConfigSchema = Type.Object({
  NODE_ENV: Type.Optional(
    Type.String({
      description:
        'In production, DATABASE_URL is required, and /design, a page with the components of the website, is not served.',
    }),
  ),
  HOST: Type.String({ default: '127.0.0.1', description: 'The address to listen on.' }),
  PORT: Type.Integer({ default: 3000, minimum: 1, maximum: 65535, description: 'The port to listen on.' }),
  BASE_URL: Type.Optional(
    Type.String({
      ...origin,
      description: 'The public origin of the API, without a path. Default: http://localhost:PORT.',
    }),
  ),
  WEB_URL: Type.Optional(
    Type.String({
      ...origin,
      description:
        'The public origin of the website, without a path; links in mails use it. Default: BASE_URL.',
    }),
  ),
  DATABASE_URL: Type.Optional(
    Type.String({
      pattern: '^postgres(ql)?://',
      title: 'a URL that begins with postgres://',
      description:
        'The PostgreSQL database (version 15 or later). Default: an embedded database in DATA_DIR, for development.',
    }),
  ),
  DATABASE_POOLER: oneOf(['session', 'transaction'], {
    default: 'session',
    description:
      'The mode of a pooler in DATABASE_URL, such as pool_mode of PgBouncer; session also without a pooler. With ' +
      'transaction, DATABASE_DIRECT_URL is required.',
  }),
  DATABASE_DIRECT_URL: Type.Optional(
    Type.String({
      pattern: '^postgres(ql)?://',
      title: 'a URL that begins with postgres://',
      description:
        'The same database without a pooler, or through one in session mode, for jobs, migrations and commands. ' +
        'Default: DATABASE_URL.',
    }),
  ),
  DATABASE_POOL_MAX: Type.Integer({
    default: 10,
    minimum: 4,
    maximum: 1000,
    description:
      'The maximum number of database connections of a process. Two or three of them are for jobs.',
  }),
  REQUESTS_AT_ONCE_MAX: Type.Integer({
    default: 100,
    minimum: 1,
    description:
      'The maximum number of requests that a process works on at once; it answers 503 to others, and 429 to callers ' +
      'who have many. Short bursts may have ten times as many.',
  }),
  SHUTDOWN_DELAY_SECONDS: Type.Number({
    default: 0,
    minimum: 0,
    maximum: 60,
    description:
      'How long a stopping process still serves requests, while /ready answers 503, so that load balancers notice.',
  }),
  MIGRATE_ON_START: Type.Boolean({
    default: true,
    description: 'Whether to apply migrations at start. With false, run `admin migrate` first.',
  }),
  DATA_DIR: Type.String({
    default: '.data',
    description:
      'The folder of the embedded database, and of pictures, files, mail and the secret if no other place is set for them.',
  }),
  REDIS_URL: Type.Optional(
    Type.String({
      pattern: '^rediss?://',
      title: 'a URL that begins with redis:// or rediss://',
      description:
        'The Redis server in which replicas share rate limits. Default: each process counts requests by itself.',
    }),
  ),
  TRUST_PROXY: Type.String({
    default: 'false',
    format: 'proxies',
    title: 'a list of addresses, CIDR ranges, loopback, linklocal or uniquelocal, or false',
    description:
      'The proxies whose X-Forwarded-For is trusted: addresses, CIDR ranges, loopback, linklocal, uniquelocal, ' +
      'separated by commas; or false.',
  }),
  CORS_ORIGINS: Type.String({
    default: '*',
    description: 'The origins whose pages may call the API: * or a list separated by commas.',
  }),
  APP_SECRET: Type.Optional(
    Type.String({
      minLength: 32,
      description:
        'The secret that encrypts signing keys and signs cookies: at least 32 random characters, the same for all ' +
        'replicas. Default: generated at first use and stored in DATA_DIR.',
    }),
  ),
  APP_SECRET_PREVIOUS: Type.Optional(
    Type.String({
      minLength: 32,
      description:
        'The APP_SECRET before the present one, while it is being replaced: what was encrypted or signed under it stays ' +
        'valid. Requires APP_SECRET.',
    }),
  ),
  AGENT_ORIGINS: Type.String({
    default: 'https://claude.ai,https://chatgpt.com,https://vscode.dev',
    description:
      'The origins of pages that may call the MCP endpoint, separated by commas. The service and localhost ' +
      'are always allowed.',
  }),
  CLIENT_METADATA_DOCUMENTS: oneOf(['on', 'off'], {
    default: 'on',
    description:
      'Whether agents may have the URL of a metadata document as their id, which the service fetches. With off, agents ' +
      'register instead; those that have access keep it.',
  }),
  OUTGOING_PROXY: Type.Optional(
    Type.String({
      format: 'proxy-url',
      title: 'a URL of the form http://HOST:PORT',
      description:
        'The proxy through which metadata documents and keys of agents are fetched: http://USER:PASSWORD@HOST:PORT, or ' +
        'https://…. Names are resolved by the service, and the proxy is asked for their address. Default: none.',
    }),
  ),
  OUTGOING: oneOf(['on', 'off'], {
    default: 'on',
    description:
      'With off, for a copy such as of a backup: mails are written to the folder mail in DATA_DIR, deliveries to webhooks ' +
      'wait, no documents of agents are fetched, and nothing is deleted or overwritten in STORAGE_URL. Pages say so. ' +
      'Identity providers are still asked.',
  }),
  OUTGOING_STORAGE: oneOf(['shared', 'own'], {
    default: 'shared',
    description:
      'With OUTGOING=off: whose STORAGE_URL is. With own, a bucket that only this installation uses, files are deleted there.',
  }),
  ACCESS_TOKEN_LIFETIME_SECONDS: Type.Integer({
    default: 3600,
    minimum: 1,
    maximum: 86400,
    description: 'The lifetime of the access tokens of agents.',
  }),
  REFRESH_GRACE_SECONDS: Type.Integer({
    default: 1800,
    minimum: 0,
    maximum: 86400,
    description:
      'How long after its first exchange the refresh token of an agent is answered again with the same successor. A ' +
      'later use revokes the grant.',
  }),
  REFRESH_LIMIT_PER_HOUR: Type.Integer({
    default: 60,
    minimum: 0,
    maximum: 100,
    description:
      'Exchanges of refresh tokens per hour for each installation of an agent, without repeated ones; 0 = no limit.',
  }),
  REGISTRATION_LIMIT_PER_MINUTE: Type.Integer({
    default: 60,
    minimum: 0,
    description: 'Registrations of agents per minute for each client address; 0 = no limit.',
  }),
  AUTHORIZE_LIMIT_PER_MINUTE: Type.Integer({
    default: 60,
    minimum: 0,
    description: 'Authorization requests of agents per minute for each client address; 0 = no limit.',
  }),
  REFUSED_TOKEN_LIMIT_PER_MINUTE: Type.Integer({
    default: 600,
    minimum: 0,
    description:
      'Requests of agents for tokens, or to revoke them, that are refused, per minute for each client address; ' +
      '0 = no limit.',
  }),
  AGENT_LIMIT_PER_MINUTE: Type.Integer({
    default: 600,
    minimum: 0,
    description:
      'Requests of agents per minute for each grant, and ten times as many for each agent and each client address; ' +
      '0 = no limit.',
  }),
  API_KEY_PREFIX: Type.String({
    default: 'wsk',
    pattern: '^[a-z][a-z0-9]{1,15}$',
    title: '2 to 16 characters a to z and 0 to 9, beginning with a letter',
    description: 'The prefix of new API keys.',
  }),
  RATE_LIMIT_PER_MINUTE: Type.Optional(
    Type.Integer({
      minimum: 0,
      description:
        'Requests per minute for each API key; 0 = no limit. Default: 6000, or 0 without DATABASE_URL.',
    }),
  ),
  BAD_KEY_LIMIT_PER_MINUTE: Type.Integer({
    default: 600,
    minimum: 0,
    description:
      'Requests with an invalid API key, or with an invalid access token, per minute for each client address; ' +
      '0 = no limit.',
  }),
  UPLOAD_LIMIT_PER_HOUR: Type.Integer({
    default: 60,
    minimum: 0,
    description: 'Uploads of pictures per hour for each user; 0 = no limit.',
  }),
  ATTACHMENT_LIMIT_PER_HOUR: Type.Integer({
    default: 300,
    minimum: 0,
    description: 'Files that each user may attach per hour; 0 = no limit.',
  }),
  STORAGE_QUOTA_MEGABYTES: Type.Integer({
    default: 5120,
    minimum: 0,
    maximum: 1_000_000_000,
    description:
      'How large the files of a workspace may be together, in megabytes of 1,048,576 bytes; 0 = no limit.',
  }),
  INVITE_LIMIT_PER_HOUR: Type.Integer({
    default: 200,
    minimum: 0,
    description: 'Invites per hour for each workspace, including resent ones; 0 = no limit.',
  }),
  AUDIT_LOG: Type.String({
    default: 'stdout',
    minLength: 1,
    description:
      'Where the lines go that say who signed in, made a key, exported a workspace and the like: stdout, off, or the path of ' +
      'a file. Commands, whose standard output is their answer, write theirs into that file, or with stdout into audit.log in ' +
      'DATA_DIR.',
  }),
  EVENTS_KEPT_DAYS: Type.Integer({
    default: 0,
    minimum: 0,
    description:
      'For how many days events are kept, at least 31; older ones are deleted once an hour. 0 = for ever. Programs that ' +
      'follow events must read them before.',
  }),
  SIGN_IN_LIMIT_PER_MINUTE: Type.Integer({
    default: 10,
    minimum: 0,
    description:
      'Failed sign-ins per minute for each account from one client address, and ten times as many for each account and ' +
      'for each address; a browser that has signed in to the account before has a limit of its own; 0 = no limit.',
  }),
  MAIL_LIMIT_PER_HOUR: Type.Integer({
    default: 5,
    minimum: 0,
    description:
      'Emails with links per hour for each recipient from one client address, four times as many for each recipient, and ' +
      'ten times as many for each address; a browser that has signed in to the account before has a limit of its own. ' +
      'Also invites per hour for each recipient. 0 = no limit.',
  }),
  SIGN_UP: oneOf(signUpPolicies, {
    default: 'open',
    description:
      'Who gets a new account by themselves: open = anybody; invited = people with a pending invite, with an address at ' +
      'a domain that a workspace allows, or from an identity provider; off = nobody, only `admin create-user` creates ' +
      'accounts. Also asked when the address of a new account is verified for the first time.',
  }),
  PASSWORDS: oneOf(['on', 'off'], {
    default: 'on',
    description:
      'Whether people choose passwords and sign in with them. With off, which requires OIDC_PROVIDERS, they sign in by an ' +
      'identity provider, a passkey or an emailed link.',
  }),
  WORKSPACE_CREATION: oneOf(['everybody', 'nobody'], {
    default: 'everybody',
    description: 'Who creates workspaces. With nobody, only `admin create-workspace` does.',
  }),
  OIDC_PROVIDERS: Type.Optional(
    Type.String({
      format: 'providers',
      title: 'a JSON list of providers',
      description:
        'The identity providers that people can sign in with, by OpenID Connect: a JSON list of ' +
        '{"id", "name", "issuer", "clientId", "clientSecret"}. With "domains", a list, only email addresses of these ' +
        'domains count as verified. With "agentAssertions": true, it may let agents in for people, as owners of workspaces ' +
        'allow. The redirect URI is WEB_URL/sign-in/with/ID/callback.',
    }),
  ),
  WEBHOOK_ALLOWED_HOSTS: Type.Optional(
    Type.String({
      format: 'hosts',
      title: 'a list of host names, addresses and CIDR ranges',
      description:
        'The hosts inside the network that webhooks may be sent to, besides all public addresses: host names, addresses ' +
        'and CIDR ranges, separated by commas. Default: none.',
    }),
  ),
  SMTP_URL: Type.Optional(
    Type.String({
      pattern: '^smtps?://',
      title: 'a URL that begins with smtp:// or smtps://',
      description:
        'The mail server: smtp://USER:PASSWORD@HOST:587, or smtps://…. Default: mail is written to the folder mail in ' +
        'DATA_DIR.',
    }),
  ),
  MAIL_FROM: Type.String({
    default: 'Workspace <no-reply@localhost>',
    pattern: '^([^<>\\r\\n]*<[^@<>\\s]+@[^@<>\\s]+>|[^@<>\\s]+@[^@<>\\s]+)$',
    title: 'an email address, or a name with an address in angle brackets',
    description: 'The From address of outgoing mail.',
  }),
  STORAGE_URL: Type.Optional(
    Type.String({
      pattern: '^s3://[a-z0-9][a-z0-9.-]+(/[^?#]*)?([?][^#]*)?$',
      title: 'a URL of the form s3://BUCKET/PREFIX',
      description:
        'The storage of pictures and files: s3://BUCKET/PREFIX?endpoint=URL&region=NAME&pathStyle=true. Credentials come from ' +
        'the usual sources of the AWS SDK. Default: the folder uploads in DATA_DIR.',
    }),
  ),
  METRICS_PORT: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 65535,
      description:
        'The port on which Prometheus reads metrics, at /metrics. It needs no credential, so keep it from strangers. ' +
        'Default: no metrics.',
    }),
  ),
  METRICS_HOST: Type.String({
    default: '127.0.0.1',
    description: 'The address to listen on for METRICS_PORT.',
  }),
  LOG_LEVEL: Type.String({
    default: 'info',
    pattern: '^(fatal|error|warn|info|debug|trace|silent)$',
    title: 'fatal, error, warn, info, debug, trace or silent',
    description: 'The lowest level that is logged: fatal, error, warn, info, debug, trace or silent.',
  }),
})

/** The value of OIDC_PROVIDERS. */
export const OidcProviders = Type.Array(
  Type.Object(
    {
      id: Type.String({ pattern: '^[a-z0-9][a-z0-9-]{0,31}$' }),
      name: Type.String({ minLength: 1, maxLength: 50 }),
      // Plain http is allowed for loopback addresses only.
      issuer: Type.String({
        pattern: '^(https://|http://(localhost|127\\.0\\.0\\.1|\\[::1\\])[:/])[^?#\\s]*$',
      }),
      clientId: Type.String({ minLength: 1 }),
      clientSecret: Type.String({ minLength: 1 }),
      // The domains for which the provider may verify addresses. Default: all.
      domains: Type.Optional(
        Type.Array(Type.String({ pattern: '^[a-z0-9-]+([.][a-z0-9-]+)+$' }), { minItems: 1, maxItems: 100 }),
      ),
      // Whether it may let agents in for people. Default: no.
      agentAssertions: Type.Optional(Type.Boolean()),
    },
    { additionalProperties: false },
  ),
)

/** An identity provider, with the credentials of the service as its client. */
export type OidcProvider = Static<typeof OidcProviders>[number]
