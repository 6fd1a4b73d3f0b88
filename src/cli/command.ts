import { InvalidArgumentError, type Command } from 'commander'
import type { Account } from '../accounts/accounts.service.ts'
import { parseEmail } from '../kernel/email.ts'
import { errors } from '../kernel/errors.ts'
import { isId } from '../kernel/ids.ts'
import type { Principal } from '../domain/principal.ts'
import type { Services } from '../services/services.ts'

/** The command failed for a reason that the operator can fix. */
export class CommandError extends Error {
  override readonly name = 'CommandError'
  readonly code: string

  constructor(
    code: 'not_found' | 'refused' | 'file_error' | 'check_failed' | 'unfinished',
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options)
    this.code = code
  }
}

/** The command line is wrong. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** The options of every command. */
export interface OutputOptions {
  json?: boolean
}

/** Adds a command with `--json`, and with a description and examples in its help. */
export function addCommand(
  program: Command,
  definition: { name: string; summary: string; details?: string; examples: readonly string[] },
): Command {
  const { name, summary, details, examples } = definition
  const command = program
    .command(name)
    .summary(summary)
    .description(details === undefined ? `${summary}.` : `${summary}.\n\n${details}`)
    .addHelpText(
      'after',
      `\nExamples:\n${examples.map((example) => `  $ admin ${example}`.trimEnd()).join('\n')}`,
    )
  return command.option('--json', 'Print JSON')
}

const limitDefault = 100

/** The options of a command that lists. */
export interface LimitOptions {
  limit: number
}

/** Adds `--limit` to a command that lists. */
export function addLimit(command: Command): Command {
  return command.option(
    '--limit <number>',
    'Show at most this many; 0 for all',
    (text) => {
      if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('It must be a whole number, 0 or more.')
      return Number(text)
    },
    limitDefault,
  )
}

/** The limit for services, which have no limit if it is missing. */
export function toLimit({ limit }: LimitOptions): { limit?: number } {
  return limit === 0 ? {} : { limit }
}

/** Finds a user by email address or id. Throws `email_invalid`, and a `CommandError` if there is no such user. */
export async function requireUser({ accounts }: Services, text: string): Promise<Account> {
  if (!isId(text) && parseEmail(text) === undefined) throw errors.emailInvalid({ field: 'email' })
  const user = isId(text) ? await accounts.findById(text) : await accounts.findByEmail(text)
  if (!user)
    throw new CommandError('not_found', `No user has the ${isId(text) ? 'id' : 'email address'} ${text}.`)
  return user
}

/** The principal of a command that acts as a user. */
export function toPrincipal(user: Account): Principal {
  return { user, source: 'system', apiKeyId: null, sessionId: null, grantId: null }
}
