import { writeFile } from 'node:fs/promises'
import type { Command } from 'commander'
import { addCommand, CommandError, type OutputOptions } from './command.ts'
import { confirm } from './confirm.ts'
import { countOf, print } from './output.ts'
import { withDatabase, withServices } from './with-services.ts'
import { cannotWrite } from './write-export.ts'

export function addMaintenanceCommands(program: Command): void {
  addCommand(program, {
    name: 'migrate',
    summary: 'Bring the database up to date',
    examples: ['migrate'],
  }).action(async (options: OutputOptions) => {
    const { isMigrated, migrateDatabase } = await import('../db/migrate.ts')
    await withDatabase(async (db) => {
      const wasMigrated = await isMigrated(db.$client)
      await migrateDatabase(db.$client)
      print(options, { ok: true, changed: !wasMigrated }, [
        wasMigrated ? 'The database was already up to date.' : 'The database is now up to date.',
      ])
    })
  })

  addCommand(program, {
    name: 'reseal',
    summary: 'Encrypt again what is under APP_SECRET_PREVIOUS',
    details:
      'Run it when each process of the service has both secrets. It may run while the service does, and again. It ends with ' +
      'what is left of each kind: only when nothing is left, remove APP_SECRET_PREVIOUS.',
    examples: ['reseal', 'reseal --json'],
  }).action(async (options: OutputOptions) => {
    const kinds = await withServices((services) => services.reseal())
    if (kinds === undefined)
      throw new CommandError(
        'refused',
        'APP_SECRET_PREVIOUS is not set. Run the command with the secrets of the service. Nothing was changed.',
      )
    const left = kinds.reduce((sum, kind) => sum + kind.left, 0)
    print(options, { ok: left === 0, kinds }, [
      ...kinds.map(
        ({ kind, resealed, left, unreadable }) =>
          `${kind}: ${resealed} encrypted again, ${left} left, ${unreadable} that neither secret opens`,
      ),
      ...(left === 0
        ? [
            'Nothing is left under APP_SECRET_PREVIOUS. Remove it when the mails, sessions and drafts under it may end.',
          ]
        : []),
    ])
    if (left > 0)
      throw new CommandError(
        'unfinished',
        `${countOf(left, 'value')} left under APP_SECRET_PREVIOUS. Keep it, see that each process has the new APP_SECRET, and run reseal again.`,
      )
  })

  addCommand(program, {
    name: 'quarantine',
    summary: 'Make a copy of an installation harmless',
    details:
      'For a copy that was restored from a backup, with OUTGOING=off. Drops the mails and deliveries to webhooks that wait, and ' +
      'ends all sessions, links, grants of agents and API keys. All other data stays. What was dropped is not sent when ' +
      'OUTGOING is on again.',
    examples: ['quarantine --yes', 'quarantine --yes --json'],
  })
    .option('--yes', 'Do not ask for confirmation')
    .action(async (options: OutputOptions & { yes?: boolean }) => {
      await withServices(async (services) => {
        if (services.isOutgoing)
          throw new CommandError(
            'refused',
            'OUTGOING is not off, so this may be the installation that people use. Nothing was changed.',
          )
        await confirm('End all sessions, keys and access of agents in this database?', options)
        const done = await services.quarantine()
        print(options, { ok: true, ...done }, [
          `Dropped ${countOf(done.mails, 'mail')} and ${countOf(done.deliveries, 'request')} to webhooks.`,
          `Ended ${countOf(done.sessions, 'session')}, ${countOf(done.links, 'link')}, ${countOf(done.grants, 'grant')} and ${countOf(done.keys, 'API key')}.`,
        ])
      })
    })

  addCommand(program, {
    name: 'export-openapi',
    summary: 'Write the API description (OpenAPI 3.1)',
    details: 'Needs no database, and does not depend on the settings.',
    examples: ['export-openapi', 'export-openapi docs/openapi.json'],
  })
    .argument('[file]', 'File to write (default: standard output)')
    .action(async (file: string | undefined, options: OutputOptions) => {
      const { printOpenApi } = await import('../http/description/openapi-document.ts')
      const description = printOpenApi(await describeApi())
      if (file === undefined) {
        process.stdout.write(description)
        return
      }
      await writeFile(file, description).catch(cannotWrite)
      print(options, { ok: true, file }, [`Wrote ${file}.`])
    })
}

/** The API description. It does not depend on the environment. */
async function describeApi(): Promise<object> {
  const [
    { buildApp },
    { loadConfig },
    { openDatabase, workLimits },
    { createLogger },
    { systemClock },
    { createServices },
  ] = await Promise.all([
    import('../app.ts'),
    import('../config/config.ts'),
    import('../db/client.ts'),
    import('../http/answers/logging.ts'),
    import('../kernel/clock.ts'),
    import('../services/services.ts'),
  ])
  const config = loadConfig({})
  // Never connected: the description only needs the routes.
  const db = openDatabase({
    url: 'postgres://localhost',
    poolMax: 1,
    limits: workLimits,
    onIdleError: () => undefined,
  })
  const log = createLogger('silent')
  const services = createServices({ config, db, clock: systemClock, log })
  const app = await buildApp(config, services, log)
  await app.ready()
  const description = app.swagger()
  await app.close()
  await services.close()
  return description
}
