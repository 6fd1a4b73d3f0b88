import { writeFile } from 'node:fs/promises'
import { Command } from 'commander'
import { buildApp } from '../app.ts'
import { ConfigError, loadConfig, readEnvironment } from '../config.ts'
import { openDatabase } from '../db/client.ts'
import { EmbeddedDatabaseError } from '../db/embedded.ts'
import { isMigrated, migrateDatabase } from '../db/migrate.ts'
import { DatabaseUnusableError } from '../db/usable.ts'
import { createLogger } from '../http/logging.ts'
import { systemClock } from '../kernel/clock.ts'
import { ApiError } from '../kernel/errors.ts'
import type { Principal } from '../kernel/principal.ts'
import { createServices, type Services } from '../services.ts'
import { withDatabase } from './with-database.ts'

/** A command that cannot be carried out, for a reason that the person who gave it can mend. */
class CommandError extends Error {}

interface OutputOptions {
  json?: boolean
}

const program = new Command('admin')
  .description(
    'Commands for operators. They use the database of DATABASE_URL, or the one of DATA_DIR without it.',
  )
  .showHelpAfterError()

program
  .command('migrate')
  .description('bring the database up to date')
  .option('--json', 'print JSON')
  .action(async (options: OutputOptions) => {
    await withDatabase(loadConfig(readEnvironment()), async (db) => {
      const wasMigrated = await isMigrated(db.$client)
      await migrateDatabase(db.$client)
      print(options, { ok: true, changed: !wasMigrated }, [
        wasMigrated ? 'The database was up to date.' : 'The database is up to date now.',
      ])
    })
  })

program
  .command('create-user')
  .description('add a person')
  .requiredOption('--email <address>', 'their e-mail address')
  .requiredOption('--name <name>', 'what they are called')
  .option('--verified', 'the address is known to be theirs')
  .option('--json', 'print JSON')
  .action(async (options: OutputOptions & { email: string; name: string; verified?: boolean }) => {
    await withServices(async ({ accounts }) => {
      const { id, email, name } = await accounts.create({
        email: options.email,
        name: options.name,
        isVerified: options.verified ?? false,
      })
      print(options, { id, email, name }, [`Created ${name} <${email}> with the id ${id}.`])
    })
  })

program
  .command('create-key')
  .description('add an API key for a person and print it, this once')
  .requiredOption('--email <address>', "the person's e-mail address")
  .requiredOption('--name <name>', 'what the key is for')
  .option('--json', 'print JSON')
  .action(async (options: OutputOptions & { email: string; name: string }) => {
    await withServices(async ({ accounts, apiKeys }) => {
      const user = await accounts.findByEmail(options.email)
      if (!user) throw new CommandError(`There is nobody with the address ${options.email}.`)
      const principal: Principal = { user, source: 'system', apiKeyId: null, grantId: null }
      const key = await apiKeys.create(principal, { name: options.name })
      print(options, key, [key.secret])
    })
  })

program
  .command('list-users')
  .description('list everybody')
  .option('--json', 'print JSON')
  .action(async (options: OutputOptions) => {
    await withServices(async ({ accounts }) => {
      const users = (await accounts.list()).map(({ id, email, name, emailVerifiedAt, createdAt }) => ({
        id,
        email,
        name,
        isVerified: emailVerifiedAt !== null,
        createdAt: createdAt.toISOString(),
      }))
      print(
        options,
        users,
        users.map((user) => `${user.id}  ${user.createdAt}  ${user.email}  ${user.name}`),
      )
    })
  })

program
  .command('rotate-signing-key')
  .description(
    "sign agents' access tokens with a new key; those of the old ones stay valid until they expire",
  )
  .option('--json', 'print JSON')
  .action(async (options: OutputOptions) => {
    await withServices(async ({ agentOAuth }) => {
      const id = await agentOAuth.rotateSigningKey()
      print(options, { id }, [`Tokens are signed with the key ${id} within a minute.`])
    })
  })

program
  .command('delete-client')
  .description('forget an agent that registered itself, and end all access that it has')
  .requiredOption('--id <client id>', 'the id that it was registered with')
  .option('--json', 'print JSON')
  .action(async (options: OutputOptions & { id: string }) => {
    await withServices(async ({ agentOAuth }) => {
      if (!(await agentOAuth.deleteClient(options.id))) {
        throw new CommandError(`There is no client with the id ${options.id}.`)
      }
      print(options, { ok: true }, [`Deleted the client ${options.id} and ended its access.`])
    })
  })

program
  .command('export-openapi')
  .description('write the API description')
  .argument('[file]', 'where to; standard output by default')
  .action(async (file?: string) => {
    // The description is the same wherever it is made: nothing of this machine's environment is in it.
    const text = `${JSON.stringify(await describeApi(), null, 2)}\n`
    if (file === undefined) process.stdout.write(text)
    else await writeFile(file, text).catch(cannotWrite)
  })

try {
  await program.parseAsync()
} catch (error) {
  console.error(`error: ${explain(error)}`)
  process.exitCode = 1
}

async function withServices(run: (services: Services) => Promise<void>): Promise<void> {
  const config = loadConfig(readEnvironment())
  await withDatabase(config, async (db) => {
    await migrateDatabase(db.$client)
    const services = createServices({
      config: { ...config, redisUrl: undefined },
      db,
      clock: systemClock,
      log: createLogger('silent'),
    })
    try {
      await run(services)
    } finally {
      await services.close()
    }
  })
}

async function describeApi(): Promise<object> {
  const config = loadConfig({})
  // Never connected: the description is made from the routes alone.
  const db = openDatabase({ url: 'postgres://localhost', poolMax: 1, onIdleError: () => undefined })
  const log = createLogger('silent')
  const services = createServices({ config, db, clock: systemClock, log })
  const app = await buildApp(config, services, log)
  await app.ready()
  const description = app.swagger()
  await app.close()
  await services.close()
  return description
}

function cannotWrite(cause: Error): never {
  throw new CommandError(`The file cannot be written: ${cause.message}`, { cause })
}

function print({ json }: OutputOptions, value: unknown, lines: readonly string[]): void {
  process.stdout.write(json ? `${JSON.stringify(value)}\n` : lines.map((text) => `${text}\n`).join(''))
}

function explain(error: unknown): string {
  const known = [CommandError, ConfigError, ApiError, EmbeddedDatabaseError, DatabaseUnusableError]
  if (known.some((kind) => error instanceof kind)) return (error as Error).message
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}
