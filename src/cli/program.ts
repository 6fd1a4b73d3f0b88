import { readFileSync } from 'node:fs'
import { Command, type Option } from 'commander'
import { auditCommand } from './audit-command.ts'
import { addAgentCommands } from './agents.commands.ts'
import { addKeyCommands } from './keys.commands.ts'
import { addCheckCommand } from './check.command.ts'
import { addJobCommands } from './jobs.commands.ts'
import { addMailCommands } from './mails.commands.ts'
import { addMaintenanceCommands } from './maintenance.commands.ts'
import { reportError } from './report-error.ts'
import { addUserCommands } from './users.commands.ts'
import { addWorkspaceCommands } from './workspaces.commands.ts'

// A reader that closes the pipe, such as `head`, is not an error.
process.stdout.on('error', () => undefined)

const program = createProgram()
try {
  if (process.argv.length <= 2) program.outputHelp()
  else {
    await program.parseAsync()
    await auditCommand(program, { outcome: 'done' })
  }
} catch (error) {
  const { code, exitCode } = reportError(error, program)
  process.exitCode = exitCode
  await auditCommand(program, { outcome: 'refused', code })
}

/**
 * Creates the commands. Large modules are imported when a command runs, so that help and version are fast.
 */
function createProgram(): Command {
  const program = new Command('admin')
    .description(
      'Commands for operators. They use the database at DATABASE_URL or, without it, the embedded database in ' +
        'DATA_DIR, whether or not the service is running.',
    )
    .version(readVersion(), '-v, --version', 'Show the version')
    .helpOption('-h, --help', 'Show help')
    .helpCommand('help [command]', 'Show help for a command')
    .configureHelp({
      optionDescription: (option) => option.description + describeOption(option),
    })
    .exitOverride()
    // `reportError` prints errors.
    .configureOutput({ outputError: () => undefined })
    .addHelpText(
      'after',
      `
Run them as "npm run admin -- <command>" in the repository, or as "node dist/cli/admin.js <command>".
Every command takes --json. Exit status: 0 success, 1 failure, 2 wrong usage.

Examples:
  $ admin create-user --email grace@example.com --name "Grace Hopper" --verified
  $ admin sign-in-link --email grace@example.com
  $ admin create-key --help`,
    )
  program.commandsGroup('Users:')
  addUserCommands(program)
  program.commandsGroup('API keys:')
  addKeyCommands(program)
  program.commandsGroup('Workspaces:')
  addWorkspaceCommands(program)
  program.commandsGroup('Agents:')
  addAgentCommands(program)
  program.commandsGroup('Jobs and mails:')
  addJobCommands(program)
  addMailCommands(program)
  program.commandsGroup('Maintenance:')
  addCheckCommand(program)
  addMaintenanceCommands(program)
  return program
}

function describeOption({ mandatory, defaultValue }: Option): string {
  if (mandatory) return ' (required)'
  return defaultValue === undefined ? '' : ` (default: ${String(defaultValue)})`
}

function readVersion(): string {
  const file = readFileSync(new URL('../../package.json', import.meta.url), 'utf8')
  return (JSON.parse(file) as { version: string }).version
}
