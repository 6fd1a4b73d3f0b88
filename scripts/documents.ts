import { readFile } from 'node:fs/promises'
import { renderAgentToolsPage } from './agent-tools-page.ts'
import { renderClientApi } from './client-api.ts'
import { renderClientEvents } from './client-events.ts'
import { renderErrorsPage } from './errors-page.ts'
import { renderEventsPage } from './events-page.ts'
import { renderEnvironmentExample, renderSettingsPage } from './settings-pages.ts'
import { renderStatements } from './statements.ts'

/** The API description, which the service itself exports (`npm run openapi`). */
export const descriptionUrl = new URL('../docs/openapi.json', import.meta.url)

async function readDescription(): Promise<object> {
  return JSON.parse(await readFile(descriptionUrl, 'utf8')) as object
}

/** The files that are made from the code and the API description, and what renders each. */
export const documents: Readonly<Record<string, () => string | Promise<string>>> = {
  'docs/errors.md': async () => renderErrorsPage(await readDescription()),
  'docs/agent-tools.md': async () => renderAgentToolsPage(await readDescription()),
  'docs/configuration.md': renderSettingsPage,
  '.env.example': renderEnvironmentExample,
  'docs/events.md': renderEventsPage,
  'packages/client/src/events.ts': renderClientEvents,
  'packages/client/src/api.ts': () => renderClientApi(descriptionUrl),
  'docs/statements.sql': renderStatements,
}
