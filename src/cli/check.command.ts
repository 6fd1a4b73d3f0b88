import type { Command } from 'commander'
import { addCommand, CommandError, type OutputOptions } from './command.ts'
import { countOf, print, toVisible } from './output.ts'

export function addCheckCommand(program: Command): void {
  addCommand(program, {
    name: 'check',
    summary: 'Check the settings and all that the service depends on',
    details:
      'Looks at the database, Redis, the mail server, the storage, the hosts of documents of agents, the proxy and the public addresses: a line for each, ' +
      'with what to do. Changes nothing and does not migrate, so it can run before an upgrade. The service should be ' +
      'running.',
    examples: ['check', 'check --restored', 'check --json'],
  })
    .option(
      '--restored',
      'Also look at what a restored database has to be looked at for: pictures, cursors and what waits',
    )
    .action(async (options: OutputOptions & { restored?: boolean }) => {
      const [{ loadConfig, readEnvironment }, { checkInstallation }] = await Promise.all([
        import('../config/config.ts'),
        import('../services/check-installation.ts'),
      ])
      const checks = await checkInstallation(() => loadConfig(readEnvironment()), {
        isRestored: options.restored ?? false,
      })
      const wrong = checks.filter(({ ok }) => !ok)
      const width = Math.max(...checks.map(({ check }) => check.length))
      print(
        options,
        { ok: wrong.length === 0, checks },
        checks.map(({ check, ok, message }) =>
          toVisible(`${ok ? '✓' : '✗'} ${check.padEnd(width)}  ${message}`),
        ),
      )
      if (wrong.length > 0)
        throw new CommandError('check_failed', `${countOf(wrong.length, 'check')} failed.`)
    })
}
