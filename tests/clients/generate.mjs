// Generates clients and validators from the API description, with generators for TypeScript that are used most. Run by
// .ci/openapi in a folder of its own, in which the generators are installed. Argument: the file of the description.
import { createClient } from '@hey-api/openapi-ts'
import { build } from '@kubb/core'
import { pluginOas } from '@kubb/plugin-oas'
import { pluginZod } from '@kubb/plugin-zod'
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
