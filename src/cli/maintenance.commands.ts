import { writeFile } from 'node:fs/promises'
import type { Command } from 'commander'
import { addCommand, type OutputOptions } from './command.ts'
import { print } from './output.ts'
import { withDatabase } from './with-services.ts'
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
