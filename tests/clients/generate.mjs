// Generates clients and validators from the API description, with generators for TypeScript that are used most. Run by
// .ci/openapi in a folder of its own, in which the generators are installed. Argument: the file of the description.
import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createClient } from '@hey-api/openapi-ts'
import { build } from '@kubb/core'
import { pluginOas } from '@kubb/plugin-oas'
import { pluginZod } from '@kubb/plugin-zod'
import { generate as generateCodegen } from 'openapi-typescript-codegen'
import { generate } from 'orval'

const [, , description] = process.argv

await createClient({
  input: description,
  output: 'hey-api.gen',
  plugins: ['@hey-api/client-fetch', '@hey-api/typescript', '@hey-api/sdk', 'zod'],
  logs: { level: 'error', file: false },
})

const { error, failedPlugins } = await build({
  config: {
    root: '.',
    input: { path: description },
    output: { path: 'kubb.gen', barrelType: false },
    plugins: [
      pluginOas({ validate: false, generators: [] }),
      pluginZod({ output: { path: 'zod', barrelType: false }, version: '4' }),
    ],
  },
})
if (error || failedPlugins.size > 0) throw error ?? new Error('kubb failed')

const input = { target: description }
for (const client of ['fetch', 'zod'])
  await generate({ input, output: { target: `orval.gen/${client}.ts`, client, mode: 'single' } })

// These name what an operation takes by its parameters alone, so that a slug in the query would stand beside that of the path.
const described = JSON.parse(readFileSync(description, 'utf8'))
const { get } = described.paths['/v1/workspaces/{slug}/slug-availability']
get.parameters = get.parameters.filter(({ in: place, name }) => place !== 'query' || name !== 'slug')
writeFileSync('one-slug.json', JSON.stringify(described))
await generateCodegen({ input: described, output: 'codegen.gen', httpClient: 'fetch' })
mkdirSync('oazapfts.gen', { recursive: true })
execFileSync('node_modules/.bin/oazapfts', ['one-slug.json', 'oazapfts.gen/index.ts'])
