import { readFile, writeFile } from 'node:fs/promises'
import { renderAgentToolsPage } from './agent-tools-page.ts'
import { renderClientEvents } from './client-events.ts'
import { renderErrorsPage } from './errors-page.ts'
import { renderEventsPage } from './events-page.ts'
import { renderStatements } from './statements.ts'
import { renderEnvironmentExample, renderSettingsPage } from './settings-pages.ts'

const root = new URL('../', import.meta.url)
const write = (file: string, text: string) => writeFile(new URL(file, root), text)
const description = JSON.parse(await readFile(new URL('docs/openapi.json', root), 'utf8')) as object
await write('docs/errors.md', await renderErrorsPage(description))
await write('docs/agent-tools.md', await renderAgentToolsPage(description))
await write('docs/configuration.md', await renderSettingsPage())
await write('.env.example', renderEnvironmentExample())
await write('docs/events.md', await renderEventsPage())
await write('packages/client/src/events.ts', await renderClientEvents())
await write('docs/statements.sql', await renderStatements())
