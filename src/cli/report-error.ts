import { CommanderError, type Command } from 'commander'
import { ApiError } from '../kernel/errors.ts'
import { CommandError, UsageError } from './command.ts'
import { formatJson, toVisible } from './output.ts'

// By name: to import the modules of the last three takes longer than most commands' help.
const known = new Set([
  'CommandError',
  'ApiError',
  'ConfigError',
  'DatabaseUnusableError',
  'EmbeddedDatabaseError',
])

/**
 * Says on standard error why a command was not carried out: a line for what an operator can mend, the whole story for
 * the rest, an object with `--json`. Returns the exit status: 2 for wrong usage, 1 for everything else.
 */
export function reportError(error: unknown, program: Command): number {
  if (error instanceof CommanderError && error.exitCode === 0) return 0
  const { code, message, isUsage } = describe(error)
  if (process.argv.includes('--json')) {
    process.stderr.write(formatJson({ error: { code, message } }, process.stderr.isTTY))
  } else {
    const command = program.commands.find((candidate) => candidate.name() === process.argv[2])
    const name = ['admin', ...(command ? [command.name()] : [])].join(' ')
    process.stderr.write(`error: ${message.split('\n').map(toVisible).join('\n')}\n`)
    if (isUsage) process.stderr.write(`Run "${name} --help" for usage and examples.\n`)
  }
  return isUsage ? 2 : 1
}

function describe(error: unknown): { code: string; message: string; isUsage: boolean } {
  if (error instanceof CommanderError) {
    // It is one line also with a suggestion such as "(Did you mean list-users?)".
    const message = error.message.replace(/^error: /, '').replaceAll('\n', ' ')
    return { code: 'usage', message, isUsage: true }
  }
  if (error instanceof UsageError) return { code: 'usage', message: error.message, isUsage: true }
  if (error instanceof ApiError) {
    const { code, field, tag } = error
    // Options are named as the fields of the API are.
    const message = field === null ? error.message : `--${field}: ${error.message}`
    return { code, message, isUsage: tag === 'InvalidInput' }
  }
  const code = error instanceof CommandError ? error.code : 'failed'
  if (!(error instanceof Error)) return { code, message: String(error), isUsage: false }
  return {
    code,
    message: known.has(error.name) ? error.message : (error.stack ?? error.message),
    isUsage: false,
  }
}
