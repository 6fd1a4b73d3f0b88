import { CommanderError, type Command } from 'commander'
import { ApiError } from '../kernel/errors.ts'
import { CommandError, UsageError } from './command.ts'
import { formatJson, toVisible } from './output.ts'

// By name, since importing the classes of the last three would slow down help.
const known = new Set([
  'CommandError',
  'ApiError',
  'ConfigError',
  'DatabaseUnusableError',
  'EmbeddedDatabaseError',
])

/**
 * Prints an error on standard error: the message if the operator can fix it, the stack otherwise, an object with
 * `--json`. Returns its code, and the exit status: 2 for wrong usage, 1 for everything else.
 */
export function reportError(error: unknown, program: Command): { code: string; exitCode: number } {
  if (error instanceof CommanderError && error.exitCode === 0) return { code: 'usage', exitCode: 0 }
  const { code, message, isUsage } = describe(error)
  if (process.argv.includes('--json')) {
    process.stderr.write(formatJson({ error: { code, message } }, process.stderr.isTTY))
  } else {
    const command = program.commands.find((candidate) => candidate.name() === process.argv[2])
    const name = ['admin', ...(command ? [command.name()] : [])].join(' ')
    process.stderr.write(`error: ${message.split('\n').map(toVisible).join('\n')}\n`)
    if (isUsage) process.stderr.write(`Run "${name} --help" for usage and examples.\n`)
  }
  return { code: isUsage ? 'usage' : code, exitCode: isUsage ? 2 : 1 }
}

function describe(error: unknown): { code: string; message: string; isUsage: boolean } {
  if (error instanceof CommanderError) {
    // Suggestions such as "(Did you mean list-users?)" are on a second line.
    const message = error.message.replace(/^error: /, '').replaceAll('\n', ' ')
    return { code: 'usage', message, isUsage: true }
  }
  if (error instanceof UsageError) return { code: 'usage', message: error.message, isUsage: true }
  if (error instanceof ApiError) {
    const { code, field, tag } = error
    // Options have the names of the fields.
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
