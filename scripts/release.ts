import { readFile, writeFile } from 'node:fs/promises'
import { catalogueEvents } from './event-catalogue.ts'
import { findMissingResults } from './full-run.ts'

/**
 * Writes a version and the date of the release where they stand, and what later versions are compared with, in docs/released/:
 * `npm run release 1.0.0`.
 */
const root = new URL('../', import.meta.url)
const [, , version = ''] = process.argv
if (!/^\d+\.\d+\.\d+(-[a-z]+\.\d+)?$/.test(version))
  throw new Error('Give the version, such as 1.0.0 or 1.0.0-rc.1.')
const missing = await findMissingResults()
if (missing.length > 0)
  throw new Error(missing.map(({ name, reason }) => `.ci/full ${name} ${reason}`).join('\n'))
const { version: former } = JSON.parse(await read('package.json')) as { version: string }

const quoted = [`"version": "${former}"`, `"version": "${version}"`] as const
await replace('package.json', ...quoted)
await replace('package-lock.json', ...quoted)
await replace('packages/client/package.json', ...quoted)
await replace('server.json', ...quoted)
await replace('Dockerfile', `ARG VERSION=${former}`, `ARG VERSION=${version}`)
await replace('deploy/kubernetes/kustomization.yaml', `newTag: ${former}`, `newTag: ${version}`)
await replace('deploy/kubernetes/migration/kustomization.yaml', `newTag: ${former}`, `newTag: ${version}`)
await replace(
  'deploy/kubernetes/migration/kustomization.yaml',
  `nameSuffix: -${former}`,
  `nameSuffix: -${version}`,
)
const today = new Date().toISOString().slice(0, 10)
await replace('src/agents/mcp/agent.mcp.ts', `version: '${former}'`, `version: '${version}'`)
await replace('CHANGELOG.md', '## [Unreleased]\n', `## [Unreleased]\n\n## ${version} - ${today}\n`)
await write('docs/released/openapi.json', await read('docs/openapi.json'))
await writeJson('docs/released/events.json', { version, types: catalogueEvents() })
// What was changed in spite of the former release is what this one promises.
await writeJson('docs/released/exceptions.json', {})

function read(file: string): Promise<string> {
  return readFile(new URL(file, root), 'utf8')
}

function write(file: string, text: string): Promise<void> {
  return writeFile(new URL(file, root), text)
}

function writeJson(file: string, value: object): Promise<void> {
  return write(file, `${JSON.stringify(value, undefined, 2)}\n`)
}

/** Replaces a text, everywhere in a file. Throws when it is not there. */
async function replace(file: string, from: string, to: string): Promise<void> {
  const text = await read(file)
  if (!text.includes(from)) throw new Error(`${file} has no ${JSON.stringify(from)}`)
  await write(file, text.replaceAll(from, to))
}
