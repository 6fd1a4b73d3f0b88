import { randomBytes } from 'node:crypto'
import { createOperatorTokens } from '../areas/system/operator-tokens.ts'
import { ConfigError, type Config } from '../config/config.ts'
import { areLimitsInForce, openDatabase, requestLimits, workLimits, type Database } from '../db/client.ts'
import { findEmbeddedDatabase } from '../db/embedded.ts'
import { inspectDatabase, keepsSessions } from '../db/inspect-database.ts'
import { isMigrated } from '../db/migrate.ts'
import { verifySmtp } from '../platform/mail/nodemailer-mail.ts'
import { pingRedis } from '../platform/redis.ts'
import { listProductionWarnings } from '../production-warnings.ts'
import { createUntrustedFetch } from '../platform/untrusted-fetch.ts'
import { createStorage, openAppSecret } from './adapters.ts'
import { checkDocuments } from './check-documents.ts'
import { checkPasswords, checkProviders } from './check-identities.ts'
import { checkRestored } from './check-restored.ts'
import { checkSecrets } from './check-secrets.ts'
import type { Finding } from './finding.ts'

const oldestVersion = 150_000
const clockDifferenceMsMax = 2_000
const answerMsMax = 5_000
// An address of a documentation network (RFC 5737), from which nothing comes.
const inventedAddress = '203.0.113.7'

/**
 * Looks at all that the service depends on. Changes nothing but a file in the storage, which it deletes again. `fetch` is
 * what documents of agents are fetched by. With `isRestored`, also at what a restored database has to be looked at for.
 */
export async function checkInstallation(
  loadConfig: () => Config,
  options: { fetch?: typeof fetch; isRestored?: boolean } = {},
): Promise<Finding[]> {
  let config: Config
  try {
    config = loadConfig()
  } catch (error) {
    if (error instanceof ConfigError) return error.problems.map((problem) => wrong('settings', problem))
    throw error
  }
  const findings = listProductionWarnings(config).map((message) => wrong('settings', message))
  if (findings.length === 0) findings.push(fine('settings', 'All settings are valid.'))
  if (!config.isOutgoing)
    findings.push(
      fine(
        'outgoing',
        'OUTGOING=off: mails are written to files, and deliveries to webhooks wait. Pages say so.',
      ),
    )
  return [
    ...findings,
    ...(await checkDatabase(config, {
      fetch: options.fetch ?? createUntrustedFetch({ proxy: config.outgoingProxy }),
      isRestored: options.isRestored ?? false,
    })),
    await attempt('redis', 'Check REDIS_URL and that Redis runs.', () => checkRedis(config)),
    await attempt('mail', 'Check SMTP_URL: host, port, user and password.', () => checkMail(config)),
    await attempt('storage', 'Check STORAGE_URL and its credentials, or the permissions of DATA_DIR.', () =>
      checkStorage(config),
    ),
    ...(await checkProviders(config)),
    ...(await checkOrigins(config)),
  ]
}

const fine = (check: string, message: string): Finding => ({ check, ok: true, message })
const wrong = (check: string, message: string): Finding => ({ check, ok: false, message })

const certificateAdvice =
  'Check the host name in the URL, and that NODE_EXTRA_CA_CERTS names the authority (docs/operations.md, "TLS").'

/** What a check finds, or that it failed, with what to do. */
async function attempt(check: string, advice: string, run: () => Promise<Finding>): Promise<Finding> {
  try {
    return await run()
  } catch (error) {
    const { message, code } = error as { message?: string; code?: string }
    const [reason = ''] = (message || code || String(error)).split('\n')
    return wrong(
      check,
      `${reason.replace(/[.]$/, '')}. ${/certificate/i.test(reason) ? certificateAdvice : advice}`,
    )
  }
}

async function checkDatabase(
  config: Config,
  { fetch: fetchDocument, isRestored }: { fetch: typeof fetch; isRestored: boolean },
): Promise<Finding[]> {
  const url = config.databaseUrl ?? (await findEmbeddedDatabase(config.dataDir))
  if (url === undefined)
    return [fine('database', 'DATABASE_URL is not set: the embedded database starts with the service.')]
  const directUrl = config.databaseDirectUrl ?? url
  const open = (to: string, options: Pick<Parameters<typeof openDatabase>[0], 'limits' | 'pooler'>) =>
    openDatabase({ url: to, poolMax: 2, onIdleError: () => undefined, ...options })
  const db = open(url, { limits: requestLimits, pooler: config.databasePooler })
  const directDb = open(directUrl, { limits: workLimits })
  try {
    const first = await attempt(
      'database',
      'Check DATABASE_URL and that PostgreSQL accepts connections.',
      () => checkVersion(db),
    )
    if (!first.ok) return [first]
    const others: [check: string, advice: string, run: () => Promise<Finding>][] = [
      ['database', 'Check DATABASE_DIRECT_URL.', () => checkDirect(config, directDb)],
      ['extensions', 'Check the role of DATABASE_URL.', () => checkExtensions(db)],
      ['migrations', 'Check the role of DATABASE_URL.', () => checkMigrations(config, directDb)],
      ['timeouts', 'Check the pooler.', () => checkTimeouts(config, db)],
      ['pooler', 'Check the pooler.', () => checkPooler(config, db)],
      ['clock', 'Check the role of DATABASE_URL.', () => checkClock(db)],
    ]
    const findings = [first]
    for (const [check, advice, run] of others) findings.push(await attempt(check, advice, run))
    if (await isMigrated(directDb.$client)) {
      findings.push(await attempt('secrets', 'Check APP_SECRET.', () => checkSecrets(db, config)))
      const { areDocumentsOn, isOutgoing } = config
      if (isOutgoing) findings.push(...(await checkDocuments(db, { fetch: fetchDocument, areDocumentsOn })))
      const passwords = await checkPasswords(db, config)
      if (passwords) findings.push(passwords)
      if (isRestored)
        findings.push(...(await checkRestored(db, { storage: createStorage(config), isOutgoing })))
    }
    return findings.filter(({ message }) => message !== '')
  } finally {
    await Promise.all([db.$client.end(), directDb.$client.end()])
  }
}

async function checkVersion({ $client }: Database): Promise<Finding> {
  const { version } = await inspectDatabase($client)
  const name = `PostgreSQL ${Math.floor(version / 10_000)}.${version % 10_000}`
  return version >= oldestVersion
    ? fine('database', `${name} answers.`)
    : wrong('database', `${name} is too old. Move the database to PostgreSQL 15 or later.`)
}

/** Jobs, migrations and commands need a session of their own. */
async function checkDirect({ databaseUrl, databaseDirectUrl }: Config, db: Database): Promise<Finding> {
  if (databaseDirectUrl === databaseUrl) return fine('database', '')
  return (await keepsSessions(db.$client))
    ? fine('database', 'DATABASE_DIRECT_URL keeps sessions.')
    : wrong('database', 'DATABASE_DIRECT_URL leads to a pooler in transaction mode. Go around the pooler.')
}

async function checkExtensions({ $client }: Database): Promise<Finding> {
  const { missingExtensions: missing } = await inspectDatabase($client)
  return missing.length === 0
    ? fine('extensions', 'pg_trgm and unaccent are there.')
    : wrong('extensions', `${missing.join(' and ')} missing. Install the contrib modules of PostgreSQL.`)
}

async function checkMigrations({ migrateOnStart }: Config, { $client }: Database): Promise<Finding> {
  if (await isMigrated($client)) return fine('migrations', 'The database is up to date with this version.')
  return migrateOnStart
    ? fine('migrations', 'This version will migrate the database when it starts. Back it up first.')
    : wrong(
        'migrations',
        'The database lacks migrations of this version. Back it up, then run admin migrate.',
      )
}

async function checkTimeouts({ databasePooler }: Config, db: Database): Promise<Finding> {
  if (await areLimitsInForce(db, requestLimits)) return fine('timeouts', 'The timeouts are in force.')
  const advice =
    databasePooler === 'transaction'
      ? 'Set them by connect_query of the pooler (docs/operations.md, "Poolers").'
      : 'The pooler resets them. Use session mode, or set DATABASE_POOLER.'
  return wrong('timeouts', `Statements outside of transactions have no timeouts. ${advice}`)
}

async function checkPooler({ databasePooler }: Config, { $client }: Database): Promise<Finding> {
  const hasSessions = await keepsSessions($client)
  if (databasePooler === 'transaction')
    return fine('pooler', 'Transaction mode: nothing depends on a session.')
  return hasSessions
    ? fine('pooler', 'Connections keep their sessions.')
    : wrong(
        'pooler',
        'The pooler is in transaction mode. Set DATABASE_POOLER=transaction and DATABASE_DIRECT_URL.',
      )
}

async function checkClock({ $client }: Database): Promise<Finding> {
  const { clockAheadMs } = await inspectDatabase($client)
  return Math.abs(clockAheadMs) <= clockDifferenceMsMax
    ? fine('clock', 'The clocks of this machine and of the database agree.')
    : wrong(
        'clock',
        `The clock of the database differs by ${Math.round(clockAheadMs / 1000)} s. Synchronize both with NTP.`,
      )
}

async function checkRedis({ redisUrl }: Config): Promise<Finding> {
  if (redisUrl === undefined)
    return fine('redis', 'REDIS_URL is not set: each process counts rate limits by itself.')
  await pingRedis(redisUrl)
  return fine('redis', 'Redis answers.')
}

async function checkMail({ smtpUrl, dataDir, isOutgoing }: Config): Promise<Finding> {
  if (!isOutgoing) return fine('mail', `OUTGOING=off: mails are written to the folder mail in ${dataDir}.`)
  if (smtpUrl === undefined)
    return fine('mail', `SMTP_URL is not set: mails are written to the folder mail in ${dataDir}.`)
  await verifySmtp(smtpUrl)
  return fine('mail', 'The mail server accepts the connection and the login.')
}

async function checkStorage(config: Config): Promise<Finding> {
  const storage = createStorage(config)
  const key = `check-${randomBytes(12).toString('hex')}`
  if (config.keepsFiles) {
    await storage.open(key)
    return fine('storage', 'Files can be read. With OUTGOING=off, none was written to try it.')
  }
  const content = Buffer.from('a file to see whether files can be stored')
  await storage.put(key, content)
  const stored = await storage.open(key)
  stored?.content.destroy()
  await storage.delete(key)
  if (stored?.sizeBytes !== content.length) throw new Error('a file that was written cannot be read')
  return fine('storage', 'A file can be written, read and deleted.')
}

/** What the service sees of a request. */
interface SeenClient {
  address: string
  connection: string
  forwardedCount: number
  isFromUnnamedProxy: boolean
}

async function checkOrigins(config: Config): Promise<Finding[]> {
  const { baseUrl, webUrl } = config
  const tokens = createOperatorTokens(openAppSecret(config))
  /** Asks the service what it sees. Throws when it is another one, or does not answer. */
  const ask = async (origin: string, headers: Record<string, string> = {}): Promise<SeenClient> => {
    const answer = await fetch(`${origin}/health/client`, {
      headers: { 'x-operator-token': tokens.create(new Date()), ...headers },
      redirect: 'manual',
      signal: AbortSignal.timeout(answerMsMax),
    }).catch((error: unknown) => {
      const { cause, message } = error as { cause?: { code?: string }; message: string }
      throw new Error(`nothing answers at ${origin} (${cause?.code ?? message})`)
    })
    if (answer.status !== 200)
      throw new Error(`${origin} answers ${answer.status}: another program, or one with another APP_SECRET`)
    return (await answer.json()) as SeenClient
  }
  const advice = 'Start the service, then check DNS, the proxy and its certificate.'
  const reached = (name: string, origin: string) =>
    attempt(name, advice, async () => {
      await ask(origin)
      return fine(name, `${origin} leads to this service.`)
    })
  const findings = await Promise.all([reached('BASE_URL', baseUrl), reached('WEB_URL', webUrl)])
  if (findings.some(({ ok }) => !ok)) return findings
  findings.push(
    await attempt('TRUST_PROXY', advice, () =>
      checkProxies(
        () => ask(baseUrl),
        () => ask(baseUrl, { 'x-forwarded-for': inventedAddress }),
      ),
    ),
  )
  return findings
}

/** By a request as it is, and by one that claims to come from elsewhere. */
async function checkProxies(
  ask: () => Promise<SeenClient>,
  askWithClaim: () => Promise<SeenClient>,
): Promise<Finding> {
  const { forwardedCount, isFromUnnamedProxy, connection, address } = await ask()
  if (forwardedCount === 0)
    return fine('TRUST_PROXY', 'There is no proxy between this machine and the service.')
  if (isFromUnnamedProxy)
    return wrong(
      'TRUST_PROXY',
      `All clients of the proxy at ${connection} count as one. Add that address to TRUST_PROXY.`,
    )
  const claimed = await askWithClaim()
  if (claimed.address !== inventedAddress)
    return fine('TRUST_PROXY', `The service sees this machine as ${address}.`)
  if (claimed.forwardedCount <= forwardedCount)
    return wrong(
      'TRUST_PROXY',
      'Clients can claim any address: the proxy passes on their X-Forwarded-For. Have it append the address of the connection.',
    )
  return fine(
    'TRUST_PROXY',
    `It names this machine too (${address}), as one of your proxies. Run the check elsewhere to see how clients are seen.`,
  )
}
